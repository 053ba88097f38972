#!/usr/bin/env python3
"""Writes functions.txt: the results of NumPy for every function of the language and every dtype.

Made with NumPy 2.4.6, SciPy 1.17.1, ml_dtypes 0.6.0 and mpmath 1.4.1:
  python3 functions.py > functions.txt

Result dtypes and special values (an operand or a result that is NaN, infinite or zero) are NumPy's.
Other floating point values are computed with mpmath and rounded once, because NumPy's own may be
wrong by some units in the last place; the script fails if the two differ by more than that.
Functions that only SciPy has get their dtypes from np.exp's rule.

Intended differences from NumPy, each made by the function of this script with that name:
  divide          integer division truncates; by zero it gives 0; reciprocal likewise
  modulus         the operator % is C's, as np.fmod; np.remainder is the function remainder
  pow             integers to a negative power, an error in NumPy: the power truncated to an
                  integer, and 0 for base 0
  round           rounds halves away from zero; NumPy's round is rint here
  i0, sinc, arg   follow np.exp's dtypes; NumPy's, which are not ufuncs, give float64 for every
                  integer
  lgamma          of -inf is inf, as in C; SciPy's is -inf
  erfinv, i1      of -0 is -0; SciPy's is 0
  i0, i1          of an infinity are their limits; NumPy and SciPy give NaN
  sign, clip, degrees, radians, nan_to_num
                  of bfloat16 are as for float16; ml_dtypes gives float32, or another zero or
                  infinity
NumPy's own dtypes differ in the sign of zero for min, max, fmin, fmax and clip of two zeros, and
for nextafter of equal operands.
"""
import sys
import warnings

import ml_dtypes
import mpmath as mp
import numpy as np
from scipy import special

warnings.simplefilter("ignore")
mp.mp.prec = 200

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
ALL = ["bool"] + INTEGERS + FLOATS + COMPLEX
NUMPY = {name: np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name) for name in ALL}
# Digits, lowest exponent.
FORMAT = {
    "float16": (11, -24),
    "bfloat16": (8, -133),
    "float32": (24, -149),
    "float64": (53, -1074),
}
# This power of 2 overflows.
LARGEST = {"float16": 16, "bfloat16": 128, "float32": 128, "float64": 1024}
PART = {"complex64": "float32", "complex128": "float64"}


def name_of(dtype):
    return next(name for name in ALL if NUMPY[name] == dtype)


def kind(name):
    return "b" if name == "bool" else "i" if name in INTEGERS else "f" if name in FLOATS else "c"


# ---- Operands

def real_operands(name):
    digits, lowest = FORMAT[name]
    eps = 2.0 ** (1 - digits)
    normal, largest = 2.0 ** (lowest + digits - 1), (2 - eps) * 2.0 ** (LARGEST[name] - 1)
    tiny = 2.0**lowest
    return [
        0.0, -0.0, np.inf, -np.inf, np.nan, tiny, -3 * tiny, normal, -normal, largest, -largest,
        eps, 1 - eps / 2, 1 + eps, 1e-3, 0.1, 0.25, -0.3, 0.5, -0.5, 0.75, -0.9375, 1, -1, 1.25,
        1.5, -1.5, 2, -2, 2.5, -2.5, 3, np.pi / 4, np.pi / 2, -np.pi, 3.7, -4.3, 5.5, 8.5, -11, 20,
        -23.5, 88, -104, 1000, 6e4
    ]


def real_pairs(name):
    digits, lowest = FORMAT[name]
    eps, tiny = 2.0 ** (1 - digits), 2.0**lowest
    largest = (2 - eps) * 2.0 ** (LARGEST[name] - 1)
    inf, nan = np.inf, np.nan
    special_pairs = [(0, 0), (0.0, -0.0), (-0.0, 0.0), (-0.0, -0.0), (1, 0), (-1, 0), (1, -0.0),
                     (0, 1), (0, -1), (-0.0, 2), (-0.0, 3), (-0.0, -3), (inf, inf), (inf, -inf),
                     (-inf, inf), (-inf, -inf), (inf, 1), (-inf, 2.5), (-inf, 3), (1, inf),
                     (-1, inf), (2, -inf), (-2.5, -inf), (0, inf), (inf, 0), (nan, 1), (1, nan),
                     (nan, nan), (nan, 0), (0, nan), (inf, nan), (nan, -inf)]
    ordinary = [(1, 1), (1, 2), (2, 1), (-1, 0.5), (7, 3), (-7, 3), (7, -3), (-7, -3), (6, 3),
                (-6, 3), (2.5, 0.5), (0.3, 0.1), (-0.3, 1.7), (5.5, -2), (-2, 7), (-2, -3),
                (10, 2.25), (0.7, 20), (3.5, 3.5), (100, 0.01), (1.5, 1e-3), (-50, 4), (3, -50),
                (largest, 2), (largest, largest), (largest, 0.5), (tiny, tiny), (tiny, 0.5),
                (-tiny, 3), (1, tiny), (1 + eps, 1), (1 - eps / 2, 50)]
    return special_pairs + ordinary


