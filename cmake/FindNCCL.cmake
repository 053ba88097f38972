# Finds NVIDIA's NCCL 2.28 or newer, as NCCL::NCCL. NCCL_ROOT names its folder if that is not
# searched by default. The folder of the Python package nvidia-nccl-cu13, which has only a
# libnccl.so with a version number, works too.
include(FindPackageHandleStandardArgs)
find_path(NCCL_INCLUDE_DIR nccl.h)
find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2)
mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)
if(NCCL_INCLUDE_DIR)
  file(STRINGS "${NCCL_INCLUDE_DIR}/nccl.h" NCCL_VERSION REGEX
    "^#define NCCL_(MAJOR|MINOR|PATCH) +[0-9]+")
  string(REGEX REPLACE "#define NCCL_[A-Z]+ +" "" NCCL_VERSION "${NCCL_VERSION}")
  string(REPLACE ";" "." NCCL_VERSION "${NCCL_VERSION}")
endif()
find_package_handle_standard_args(NCCL REQUIRED_VARS NCCL_LIBRARY NCCL_INCLUDE_DIR VERSION_VAR
  NCCL_VERSION)
if(NCCL_FOUND AND NOT TARGET NCCL::NCCL)
  add_library(NCCL::NCCL UNKNOWN IMPORTED)
  set_target_properties(NCCL::NCCL PROPERTIES
    IMPORTED_LOCATION "${NCCL_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${NCCL_INCLUDE_DIR}")
endif()
