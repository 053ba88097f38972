# Components that link libraries of their own, and only into the programs that ask for them:
# dsl::linear (<dsl/linear.hpp>) and dsl::fft (<dsl/fft.hpp>).

# dsl_component(name SOURCES file... LINK library...)
function(dsl_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(dsl_${name} STATIC ${arg_SOURCES})
  add_library(dsl::${name} ALIAS dsl_${name})
  set_target_properties(dsl_${name} PROPERTIES EXPORT_NAME ${name} CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE CXX)
  target_include_directories(dsl_${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/lib")
  target_link_libraries(dsl_${name} PUBLIC dsl::dsl PRIVATE ${arg_LINK} TBB::tbb)
  dsl_warnings(dsl_${name})
endfunction()

set(cudart $<IF:$<STREQUAL:${dsl_type},SHARED_LIBRARY>,CUDA::cudart,CUDA::cudart_static>)

find_package(OpenBLAS QUIET)
if(OpenBLAS_FOUND)
  set(sources lib/linear/matmul.cpp lib/linear/matmul_host.cpp lib/linear/solve.cpp
    lib/linear/solve_host.cpp lib/linear/decompositions.cpp lib/linear/decompositions_host.cpp
    lib/linear/no_gpu.cpp)
  set(libraries OpenBLAS::OpenBLAS)
  if(DSL_HAS_CUDA AND TARGET CUDA::cublas AND TARGET CUDA::cusolver)
    list(REMOVE_ITEM sources lib/linear/no_gpu.cpp)
    list(APPEND sources lib/linear/gpu.cpp lib/linear/kernels.cu lib/linear/solve_gpu.cpp
      lib/linear/decompositions_gpu.cpp)
    list(APPEND libraries CUDA::cublas CUDA::cusolver ${cudart})
  endif()
  dsl_component(linear SOURCES ${sources} LINK ${libraries})
else()
  message(STATUS "No OpenBLAS (libopenblas-dev, liblapacke-dev): there is no target dsl::linear")
endif()

# Fourier transforms. KissFFT's class is in a header, so that there is nothing to link. FFTW is under
# the GPL, and a program that links it has to follow it.
option(DSL_FFTW "Transforms on the host by FFTW, which is under the GPL, in place of KissFFT" OFF)
if(DSL_FFTW)
  find_package(FFTW REQUIRED)
else()
  find_path(KissFFT_INCLUDE_DIR kissfft/kissfft.hh)
  mark_as_advanced(KissFFT_INCLUDE_DIR)
endif()
if(FFTW_FOUND OR KissFFT_INCLUDE_DIR)
  set(sources lib/fft/transform.cpp lib/fft/rows.cpp lib/fft/grid_rows.cpp lib/fft/host.cpp
    lib/fft/long_line.cpp)
  set(libraries)
  if(FFTW_FOUND)
    list(APPEND sources lib/fft/fftw.cpp)
    list(APPEND libraries FFTW::FFTW)
  else()
    list(APPEND sources lib/fft/kiss.cpp)
    # Products of complex numbers without the care for NaN that C++'s take, a third of the time.
    set_source_files_properties(lib/fft/kiss.cpp PROPERTIES COMPILE_OPTIONS
      "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fcx-limited-range>")
  endif()
  if(DSL_HAS_CUDA AND TARGET CUDA::cufft)
    list(APPEND sources lib/fft/gpu.cpp)
    list(APPEND libraries CUDA::cufft ${cudart})
  else()
    list(APPEND sources lib/fft/no_gpu.cpp)
  endif()
  dsl_component(fft SOURCES ${sources} LINK ${libraries})
  target_compile_definitions(dsl_fft PRIVATE "DSL_FFTW=$<BOOL:${FFTW_FOUND}>")
  if(KissFFT_INCLUDE_DIR AND NOT FFTW_FOUND)
    target_include_directories(dsl_fft SYSTEM PRIVATE "${KissFFT_INCLUDE_DIR}")
  endif()
else()
  message(STATUS "No KissFFT (libkissfft-dev): there is no target dsl::fft")
endif()