def complex_operands():
    inf, nan = np.inf, np.nan
    return [
        0, complex(-0.0, 0.0), complex(0.0, -0.0), 1, -1, 1j, -1j, 1 + 1j, 3 - 4j, -3 + 4j,
        -0.5 - 0.25j, 0.1 + 2j, 2.5 - 0.7j, -2.5 + 3j, 1e-3 + 1e-3j, 1e-9 - 1e-12j, 10 + 20j,
        5 - 30j, -20 + 1e-4j, 1 + 1e-4j, complex(0.6, -0.8), complex(-4, 0.0), complex(-4, -0.0),
        complex(1e15, 1e15), complex(nan, 1), complex(1, nan), complex(inf, 1), complex(-inf, 2),
        complex(1, inf), complex(inf, -inf)
    ]


def complex_specials():
    """Operands for which signs of zeros, infinities and NaN matter: every pair of such parts,
    and the smallest numbers."""
    parts = [0.0, -0.0, 0.75, -3.0, np.inf, -np.inf, np.nan]
    tiny = [complex(0, t) for t in (5e-324, -5e-324, 1.4e-45, -1.4e-45)] + [
        complex(t, -0.0) for t in (5e-324, -1.4e-45)
    ]
    return (
        [complex(a, b) for a in parts for b in parts]
        + [complex(0.0, b) for b in (3.0, 2.0, -2.0, 5.0)]
        + [complex(2.0, 0.0), complex(-2.0, -0.0)]
        + tiny
    )


