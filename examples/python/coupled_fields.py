"""Two coupled complex fields by RK4, with the mean of one fed back into each step: as a Numba program, and with the module that
fields.cpp makes. Prints what both give and how long they take.

    python coupled_fields.py [--size N] [--steps N]

With CuPy and a GPU both run there, on CuPy's arrays, else on the host, on NumPy's. Without Numba only the module runs."""

import argparse
import time

import numpy as np

import fields

try:
    import cupy

    on_gpu = cupy.is_available()
except ImportError:
    on_gpu = False
xp = cupy if on_gpu else np


def numba_program():
    """prepare(F, G, delta) gives the arrays that integrate(steps, F, G, delta, h) works on, in place; it returns delta."""
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # a name that NumPy 2 dropped and some versions of Numba ask for
    import numba
    from numba import cuda

    def rk4(F, G, d, h):
        one, two, i, ii = np.float32(1), np.float32(2), np.complex64(-1j), np.complex64(-2j)
        dc = np.complex64(complex(d.real, -d.imag))
        f, g, sum_f, sum_g = F, G, np.complex64(0), np.complex64(0)
        for s in range(4):
            df = ii * f + i * d * (two * g - one)
            dg = i * (dc * f - d * np.complex64(complex(f.real, -f.imag)))
            weight = two if s == 1 or s == 2 else one
            ahead = h if s == 2 else h / two
            sum_f += weight * df
            sum_g += weight * dg
            f, g = F + ahead * df, G + ahead * dg
        return F + h / np.float32(6) * sum_f, G + h / np.float32(6) * sum_g

    if on_gpu:
        rk4_of_one = cuda.jit(device=True)(rk4)
        total = cuda.reduce(lambda a, b: a + b)

        @cuda.jit
        def step(F, G, d, h):
            k = cuda.grid(1)
            if k < F.size:
                F[k], G[k] = rk4_of_one(F[k], G[k], d[0], h)

        @cuda.jit
        def divide(d, n):
            d[0] = d[0] / n

        def prepare(F, G, delta):
            return [cuda.to_device(x.ravel()) for x in (F, G, delta)]

        def integrate(steps, F, G, delta, h):
            for _ in range(steps):
                step[(F.size + 255) // 256, 256](F, G, delta, h)
                total(F, res=delta)
                divide[1, 1](delta, np.float32(F.size))
            return delta.copy_to_host()[0]  # waits for the loop

        return prepare, integrate

    rk4_of_one = numba.njit(inline="always")(rk4)

    def prepare(F, G, delta):
        return F.ravel().copy(), G.ravel().copy(), delta[()]

    @numba.njit(parallel=True)
    def integrate(steps, F, G, d, h):
        for _ in range(steps):
            total = np.complex128(0)
            for k in numba.prange(F.size):
                F[k], G[k] = rk4_of_one(F[k], G[k], d, h)
                total += F[k]
            d = np.complex64(total / F.size)
        return d

    return prepare, integrate


def timed(run, prepare=lambda: ()):
    """Milliseconds of the best of three runs after a first one, which compiles or loads what was compiled; and the last answer."""
    best = float("inf")
    for turn in range(4):
        arguments = prepare()
        start = time.perf_counter()
        answer = run(*arguments)
        if turn > 0:
            best = min(best, time.perf_counter() - start)
    return 1e3 * best, arguments, answer


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_argument("--size", type=int, default=3162 if on_gpu else 512, help="elements along each axis")
    options.add_argument("--steps", type=int, default=100)
    options = options.parse_args()
    n, h = options.size, np.float32(1e-4)

    random = np.random.default_rng(1)
    F = (0.02 * (1 + random.random((n, n)) + 1j * random.random((n, n)))).astype(np.complex64)
    G = (0.9 + 0.1 * random.random((n, n))).astype(np.complex64)
    delta = np.array(F.mean(), np.complex64)

    mine = [xp.asarray(x) for x in (F, G, delta)]

    def integrate():
        state, history = fields.integrate(options.steps, *mine, h)
        return *state[:2], complex(state[2])  # a number of Python: waits for the loop

    ms, _, (new_F, new_G, last) = timed(integrate)
    where = f"{n * n} equations, {options.steps} steps on the {'GPU' if on_gpu else 'host'}"
    print(f"dsl:   {where}: {ms:8.2f} ms, delta {last:.6f}")
    try:
        prepare, numba_integrate = numba_program()
    except ImportError:
        print("Numba is not installed: nothing to compare with")
        return
    ms, (numba_F, numba_G, _), last = timed(lambda *x: numba_integrate(options.steps, *x, h), lambda: prepare(F, G, delta))
    print(f"Numba: {where}: {ms:8.2f} ms, delta {complex(last):.6f}")
    if on_gpu:
        numba_F, numba_G = numba_F.copy_to_host(), numba_G.copy_to_host()
    host = cupy.asnumpy if on_gpu else np.asarray
    difference = max(abs(host(new_F).ravel() - numba_F).max(), abs(host(new_G).ravel() - numba_G).max())
    print(f"the fields differ by {difference:.1e} at most")
    if difference > 1e-5:
        raise SystemExit("which is too much")


if __name__ == "__main__":
    main()
