# Enables CUDA according to DSL_CUDA. Sets DSL_HAS_CUDA and DSL_HAS_GPU, and DSL_WITHOUT_CUDA to the
# reason if CUDA is missing.
set(DSL_HAS_CUDA OFF)
set(DSL_HAS_GPU OFF)
if(NOT DSL_CUDA STREQUAL "AUTO" AND NOT DSL_CUDA)
  set(DSL_WITHOUT_CUDA "DSL_CUDA is ${DSL_CUDA}")
  return()
endif()

# The toolkit's own installer puts nvcc into /usr/local/cuda/bin and does not change PATH.
if(NOT CMAKE_CUDA_COMPILER AND "$ENV{CUDACXX}" STREQUAL "")
  find_program(DSL_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES
    bin)
  mark_as_advanced(DSL_NVCC)
  if(DSL_NVCC)
    set(ENV{CUDACXX} "${DSL_NVCC}")
  endif()
endif()

# By default, code is compiled for this machine's GPU, so that programs start without compiling.
# Without a GPU it is compiled for compute capability 9.0, with PTX that newer GPUs compile when
# they load it. Set the variable for anything else.
execute_process(COMMAND sh "${CMAKE_CURRENT_LIST_DIR}/with_gpu.sh" true RESULT_VARIABLE no_gpu
  OUTPUT_QUIET ERROR_QUIET)
if(NOT no_gpu)
  set(DSL_HAS_GPU ON)
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND "$ENV{CUDAARCHS}" STREQUAL "")
  if(DSL_HAS_GPU)
    set(CMAKE_CUDA_ARCHITECTURES native)
  else()
    set(CMAKE_CUDA_ARCHITECTURES 90)
  endif()
endif()

include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  include(dsl_cuda_toolkit)
  dsl_find_cuda_toolkit()
endif()

if(NOT CMAKE_CUDA_COMPILER OR NOT TARGET CUDA::cudart_static)
  set(DSL_WITHOUT_CUDA
    "no usable CUDA toolkit was found (looked for nvcc in \
CMAKE_CUDA_COMPILER, CUDACXX, CUDA_PATH, PATH and /usr/local/cuda)")
elseif(CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA" AND CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.0)
  set(DSL_WITHOUT_CUDA
    "nvcc ${CMAKE_CUDA_COMPILER_VERSION} cannot compile C++20; 12.0 or later is needed")
else()
  set(DSL_HAS_CUDA ON)
  message(STATUS
    "dsl: with CUDA ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
  return()
endif()
if(NOT DSL_CUDA STREQUAL "AUTO")
  message(FATAL_ERROR "dsl: DSL_CUDA is ${DSL_CUDA}, but ${DSL_WITHOUT_CUDA}")
endif()
message(STATUS "dsl: without CUDA: ${DSL_WITHOUT_CUDA}")