def integer_operands(name):
    lowest, largest = int(np.iinfo(name).min), int(np.iinfo(name).max)
    values = [0, 1, 2, 3, 4, 5, 7, 8, 10, 16, 20, 33, 100, largest, largest - 1, largest // 2]
    values += [-1, -2, -3, -5, -10, -100, lowest, lowest + 1] if lowest else [200, 255]
    return values


def integer_pairs(name):
    lowest, largest, bits = int(np.iinfo(name).min), int(np.iinfo(name).max), np.iinfo(name).bits
    pairs = [(0, 0), (1, 0), (0, 1), (7, 0), (7, 3), (3, 7), (6, 3), (5, 2), (2, 5), (3, 4),
             (12, 18), (18, 12), (2, 7), (10, 2), (3, 5), (1, 100), (1, 1), (largest, 1),
             (largest, largest), (largest, 2), (2, largest), (0, largest), (1, bits - 1), (1, bits),
             (100, bits + 1), (5, 127)]
    if lowest:
        pairs += [(-1, 0), (-7, 3), (7, -3), (-7, -3), (-6, 3), (lowest, -1), (lowest, 1),
                  (lowest, lowest), (lowest, largest), (lowest, 0), (lowest, 2), (-1, 1), (-8, 2),
                  (1, -1), (-1, -1), (-1, -2), (2, -1), (0, -1), (-1, bits), (-12, 18), (-2, 7),
                  (-3, 3)]
    return pairs


def operands(dtypes):
    """One array for each operand."""
    kinds, first = "".join(kind(d) for d in dtypes), dtypes[0]
    if kinds in ("b", "bb", "bbb"):
        n = len(kinds)
        columns = [[i >> k & 1 for i in range(2**n)] for k in range(n)]
    elif kinds == "bi" or kinds == "ii" and dtypes[1] != first or kinds == "fi":  # ldexp.
        shifts = [0, 1, -1, 5, -7, 20, -24, 130, -150, 2000, -2000]
        values = (
            [0, 1]
            if kind(first) == "b"
            else integer_operands(first)
            if kind(first) == "i"
            else real_operands(first)
        )
        tuples = [
            (v, shifts[(3 * i + k) % len(shifts)]) for i, v in enumerate(values) for k in range(2)
        ]
        columns = list(zip(*tuples))
    elif len(kinds) == 1:
        columns = [
            integer_operands(first)
            if kinds == "i"
            else real_operands(first)
            if kinds == "f"
            else complex_operands() + complex_specials()
        ]
    elif kinds == "ii":
        columns = list(zip(*integer_pairs(first)))
    elif kinds == "ff":
        columns = list(zip(*real_pairs(first)))
    elif kinds == "cc":
        z = complex_operands()
        finite = z[:23]
        tuples = (
            [(a, finite[(7 * i + 4) % len(finite)]) for i, a in enumerate(finite)]
            + [(a, 2 - 1j) for a in z[24:]]
            + [(1 + 2j, a) for a in z[24:]]
        )
        tuples += [(0, 0), (1, 0), (1 + 2j, 3), (2, 0.5 + 1j), (3 - 4j, 2), (1e15 + 1j, 1e-15j),
                   (1 + 2j, 1 + 2j), (1 + 2j, -1), (-1, 0.5), (-1, 1j)]
        tuples += [(z, n) for z in (complex(3, np.inf), complex(-np.inf, 1), complex(-0.0, 2),
                                    complex(1, np.nan), -0.5 - 0.25j) for n in (1, 2, 3)]
        columns = list(zip(*tuples))
    elif kinds == "iii" or kinds == "fff":
        pairs = integer_pairs(first) if kinds == "iii" else real_pairs(first)
        tuples = [(a, b, pairs[(5 * i + 3) % len(pairs)][i % 2]) for i, (a, b) in enumerate(pairs)]
        if kinds == "iii":
            tuples += [(5, 2, 8), (1, 2, 8), (9, 2, 8), (5, 8, 2)]
        else:
            tuples += [(0.5, -1, 1), (-2, -1, 1), (2, -1, 1), (0, 1, -1), (1.1, 1.1, -1.21)]
        columns = list(zip(*tuples))
    else:  # where: a boolean first.
        values = {"i": integer_pairs, "f": real_pairs}.get(
            kinds[1], lambda _: [(z, -1j) for z in complex_operands()]
        )(dtypes[1])
        values = values[:24]
        columns = [
            [i % 3 != 0 for i in range(len(values))],
            [a for a, _ in values],
            [b for _, b in values],
        ]
    return [
        np.array(list(c)).astype(NUMPY[d])
        if kind(d) != "i"
        else np.array([int(v) for v in c], dtype=NUMPY[d])
        for c, d in zip(columns, dtypes)
    ]


# ---- Values in higher precision

def rounded(value, name):
    """An mpf rounded to the nearest number of a floating point dtype, halves to even."""
    if mp.isnan(value):
        return np.nan
    if mp.isinf(value) or value == 0:
        return float(value)
    digits, lowest = FORMAT[name]
    sign, man, exp, bits = value._mpf_
    drop = max(bits - digits, lowest - exp)
    if drop > 0:
        half, man, exp = 1 << drop - 1, man >> drop, exp + drop
        rest = int(value._mpf_[1]) - (int(man) << drop)
        man += rest > half or rest == half and int(man) & 1
    man = int(man)
    if man and (man.bit_length() + exp) > LARGEST[name]:
        return -np.inf if sign else np.inf
    magnitude = float(mp.ldexp(man, exp))
    return -magnitude if sign else magnitude


def real_mp(function):
    """If mpmath gives a complex number or finds a pole, NumPy's value is used."""
    def value(*x):
        try:
            y = function(*x)
        except (ValueError, ZeroDivisionError, OverflowError):
            return None
        return None if isinstance(y, mp.mpc) and y.imag != 0 else mp.re(y)
    return value


def erfinv(x):
    if abs(x) >= 1:
        raise ValueError
    return mp.erfinv(x)


def tgamma(x):
    if x < 0 and x == mp.floor(x):
        raise ValueError
    return mp.gamma(x)


def lgamma(x):
    if x <= 0 and x == mp.floor(x):
        raise ValueError
    if abs(x) > 1e30:
        return x * (mp.log(abs(x)) - 1) if x > 0 else None
    return mp.log(abs(mp.gamma(x))) if abs(x) < 1e4 else mp.re(mp.loggamma(x))


def logadd(base):
    def value(x, y):
        high, low = max(x, y), min(x, y)
        return (
            high
            if high - low > 2000
            else high + mp.log1p(mp.power(base, low - high)) / mp.log(base)
        )
    return value


def sinc(x):
    return mp.mpf(1) if x == 0 else mp.sinpi(x) / (mp.pi * x)


def bessel(order):
    return lambda x: mp.sign(x) ** order * mp.inf if abs(x) > 1e4 else mp.besseli(order, x)


def digamma(x):
    if x <= 0 and x == mp.floor(x):
        raise ValueError
    return mp.log(x) if x > 1e30 else mp.digamma(x)


def power(x, y):
    if x == 0 or abs(y * mp.log(abs(x))) > 1e4 and abs(x) != 1:
        raise ValueError
    return mp.power(x, y)


def bounded_exp(function, limit=12000):
    def value(x):
        if abs(x) > limit:
            raise ValueError
        return function(x)
    return value


PRECISE = {
    "exp": bounded_exp(mp.exp), "exp2": bounded_exp(lambda x: mp.power(2, x)),
    "exp10": bounded_exp(lambda x: mp.power(10, x)), "expm1": bounded_exp(mp.expm1), "log": mp.log,
    "log2": lambda x: mp.log(x) / mp.log(2), "log10": mp.log10, "log1p": mp.log1p,
    "logaddexp": logadd(mp.e), "logaddexp2": logadd(mp.mpf(2)), "sqrt": mp.sqrt,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)), "rsqrt": lambda x: 1 / mp.sqrt(x),
    "hypot": lambda x, y: mp.sqrt(x * x + y * y), "sin": mp.sin, "cos": mp.cos, "tan": mp.tan,
    "asin": mp.asin, "acos": mp.acos, "atan": mp.atan, "atan2": mp.atan2,
    "sinh": bounded_exp(mp.sinh), "cosh": bounded_exp(mp.cosh), "tanh": mp.tanh, "asinh": mp.asinh,
    "acosh": mp.acosh, "atanh": mp.atanh, "sinpi": mp.sinpi, "cospi": mp.cospi, "sinc": sinc,
    "degrees": lambda x: x * 180 / mp.pi, "radians": lambda x: x * mp.pi / 180, "erf": mp.erf,
    "erfc": lambda x: mp.erfc(x) if x < 200 else None, "erfinv": erfinv, "tgamma": tgamma,
    "lgamma": lgamma, "digamma": digamma, "i0": bessel(0), "i1": bessel(1), "pow": power,
    "reciprocal": lambda x: 1 / x, "square": lambda x: x * x, "fma": lambda x, y, z: x * y + z,
}
COMPLEX_PRECISE = {
    "exp": mp.exp, "log": mp.log, "sqrt": mp.sqrt, "sin": mp.sin, "cos": mp.cos, "tan": mp.tan,
    "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "pow": mp.power, "abs": abs, "arg": mp.arg,
    "multiply": lambda a, b: a * b, "divide": lambda a, b: a / b, "square": lambda a: a * a,
    "reciprocal": lambda a: 1 / a, "abs2": lambda a: a.real * a.real + a.imag * a.imag,
    "sign": lambda a: a / abs(a),
}


