"""Numba on the host: njit(parallel=True)."""

import functools

import numpy as np

if not hasattr(np, "row_stack"):
    # Some versions of Numba need this name, which NumPy 2 has dropped.
    np.row_stack = np.vstack

import numba

from .libraries import Library
from .numba_formulas import SCALAR, prices, rk4_of_one


def parallel(f):
    return numba.njit(parallel=True)(f)


class NumbaHost(Library):
    def __init__(self, device):
        self.versions = {"Numba": numba.__version__}

    def to_library(self, x):
        return x

    def to_numpy(self, x):
        return np.asarray(x)

    def ways(self, work):
        if work.name in SCALAR and len(work.shape) == 1:
            return {"Numba parallel": lambda operands: host_elementwise(work.name, operands)}
        reductions = {
            "sum(a)": host_sum,
            "dot(a, b)": host_dot,
            "min(a)": host_min,
            "var(a)": host_var,
        }
        if work.name in reductions:
            return {"Numba parallel": lambda operands: lambda: reductions[work.name](*operands)}
        if work.name == "Black-Scholes":
            return {"Numba parallel": host_black_scholes}
        if work.name == "five-point heat by slices":
            return {"Numba parallel": host_heat}
        if work.group == "loop":
            return {"Numba parallel": lambda operands: host_loop(work, operands)}
        return {}


@functools.cache
def host_kernel(name, count):
    f = numba.njit(inline="always")(SCALAR[name])

    def of_one(out, a):
        for i in numba.prange(out.size):
            out[i] = f(a[i])

    def of_two(out, a, b):
        for i in numba.prange(out.size):
            out[i] = f(a[i], b[i])

    def of_three(out, a, b, c):
        for i in numba.prange(out.size):
            out[i] = f(a[i], b[i], c[i])

    return parallel((of_one, of_two, of_three)[count - 1])


def host_elementwise(name, operands):
    kernel, out = host_kernel(name, len(operands)), np.empty_like(operands[0])

    def call():
        kernel(out, *operands)
        return out

    return call


@parallel
def host_sum(a):
    total = np.float32(0)
    for i in numba.prange(a.size):
        total += a[i]
    return total


@parallel
def host_dot(a, b):
    total = np.float32(0)
    for i in numba.prange(a.size):
        total += a[i] * b[i]
    return total


@parallel
def host_min(a):
    least = a[0]
    for i in numba.prange(a.size):
        least = min(least, a[i])
    return least


@parallel
def host_var(a):
    return np.var(a)


priced = numba.njit(inline="always")(prices)
stepped = numba.njit(inline="always")(rk4_of_one)


@parallel
def black_scholes_kernel(call_price, put_price, a, b, c):
    for i in numba.prange(a.size):
        call_price[i], put_price[i] = priced(a[i], b[i], c[i])


@parallel
def heat_kernel(out, m, tenth, four):
    for i in numba.prange(1, m.shape[0] - 1):
        for j in range(1, m.shape[1] - 1):
            out[i - 1, j - 1] = m[i, j] + tenth * (
                m[i - 1, j] + m[i + 1, j] + m[i, j - 1] + m[i, j + 1] - four * m[i, j]
            )


@parallel
def loop_kernel(F, G, d, steps, scale):
    for _ in range(steps):
        # A running sum of ten million floats would lose a percent.
        total = np.complex128(0)
        for i in numba.prange(F.size):
            F[i], G[i] = stepped(F[i], G[i], d)
            total += F[i]
        d = np.complex64(total * scale)
    return d


def host_black_scholes(operands):
    out = np.empty_like(operands[0]), np.empty_like(operands[0])

    def call():
        black_scholes_kernel(*out, *operands)
        return out

    return call


def host_heat(operands):
    number = operands[0].dtype.type
    out = np.empty((operands[0].shape[0] - 2, operands[0].shape[1] - 2), number)

    def call():
        heat_kernel(out, operands[0], number(0.1), number(4))
        return out

    return call


def host_loop(work, operands):
    F, G, d = operands[0].ravel().copy(), operands[1].ravel().copy(), operands[2][()]
    return lambda: loop_kernel(F, G, d, work.steps, np.complex64(1 / F.size))
