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
Of a NaN the GPU makes 0x7fff, whatever its bits were.

The arguments of real functions are all numbers: subnormal ones, those next to the largest, and close to roots, poles (of the gamma function
down to -200) and where a result becomes infinite or 0. Near a root these have an absolute bound beside the one in the table, which holds where
it is the larger one:

| | host: float | double | GPU: float | double |
| --- | --- | --- | --- | --- |
| lgamma, near its roots below -2 | 1e-6 | 2e-15 | 1e-5 | 1e-13 |
| digamma, near its roots below 0 | 3e-6 | 2e-14 | 3e-6 | 2e-14 |
| logaddexp, logaddexp2, near 0 | 1.2e-7 | 2.3e-16 | 1.2e-7 | 2.3e-16 |

Complex functions of one number are measured for parts of all exponents, but where a result is subnormal, infinite or next to the largest number; those
of two for parts up to 30 in magnitude, one of them down to 2^-30 of that, and on the unit circle. Quotients are NumPy's, by the same formula: where a
divisor's parts are subnormal, or parts are next to the largest number, one that could be represented may be infinite, 0 or NaN or have few digits, as
there. Where a product and a sum are one operation (AVX2, AVX-512, GPUs) few of these differ from NumPy's. Reciprocals are right; those of numbers next to the
largest may be 0 in place of a subnormal number. A power is as exact as w log z, which is large where the power is far from 1.

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
