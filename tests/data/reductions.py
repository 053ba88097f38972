#!/usr/bin/env python3
"""Writes reductions.txt: the results of NumPy for every reduction and every dtype.

Made with NumPy 2.4.6, ml_dtypes 0.6.0 and mpmath 1.4.1:  python3 reductions.py > reductions.txt

Result dtypes, integers, booleans, positions, extremes and the effects of NaNs and infinities are
NumPy's. Sums, products and values derived from them are computed exactly (with fractions) and
rounded once. Each such value is followed by the allowed error: the largest error that n roundings
can cause, whatever the order of the terms (Higham, Accuracy and Stability of Numerical Algorithms,
chapter 4).

  sum             n u sum|x|
  prod            3 n u |prod|
  dot, vdot       2 (n + 1) u sum|a b|
  mean            that of the sum / n, and u |mean|
  var, std        every x - mean off by (n + 4) u sqrt(sum |x|^2), all of them together. A pass
                  that sums x and x^2 does not reach this
  norm            (n + 4) u norm

u is half a unit in the last place of the accumulator's dtype, float32 for float16 and bfloat16;
their own rounding is added. The script fails if NumPy's value, computed in float64, has a larger
error than that.

Intended differences from NumPy:
  bfloat16                 its results have the dtypes of float16's; ml_dtypes' norms are float64
  nanargmin, nanargmax     -1 if all are NaN, an error in NumPy
"""
import sys
from fractions import Fraction

import mpmath as mp
import numpy as np

from functions import ALL, FORMAT, LARGEST, NUMPY, PART, bits, kind, name_of, rounded


# ---- Operands

def operands(name):
    """Arrays of rank 3: two that are reduced along every set of axes, then those that are only
    reduced completely."""
    random = np.random.default_rng(ALL.index(name))
    dtype = NUMPY[name]

    def row(*values):
        return np.array(values).astype(dtype).reshape(1, 1, -1)

    if name == "bool":
        whole = [[0], [1], [0, 1], [1, 0, 1], [1, 1, 1], [0, 0], list(random.integers(0, 2, 17))]
        return [
            random.integers(0, 2, (2, 3, 5)).astype(dtype),
            np.array([0, 1, 1, 1, 1] * 2 + [0, 0, 1, 1, 1]).astype(dtype).reshape(3, 1, 5),
        ], [row(*v) for v in whole]
    if kind(name) == "i":
        lowest, largest = int(np.iinfo(name).min), int(np.iinfo(name).max)
        small = random.integers(-9 if lowest else 1, 10, (2, 3, 5)).astype(dtype)
        wide = random.integers(lowest, largest, (3, 1, 5), dtype=dtype, endpoint=True)
        wide[0, 0, 1], wide[2, 0, 1], wide[1, 0, 3], wide[2, 0, 3] = (
            lowest,
            largest,
            largest,
            largest,
        )
        whole = [[lowest], [0, 0, 0], [lowest, largest], [largest, largest, 1],
                 [lowest, lowest, largest], [3, 1, 3, 1, 3]]
        return [small, wide], [
            np.array(v, dtype=dtype).reshape(1, 1, -1)
            for v in whole + [list(random.integers(lowest, largest, 17, dtype=dtype))]
        ]
    inf, nan = np.inf, np.nan
    magnitude = np.exp2(random.uniform(-1, 1, (2, 3, 5))) * np.where(
        random.random((2, 3, 5)) < 0.3, -1, 1
    )
    # Ties.
    magnitude[1, 2, 3], magnitude[0, 1, 1] = magnitude[0, 2, 3], magnitude[0, 1, 4]
    special = [[nan, 1, inf, -0.0, 2], [nan] * 5, [nan, 3, -inf, 0.0, 2]]
    if kind(name) == "c":
        finite = magnitude * np.exp(1j * random.uniform(-1.5, 1.5, (2, 3, 5)))
        finite[1, 2, 3], finite[0, 1, 1] = finite[0, 2, 3], finite[0, 1, 4]
        special = [
            [complex(nan, 1), 1 + 2j, -4j, 0, 2 - 1j],
            [complex(1, nan), complex(nan, nan), complex(nan, 0), complex(0, nan), nan],
            [nan, 1 + 1j, 3, 0, 2 + 1j],
        ]
        whole = [[nan], [1, complex(2, nan)], [complex(nan, 1), complex(3, nan)],
                 [1 + 2j, 1 + 1j, 1 + 2j, 1 + 1j], [0, 1j], [1j, 0, -1j], [3 - 4j],
                 [complex(0, 0.0), complex(-0.0, -0.0)], [complex(inf, 1), 2j],
                 [1e3 + 1e3j, 1e3 + 1001j, 999 + 1e3j, 1e3 + 1e3j],
                 list(random.standard_normal(17) + 1j * random.standard_normal(17))]
        return [finite.astype(dtype), np.array(special).astype(dtype).reshape(3, 1, 5)], [
            row(*v) for v in whole
        ]
    digits, lowest = FORMAT[name]
    tiny, largest, eps = (
        2.0**lowest,
        (2 - 2.0 ** (1 - digits)) * 2.0 ** (LARGEST[name] - 1),
        2.0 ** (1 - digits),
    )
    # Large compared with its variations.
    far = 100 if digits < 12 else 1000 if digits == 24 else 1e6
    whole = [[nan], [1, nan], [nan, 1, -1], [-1, inf, nan, -inf], [inf, -inf], [inf, 1],
             [2, -inf, -inf], [0.0, -0.0], [-0.0, 0.0], [3, 1, 3, 1, 3], [largest, largest],
             [-largest, 1], [tiny, -3 * tiny, tiny], [-2.5, -2.5], [6e4, 6e4, -6e4],
             [1, eps / 2, eps / 2, eps / 2, eps / 2],
             [far + 1, far - 1, far + 2, far, far - 2, far + 1, far, far, far],
             list(random.uniform(0.5, 1.5, 17))]
    return [magnitude.astype(dtype), np.array(special).astype(dtype).reshape(3, 1, 5)], [
        row(*v) for v in whole
    ]


