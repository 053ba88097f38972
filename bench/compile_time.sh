#!/bin/bash
# Compile times in one run, of nvcc: an empty file and the include alone, `c = exp(a) + 2 * b` and the same kernel by hand, a step of 13
# stages. Seconds of user + system time, the least and the median of seven compilations in turns, which other work on the machine
# disturbs less than wall time. Then what nvcc's steps take of wall time.
# Usage: compile_time.sh [NVCC [ARCHITECTURE [ROUNDS]]]
set -euo pipefail
nvcc=${1:-nvcc} arch=${2:-sm_90} rounds=${3:-7} root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

: >"$work/empty.cu"
echo '#include <dsl/dsl.hpp>' >"$work/include.cu"
cat >"$work/by_hand.cu" <<'CODE'
#include <cmath>
__global__ void kernel(float* c, const float* a, const float* b, long n) {
  const long i = threadIdx.x + static_cast<long>(blockIdx.x) * blockDim.x;
  if (i < n) c[i] = expf(a[i]) + 2 * b[i];
}
void run(float* c, const float* a, const float* b, long n) { kernel<<<(n + 255) / 256, 256>>>(c, a, b, n); }
CODE
cat >"$work/dsl.cu" <<'CODE'
#include <dsl/dsl.hpp>
void run(dsl::array<float>& c, const dsl::array<float>& a, const dsl::array<float>& b) { c = exp(a) + 2 * b; }
CODE
sed "s|\"../rk4.hpp\"|\"$root/tests/rk4.hpp\"|" "$root/tests/codegen/thirteen_stages.cu" >"$work/thirteen_stages.cu"

TIMEFORMAT='%U %S'
compile() { "$nvcc" --expt-relaxed-constexpr -std=c++20 -O3 -arch="$arch" -I"$root/include" -c "$1" -o "$work/out.o" "${@:2}" 2>/dev/null; }
once() { { time compile "$1"; } 2>&1 | awk '{print $1 + $2}'; }
files="empty include by_hand dsl"
for ((round = 0; round < rounds; ++round)); do
  for name in $files; do once "$work/$name.cu" >>"$work/$name.times"; done
done
once "$work/thirteen_stages.cu" >"$work/thirteen_stages.times"

declare -A least median
for name in $files thirteen_stages; do
  read -r least[$name] median[$name] < <(sort -n "$work/$name.times" | awk '{t[NR] = $1} END {print t[1], t[int((NR + 1) / 2)]}')
  printf '%-16s least %5.2f s, median %5.2f s\n' "$name" "${least[$name]}" "${median[$name]}"
done
ratio() { awk "BEGIN {printf \"%s / %s: %.2f of the least, %.2f of the medians (wanted: at most %s)\n\", \"$1\", \"$2\", ${least[$1]} / ${least[$2]}, ${median[$1]} / ${median[$2]}, $3}"; }
ratio include empty 1.6
ratio dsl by_hand 2.0
for name in by_hand dsl; do
  compile "$work/$name.cu" --time "$work/$name.csv"
  # The second field is the step, the last but one its milliseconds.
  awk -F' *, *' -v name="$name" 'NR > 1 {step = $2; if (!(step in ms)) order[++n] = step; ms[step] += $(NF - 1)} END {printf "%s, milliseconds:", name; for (i = 1; i <= n; ++i) printf " %s %d", order[i], ms[order[i]]; print ""}' "$work/$name.csv"
done