def exact(x):
    return (
        mp.mpc(mp.mpf(float(x.real)), mp.mpf(float(x.imag)))
        if isinstance(x, (complex, np.complexfloating))
        else mp.mpf(float(x))
    )


def ordinary(x):
    return bool(np.all(np.isfinite(x))) and bool(np.all(x != 0))


def refine(function, given, result, allowed):
    """NumPy's results, with the ordinary ones replaced by correctly rounded ones."""
    name = name_of(result.dtype)
    table = COMPLEX_PRECISE if any(kind(name_of(g.dtype)) == "c" for g in given) else PRECISE
    if function not in table or kind(name) not in "fc":
        return result
    real = PART.get(name, name)
    out = result.copy()
    cut = (
        function == "atan2"
        or table is COMPLEX_PRECISE
        and function in ("log", "sqrt", "arg", "pow")
    )
    for i in range(len(result)):
        x = [g[i] for g in given]
        if not all(np.isfinite(v) for v in x) or cut and any(v.real == 0 or v.imag == 0 for v in x):
            # The sign of a zero matters, and mpmath's zeros have no sign.
            continue
        had = np.array(
            [result[i].real, result[i].imag] if kind(name) == "c" else [result[i]]
        ).astype(np.float64)
        if kind(name) == "c":
            if not np.all(np.isfinite(had)) or not result[i]:
                continue
            value = table[function](*(exact(v) for v in x))
            # A part that is an exact zero has the sign of NumPy's.
            parts = [
                rounded(mp.mpf(p), real) if h != 0 else h
                for p, h in zip((value.real, value.imag), had)
            ]
            got = parts[0] + 1j * parts[1]
            size = abs(complex(got))
            if size and abs(got - complex(*had)) > allowed * size * 2.0 ** -FORMAT[real][0] * 4:
                sys.exit(f"{function} {name} {x}: NumPy has {had}, mpmath {parts}")
            out[i] = complex(*parts)
            continue
        if (
            not np.isfinite(had[0])
            and kind(name_of(given[0].dtype)) != "c"
            and function not in ("hypot", "exp", "exp2", "expm1", "sinh", "cosh", "lgamma")
        ):
            continue
        if had[0] == 0 or np.isnan(had[0]):
            continue
        value = real_mp(table[function])(*(exact(v) for v in x))
        if value is None:
            continue
        got = rounded(value, name)
        step = (
            max(abs(got), 2.0 ** (FORMAT[name][1] + FORMAT[name][0] - 1))
            * 2.0 ** (1 - FORMAT[name][0])
            if np.isfinite(got)
            else 0
        )
        if not (got == had[0] or abs(got - had[0]) <= allowed * step):
            sys.exit(f"{function} {name} {x}: NumPy has {had[0]!r}, mpmath {got!r}")
        out[i] = got
    return out


