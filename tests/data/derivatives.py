#!/usr/bin/env python3
"""Writes derivatives.txt: values and partial derivatives of every row of the op table that has
derivatives, for numbers that are floats.

Made with mpmath 1.4.1: python3 derivatives.py > derivatives.txt

Derivatives are central differences in 120 digits, with steps of 1e-25 of the operand: no rule of
the library is used. All numbers are finite, and none is a point where the derivative jumps.

A line `NAME KIND ARITY` begins a row. Then a line for each point: the operands, the value, and for
each operand its derivative and how far the derivative moves if the operands move: the sum over the
operands x (for complex numbers over their parts) of |x d(derivative) / dx|. KIND:

  real       numbers
  result     the operands are real, the value and the derivatives complex
  complex    complex numbers, with a comma between the parts. Each derivative is the pair of
             df/dz = (df/dx - i df/dy) / 2 and df/dzbar = (df/dx + i df/dy) / 2.

Operands are in hexadecimal. An operand without a derivative (the condition of `where`, the exponent
of `ldexp`, the argument of the step function) has 0. nextafter, whose value depends on the dtype,
is left out, and pow of negative numbers, which is not real beside them.
"""
import pathlib
import re
import struct

from mpmath import mp, mpc, mpf

mp.dps = 120
STEP, MOVE = mpf(10) ** -25, mpf(10) ** -10


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def hexadecimal(x):
    """Without the zeros at the end of the significand."""
    return re.sub(r"\.?0*p", "p", float(x).hex()).replace("p+", "p")


def decimal(x, digits=20):
    return "0" if x == 0 else mp.nstr(x, digits, min_fixed=-3, max_fixed=6).removesuffix(".0")


def spelled(z):
    return f"{decimal(z.real)},{decimal(z.imag)}" if isinstance(z, mpc) else decimal(z)


# ---- Functions

def sign(z):
    return z / abs(z) if isinstance(z, mpc) else mp.sign(z)


def away_from_zero(x):
    return mp.sign(x) * mp.floor(abs(x) + mpf(1) / 2)


def truncated(x):
    return mp.sign(x) * mp.floor(abs(x))


def exponent_of(x):
    """The e for which x / 2^e is from 1/2 to 1."""
    return mp.frexp(abs(x))[1]


def logadd(base):
    def value(x, y):
        high, low = max(x, y), min(x, y)
        return high + mp.log1p(mp.power(base, low - high)) / mp.log(base)
    return value


def lgamma(x):
    return mp.re(mp.loggamma(x)) if x > 0 else mp.log(abs(mp.gamma(x)))


def ratio_of_sine(x):
    return mp.sinpi(x) / (mp.pi * x) if x else mpf(1)


