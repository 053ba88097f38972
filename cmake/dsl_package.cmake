# Builds Debian packages: `cmake --preset package && cmake --build --preset package --target
# package`. A static library is in libdsl-dev. A shared one (BUILD_SHARED_LIBS) is in a package
# named after its SONAME, on which libdsl-dev depends.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dsl)
set(CPACK_PACKAGE_VENDOR "the dsl authors")
set(CPACK_PACKAGE_CONTACT "the dsl authors <authors@dsl.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "elementwise formulas in C++ as fused CUDA kernels and SIMD loops")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_COMPONENTS_ALL development)

set(package_text
  "dsl turns formulas on arrays, written as ordinary C++20, into one kernel each while the program \
is being compiled:\nfor NVIDIA GPUs where nvcc compiles it, and for the processor's \
vector instructions.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libdsl-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "${package_text}\n.\nHeaders, library, and the files of find_package and pkg-config.")
set(depends libsleef-dev libtbb-dev libboost-context-dev)
if(LibZip_FOUND)
  list(APPEND depends libzip-dev)
endif()
if(dsl_type STREQUAL "SHARED_LIBRARY")
  list(APPEND CPACK_COMPONENTS_ALL runtime)
  set(runtime_name "libdsl${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME "${runtime_name}")
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
  set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "${package_text}\n.\nThe shared library.")
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  set(depends libsleef-dev libboost-dev "${runtime_name} (= ${PROJECT_VERSION}-1)")
endif()
if(DSL_HAS_CUDA)
  # The CUDA runtime is not a package of Debian: it comes from NVIDIA's packages, or from a toolkit
  # that no package manager knows.
  string(REGEX MATCH "^([0-9]+)[.]([0-9]+)" release "${CUDAToolkit_VERSION}")
  string(REPLACE "." "-" release "${release}")
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS
    "cuda-cudart-dev-${release}, cuda-nvcc-${release}")
endif()
list(JOIN depends ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)

# Debian expects the license and the changelog in a folder with the package's name.
find_program(DSL_GZIP gzip)
mark_as_advanced(DSL_GZIP)
configure_file(LICENSE copyright COPYONLY)
set(documents "${CMAKE_CURRENT_BINARY_DIR}/copyright")
if(DSL_GZIP)
  execute_process(COMMAND "${DSL_GZIP}" -9nc "${CMAKE_CURRENT_SOURCE_DIR}/CHANGELOG.md" OUTPUT_FILE
    "${CMAKE_CURRENT_BINARY_DIR}/changelog.gz")
  list(APPEND documents "${CMAKE_CURRENT_BINARY_DIR}/changelog.gz")
endif()
install(FILES ${documents} DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/libdsl-dev" COMPONENT
  development EXCLUDE_FROM_ALL)
if(dsl_type STREQUAL "SHARED_LIBRARY")
  install(FILES ${documents} DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/${runtime_name}"
    COMPONENT runtime EXCLUDE_FROM_ALL)
endif()

include(CPack)
