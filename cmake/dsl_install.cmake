include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/dsl")
install(TARGETS dsl EXPORT dsl_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY include/dsl DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp" PATTERN "*.inc")
install(EXPORT dsl_targets FILE dsl-targets.cmake NAMESPACE dsl:: DESTINATION "${package_dir}")

configure_package_config_file(cmake/dsl-config.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/dsl-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/dsl-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/dsl-config.cmake" "${CMAKE_CURRENT_BINARY_DIR}/dsl-config-version.cmake"
  cmake/FindSleefGnuAbi.cmake DESTINATION "${package_dir}")
