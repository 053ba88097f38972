"""Measures a call of a Python module's function, of the same function in C++, and of the
libraries' own `__dlpack__`: a sum of two arrays of 16 floats into a third, in microseconds, the
best of many series of calls."""

import sys
import time

import sums


def best(f, rows=300, calls=300, wait=lambda: None):
    least = float("inf")
    for _ in range(rows):
        wait()
        start = time.perf_counter()
        for _ in range(calls):
            f()
        least = min(least, (time.perf_counter() - start) / calls)
    return 1e6 * least


def row(name, x, y, out, dlpack, wait=lambda: None, own=None):
    empty = best(lambda: None)
    in_cpp = 1e6 * float(sums.seconds_in_cpp(x, y)[0])
    exports = best(dlpack, wait=wait) - empty
    call = best(lambda: sums.add(x, y), wait=wait) - empty
    text = f"{name:14} C++ {in_cpp:6.2f}   __dlpack__ {exports:5.2f} an array   call {call:6.2f}"
    if out is not None:
        into = best(lambda: sums.add(x, y, out=out), wait=wait) - empty
        text += (
            f"   with out= {into:6.2f}, beyond C++ {into - in_cpp:5.2f}, and beyond three "
            f"__dlpack__ {into - in_cpp - 3 * exports:5.2f}"
        )
    if own is not None:
        text += f"   the library's own sum {best(own, wait=wait) - empty:6.2f}"
    print(text, flush=True)


def numpy_row():
    import numpy as np

    x, y, out = (np.ones(16, np.float32) for _ in range(3))
    row(
        "NumPy",
        x,
        y,
        out,
        lambda: x.__dlpack__(max_version=(1, 0)),
        own=lambda: np.add(x, y, out=out),
    )


def torch_row(device):
    import torch

    x, y, out = (torch.ones(16, device=device) for _ in range(3))
    wait = torch.cuda.synchronize if device != "cpu" else lambda: None
    stream = torch.cuda.current_stream().cuda_stream or 1 if device != "cpu" else None
    row(
        f"PyTorch {device}",
        x,
        y,
        out,
        lambda: x.__dlpack__(stream=stream, max_version=(1, 0)),
        wait,
        lambda: torch.add(x, y, out=out),
    )


def cupy_row():
    import cupy

    x, y, out = (cupy.ones(16, cupy.float32) for _ in range(3))
    row(
        "CuPy",
        x,
        y,
        out,
        lambda: x.__dlpack__(stream=1, max_version=(1, 0)),
        cupy.cuda.Device().synchronize,
        lambda: cupy.add(x, y, out=out),
    )


def jax_row():
    import jax.numpy as jnp

    x, y = jnp.ones(16), jnp.ones(16)
    on_gpu = x.__dlpack_device__()[0] == 2
    stream = {"stream": 1} if on_gpu else {}
    row(
        "JAX gpu" if on_gpu else "JAX cpu",
        x,
        y,
        None,
        lambda: x.__dlpack__(max_version=(1, 0), **stream),
        lambda: (x + y).block_until_ready(),
        lambda: jnp.add(x, y),
    )


if __name__ == "__main__":
    rows = {
        "numpy": numpy_row,
        "torch-cpu": lambda: torch_row("cpu"),
        "torch": lambda: torch_row("cuda"),
        "cupy": cupy_row,
        "jax": jax_row,
    }
    for name in sys.argv[1:] or ["numpy"]:
        rows[name]()
