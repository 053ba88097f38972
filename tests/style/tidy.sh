#!/bin/sh
# tidy.sh WORK_FOLDER [CUDA_INCLUDE_FOLDER]: what clang-tidy finds in the headers and the library, by the checks of .clang-tidy, the files of
# a folder at a time. Without CUDA's headers its back end is left out; what needs nanobind's or NCCL's always is.
set -eu
work=$1/tidy cuda=${2-}
cd "$(dirname "$0")/../.."
rm -rf "$work"
mkdir -p "$work"
printf '#include <dsl/%s.hpp>\n' by_key cuda_array_interface dlpack dsl fft hana mem/npz ode python random scan sparse linear window >"$work/headers.cpp"
# Of two files of which the build takes one, the other has the same functions.
find lib -name '*.cpp' ! -path 'lib/python/*' ! -name nccl.cpp ! -name npz_without_zip.cpp ! -name no_gpu.cpp ! -name fftw.cpp | LC_ALL=C sort |
  while read -r file; do
    folder=${file%/*}
    case $file in lib/cuda/* | *gpu.cpp) [ -n "$cuda" ] || continue ;; esac
    printf '// NOLINTNEXTLINE(bugprone-suspicious-include)\n#include "%s/%s"\n' "$PWD" "$file" >>"$work/${folder##*/}.cpp"
  done
exec sh tests/style/tool.sh clang-tidy --quiet --config-file=.clang-tidy "$work"/*.cpp -- -std=c++20 -Iinclude -Ilib ${cuda:+-isystem "$cuda"}