# ---- Functions

def floating(*x):
    """The dtype to which operands are converted before a floating point function, by np.exp's
    rule."""
    return [v.astype(np.exp(v[:1]).dtype) if kind(name_of(v.dtype)) in "bi" else v for v in x]


def widened(*x):
    return [v.astype(np.int8) if v.dtype == bool else v for v in x]


def through_double(function):
    """A function that NumPy does not have, or not for this dtype, computed in double."""
    def value(*x):
        x = floating(*x)
        if kind(name_of(x[0].dtype)) == "c":
            raise TypeError
        with_double = [v.astype(np.float64) for v in x]
        return np.asarray(function(*with_double)).astype(np.result_type(*x))
    return value


def divide(a, b):
    if kind(name_of(a.dtype)) not in "bi":
        return np.true_divide(a, b)
    a, b = widened(a, b)
    quotient = [
        0 if y == 0 else abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1)
        for x, y in zip(a, b)
    ]
    return wrap(quotient, a.dtype)


def reciprocal(a):
    return divide(np.ones_like(a), a) if kind(name_of(a.dtype)) in "bi" else np.reciprocal(a)


def in_float(function):
    """A function that ml_dtypes' bfloat16 computes differently from NumPy's own dtypes."""
    def value(*x):
        if name_of(x[0].dtype) != "bfloat16":
            return function(*x)
        return function(*(v.astype(np.float32) for v in x)).astype(x[0].dtype)
    return value


def nan_to_num(a):
    if name_of(a.dtype) != "bfloat16":
        return np.nan_to_num(a)
    largest = float(ml_dtypes.finfo(a.dtype).max)
    return np.nan_to_num(a.astype(np.float32), posinf=largest, neginf=-largest).astype(a.dtype)


def wrap(values, dtype):
    bits = dtype.itemsize * 8
    return np.array([v & (1 << bits) - 1 for v in values], dtype=f"uint{bits}").astype(dtype)


def pow_(a, b):
    if kind(name_of(a.dtype)) not in "bi":
        return np.power(a, b)
    a, b = widened(a, b)
    def one(x, y):
        if y >= 0:
            return pow(x, y, 1 << a.dtype.itemsize * 8)
        return 1 if x == 1 else (-1) ** (y % 2) if x == -1 else 0
    return wrap([one(int(x), int(y)) for x, y in zip(a, b)], a.dtype)


