# Installs the library, the headers, and the files for find_package and pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/dsl")
install(TARGETS dsl EXPORT dsl_targets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
foreach(part dsl_nccl dsl_linear dsl_fft)
  if(TARGET ${part})
    install(TARGETS ${part} EXPORT dsl_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
      COMPONENT development)
  endif()
endforeach()
install(DIRECTORY include/dsl DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.inc")
install(EXPORT dsl_targets FILE dsl-targets.cmake NAMESPACE dsl:: DESTINATION "${package_dir}"
  COMPONENT development)

configure_package_config_file(cmake/dsl-config.cmake.in
  "${CMAKE_CURRENT_BINARY_DIR}/dsl-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/dsl-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/dsl-config.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/dsl-config-version.cmake"
  cmake/FindFFTW.cmake cmake/FindLibZip.cmake cmake/FindNCCL.cmake cmake/FindOpenBLAS.cmake cmake/FindSleefGnuAbi.cmake
  cmake/dsl_cuda_toolkit.cmake cmake/dsl_python.cmake DESTINATION "${package_dir}" COMPONENT
  development)
install(DIRECTORY lib/python DESTINATION "${package_dir}" COMPONENT development)

# dsl_pc_library(name location): adds a library and its folder to the pkg-config file. pkg-config
# omits folders that the linker searches anyway.
set(pc_libs)
function(dsl_pc_library name location)
  set(flags "${pc_libs}")
  if(location)
    get_filename_component(folder "${location}" DIRECTORY)
    string(APPEND flags " -L${folder}")
  endif()
  set(pc_libs "${flags} -l${name}" PARENT_SCOPE)
endfunction()
if(SleefGnuAbi_LIBRARY)
  dsl_pc_library(sleefgnuabi "${SleefGnuAbi_LIBRARY}")
endif()
if(NOT dsl_type STREQUAL "SHARED_LIBRARY")
  if(LibZip_FOUND)
    dsl_pc_library(zip "${LibZip_LIBRARY}")
  endif()
  foreach(name tbb boost_context)
    string(REPLACE "boost_" "Boost::" target "${name}")
    string(REPLACE "tbb" "TBB::tbb" target "${target}")
    get_target_property(imported "${target}" IMPORTED)
    set(location)
    if(imported)
      get_target_property(location "${target}" LOCATION)
    endif()
    dsl_pc_library("${name}" "${location}")
  endforeach()
  if(DSL_HAS_CUDA)
    dsl_pc_library(cudart_static "${CUDA_cudart_static_LIBRARY}")
    string(APPEND pc_libs " -ldl -lrt -lpthread")
  elseif(DSL_HAS_OPENCL)
    string(APPEND pc_libs " -ldl")
  endif()
elseif(DSL_HAS_CUDA)
  dsl_pc_library(cudart "${CUDA_CUDART}")
endif()
file(RELATIVE_PATH prefix_from_pc "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
configure_file(cmake/dsl.pc.in dsl.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/dsl.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
  COMPONENT development)
