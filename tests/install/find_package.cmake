# `cmake --install`, and projects that find what it installed, of a .cpp and of a .cu file.
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")

expect_in("${TREE}/README.md" "${SOURCE}/main.cpp")
file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix" --config "${CONFIG}")
consume(find_package "-DCMAKE_PREFIX_PATH=${WORK}/prefix")
if(CUDA_COMPILER)
  consume(find_package CUDA "-DCMAKE_PREFIX_PATH=${WORK}/prefix")
endif()