def modulus(a, b):
    if kind(name_of(a.dtype)) not in "bi":
        raise TypeError
    return np.fmod(a, b)


def round_(a):
    if kind(name_of(a.dtype)) in "bi":
        return a
    if kind(name_of(a.dtype)) == "c":
        raise TypeError
    x = a.astype(np.float64)
    y = np.where(
        np.isfinite(x) & (np.abs(x) < 2.0**52),
        np.copysign(np.trunc(np.abs(x) + (np.abs(x) != 0.5 - 2.0**-54) * 0.5), x),
        x,
    )
    return y.astype(a.dtype)


def arg(z):
    if kind(name_of(z.dtype)) == "c":
        return np.angle(z)
    x = floating(z)[0]
    return np.arctan2(np.zeros_like(x), x)


def sinc_(x):
    """Zero at every integer but 0."""
    x = floating(x)[0]
    wide = x.astype(np.float64)
    return np.where(
        (wide == np.rint(wide)) & (wide != 0) & np.isfinite(wide), 0.0, np.sinc(wide)
    ).astype(x.dtype)


def sinpi(x):
    """Zero at every integer, with x's sign (IEEE 754)."""
    return np.where(
        (x == np.rint(x)) & np.isfinite(x), np.copysign(0.0, x), np.sin(np.pi * np.fmod(x, 2))
    )


def cospi(x):
    """+0 halfway between integers (IEEE 754)."""
    return np.where(x - np.floor(x) == 0.5, 0.0, np.cos(np.pi * np.fmod(x, 2)))


def abs2(z):
    z = widened(z)[0]
    return z.real * z.real + z.imag * z.imag if kind(name_of(z.dtype)) == "c" else np.multiply(z, z)


def polar(r, phi):
    r, phi = floating(r, phi)
    wide = np.result_type(r, phi) == np.float64
    real = np.float64 if wide else np.float32
    r, phi = r.astype(real), phi.astype(real)
    out = np.empty(len(r), np.complex128 if wide else np.complex64)
    for i, (x, y) in enumerate(zip(r, phi)):
        if np.isfinite(x) and np.isfinite(y):
            name = name_of(np.dtype(real))
            out[i] = complex(
                rounded(exact(x) * mp.cos(exact(y)), name) if x else x * np.cos(y),
                rounded(exact(x) * mp.sin(exact(y)), name) if x and y else x * np.sin(y),
            )
        else:
            out[i] = complex(x * np.cos(y), x * np.sin(y))
    return out


def fma(a, b, c):
    a, b, c = floating(a, b, c)
    if kind(name_of(a.dtype)) == "c":
        raise TypeError
    return (a.astype(np.longdouble) * b + c).astype(a.dtype)


def nth(function, i):
    return lambda *x: function(*x)[i]


def where(condition, a, b):
    return np.where(condition, a, b)