# ---- Sums and derived values

# Each function takes numbers as pairs of fractions, and u. It returns a real and an imaginary part
# and the allowed error.

def real(x):
    """An mpf of a fraction."""
    return mp.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mp.mpf(x)


def magnitude(z):
    return mp.sqrt(real(z[0] * z[0] + z[1] * z[1])) if z[1] else real(abs(z[0]))


def times(a, b):
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def add_up(x):
    return sum((re for re, _ in x), Fraction(0)), sum((im for _, im in x), Fraction(0))


def root_of_squares(x):
    return mp.sqrt(real(sum((re * re + im * im for re, im in x), Fraction(0))))


def total(x, u):
    size, unit = sum(map(magnitude, x)), max((part.denominator for z in x for part in z), default=1)
    # Multiples of a power of two, which the accumulator holds exactly.
    exact = len(x) < 2 or size * unit * u <= 1
    return *add_up(x), 0 if exact else len(x) * u * size


def product(x, u):
    result = (Fraction(1), Fraction(0))
    for factor in x:
        result = times(result, factor)
    return *result, 3 * len(x) * u * magnitude(result) if len(x) > 1 else 0


def mean(x, u):
    re, im, error = total(x, u)
    result = (re / len(x), im / len(x))
    return *result, error / len(x) + u * magnitude(result)


def variance(x, u, ddof):
    n = len(x)
    re, im = add_up(x)
    s = root_of_squares([(a - re / n, b - im / n) for a, b in x])
    error = (n + 4) * u * root_of_squares(x)
    return s * s / (n - ddof), 0, ((s + error) ** 2 - s * s) / (n - ddof)


def deviation(x, u, ddof):
    squared, _, _ = variance(x, u, ddof)
    return mp.sqrt(squared), 0, (len(x) + 4) * u * root_of_squares(x) / mp.sqrt(len(x) - ddof)


def norm(x, u, order):
    is_real = not any(im for _, im in x)
    if order == 1 and is_real:
        return total([(abs(re), im) for re, im in x], u)
    size = [magnitude(z) for z in x]
    value = (
        sum(size, mp.mpf(0))
        if order == 1
        else root_of_squares(x)
        if order == 2
        else max(size, default=mp.mpf(0))
    )
    return value, 0, 0 if order == np.inf and is_real else (len(x) + 4) * u * value


def dot(x, u, conjugated):
    terms = [times((re, -im if conjugated else im), b) for (re, im), b in zip(x, reversed(x))]
    return *add_up(terms), 2 * (len(x) + 1) * u * sum(map(magnitude, terms))


# ---- Reductions