REAL = {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y, "negative": lambda x: -x, "positive": lambda x: x,
    "floor_divide": lambda x, y: mp.floor(x / y), "remainder": lambda x, y: x - mp.floor(x / y) * y,
    "fmod": lambda x, y: x - truncated(x / y) * y, "reciprocal": lambda x: 1 / x,
    "square": lambda x: x * x, "pow": mp.power, "fma": lambda x, y, z: x * y + z,
    "abs": abs, "fabs": abs, "sign": sign, "copysign": lambda x, y: abs(x) * mp.sign(y),
    "heaviside": lambda x, y: y if x == 0 else mpf(x > 0),
    "floor": mp.floor, "ceil": mp.ceil, "trunc": truncated, "rint": mp.nint,
    "round": away_from_zero, "min": min, "max": max, "fmin": min, "fmax": max,
    "clip": lambda x, low, high: min(max(x, low), high),
    "where": lambda condition, x, y: x if condition else y, "nan_to_num": lambda x: x,
    "exp": mp.exp, "exp2": lambda x: mp.power(2, x), "exp10": lambda x: mp.power(10, x),
    "expm1": mp.expm1, "log": mp.log, "log2": lambda x: mp.log(x) / mp.log(2), "log10": mp.log10,
    "log1p": mp.log1p, "logaddexp": logadd(mp.e), "logaddexp2": logadd(mpf(2)), "sqrt": mp.sqrt,
    "rsqrt": lambda x: 1 / mp.sqrt(x), "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "hypot": lambda x, y: mp.sqrt(x * x + y * y), "sin": mp.sin, "cos": mp.cos, "tan": mp.tan,
    "asin": mp.asin, "acos": mp.acos, "atan": mp.atan, "atan2": mp.atan2, "sinh": mp.sinh,
    "cosh": mp.cosh, "tanh": mp.tanh, "asinh": mp.asinh, "acosh": mp.acosh, "atanh": mp.atanh,
    "sinpi": mp.sinpi, "cospi": mp.cospi, "sinc": ratio_of_sine,
    "degrees": lambda x: x * 180 / mp.pi, "radians": lambda x: x * mp.pi / 180, "erf": mp.erf,
    "erfc": mp.erfc, "erfinv": mp.erfinv, "tgamma": mp.gamma, "lgamma": lgamma,
    "digamma": mp.digamma, "i0": lambda x: mp.besseli(0, x), "i1": lambda x: mp.besseli(1, x),
    "ldexp": lambda x, n: x * mpf(2) ** int(n),
    "frexp_mantissa": lambda x: x / mpf(2) ** exponent_of(x),
    "modf_fraction": lambda x: x - truncated(x), "modf_whole": truncated,
    "real": lambda x: x, "imag": lambda x: mpf(0), "conj": lambda x: x,
    "arg": lambda x: mpf(0) if x > 0 else mp.pi, "abs2": lambda x: x * x,
}
RESULT = {"polar": lambda r, phi: mpc(r * mp.cos(phi), r * mp.sin(phi))}
COMPLEX = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b, "negative": lambda z: -z, "positive": lambda z: z,
    "reciprocal": lambda z: 1 / z, "square": lambda z: z * z, "pow": mp.power, "abs": abs,
    "sign": sign, "where": lambda condition, a, b: a if condition else b, "nan_to_num": lambda z: z,
    "exp": mp.exp, "log": mp.log, "sqrt": mp.sqrt, "sin": mp.sin, "cos": mp.cos, "tan": mp.tan,
    "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "real": lambda z: z.real,
    "imag": lambda z: z.imag, "conj": lambda z: mpc(z.real, -z.imag), "arg": mp.arg,
    "abs2": lambda z: z.real ** 2 + z.imag ** 2,
}
# Operands that are not differentiated.
FIXED = {("where", 0), ("ldexp", 1), ("heaviside", 0)}

# ---- Points

SIGNED = [0.0, 0.3, -0.7, 1.5, -2.3, 5.1, -17.6, 1e-3, -1e-10, 1e-30, 850.4, -1e10]
POSITIVE = [0.3, 0.8, 1.1, 2.7, 18.4, 1e-3, 1e-10, 1e-30, 700.4, 1e6, 1e10, 1e30]
EXPONENTS = [0.0, 0.3, -0.7, 1.5, -2.3, 12.1, -20.6, 1e-3, -1e-10, 1e-30, 80.4, -80.4, 650.2]
CIRCULAR = [0.0, 0.3, -0.7, 1.55, -2.3, 3.1416, -17.6, 1e-3, -1e-10, 1e-30, 850.4, 1e6]
INSIDE = [0.0, 0.3, -0.7, 0.95, -0.999, 1 - 2.0**-20, -1 + 2.0**-24, 0.5, 1e-3, -1e-10, 1e-30, -0.1]
FRACTIONS = [0.2, -0.3, 1.7, -2.4, 5.6, -17.3, 1e-3, -1e-10, 850.4, -1023.8, 0.9, 1e-30]
GAMMA = [0.3, 0.9, 1.46, 1.5, 2.6, 7.2, 20.3, 33.7, 1e-3, -0.4, -0.504, -1.6, -4.3, -20.7]
BESSEL = [0.0, 0.3, -0.7, 2.4, -7.9, 8.1, 20.4, 80.4, 1e-3, -1e-10, 1e-30, 600.5]
PAIRS = [(0.3, 1.7), (-1.4, 2.1), (2.5, -0.6), (-3.3, -0.2), (0.0, 1.3), (1e-3, 40.5), (1e-10, 3.0),
         (-1e10, 0.7), (1e30, -2e28), (1e-30, 3e-30), (650.4, 650.3), (1.0, 1e-6)]
REGULAR = [(7.3, 2.1), (-7.3, 2.1), (7.3, -2.1), (-7.3, -2.1), (0.3, 1.7), (-0.3, 1.7), (50.5, 0.7),
           (1e5, -3.3), (1e-10, 2.0), (0.9, 1e10), (1e-30, 3e-31), (-1e4, 7.7)]
POWERS = [(0.3, 1.7), (1.4, -2.1), (2.5, 0.5), (18.3, 3.0), (0.9, 40.5), (1e-10, 2.5), (1e10, -0.7),
          (1 + 2.0**-20, 1e5), (1e-3, 1e-3), (2.0, 60.3), (1e30, 1.0), (4.0, 2.0)]
