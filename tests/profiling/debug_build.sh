#!/bin/sh
# The demo as the preset cuda-debug compiles it, for cuda-gdb; and that DSL_LINEINFO gives nvcc -lineinfo instead. Needs nvcc and no GPU.
# Usage: debug_build.sh CMAKE SOURCE_DIRECTORY BUILD_DIRECTORY CXX NVCC
set -eu
cmake=$1 source=$2 build=$3 cxx=$4 nvcc=$5
rm -rf "$build"
mkdir -p "$build"
run() { "$@" >"$build/log" 2>&1 || { cat "$build/log"; echo "FAILED: $*"; exit 1; }; }
configure() {  # OPTION...
  (cd "$source" && run "$cmake" --preset cuda-debug -B "$build" -DDSL_BUILD_TESTS=OFF -DDSL_BUILD_BENCHMARKS=OFF \
    -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA_ARCHITECTURES=90-real "$@")
}
demo() { grep '"command": .* -c [^ ]*/coupled_fields\.cpp ' "$build/compile_commands.json"; }
check() {  # OPTION OTHER: the demo is compiled with the first and not with the second
  case " $(demo) " in
    *" $2 "*) echo "FAILED: nvcc is given $2"; exit 1 ;;
    *" $1 "*) echo "ok: nvcc is given $1 and not $2" ;;
    *) echo "FAILED: nvcc is not given $1"; exit 1 ;;
  esac
}
configure
check -G -lineinfo
run "$cmake" --build "$build" --target examples/CMakeFiles/coupled_fields.dir/coupled_fields.cpp.o
echo "ok: the demo compiles"
configure -DDSL_DEVICE_DEBUG=OFF -DDSL_LINEINFO=ON
check -lineinfo -G
