# Enables OpenCL according to DSL_OPENCL. Sets DSL_HAS_OPENCL, and OpenCL_INCLUDE_DIR to the folder
# of Khronos' headers. The loader is found when a program runs.
set(DSL_HAS_OPENCL OFF)
if(NOT DSL_OPENCL)
  return()
endif()
find_path(OpenCL_INCLUDE_DIR CL/cl.h DOC "Khronos' OpenCL headers")
mark_as_advanced(OpenCL_INCLUDE_DIR)
if(OpenCL_INCLUDE_DIR)
  set(DSL_HAS_OPENCL ON)
else()
  message(STATUS "dsl: without OpenCL: there is no CL/cl.h (Debian's opencl-c-headers)")
endif()
