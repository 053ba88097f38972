# Finds OpenBLAS with the headers of CBLAS and LAPACKE, as OpenBLAS::OpenBLAS.
include(FindPackageHandleStandardArgs)
find_path(OpenBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas openblas-pthread)
find_library(OpenBLAS_LIBRARY openblas PATH_SUFFIXES openblas-pthread)
find_path(LAPACKE_INCLUDE_DIR lapacke.h PATH_SUFFIXES openblas openblas-pthread)
find_library(LAPACKE_LIBRARY lapacke)  # Part of OpenBLAS in some builds.
mark_as_advanced(OpenBLAS_INCLUDE_DIR OpenBLAS_LIBRARY LAPACKE_INCLUDE_DIR LAPACKE_LIBRARY)
find_package_handle_standard_args(OpenBLAS REQUIRED_VARS OpenBLAS_LIBRARY OpenBLAS_INCLUDE_DIR
  LAPACKE_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "(Debian's and Ubuntu's packages libopenblas-dev and liblapacke-dev)")
if(OpenBLAS_FOUND AND NOT TARGET OpenBLAS::OpenBLAS)
  add_library(OpenBLAS::OpenBLAS INTERFACE IMPORTED)
  set_target_properties(OpenBLAS::OpenBLAS PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${OpenBLAS_INCLUDE_DIR};${LAPACKE_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES
    "$<$<BOOL:${LAPACKE_LIBRARY}>:${LAPACKE_LIBRARY}>;${OpenBLAS_LIBRARY}")
endif()