class reduction:
    def __init__(self, numpy, exact=None, least=0, of_squares=True, axes=3):
        # NumPy's function, of a matrix along axis 1.
        self.numpy = numpy
        # A function of the previous section, or None if NumPy's value is exact.
        self.exact = exact
        # For fewer elements NumPy's value is used, whatever it is.
        self.least = least
        # Has intermediate results that may overflow although the result does not.
        self.of_squares = of_squares
        # Maximum number of axes; 0: it only reduces everything.
        self.axes = axes


def along_rows(function):
    return lambda x: np.array([function(row) for row in x])


def position_among_numbers(function):
    return along_rows(lambda row: -1 if np.all(np.isnan(row)) else function(row))


def norm_of_order(order):
    return reduction(lambda x: np.linalg.norm(x, order, axis=1), lambda x, u: norm(x, u, order))


def deviations(prefix):
    for name, exact in ("var", variance), ("std", deviation):
        for ddof in 0, 1:
            function = getattr(np, prefix + name)
            yield prefix + name + (f"_ddof_{ddof}" if ddof else ""), reduction(
                lambda x, function=function, ddof=ddof: function(x, axis=1, ddof=ddof),
                lambda x, u, exact=exact, ddof=ddof: exact(x, u, ddof), ddof + 1)


def plain(name, exact=None, least=0, **options):
    return name, reduction(lambda x: getattr(np, name)(x, axis=1), exact, least, **options)


REDUCTIONS = dict([
    plain("sum", total, of_squares=False),
    plain("prod", product),
    plain("nansum", total, of_squares=False),
    plain("nanprod", product),
    ("sum_as_double",
     reduction(lambda x: np.sum(x, axis=1, dtype=np.result_type(x, np.float64)), total,
               of_squares=False)),
    *(plain(name, of_squares=False)
      for name in ("min", "max", "nanmin", "nanmax", "ptp", "any", "all", "count_nonzero")),
    plain("mean", mean, 1),
    plain("nanmean", mean, 1), *deviations(""), *deviations("nan"), ("norm_1", norm_of_order(1)),
    ("norm_2", norm_of_order(2)), ("norm_inf", norm_of_order(np.inf)),
    *(plain(name, of_squares=False, axes=1) for name in ("argmin", "argmax")),
    *(("nan" + name,
       reduction(position_among_numbers(getattr(np, "nan" + name)), of_squares=False, axes=1))
      for name in ("argmin", "argmax")),
    ("dot",
     reduction(along_rows(lambda x: np.dot(x, x[::-1])), lambda x, u: dot(x, u, False), axes=0)),
    ("vdot",
     reduction(along_rows(lambda x: np.vdot(x, x[::-1])), lambda x, u: dot(x, u, True), axes=0)),
])
NO_VALUE_OF_NOTHING = {
    "min", "max", "nanmin", "nanmax", "ptp", "norm_inf", "argmin", "argmax", "nanargmin",
    "nanargmax"
}


# ---- Values and errors

def result_name(r, name):
    """NumPy's dtype; for bfloat16, that for float16."""
    made = name_of(
        np.asarray(r.numpy(np.ones((1, 2), NUMPY["float16" if name == "bfloat16" else name]))).dtype
    )
    return "bfloat16" if name == "bfloat16" and made == "float16" else made


def pair(x, name):
    return (
        (Fraction(int(x)), Fraction(0))
        if kind(name) in "bi"
        else (Fraction(float(x.real)), Fraction(float(x.imag)))
    )


def one_digit(x):
    """Rounds upwards to one digit."""
    exponent = int(mp.floor(mp.log10(x)))
    return f"{int(mp.ceil(x / mp.mpf(10) ** exponent))}e{exponent}"


def value_of(label, name, made, row):
    """One result as text, with the allowed error."""
    r = REDUCTIONS[label]
    if r.exact is None or kind(made) in "bi":
        return bits(
            r.numpy((row.astype(np.float32) if name == "bfloat16" else row)[None]).astype(
                NUMPY[made]
            )
        )
    if label.startswith("nan"):
        row = row[~np.isnan(row)]
    wide = row.astype(np.complex128 if kind(name) == "c" else np.float64)
    had = r.numpy(wide[None])
    if not np.all(np.isfinite(wide)) or len(row) < r.least:
        return bits(had.astype(NUMPY[made]))
    numbers, part, small = (
        [pair(x, name) for x in row],
        PART.get(made, made),
        made in ("float16", "bfloat16"),
    )
    u, own = (mp.mpf(2) ** -FORMAT[dtype][0] for dtype in ("float32" if small else part, part))
    re, im, error = r.exact(numbers, u)
    value = mp.mpc(real(re), real(im))
    allowed = r.exact(numbers, mp.mpf(2) ** -52)[2] + mp.mpf(2) ** -53 * abs(value)
    if not abs(mp.mpc(complex(had[0])) - value) <= allowed and np.isfinite(
        rounded(abs(value), "float64")
    ):
        sys.exit(f"{label} of {name} {row}: NumPy has {had}, exactly {value}")
    nearest = complex(rounded(value.real, part), rounded(value.imag, part))
    written = bits(np.array([nearest if kind(made) == "c" else nearest.real]).astype(NUMPY[made]))
    if not np.isfinite(nearest):
        return written
    error += abs(mp.mpc(nearest) - value)
    return f"{written}~{one_digit(error + own * abs(value) * small)}" if error else written


