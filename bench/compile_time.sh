#!/bin/bash
# Compile times in one run: `c = exp(a) + 2 * b` against the same kernel by hand, and a step of 13 stages. Medians of user + system
# seconds of three compilations each, which other work on the machine disturbs less than wall time, and wall time beside them.
# Usage: compile_time.sh [NVCC [ARCHITECTURE]]
set -euo pipefail
nvcc=${1:-nvcc} arch=${2:-sm_90} root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/by_hand.cu" <<'CODE'
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
cp "$root/tests/codegen/thirteen_stages.cu" "$work/thirteen_stages.cu"
sed -i "s|\"../rk4.hpp\"|\"$root/tests/rk4.hpp\"|" "$work/thirteen_stages.cu"

TIMEFORMAT='%R %U %S'
once() { { time "$nvcc" --expt-relaxed-constexpr -std=c++20 -O3 -arch="$arch" -I"$root/include" -c "$1" -o "$work/out.o" 2>/dev/null; } 2>&1; }
declare -A cpu
for round in 1 2 3; do for name in by_hand dsl thirteen_stages; do once "$work/$name.cu" >>"$work/$name.times"; done; done
for name in by_hand dsl thirteen_stages; do
  read -r wall busy < <(awk '{print $1, $2 + $3}' "$work/$name.times" | sort -k2 -n | sed -n 2p)
  cpu[$name]=$busy
  printf '%-16s %6.2f s of processor time, %6.2f s wall\n' "$name" "$busy" "$wall"
done
awk "BEGIN {printf \"dsl / by hand: %.2f (at most 2.5)\n\", ${cpu[dsl]} / ${cpu[by_hand]}}"
