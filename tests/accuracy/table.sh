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

## OpenCL

Sums, products, `fma`, `fmod` and all rounding are exact or correctly rounded, as on the other devices. Quotients and square roots of float
are correctly rounded where the device can (`-cl-fp32-correctly-rounded-divide-sqrt`), and computed in double elsewhere. A product and a
sum in one expression may be one operation, as on a GPU; `-cl-fast-relaxed-math` is never used.

The functions are OpenCL's own, with the bounds of its specification. PoCL's are SLEEF's, within 3 ULP at all values that
`tests/opencl/print/rows_test.cpp` tries. A device that keeps no more than the specification asks may exceed the bounds of the GPU's columns above in these:

| | OpenCL's bound: float | double | exceeds the GPU's bound |
| --- | ---: | ---: | --- |
| exp, exp2, exp10, expm1, log, log2, log10 | 3 | 3 | float, double |
| log1p, cbrt | 2 | 2 | float, double |
| rsqrt | 2 | 2 | double |
| hypot | 4 | 4 | float, double |
| pow | 16 | 16 | float, double |
| sin, cos, sinpi, cospi, asin, acos | 4 | 4 | float, double |
| tan, atan | 5 | 5 | float, double |
| atan2 | 6 | 6 | float, double |
| sinh, cosh, asinh | 4 | 4 | float, double |
| acosh | 4 | 4 | double |
| tanh, atanh | 5 | 5 | float, double |
| erf, erfc, tgamma | 16 | 16 | float, double |
| lgamma | none | none | float, double |

`sinc`, `logaddexp`, `polar`, the double `erfinv` and functions of complex numbers are computed from these and are no better. `digamma`, `i0`, `i1`, the float `erfinv`
and random numbers have the library's own code; the bits of random numbers, normal and exponential ones included, are those of the host wherever divisions and
roots are correctly rounded. `fast_math` takes OpenCL's `native_` functions, whose errors the device defines.
TEXT
