"""The coupled fields of bench/loops.cu by CuPy, Numba, JAX and PyTorch, where they are installed: 100 steps with a sum fed back,
wall time in milliseconds, median of 7."""
import statistics
import time

import numpy as np

if not hasattr(np, "row_stack"):
    np.row_stack = np.vstack  # an older Numba's name

SIZES, STEPS, H = (4, 512, 3162), 100, np.float32(1e-3)
F0, G0, D0 = 0.01 + 0.02j, 0.9, 0.01


def report(library, run_of):
    """run_of(n) gives a call that runs the loop and waits."""
    for n in SIZES:
        run = run_of(n)
        run()
        times = []
        for _ in range(7):
            begin = time.perf_counter()
            run()
            times.append(time.perf_counter() - begin)
        print(f"{library:8} {n:5} x {n:<5} {1e3 * statistics.median(times):9.3f} ms", flush=True)


def rk4(F, G, d, h, conj):
    """A step in array operations."""
    dF = lambda F, G: -2j * F - 1j * d * (2 * G - 1)
    dG = lambda F: -1j * (conj(d) * F - d * conj(F))
    F1, G1 = dF(F, G), dG(F)
    F2, G2 = dF(F + h / 2 * F1, G + h / 2 * G1), dG(F + h / 2 * F1)
    F3, G3 = dF(F + h / 2 * F2, G + h / 2 * G2), dG(F + h / 2 * F2)
    F4, G4 = dF(F + h * F3, G + h * G3), dG(F + h * F3)
    return F + h / 6 * (F1 + 2 * F2 + 2 * F3 + F4), G + h / 6 * (G1 + 2 * G2 + 2 * G3 + G4)


def by_cupy():
    import cupy as cp

    stages = """
        const complex<float> d = D[0], m2i(0, -2), mi(0, -1);
        complex<float> a = F, b = G, sumF = 0, sumG = 0;
        const float ahead[4] = {0.5f, 0.5f, 1, 0}, weight[4] = {1, 2, 2, 1};
        #pragma unroll
        for (int s = 0; s < 4; ++s) {
          const complex<float> f = m2i * a + mi * d * (2.0f * b - 1.0f), g = mi * (conj(d) * a - d * conj(a));
          sumF += weight[s] * f, sumG += weight[s] * g;
          a = F + ahead[s] * h * f, b = G + ahead[s] * h * g;
        }
        Fn = F + h / 6 * sumF, Gn = G + h / 6 * sumG;"""
    step = cp.ElementwiseKernel("complex64 F, complex64 G, raw complex64 D, float32 h", "complex64 Fn, complex64 Gn", stages, "rk4")

    def run_of(n):
        F, G, D = cp.full((n, n), F0, cp.complex64), cp.full((n, n), G0, cp.complex64), cp.full(1, D0, cp.complex64)
        scale = np.complex64(1 / n / n)

        def run():
            for _ in range(STEPS):
                step(F, G, D, H, F, G)
                cp.sum(F, out=D[0])
                cp.multiply(D, scale, out=D)
            cp.cuda.Device().synchronize()

        return run

    report("CuPy", run_of)


def by_numba():
    from numba import cuda

    @cuda.jit
    def step(F, G, D, h):
        i = cuda.grid(1)
        if i >= F.size:
            return
        f0, g0, d = F[i], G[i], D[0]
        dc = complex(d.real, -d.imag)
        a, b, sum_f, sum_g = f0, g0, np.complex64(0), np.complex64(0)
        for s in range(4):
            f = np.complex64(-2j) * a + np.complex64(-1j) * d * (np.float32(2) * b - np.float32(1))
            g = np.complex64(-1j) * (dc * a - d * complex(a.real, -a.imag))
            weight = np.float32(2) if s == 1 or s == 2 else np.float32(1)
            ahead = h if s == 2 else h / np.float32(2)
            sum_f += weight * f
            sum_g += weight * g
            a, b = f0 + ahead * f, g0 + ahead * g
        F[i], G[i] = f0 + h / np.float32(6) * sum_f, g0 + h / np.float32(6) * sum_g

    @cuda.reduce
    def total(a, b):
        return a + b

    def run_of(n):
        F, G = cuda.to_device(np.full(n * n, F0, np.complex64)), cuda.to_device(np.full(n * n, G0, np.complex64))
        D = cuda.to_device(np.full(1, D0, np.complex64))

        def run():
            for _ in range(STEPS):
                step[(n * n + 255) // 256, 256](F, G, D, H)
                total(F, res=D)
            cuda.synchronize()

        return run

    report("Numba", run_of)


def by_jax():
    import jax
    import jax.numpy as jnp

    def run_of(n):
        def step(state, _):
            F, G = rk4(*state, jnp.float32(1e-3), jnp.conj)
            d = (jnp.sum(F) * jnp.float32(1 / n / n)).astype(jnp.complex64)
            return (F, G, d), d

        loop = jax.jit(lambda *state: jax.lax.scan(step, state, None, length=STEPS))
        state = jnp.full((n, n), F0, jnp.complex64), jnp.full((n, n), G0, jnp.complex64), jnp.complex64(D0)
        return lambda: jax.block_until_ready(loop(*state))

    report("JAX", run_of)


def by_torch():
    import torch

    def run_of(n):
        def step(F, G, d):
            F, G = rk4(F, G, d, 1e-3, torch.conj)
            return F, G, (F * (1 / n / n)).sum()

        compiled = torch.compile(step, dynamic=False)
        full = lambda shape, value: torch.full(shape, value, dtype=torch.complex64, device="cuda")
        start = full((n, n), F0), full((n, n), G0), full((), D0)
        for _ in range(3):
            compiled(*start)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            state = start
            for _ in range(STEPS):
                state = compiled(*state)

        def run():
            graph.replay()
            torch.cuda.synchronize()

        return run

    report("PyTorch", run_of)


if __name__ == "__main__":
    for by in (by_cupy, by_jax, by_numba, by_torch):
        try:
            by()
        except ImportError as missing:
            print(missing)
