"""Numba on the GPU: numba-cuda's jit, vectorize and reduce."""

import functools

import numpy as np

if not hasattr(np, "row_stack"):
    # Some versions of Numba need this name, which NumPy 2 has dropped.
    np.row_stack = np.vstack

import numba
from numba import cuda

from .libraries import OnGpu
from .numba_formulas import SCALAR, VECTORIZED, add, lorenz_of_one, prices, rk4_of_one


class NumbaCuda(OnGpu):
    def __init__(self, device):
        cuda.current_context()
        try:
            import numba_cuda

            version = f"{numba.__version__}, numba-cuda {numba_cuda.__version__}"
        except (ImportError, AttributeError):
            version = numba.__version__
        self.versions = {"Numba": version}

    def event(self):
        return cuda.event(timing=True)

    def milliseconds(self, begin, end):
        return cuda.event_elapsed_time(begin, end)

    def to_library(self, x):
        return cuda.to_device(np.ascontiguousarray(x).reshape(-1))

    def part(self, array, shape, count):
        return array[:count]

    def to_numpy(self, x):
        return x.copy_to_host() if hasattr(x, "copy_to_host") else np.asarray(x)

    def wait(self, result):
        cuda.synchronize()

    def ways(self, work):
        if work.name == "copy":
            return {}
        if work.name in SCALAR and work.dtype in ("float32", "float64", "int32"):
            ways = {"Numba": lambda operands: self.elementwise(work, operands)}
            if work.name in VECTORIZED and work.elements == 1 << 27:
                ways["Numba vectorize"] = lambda operands: self.vectorized(work, operands)
            return ways
        special = {
            "Black-Scholes": self.black_scholes,
            "sum(a)": self.sum,
            "1000 RK4 steps of Lorenz": self.lorenz,
        }
        if work.name in special and work.dtype == "float32":
            return {"Numba": lambda operands: special[work.name](work, operands)}
        if work.operands == "FGd" and not work.name.endswith("gradient"):
            return {"Numba": lambda operands: self.fields(work, operands)}
        return {}

    @functools.cache
    def elementwise_kernel(self, name, count):
        f = cuda.jit(device=True)(SCALAR[name])

        def of_one(out, a):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = f(a[i])

        def of_two(out, a, b):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = f(a[i], b[i])

        def of_three(out, a, b, c):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = f(a[i], b[i], c[i])

        return cuda.jit((of_one, of_two, of_three)[count - 1])

    def elementwise(self, work, operands):
        kernel, n = self.elementwise_kernel(work.name, len(operands)), operands[0].size
        configured, out = kernel[(n + 255) // 256, 256], cuda.device_array_like(operands[0])

        def call():
            configured(out, *operands)
            return out

        return call

    def vectorized(self, work, operands):
        function = numba.vectorize(
            [f"float32({', '.join(['float32'] * len(operands))})"], target="cuda"
        )(SCALAR[work.name])
        out = cuda.device_array_like(operands[0])
        return lambda: function(*operands, out=out)

    def black_scholes(self, work, operands):
        f = cuda.jit(device=True)(prices)

        @cuda.jit
        def kernel(call_price, put_price, a, b, c):
            i = cuda.grid(1)
            if i < a.size:
                call_price[i], put_price[i] = f(a[i], b[i], c[i])

        n, out = operands[0].size, [cuda.device_array_like(operands[0]) for _ in range(2)]

        def call():
            kernel[(n + 255) // 256, 256](*out, *operands)
            return tuple(out)

        return call

    @functools.cache
    def total(self):
        return cuda.reduce(add)

    def sum(self, work, operands):
        total, out = self.total(), cuda.device_array(1, np.float32)

        def call():
            total(operands[0], res=out)
            return out

        return call

    def lorenz(self, work, operands):
        f, steps = cuda.jit(device=True)(lorenz_of_one), work.steps

        @cuda.jit
        def kernel(x, y, z, steps, xn, yn, zn):
            i = cuda.grid(1)
            if i < x.size:
                xn[i], yn[i], zn[i] = f(x[i], y[i], z[i], steps)

        n, out = operands[0].size, [cuda.device_array_like(operands[0]) for _ in range(3)]

        def call():
            kernel[(n + 255) // 256, 256](*operands, steps, *out)
            return tuple(out)

        return call

    @functools.cache
    def kernels_of_fields(self):
        f = cuda.jit(device=True)(rk4_of_one)

        @cuda.jit
        def step(F, G, d, Fn, Gn):
            i = cuda.grid(1)
            if i < F.size:
                Fn[i], Gn[i] = f(F[i], G[i], d[0])

        @cuda.jit
        def mean(d, sum_f, scale):
            d[0] = sum_f[0] * scale

        return step, mean

    def fields(self, work, operands):
        total, (kernel, mean) = self.total(), self.kernels_of_fields()
        scale = np.complex64(1 / operands[0].size)
        F, G, d = (cuda.to_device(x.copy_to_host()) for x in operands)
        out = cuda.device_array(1, np.complex64)
        grid = (F.size + 255) // 256, 256

        def loop():
            for _ in range(work.steps):
                kernel[grid](F, G, d, F, G)
                total(F, res=out)
                mean[1, 1](d, out, scale)
            return d

        def summed():
            kernel[grid](F, G, d, F, G)
            total(F, res=out)
            return F, G, out

        def once():
            kernel[grid](F, G, d, F, G)
            return F, G

        return loop if work.steps else summed if "sum" in work.name else once
