# Components that link libraries of their own, and only into the programs that ask for them:
# dsl::linear (<dsl/linear.hpp>).

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

find_package(OpenBLAS QUIET)
if(OpenBLAS_FOUND)
  set(sources lib/linear/matmul.cpp lib/linear/host.cpp lib/linear/no_gpu.cpp)
  set(libraries OpenBLAS::OpenBLAS)
  if(DSL_HAS_CUDA AND TARGET CUDA::cublas AND TARGET CUDA::cusolver)
    list(REMOVE_ITEM sources lib/linear/no_gpu.cpp)
    list(APPEND sources lib/linear/gpu.cpp)
    list(APPEND libraries CUDA::cublas CUDA::cusolver CUDA::cudart_static)
  endif()
  dsl_component(linear SOURCES ${sources} LINK ${libraries})
else()
  message(STATUS "No OpenBLAS (libopenblas-dev, liblapacke-dev): there is no target dsl::linear")
endif()
