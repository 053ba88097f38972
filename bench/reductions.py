"""The rows of bench/reductions.cu by CuPy, PyTorch and Numba, where they are installed: milliseconds and GB/s, median of 20."""
import statistics

N = 1 << 27


def rows_of(xp, axis_sum, extra):
    """Name, bytes and call for each row; xp is cupy or torch."""
    a, b = extra["a"], extra["b"]
    yield "sum(a)", 4 * N, lambda: a.sum()
    yield "min(a), max(a), mean(a)", 4 * N, lambda: (a.min(), a.max(), a.mean())
    yield "sum(a * exp(b))", 8 * N, lambda: (a * xp.exp(b)).sum()
    yield "norm(a)", 4 * N, lambda: xp.linalg.norm(a)
    yield "argmax(a)", 4 * N, lambda: a.argmax()
    for shape in ((8192, 8192), (4096, 4096), (10_000_000, 8), (8, 10_000_000)):
        m = a[: shape[0] * shape[1]].reshape(shape)
        size = 4 * shape[0] * shape[1]
        yield f"sums of rows, {shape[0]} x {shape[1]}", size + 4 * shape[0], lambda m=m: axis_sum(m, 1)
        yield f"sums of columns, {shape[0]} x {shape[1]}", size + 4 * shape[1], lambda m=m: axis_sum(m, 0)


def report(library, rows, milliseconds):
    for name, size, call in rows:
        ms = statistics.median(milliseconds(call) for _ in range(23))
        print(f"{library:8} {name:36} {ms:9.4f} ms {size / ms * 1e-6:8.0f} GB/s")


def by_cupy():
    import cupy as cp

    def milliseconds(call):
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record()
        for _ in range(5):
            call()
        end.record()
        end.synchronize()
        return cp.cuda.get_elapsed_time(begin, end) / 5

    a = cp.random.random(N, dtype=cp.float32)
    report("CuPy", rows_of(cp, lambda m, k: m.sum(axis=k), {"a": a, "b": a[::-1].copy()}), milliseconds)


def by_torch():
    import torch

    def milliseconds(call):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(5):
            call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 5

    a = torch.rand(N, device="cuda")
    report("PyTorch", rows_of(torch, lambda m, k: m.sum(dim=k), {"a": a, "b": a.flip(0)}), milliseconds)


def by_numba():
    import numpy

    numpy.row_stack = numpy.vstack  # Numba asks for it, NumPy 2.4 has it no more
    from numba import cuda

    def add(x, y):
        return x + y

    total = cuda.reduce(add)
    a, result = cuda.to_device(numpy.random.default_rng(1).random(N, dtype=numpy.float32)), cuda.device_array(1, numpy.float32)

    def milliseconds(call):
        begin, end = cuda.event(), cuda.event()
        begin.record()
        call()
        end.record()
        end.synchronize()
        return cuda.event_elapsed_time(begin, end)

    report("Numba", [("sum(a)", 4 * N, lambda: total(a, res=result))], milliseconds)


for library in (by_cupy, by_torch, by_numba):
    try:
        library()
    except ImportError as missing:
        print(missing)
