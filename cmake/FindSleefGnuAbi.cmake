# Finds SLEEF's library of vector functions under the names that GCC calls (such as _ZGVdN8v_expf),
# as SleefGnuAbi::SleefGnuAbi. The headers make GCC emit such calls only on x86-64; elsewhere the
# target is empty.
include(FindPackageHandleStandardArgs)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  find_library(SleefGnuAbi_LIBRARY sleefgnuabi)
  mark_as_advanced(SleefGnuAbi_LIBRARY)
  find_package_handle_standard_args(SleefGnuAbi REQUIRED_VARS SleefGnuAbi_LIBRARY
    REASON_FAILURE_MESSAGE "(libsleefgnuabi is in Debian's and Ubuntu's package libsleef-dev)")
else()
  set(SleefGnuAbi_FOUND TRUE)
endif()
if(SleefGnuAbi_FOUND AND NOT TARGET SleefGnuAbi::SleefGnuAbi)
  add_library(SleefGnuAbi::SleefGnuAbi INTERFACE IMPORTED)
  set_target_properties(SleefGnuAbi::SleefGnuAbi PROPERTIES INTERFACE_LINK_LIBRARIES
    "${SleefGnuAbi_LIBRARY}")
endif()
