# Finds FFTW 3 in double and in single precision, as FFTW::FFTW.
include(FindPackageHandleStandardArgs)
find_path(FFTW_INCLUDE_DIR fftw3.h)
find_library(FFTW_LIBRARY fftw3)
find_library(FFTWF_LIBRARY fftw3f)
mark_as_advanced(FFTW_INCLUDE_DIR FFTW_LIBRARY FFTWF_LIBRARY)
find_package_handle_standard_args(FFTW REQUIRED_VARS FFTW_LIBRARY FFTWF_LIBRARY FFTW_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "(Debian's and Ubuntu's package libfftw3-dev)")
if(FFTW_FOUND AND NOT TARGET FFTW::FFTW)
  add_library(FFTW::FFTW INTERFACE IMPORTED)
  set_target_properties(FFTW::FFTW PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${FFTW_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${FFTW_LIBRARY};${FFTWF_LIBRARY}")
endif()
