#!/usr/bin/env python3
"""The works of window.cu in CuPy and PyTorch, on a GPU.

usage: window.py [--elements N] [--calls N]

Prints a table of medians of single calls between two events: milliseconds, and the bandwidth in
percent of a copy's of as many elements. Reductions of windows are those of the libraries' filters
and poolings; where a library has none, of the view of all windows.
"""
import argparse
import statistics


def cupy_works(n):
    import cupy as cp
    from cupyx.scipy import ndimage

    a = cp.random.uniform(0.5, 1.5, n, dtype=cp.float32)
    out = cp.empty_like(a)
    yield "copy", n, 8, lambda: cp.copyto(out, a)
    for window in (64, 1024):
        size = f"{n}x{window}"
        yield "mean of windows", size, 8, lambda w=window: ndimage.uniform_filter1d(a, w)
        yield "max of windows", size, 8, lambda w=window: ndimage.maximum_filter1d(a, w)
    taps = cp.random.uniform(0.5, 1.5, 63, dtype=cp.float32)
    yield "convolve", f"{n}x63", 8, lambda: cp.convolve(a, taps, "valid")
    yield "topk", f"{n}x100", 4, lambda: cp.partition(a, n - 100)[n - 100 :]


def torch_works(n):
    import torch
    from torch.nn import functional

    torch.set_grad_enabled(False)
    a = torch.rand(n, device="cuda") + 0.5
    out, line = torch.empty_like(a), a.view(1, 1, n)
    yield "copy", n, 8, lambda: out.copy_(a)
    for window in (64, 1024):
        size, windows = f"{n}x{window}", a.unfold(0, window, 1)
        yield "mean of windows", size, 8, lambda w=window: functional.avg_pool1d(line, w, 1)
        yield "max of windows", size, 8, lambda w=window: functional.max_pool1d(line, w, 1)
        yield "std of windows", size, 8, lambda w=windows: torch.std(w, -1, correction=0)
    taps = torch.rand(1, 1, 63, device="cuda")
    yield "convolve", f"{n}x63", 8, lambda: functional.conv1d(line, taps)
    for k in (1, 100):
        yield "topk", f"{n}x{k}", 4, lambda k=k: torch.topk(a, k)


def cupy_milliseconds(call):
    import cupy as cp

    begin, end = cp.cuda.Event(), cp.cuda.Event()
    begin.record()
    call()
    end.record()
    end.synchronize()
    return cp.cuda.get_elapsed_time(begin, end)


def torch_milliseconds(call):
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def measure(library, works, milliseconds, given):
    copy = None
    for name, size, moved, call in works(given.elements):
        try:
            call()
            took = statistics.median(milliseconds(call) for _ in range(given.calls))
        except (ImportError, RuntimeError, MemoryError) as e:
            print(f"| {name} | {size} | {library} | {str(e).splitlines()[0]} | |")
            continue
        rate = moved / took
        copy = copy or rate
        print(f"| {name} | {size} | {library} | {took:.3f} | {100 * rate / copy:.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=100_000_000)
    parser.add_argument("--calls", type=int, default=20)
    given = parser.parse_args()
    print("| work | size | by | ms | percent of copy |\n| --- | --- | --- | --- | --- |")
    for library, works, milliseconds in (
        ("CuPy", cupy_works, cupy_milliseconds),
        ("PyTorch", torch_works, torch_milliseconds),
    ):
        try:
            measure(library, works, milliseconds, given)
        except ImportError as e:
            print(f"| | | {library} | {e} | |")


if __name__ == "__main__":
    main()