FUNCTIONS = {
    1: {
        "negative": np.negative, "positive": np.positive, "logical_not": np.logical_not,
        "bitwise_not": np.bitwise_not, "reciprocal": reciprocal, "square": np.square,
        "abs": np.absolute, "fabs": np.fabs, "sign": in_float(np.sign), "floor": np.floor,
        "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint, "round": round_, "isnan": np.isnan,
        "isinf": np.isinf, "isfinite": np.isfinite, "signbit": np.signbit, "nan_to_num": nan_to_num,
        "exp": np.exp, "exp2": np.exp2, "exp10": through_double(special.exp10), "expm1": np.expm1,
        "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "sqrt": np.sqrt,
        "rsqrt": through_double(lambda x: 1 / np.sqrt(x)), "cbrt": np.cbrt, "sin": np.sin,
        "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
        "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
        "atanh": np.arctanh, "sinpi": through_double(sinpi), "cospi": through_double(cospi),
        "sinc": sinc_, "degrees": in_float(np.degrees), "radians": in_float(np.radians),
        "erf": through_double(special.erf), "erfc": through_double(special.erfc),
        "erfinv": through_double(lambda x: np.copysign(special.erfinv(x), x)),
        "tgamma": through_double(special.gamma),
        "lgamma": through_double(lambda x: np.where(np.isinf(x), np.inf, special.gammaln(x))),
        "digamma": through_double(special.digamma),
        "i0": through_double(lambda x: np.where(np.isinf(x), np.inf, special.i0(x))),
        "i1": through_double(lambda x: np.where(np.isinf(x), x, np.copysign(special.i1(x), x))),
        "frexp_mantissa": nth(np.frexp, 0), "frexp_exponent": nth(np.frexp, 1),
        "modf_fraction": nth(np.modf, 0), "modf_whole": nth(np.modf, 1),
        "real": np.real, "imag": np.imag, "conj": np.conjugate, "arg": arg, "abs2": abs2,
    }, 2: {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": divide,
        "modulus": modulus, "equal": np.equal, "not_equal": np.not_equal, "less": np.less,
        "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal,
        "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
        "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
        "left_shift": np.left_shift, "right_shift": np.right_shift, "floor_divide": np.floor_divide,
        "remainder": np.remainder, "fmod": np.fmod, "pow": pow_, "gcd": np.gcd, "lcm": np.lcm,
        "copysign": np.copysign, "heaviside": np.heaviside, "nextafter": np.nextafter,
        "min": np.minimum, "max": np.maximum, "fmin": np.fmin, "fmax": np.fmax,
        "logaddexp": np.logaddexp, "logaddexp2": np.logaddexp2, "hypot": np.hypot,
        "atan2": np.arctan2, "polar": polar,
    }, 3: {"fma": fma, "clip": in_float(np.clip)},
}
# NumPy has these for complex numbers too; the language neither orders complex numbers nor has these
# functions for them.
NOT_COMPLEX = {
    "less", "less_equal", "greater", "greater_equal", "min", "max", "fmin", "fmax", "clip", "expm1",
    "log2", "log10", "log1p", "exp2", "asin", "acos", "atan", "asinh", "acosh", "atanh", "rint",
    "sinc", "polar"
}
# The allowed error of NumPy's own values, in units of the last place. Infinite where this script
# computes them in double.
ALLOWED = {
    "sinc": np.inf, "sinpi": np.inf, "cospi": np.inf, "fma": np.inf, "rsqrt": 2, "i0": 40, "i1": 40,
    "logaddexp": 40, "logaddexp2": 40, "digamma": 100, "lgamma": np.inf, "tgamma": 1e3,
    "erfinv": 100, "pow": 2000
}


def bits(values):
    name = name_of(values.dtype)
    if kind(name) == "c":
        real = PART[name]
        parts = values.view(NUMPY[real]).view(f"uint{8 * NUMPY[real].itemsize}")
        return " ".join(f"{a:x},{b:x}" for a, b in zip(parts[::2], parts[1::2]))
    width = values.dtype.itemsize * 8
    return " ".join(f"{v:x}" for v in values.view(f"uint{width}"))


def section(dtypes, functions):
    given = operands(dtypes)
    lines = []
    for name, function in functions.items():
        if kind(dtypes[-1]) == "c" and name in NOT_COMPLEX:
            continue
        try:
            result = np.asarray(function(*given))
        except TypeError:
            continue  # Not defined for this dtype.
        if name in PRECISE or name in COMPLEX_PRECISE:
            inputs = floating(*given)
            result = refine(name, inputs, result, ALLOWED.get(name, 8))
        lines.append(f"{name} {name_of(result.dtype)} {bits(result)}")
    print("operands", " ".join(dtypes))
    for values in given:
        print(bits(values))
    print("\n".join(lines))


if __name__ == "__main__":
    print(
        "# Made by functions.py. A section is a line `operands dtype...`, a line of "
        "values for each operand, then for each function of such operands"
    )
    print(
        "# a line: its name, its result's dtype, its values. Values are bits in "
        "hexadecimal, a complex number's parts with a comma between them."
    )
    for name in ALL:
        for arity in 1, 2, 3:
            functions = dict(FUNCTIONS[arity])
            if arity == 2 and name == "int32":
                functions["ldexp"] = np.ldexp
            if arity == 3 and name == "bool":
                functions["where"] = where
            if arity == 3 and kind(name) == "c":
                continue
            section([name] * arity, functions)
        if kind(name) != "c" and name != "int32":
            section([name, "int32"], {"ldexp": np.ldexp})
        if name != "bool":
            section(["bool", name, name], {"where": where})
