#!/bin/sh
# What GCC makes of the RK4 step on the host, alone and beside a sum: AVX2 instructions on eight floats. Usage: host.sh CXX INCLUDE_DIRECTORY
set -eu
cxx=$1 include=$2 here=$(dirname "$0")
failures=0
for sum in 0 1; do
  code=$("$cxx" -std=c++20 -O3 -DWITH_SUM=$sum -I"$include" -S -o - "$here/host.cpp")
  packed=$(echo "$code" | grep -cE 'vf[n]?m(add|sub)[0-9]+ps.*%ymm' || true)
  scalar=$(echo "$code" | grep -cE 'vf[n]?m(add|sub)[0-9]+ss' || true)
  if [ "$packed" -gt "$scalar" ]; then result=ok; else result=FAILED failures=1; fi
  echo "$result: WITH_SUM=$sum: fused multiply-adds of eight floats: $packed, of one: $scalar"
done
exit $failures
