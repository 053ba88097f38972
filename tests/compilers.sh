#!/usr/bin/env bash
# compilers.sh [--tests] COMPILER...: builds the library, every header alone, the acceptance
# programs and the demo with each of these compilers, and fails if there is a warning. Runs the
# programs on the host and in the simulator; with --tests the tests of the host as well. A COMPILER
# is a C++ compiler (clang++-19), or the path of an nvcc, whose host compiler is $CXX. Prints a line
# for each at the end. The results are in docs/install.md.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tests=
if [ "${1-}" = --tests ]; then
  tests=1
  shift
fi
[ $# -gt 0 ] || { sed -n '2,6s/^# //p' "$0"; exit 2; }

programs=()
for source in tests/acceptance/*.cpp; do programs+=("$(basename "$source" .cpp)"); done
summary=()
status=0

# try COMPILER: sets `result` to what happened.
try() {
  local compiler=$1 version build suffix= names targets devices='host|sim'
  local options=(-DDSL_CUDA=OFF "-DCMAKE_CXX_COMPILER=$1")
  if [[ $(basename "$compiler") == nvcc* ]]; then
    version=$("$compiler" --version | sed -n 's/.*, \(V[0-9.]*\)$/nvcc \1/p')
    options=(-DDSL_CUDA=ON -DDSL_TEST_ON_GPU=OFF
      "-DCMAKE_CUDA_COMPILER=$compiler" "-DCMAKE_CXX_COMPILER=${CXX:-g++}")
    suffix=_cuda
    devices+='|cuda'
  else
    version=$("$compiler" --version | head -1)
  fi
  build=build/compilers/$(printf %s "$version" | tr -c 'A-Za-z0-9.+\n' -)
  names=("${programs[@]/%/$suffix}" coupled_fields)
  targets=(dsl "${names[@]}")
  if [ -z "$suffix" ]; then targets+=(headers_alone); fi
  mkdir -p "$build"
  result="$version: "
  if ! cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release "${options[@]}" \
    >"$build/log.txt" 2>&1; then
    result+="CMake fails, see $build/log.txt"
    return 1
  fi
  if [ -n "$tests" ] && [ -z "$suffix" ]; then
    targets+=(host_tests reduction_tests numpy_tests)
    names+=(host_tests reduction_tests numpy_tests)
  fi
  if ! cmake --build "$build" --target "${targets[@]}" >>"$build/log.txt" 2>&1; then
    result+="does not compile, see $build/log.txt"
    return 1
  fi
  if grep -q 'warning[: ]' "$build/log.txt"; then
    result+="warns, see $build/log.txt"
    return 1
  fi
  names=$(IFS='|'; printf %s "${names[*]}")
  if ! ctest --test-dir "$build" --no-tests=error --output-on-failure \
    -R "^($names)(\.($devices))?\$" >>"$build/log.txt" 2>&1; then
    result+="a program fails, see $build/log.txt"
    return 1
  fi
  result+=$(sed -n 's/^100% tests passed.* out of \([0-9]*\)$/\1 programs and tests pass/p' \
    "$build/log.txt" | tail -1)
}

for compiler; do
  try "$compiler" || status=1
  echo "$result" >&2
  summary+=("$result")
done
[ $# -eq 1 ] || printf '%s\n' "${summary[@]}"
exit $status
