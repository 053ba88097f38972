#!/usr/bin/env python3
"""The works of array_operations.cpp by NumPy and SciPy, beside dsl on the host.

usage: array_operations.py PROGRAM

Runs the program with DSL_DEVICE=host, then the libraries, compares the sums of the results, and
prints a table: milliseconds of a call, and NumPy's or SciPy's time over dsl's.
"""

import os
import statistics
import subprocess
import sys
import time

import numpy as np
import scipy.ndimage
import scipy.signal
import scipy.sparse


def operand(shape, k, dtype):
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    return ((i * 7919 + k * 131) % 1021 / 1021 + 0.5).astype(dtype).reshape(shape)


def milliseconds(call):
    call()
    begin = time.perf_counter()
    call()
    about = max(1e-6, time.perf_counter() - begin)
    calls = int(min(max(0.01 / about, 1), 1e4))
    times = []
    for _ in range(int(min(max(1 / (about * calls), 3), 20))):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - begin) / calls)
    return 1e3 * statistics.median(times)


def products(dtype):
    for n in (64, 500, 1024):
        a, b = operand((n, n), 0, dtype), operand((n, n), 1, dtype)
        yield f"matmul {dtype} {n}", "NumPy", lambda a=a, b=b: a @ b
    batch = operand((1000, 32, 32), 0, dtype)
    yield f"matmul of 1000 {dtype} 32", "NumPy", lambda: batch @ batch
    m, v = operand((4097, 4096), 0, dtype), operand((4096,), 1, dtype)
    yield f"matrix times vector {dtype} 4097 4096", "NumPy", lambda: m @ v


def systems():
    for count, n in ((100003, 3), (10007, 8), (1000, 30), (1, 1000)):
        a = operand((count, n, n), 0, "float64")
        a[:, np.arange(n), np.arange(n)] += 2.0 * n
        b = operand((count, n), 1, "float64")
        yield f"solve {count} of {n}", "NumPy", lambda a=a, b=b: np.linalg.solve(a, b[..., None])
        yield f"inv {count} of {n}", "NumPy", lambda a=a: np.linalg.inv(a)


def windows():
    n = 10000019
    x = operand((n,), 0, "float32")
    for size in (7, 64, 1024):
        # Of each window, from its first element on.
        part = slice(size // 2, size // 2 + n - size + 1)
        yield (
            f"mean of windows of {size}",
            "SciPy",
            lambda s=size, p=part: scipy.ndimage.uniform_filter1d(x, s)[p],
        )
        yield (
            f"max of windows of {size}",
            "SciPy",
            lambda s=size, p=part: scipy.ndimage.maximum_filter1d(x, s)[p],
        )
    taps = operand((63,), 1, "float32")
    yield "convolve with 63", "NumPy", lambda: np.convolve(x, taps, "valid")
    yield "convolve with 63", "SciPy", lambda: scipy.signal.oaconvolve(x, taps, "valid")
    yield "the 100 largest", "NumPy", lambda: np.sort(np.partition(x, n - 100)[n - 100 :])[::-1]


def sparse_products():
    rows = 300007
    offsets = np.concatenate([[0], np.cumsum(np.arange(rows) * 7919 % 46 + 5)])
    entries = int(offsets[-1])
    columns = np.arange(entries) * 104729 % rows
    a = scipy.sparse.csr_array((operand((entries,), 0, "float32"), columns, offsets), (rows, rows))
    x = operand((rows,), 1, "float32")
    yield "sparse matrix times vector", "SciPy", lambda: a @ x


def works():
    yield from products("float32")
    yield from products("float64")
    yield from systems()
    yield from windows()
    yield from sparse_products()


def main():
    run = subprocess.run(
        sys.argv[1:2],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "DSL_DEVICE": "host"},
    )
    by_dsl = {}
    for line in run.stdout.splitlines():
        work, ms, total = line.split("|")
        by_dsl[work] = float(ms), float(total)
    print("| work | dsl, ms | by | ms | its time over dsl's |\n| --- | --- | --- | --- | --- |")
    wrong = []
    for work, by, call in works():
        ms, total = by_dsl[work]
        wanted = float(np.asarray(call()).sum(dtype=np.float64))
        if not abs(total - wanted) < 1e-5 * abs(wanted):
            wrong.append((work, by, total, wanted))
        peer = milliseconds(call)
        print(f"| {work} | {ms:.4g} | {by} | {peer:.4g} | {peer / ms:.3g} |", flush=True)
    for each in wrong:
        print("differs:", *each, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
