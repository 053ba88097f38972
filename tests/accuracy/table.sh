#!/bin/sh
# table.sh HOST [CUDA]: docs/accuracy.md from what `accuracy` printed on the host and on a GPU.
set -eu
host=$1 cuda=${2:-/dev/null}
cat <<'TEXT'
# Accuracy

The largest errors that were found, in units in the last place (ULP) of the exact value, and what is allowed; complex functions in
epsilons, relative to |value|. 0.5 is correctly rounded. `tests/accuracy` measures them: for float 131,072 arguments a function against
the C library's long double, for double 32,768 against libquadmath, over all exponents and close to roots and poles; it fails where a
bound is exceeded. Where the bounds come from stands beside each in `tests/accuracy/bounds.hpp`. Rounding, comparing and taking
numbers apart is exact; `tests/numpy` compares it bit for bit.

The 16-bit formats are computed in float and rounded once: their last place may be wrong, by one, where a function is not exact.

TEXT
awk '
  FNR == 1 { ++file }
  /^# .*,/ && FNR == 1 { machine[file] = substr($0, 3) }
  /^#/ { next }
  { key = $1 " " $2; if (!(key in seen)) { seen[key] = 1; order[++n] = key } values[key, file] = "| " $3 " | " $4 " | " $5 " | " $6 " " }
  END {
    for (f = 1; f <= file; ++f) printf "%s%s", f == 1 ? "Measured on " : "; ", machine[f]
    printf ".\n\n|  | host: float | bound | double | bound | GPU: float | bound | double | bound |\n"
    print "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for (i = 1; i <= n; ++i) {
      split(order[i], name, " ")
      gpu = (order[i], 2) in values ? values[order[i], 2] : "|  |  |  |  "
      printf "| %s%s %s%s|\n", name[2], name[1] == "complex" ? " (complex)" : "", values[order[i], 1], gpu
    }
  }' "$host" "$cuda"
