# Calls find_package(CUDAToolkit). In CMake 3.25.1 (Debian 12) that call fails if the toolkit has no
# libnvToolsExt, as since CUDA 13, and the project requires CMake 3.25 or later: it deprecates a
# target that it has not created. So the required version is lowered during the call.
macro(dsl_find_cuda_toolkit)
  set(dsl_minimum_required "${CMAKE_MINIMUM_REQUIRED_VERSION}")
  if(CMAKE_VERSION VERSION_LESS 3.26)
    set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
  endif()
  find_package(CUDAToolkit ${ARGN})
  set(CMAKE_MINIMUM_REQUIRED_VERSION "${dsl_minimum_required}")
  unset(dsl_minimum_required)
endmacro()
