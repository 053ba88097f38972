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
cat <<'TEXT'

## Derivatives

The derivatives of each function, by `dsl::grad` and `dsl::jvp`, are compared with mpmath's at the points of `tests/data/derivatives.txt`: within 6 ULP,
of complex numbers within 6 epsilons of the magnitude. On a GPU three times as much is allowed, everywhere what is smaller than the smallest normal number.
These functions have other bounds, the sum of three: ULP; a multiple of the change of the derivative when each operand changes by an epsilon of its own,
which is large next to roots and poles; epsilons.

| | ULP | changes | epsilons | because |
| --- | ---: | ---: | ---: | --- |
| pow, logaddexp, logaddexp2, erf, erfc | 6 | 1 | | an exponent is rounded: a difference, or a square |
| erfinv | 32 | | | it is e^(r^2) of the value r; up to 1 - 2^-20 |
| cbrt | 12 | | | the C library's has an error of 4 units |
| sinc | 8 | 1 | | a difference that cancels from 0.19 on |
| tgamma, lgamma | 6 | 1 | | digamma has roots |
| tanh | 6 | | 3 | it is 1 - r^2 of the value r, which is nearly 1 |
| tanh and tan of complex numbers | 6 | | 8 | 1 - r^2 and 1 + r^2 |

The squares of atan2's operands, and of arg's parts, must not overflow, nor their sum be 0: beyond, its derivatives are 0 or infinite.
TEXT