SUMS = [(0.3, 1.7), (-1.4, 2.1), (2.5, -0.6), (-30.3, -0.2), (0.0, 1.3), (40.5, 1e-3), (3.0, 1e-10),
        (-650.4, -650.3), (650.4, 630.1), (-0.7, -0.68), (1e4, 1e4 + 1.5), (-60.2, 3.1)]
TRIPLES = [(0.3, 1.7, -0.4), (-1.4, 2.1, 3.3), (2.5, -0.6, 1e3), (1e10, 1e-10, 2.0),
           (1e-30, 2.5, 1.0), (-1e15, 1e15, 3.0)]
CHOSEN = {
    "reciprocal": SIGNED[1:], "abs": SIGNED[1:], "fabs": SIGNED[1:], "sign": SIGNED[1:],
    "arg": SIGNED[1:], "exp": EXPONENTS, "expm1": EXPONENTS, "sinh": EXPONENTS, "cosh": EXPONENTS,
    "tanh": [0.0, 0.3, -0.7, 1.5, -2.3, 5.1, -8.6, 1e-3, -1e-10, 1e-30, 20.4, -40.3],
    "exp2": EXPONENTS, "exp10": [*EXPONENTS[:10], 30.4, -30.4, 200.2], "log": POSITIVE,
    "log2": POSITIVE, "log10": POSITIVE, "sqrt": POSITIVE, "rsqrt": POSITIVE,
    "log1p": [0.0, 0.3, -0.7, 1.5, -0.999, 5.1, 1e-3, -1e-10, 1e-30, 850.4, 1e10, 1e30],
    "cbrt": [0.3, -0.7, 1.5, -2.3, 17.6, 1e-3, -1e-10, 1e-30, -850.4, 1e10, -1e30, 8.0],
    "sin": CIRCULAR, "cos": CIRCULAR, "tan": CIRCULAR, "asin": INSIDE, "acos": INSIDE,
    "atanh": INSIDE, "erfinv": INSIDE, "atan": [*SIGNED, 1e30, -1e18], "asinh": [*SIGNED, 1e30],
    "acosh": [1.3, 1.001, 1 + 2.0**-20, 1 + 2.0**-23, 2.3, 5.1, 17.6, 850.4, 1e6, 1e10, 1e18, 1e30],
    "sinpi": [0.0, 0.3, -0.7, 1.5, -2.3, 5.1, -17.6, 1e-3, -1e-10, 1e-30, 850.4, 123456.78],
    "sinc": [0.0, 0.3, -0.7, 1.5, -2.3, 5.1, -17.6, 1e-3, -1e-10, 1e-30, 0.19, 0.2, 850.4, 1.43],
    "degrees": SIGNED, "radians": SIGNED,
    "erf": [0.0, 0.3, -0.7, 1.5, -2.3, 3.4, 5.1, 1e-3, -1e-10],
    "erfc": [0.0, 0.3, -0.7, 1.5, -2.3, 3.4, 5.1, 8.9, 1e-3, -1e-10, 1e-30, 25.4],
    "tgamma": GAMMA, "lgamma": [*GAMMA, 1e6, 1e30], "digamma": [*GAMMA, 1e6], "i0": BESSEL,
    "i1": BESSEL, "floor": FRACTIONS, "ceil": FRACTIONS, "trunc": FRACTIONS, "rint": FRACTIONS,
    "round": FRACTIONS, "modf_fraction": FRACTIONS, "modf_whole": FRACTIONS,
    "frexp_mantissa": FRACTIONS, "floor_divide": REGULAR, "remainder": REGULAR, "fmod": REGULAR,
    "pow": POWERS, "logaddexp": SUMS, "logaddexp2": SUMS,
    # Products of operands are finite floats.
    "atan2": [*PAIRS[:8], (1e15, -2e13), (1e-15, 3e-15), *PAIRS[10:]],
    "heaviside": [(0.0, 0.4), (0.3, 0.4), (-0.7, 0.4), (0.0, -2.5)],
    "copysign": [(x, y) for x, y in PAIRS if x != 0], "fma": TRIPLES,
    "clip": [(0.3, -1.0, 1.0), (-1.4, -1.0, 1.0), (2.5, -1.0, 1.0), (1e30, 2.0, 3.0)],
    "where": [(1.0, 0.3, -2.5), (0.0, 0.3, -2.5), (1.0, 1e30, 2.0), (0.0, 1e30, 2.0)],
    "ldexp": [(0.3, 3), (-1.4, -7), (2.5, 0), (1e-10, 20), (1e10, -40), (-0.7, 100)],
    "polar": [(0.3, 1.7), (1.4, -2.1), (2.5, 3.1), (1e-3, 40.5), (1e10, 0.7), (1e-30, 1e-10)],
}
NUMBERS = [(0.3, 0.4), (-0.7, 1.1), (1.5, -2.3), (-2.6, -0.1), (1e-3, -1e-3), (3.1, 1e-6),
           (1e-8, 0.9), (-20.3, 7.1), (0.6, -0.8), (1e-10, 1e-10)]
