#!/bin/sh
# What profilers call kernels: of each kernel that kernels.cu says is shown there is one, and none has another name. Needs nvcc and no GPU.
# Usage: names.sh NVCC INCLUDE_DIRECTORY
set -eu
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" --expt-relaxed-constexpr -std=c++20 -arch=compute_90 -DDSL_BACK_ENDS=cuda -I"$2" -ptx -o "$work/kernels.ptx" "$here/kernels.cu"
sed -n 's/^[^/]*\.entry *\([A-Za-z0-9_]*\).*/\1/p' "$work/kernels.ptx" >"$work/mangled"
c++filt <"$work/mangled" | sed 's/^void dsl::kernels:://' >"$work/names"
sed -n 's|^ *// shown: ||p' "$here/kernels.cu" >"$work/shown"
failures=0
while read -r shown; do
  if grep -qF -- "$shown" "$work/names"; then echo "ok: $shown"; else echo "FAILED: no kernel $shown"; failures=1; fi
done <"$work/shown"
# What is left are the other paths of the kernels that are shown.
sed 's/, dsl::detail::.*_arguments<.*//' "$work/shown" >"$work/beginnings"
if grep -vF -f "$work/beginnings" "$work/names" | cut -c1-120 | grep .; then echo "FAILED: these are not shown in kernels.cu"; failures=1; fi
[ -s "$work/shown" ] && [ -s "$work/names" ] || { echo "FAILED: nothing was compared"; failures=1; }
longest=$(awk '{ n = length($0); if (n > most) most = n } END { print most + 0 }' "$work/mangled")
echo "the longest mangled name has $longest characters"
exit $failures