# These dtypes stand for others that are only variants: compiling all would take too long.
# `level_of` in tests/reductions/reference.hpp has the same rule.
FULLY = ("int32", "float32", "complex64")
FULLY_ONLY = ("var_ddof_1", "std", "vdot", "sum_as_double", "nanvar", "nanstd_ddof_1")


def is_compared(label, name):
    if label == "ptp" and name == "bool":
        return False  # An error in NumPy.
    return name in FULLY or not (
        label in FULLY_ONLY or label.startswith("nan") and kind(name) in "bi"
    )


def hangs_on_the_way(label, name, x):
    """Whether the result depends on the implementation, for example through an overflow in
    between."""
    r, limit = REDUCTIONS[label], 200 if name == "float16" else 2e6
    if kind(name) not in "fc":
        return False
    sizes = np.abs(x[np.isfinite(x) & (x != 0)].astype(np.complex128))
    infinite_complex = kind(name) == "c" and bool(np.any(np.isinf(x)))
    # NumPy divides an infinite complex number by a complex one.
    if "mean" in label:
        return bool(np.any((sizes < 1e-30) | (sizes > 1e30))) or infinite_complex
    return r.of_squares and (bool(np.any((sizes < 1e-4) | (sizes > limit))) or infinite_complex)


def axis_sets(label, name, x):
    everything, one, two = [(0, 1, 2)], [(0,), (1,), (2,)], [(0, 1), (0, 2), (1, 2)]
    if not is_compared(label, name) or hangs_on_the_way(label, name, x):
        return []
    if x.shape[0] == 1:
        # The same as without nan.
        without_nan = label.startswith("nan") and not np.any(np.isnan(x))
        variant = label.endswith(("std", "ddof_1", "norm_1", "norm_inf", "as_double"))
        return [] if (without_nan or variant) and x.size not in (1, 17) else everything
    count, turn = REDUCTIONS[label].axes, list(REDUCTIONS).index(label) % 3
    if x.size == 30 and (name not in FULLY or label.startswith("nan")):
        one, two = one[turn:turn + 1], two[turn:turn + 1]
    return (
        everything
        + one * (count > 0)
        + two * (count > 1 and name in FULLY and (x.size != 15 or label == "sum"))
    )


def line(label, name, x, axes):
    head = f"{label} {'all' if len(axes) == 3 else ','.join(map(str, axes))} "
    kept = [d for d in range(3) if d not in axes]
    n, count = (int(np.prod([x.shape[d] for d in along])) for along in (axes, kept))
    if n == 0 and count > 0 and label in NO_VALUE_OF_NOTHING:
        return head + "shape_error"
    made = result_name(REDUCTIONS[label], name)
    rows = np.transpose(x, kept + list(axes)).reshape(count, n)
    return " ".join([head + made] + [value_of(label, name, made, row) for row in rows])


if __name__ == "__main__":
    print(
        "# Made by reductions.py. A section is a line `operand dtype extents...`, a line "
        "of its values, then for each reduction a line: its"
    )
    print(
        "# name, the axes, the result's dtype, its values, or shape_error. Values are "
        "bits in hexadecimal, a complex number's parts with a"
    )
    print(
        "# comma between them, and after ~ the error that is allowed; without it the "
        "value is exact. dot and vdot are of the operand and its"
    )
    print("# reverse.")
    for name in ALL:
        with_axes, whole = operands(name)
        for x in with_axes + [np.empty((2, 0, 3), NUMPY[name])] + whole:
            print("operand", name, *x.shape)
            print(bits(x.ravel()))
            for label in REDUCTIONS:
                for axes in axis_sets(label, name, x):
                    print(line(label, name, x, axes))
