# Installs the build into a prefix of its own, and builds and runs a project that finds it there. The program is README.md's
# example, and this keeps the two the same.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status)
  if(status)
    message(FATAL_ERROR "failed (${status}): ${ARGV}")
  endif()
endfunction()

file(READ "${SOURCE}/main.cpp" program)
file(READ "${README}" readme)
string(FIND "${readme}" "${program}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "README.md's example and tests/install/main.cpp differ")
endif()

file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix" --config "${CONFIG}")
run("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${WORK}/build" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DCMAKE_CXX_COMPILER=${CXX}"
  "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}" "-DCMAKE_BUILD_TYPE=${CONFIG}")
run("${CMAKE_COMMAND}" --build "${WORK}/build" --config "${CONFIG}")
run("${CMAKE_COMMAND}" -E env DSL_DEVICE=host "${WORK}/build/consumer")
