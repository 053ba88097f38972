#!/bin/sh
# tidy.sh WORK_FOLDER [CUDA_INCLUDE_FOLDER]: what clang-tidy finds in the headers and the library, by the checks of .clang-tidy. Without
# CUDA's headers its back end is left out; what needs nanobind's or NCCL's always is.
set -eu
headers=$1/headers.cpp cuda=${2-}
cd "$(dirname "$0")/../.."
printf '#include <dsl/%s.hpp>\n' by_key cuda_array_interface dlpack dsl hana mem/npz ode python random scan >"$headers"
exec sh tests/style/tool.sh clang-tidy --quiet --config-file=.clang-tidy "$headers" \
  $(find lib -name '*.cpp' | grep -v '^lib/python/\|/nccl\.cpp$' | if [ -n "$cuda" ]; then cat; else grep -v '^lib/cuda/'; fi | LC_ALL=C sort) \
  -- -std=c++20 -Iinclude -Ilib ${cuda:+-isystem "$cuda"}
