# The shared library: installed, with its two packages, and used by a program, two libraries and one that is loaded while the program runs.
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" -S "${TREE}" -B "${WORK}/build" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
  "-DCMAKE_BUILD_TYPE=${CONFIG}" -DBUILD_SHARED_LIBS=ON -DDSL_BUILD_TESTS=OFF -DDSL_BUILD_EXAMPLES=OFF -DDSL_BUILD_BENCHMARKS=OFF
  "-DCMAKE_CUDA_COMPILER=${CUDA_COMPILER}")
run("${CMAKE_COMMAND}" --build "${WORK}/build" --config "${CONFIG}" --target dsl)
run("${CMAKE_COMMAND}" --install "${WORK}/build" --prefix "${WORK}/prefix" --config "${CONFIG}")
set(languages CXX)
if(CUDA_COMPILER)
  set(languages "CXX\\;CUDA")
endif()
run("${CMAKE_COMMAND}" -S "${SOURCE}/shared" -B "${WORK}/consumers" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
  "-DCMAKE_BUILD_TYPE=${CONFIG}" "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DCMAKE_CUDA_COMPILER=${CUDA_COMPILER}" "-DLANGUAGES=${languages}")
run("${CMAKE_COMMAND}" --build "${WORK}/consumers" --config "${CONFIG}")
run("${CMAKE_COMMAND}" -E env DSL_DEVICE=host "${WORK}/consumers/shared_consumers" "${WORK}/consumers/libloaded.so")

# Every name that it exports is dsl's.
find_program(nm nm)
if(nm)
  execute_process(COMMAND "${nm}" -D --defined-only "${WORK}/build/libdsl.so" OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "[^\n]*(3dsl|_dsl_| dsl_)[^\n]*\n" "" others "${names}")
  if(names STREQUAL "" OR NOT others STREQUAL "")
    message(FATAL_ERROR "the shared library exports names that are not dsl's:\n${others}")
  endif()
endif()

find_program(dpkg_shlibdeps dpkg-shlibdeps)
if(dpkg_shlibdeps)
  run(cpack --config "${WORK}/build/CPackConfig.cmake" -C "${CONFIG}" -B "${WORK}/packages")
  foreach(package "libdsl-dev" "libdsl${SOVERSION}")
    file(GLOB found "${WORK}/packages/${package}_${VERSION}-1_*.deb")
    if(NOT found)
      message(FATAL_ERROR "there is no package ${package}")
    endif()
  endforeach()
endif()
