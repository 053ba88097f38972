"""The formulas that numba_cuda.py and numba_host.py compile, as functions of numbers. Constants
are float32, since Python's own would make everything double."""

import math

import numpy as np

from .works import H

ONE, TWO, HALF, SIX = np.float32(1), np.float32(2), np.float32(0.5), np.float32(6)
RATE, VOLATILITY, ROOT = np.float32(0.02), np.float32(0.3), np.float32(0.5**0.5)
DRIFT, STEP, HALF_STEP = np.float32(0.02 + 0.3 * 0.3 / 2), np.float32(H), np.float32(H / 2)
SIGMA, RHO, BETA = np.float32(10), np.float32(28), np.float32(8 / 3)
M2I, M1I = np.complex64(-2j), np.complex64(-1j)


def add(a, b):
    return a + b


def add_one(a):
    return a + ONE


def exponential(a):
    return math.exp(a)


def sine(a):
    return math.sin(a)


def power(a, b):
    return math.pow(a, b)


def formula(a, b, c):
    return a * math.exp(-b * b) + math.sqrt(abs(c))


def exp_and_twice(a, b):
    return math.exp(a) + TWO * b


def square_and_self(a):
    return a * a + a


def same(a):
    return a


SCALAR = {
    "copy": same,
    "a + b": add,
    "a + 1": add_one,
    "exp(a)": exponential,
    "sin(a)": sine,
    "pow(a, b)": power,
    "a * exp(-b * b) + sqrt(abs(c))": formula,
    "exp(a) + 2 * b": exp_and_twice,
    "a * a + a": square_and_self,
}
VECTORIZED = ("a + b", "exp(a)", "a * exp(-b * b) + sqrt(abs(c))")


def prices(a, b, c):
    spread = VOLATILITY * math.sqrt(c)
    d1 = (math.log(a / b) + DRIFT * c) / spread
    d2 = d1 - spread
    later = b * math.exp(-RATE * c)
    call = a * (HALF * math.erfc(-d1 * ROOT)) - later * (HALF * math.erfc(-d2 * ROOT))
    put = later * (HALF * math.erfc(d2 * ROOT)) - a * (HALF * math.erfc(d1 * ROOT))
    return call, put


def rk4_of_one(f0, g0, d):
    """A step of the coupled fields for one element."""
    dc = np.complex64(complex(d.real, -d.imag))
    a, b, sum_f, sum_g = f0, g0, np.complex64(0), np.complex64(0)
    for s in range(4):
        f = M2I * a + M1I * d * (TWO * b - ONE)
        g = M1I * (dc * a - d * np.complex64(complex(a.real, -a.imag)))
        weight = TWO if s == 1 or s == 2 else ONE
        ahead = STEP if s == 2 else HALF_STEP
        sum_f += weight * f
        sum_g += weight * g
        a, b = f0 + ahead * f, g0 + ahead * g
    return f0 + STEP / SIX * sum_f, g0 + STEP / SIX * sum_g


def lorenz_of_one(x, y, z, steps):
    """All steps of one system."""
    for _ in range(steps):
        u, v, w = x, y, z
        sx, sy, sz = np.float32(0), np.float32(0), np.float32(0)
        for s in range(4):
            dx, dy, dz = SIGMA * (v - u), u * (RHO - w) - v, u * v - BETA * w
            weight = TWO if s == 1 or s == 2 else ONE
            ahead = STEP if s == 2 else HALF_STEP
            sx, sy, sz = sx + weight * dx, sy + weight * dy, sz + weight * dz
            u, v, w = x + ahead * dx, y + ahead * dy, z + ahead * dz
        x, y, z = x + STEP / SIX * sx, y + STEP / SIX * sy, z + STEP / SIX * sz
    return x, y, z
