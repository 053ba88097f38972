#!/usr/bin/env python3
"""The rows of fft.cpp by NumPy and SciPy, or with the argument `cupy` by CuPy. Prints a table.

SciPy uses all cores. Libraries that are not installed are left out. A time is the best of several
calls that together take a second.
"""

import importlib
import sys
import time

ROWS = [
    ("fft", 1, 1 << 24, "complex64"),
    ("fft", 1024, 4096, "complex64"),
    ("fft", 1024, 4096, "complex128"),
    ("fft", 1000, 4099, "complex64"),
    ("split", 1024, 4096, "complex64"),
    ("split", 16384, 1024, "complex64"),
    ("split", 1, 1024, "complex128"),
    ("fft2", 4096, 4096, "complex64"),
    ("columns", 4096, 4096, "complex64"),
    ("rfft", 1024, 4096, "float32"),
    ("irfft", 1024, 4096, "float32"),
]
NAMES = {
    "fft": "fft of rows",
    "split": "fft, phase, ifft of rows",
    "fft2": "fft2",
    "columns": "fft of columns",
    "rfft": "rfft of rows",
    "irfft": "irfft of rows",
}


def milliseconds(call, wait):
    call()
    best, begin = float("inf"), time.perf_counter()
    while time.perf_counter() - begin < 1:
        wait()
        start = time.perf_counter()
        call()
        wait()
        best = min(best, time.perf_counter() - start)
    return 1e3 * best


def row(np, fft, options, wait, what, rows, columns, dtype):
    x = (np.arange(rows * columns).reshape(rows, columns) * 7919 % 1021 / 1021).astype(dtype)
    if what == "irfft":
        x = fft.rfft(x, **options)
    phase = np.exp(1j * np.arange(columns) / 1021).astype("complex64" if dtype == "complex64" else "complex128")
    calls = {
        "fft": lambda: fft.fft(x, **options),
        "split": lambda: fft.ifft(phase * fft.fft(x, **options), **options),
        "fft2": lambda: fft.fft2(x, **options),
        "columns": lambda: fft.fft(x, axis=0, **options),
        "rfft": lambda: fft.rfft(x, **options),
        "irfft": lambda: fft.irfft(x, columns, **options),
    }
    return milliseconds(calls[what], wait)


def libraries(names):
    for name in names:
        try:
            if name == "cupy":
                cupy = importlib.import_module("cupy")
                yield name, cupy, cupy.fft, {}, cupy.cuda.Device().synchronize
            else:
                numpy = importlib.import_module("numpy")
                fft = importlib.import_module(f"{name}.fft")
                yield name, numpy, fft, {"workers": -1} if name == "scipy" else {}, lambda: None
        except ImportError as missing:
            print(f"{name} is left out: {missing}", file=sys.stderr)


def main():
    print("| what | by | ms |\n| --- | --- | --- |")
    for name, numpy, fft, options, wait in libraries(sys.argv[1:] or ["numpy", "scipy"]):
        for what, rows, columns, dtype in ROWS:
            took = row(numpy, fft, options, wait, what, rows, columns, dtype)
            print(f"| {NAMES[what]}, ({rows}, {columns}) {dtype} | {name} | {took:.4g} |", flush=True)


if __name__ == "__main__":
    main()
