# Options for profilers and debuggers: ranges, line numbers, and code that cuda-gdb can follow.
set(DSL_NVTX AUTO CACHE STRING
  "Ranges in profilers by NVTX: AUTO (if its headers are found), ON or OFF")
set_property(CACHE DSL_NVTX PROPERTY STRINGS AUTO ON OFF)
option(DSL_LINEINFO "Kernels know their source lines (nvcc -lineinfo), for Nsight Compute" OFF)
option(DSL_DEVICE_DEBUG "Kernels that cuda-gdb can step through, not optimised (nvcc -G)" OFF)

# dsl_add_ranges(target source): lets the source, a file of the target, call NVTX, which finds a
# profiler at run time. Sets DSL_NVTX_HAS_PAYLOADS if NVTX is new enough for payloads.
function(dsl_add_ranges target source)
  if(NOT DSL_NVTX STREQUAL "AUTO" AND NOT DSL_NVTX)
    return()
  endif()
  find_path(DSL_NVTX_INCLUDE nvtx3/nvToolsExt.h HINTS ${CUDAToolkit_INCLUDE_DIRS} PATHS
    /usr/local/cuda/include)
  mark_as_advanced(DSL_NVTX_INCLUDE)
  if(DSL_NVTX_INCLUDE)
    set(definitions DSL_DETAIL_NVTX)
    if(EXISTS "${DSL_NVTX_INCLUDE}/nvtx3/nvToolsExtPayload.h")  # Since CUDA 13.
      list(APPEND definitions DSL_DETAIL_NVTX_PAYLOAD)
      set(DSL_NVTX_HAS_PAYLOADS ON PARENT_SCOPE)
    endif()
    set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES
      COMPILE_DEFINITIONS "${definitions}")
    # If /usr/include is named again, it hides the C library's headers from C++'s.
    if(NOT DSL_NVTX_INCLUDE IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
      set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES
        INCLUDE_DIRECTORIES "${DSL_NVTX_INCLUDE}")
    endif()
  elseif(NOT DSL_NVTX STREQUAL "AUTO")
    message(FATAL_ERROR
      "dsl: DSL_NVTX is ${DSL_NVTX}, but nvtx3/nvToolsExt.h was not found; \
-DDSL_NVTX_INCLUDE=... names the folder "
      "that nvtx3 is in, such as a CUDA toolkit's include")
  endif()
endfunction()

# dsl_debug_kernels(target): applies the options to the target's kernels, and to those of all
# targets in this build that link it.
function(dsl_debug_kernels target)
  set(options)
  if(DSL_DEVICE_DEBUG)
    set(options -G)
  elseif(DSL_LINEINFO)
    set(options -lineinfo)
  endif()
  target_compile_options(${target} PUBLIC
    "$<BUILD_INTERFACE:$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:${options}>>")
endfunction()
