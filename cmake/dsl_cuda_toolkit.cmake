# find_package(CUDAToolkit). CMake 3.25.1, Debian 12's, ends with an error there if the toolkit has no libnvToolsExt, as from CUDA 13 on, and the project asks
# for CMake 3.25 or later: it then deprecates a target that it has not made. So the project is taken to ask for less meanwhile.
macro(dsl_find_cuda_toolkit)
  set(dsl_minimum_required "${CMAKE_MINIMUM_REQUIRED_VERSION}")
  if(CMAKE_VERSION VERSION_LESS 3.26)
    set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
  endif()
  find_package(CUDAToolkit ${ARGN})
  set(CMAKE_MINIMUM_REQUIRED_VERSION "${dsl_minimum_required}")
  unset(dsl_minimum_required)
endmacro()