NUMBER_PAIRS = [((0.3, 0.4), (1.7, -0.2)), ((-0.7, 1.1), (0.4, 0.9)), ((1.5, -2.3), (-1.1, 0.3)),
                ((-2.6, -0.1), (2.0, 1e-6)), ((1e-3, -1e-3), (0.7, 0.7)),
                ((3.1, 4.2), (3.0, -1e-3))]


def points_of(name, kind, arity):
    if kind == "complex":
        if name == "where":
            return [(c, mpc(0.25, -1), mpc(1.5, 2)) for c in (1, 0)]
        chosen = [(z,) for z in NUMBERS] if arity == 1 else NUMBER_PAIRS
        return [tuple(mpc(*map(single, z)) for z in point) for point in chosen]
    chosen = CHOSEN.get(name, (SIGNED, PAIRS)[arity - 1] if arity < 3 else None)
    points = [point if isinstance(point, tuple) else (point,) for point in chosen]
    return [tuple(mpf(single(x)) for x in point) for point in points]


# ---- Derivatives

def along(f, point, k, unit):
    """The derivative along a unit step, 1 or i, of operand k."""
    size = abs(point[k].imag if unit == 1j else point[k].real)
    step = STEP * (size or 1)

    def at(by):
        return f(*point[:k], point[k] + by * unit, *point[k + 1:])

    difference = at(step) - at(-step)
    return difference / (2 * step)


def derivatives(f, point, k, kind):
    """The derivative with respect to operand k; for complex numbers the pair."""
    if kind != "complex":
        return (along(f, point, k, 1),)
    x, y = mpc(along(f, point, k, 1)), mpc(along(f, point, k, 1j))
    return (x - 1j * y) / 2, (x + 1j * y) / 2


def sensitivity(f, point, k, kind, fixed):
    total = mpf(0)
    for j, x in enumerate(point):
        if j in fixed:
            continue
        for unit, part in ((1, x.real), (1j, x.imag)):
            if part == 0:
                continue
            step = MOVE * part * unit
            ahead, behind = (
                derivatives(f, (*point[:j], x + by, *point[j + 1:]), k, kind)
                for by in (step, -step)
            )
            total += sum(abs(a - b) for a, b in zip(ahead, behind)) / (2 * MOVE)
    return total


def without_noise(found):
    """Parts that are 0 but for the error of the differences become 0."""
    least = max(abs(z) for z in found) * mpf(10) ** -40

    def part(x):
        return x if abs(x) > least else mpf(0)

    return [mpc(part(z.real), part(z.imag)) if isinstance(z, mpc) else part(z) for z in found]


def operand(x):
    return f"{hexadecimal(x.real)},{hexadecimal(x.imag)}" if isinstance(x, mpc) else hexadecimal(x)


def arities():
    table = (pathlib.Path(__file__).parents[2] / "include/dsl/ir/ops.inc").read_text()
    kinds = "OPERATOR|FUNCTION|LIBRARY|BOUNDED|OWN"
    rows = re.findall(rf'^DSL_(?:{kinds})\((\w+),[^"]*"[^"]*",\s*(\d)', table, re.M)
    return {name: int(arity) for name, arity in rows}


def print_row(name, kind, f, arity):
    fixed = {k for k in range(arity) if (name, k) in FIXED}
    print(name, kind, arity)
    for point in points_of(name, kind, arity):
        columns = [operand(x) for x in point] + [spelled(mp.mpmathify(f(*point)))]
        for k in range(arity):
            found, moved = (mpf(0),), mpf(0)
            if k not in fixed:
                found = without_noise(derivatives(f, point, k, kind))
                moved = sensitivity(f, point, k, kind, fixed)
            columns += [";".join(spelled(z) for z in found), decimal(moved, 2)]
        print(*columns)


if __name__ == "__main__":
    print("# Made by derivatives.py, which describes the lines.")
    of = arities()
    for kind, functions in ("real", REAL), ("result", RESULT), ("complex", COMPLEX):
        for name, f in functions.items():
            print_row(name, kind, f, of[name])
