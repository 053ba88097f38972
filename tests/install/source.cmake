# Projects that build the library with their own files: FetchContent, with this tree in the place of the clone, and add_subdirectory. Unless BUILD_IT is set
# they are configured, and not built: that would compile the library once more for each.
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")

file(REMOVE_RECURSE "${WORK}")
set(how CONFIGURE_ONLY)
if(BUILD_IT)
  set(how)
endif()
consume(add_subdirectory CONFIGURE_ONLY -DDSL_CUDA=OFF)
consume(fetch_content "-DFETCHCONTENT_SOURCE_DIR_DSL=${TREE}" -DDSL_CUDA=OFF ${how})
if(CUDA_COMPILER)
  consume(fetch_content CUDA "-DFETCHCONTENT_SOURCE_DIR_DSL=${TREE}" ${how})
endif()
