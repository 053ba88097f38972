#!/bin/sh
# What the compiler makes of the RK4 step, spelled out and by ode::rk4, against the same kernel written by hand: loads, stores,
# registers, spills. Needs nvcc and no GPU. Usage: check.sh NVCC INCLUDE_DIRECTORY
set -eu
nvcc=$1 include=$2 here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compile() {  # NAME: leaves NAME.ptx and NAME.log, a line of registers for each kernel
  "$nvcc" --expt-relaxed-constexpr -std=c++20 -O3 -arch=sm_90 -I"$include" -cubin -keep -keep-dir "$work" -Xptxas -v \
    -o "$work/$1.cubin" "$here/$1.cu" 2>"$work/$1.log" || { cat "$work/$1.log"; exit 1; }
}
count() { grep -c "$2" "$work/$1.ptx" || true; }
registers() { sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$work/$1.log" | sort -n | head -1; }
failures=0
check() {  # DESCRIPTION VALUE OPERATOR BOUND
  if [ "$2" "$3" "$4" ]; then echo "ok: $1: $2 (bound $4)"; else echo "FAILED: $1: $2, wanted $3 $4"; failures=1; fi
}
spilled() { sed -n 's/.* \([0-9]*\) bytes spill stores, \([0-9]*\) bytes spill loads.*/\1 \2/p' "$work/$1.log" | awk '{s += $1 + $2} END {print s + 0}'; }

for name in by_hand generated stepper thirteen_stages; do compile $name; done

hand=$(registers by_hand)
check "16-byte loads by hand" "$(count by_hand 'ld\.global.*v4')" -eq 2
for name in generated stepper; do
  kernels=$(count $name '\.entry')
  check "$name: device entry points" "$kernels" -le 3
  # Each entry point has a 16-byte path and an element-by-element one for the tail, as the kernel by hand has.
  check "$name: 16-byte loads a kernel" $(($(count $name 'ld\.global.*v4') / kernels)) -eq "$(count by_hand 'ld\.global.*v4')"
  check "$name: 16-byte stores a kernel" $(($(count $name 'st\.global.*v4') / kernels)) -eq "$(count by_hand 'st\.global.*v4')"
  check "$name: registers of the linear kernel (by hand $hand)" "$(registers $name)" -le $((hand * 110 / 100))
  check "$name: bytes spilled" "$(spilled $name)" -eq 0
  check "$name: local memory accesses" "$(count $name '[ls][dt]\.local')" -eq 0
done
check "thirteen_stages: bytes spilled" "$(spilled thirteen_stages)" -eq 0
exit $failures
