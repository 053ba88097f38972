#!/usr/bin/env python3
"""Fits a model of a loop's step to what bench_mesh measured, and says what it predicts for more GPUs.

    bench_mesh cuda:0 cuda:0-1 --benchmark_out=mesh.json --benchmark_out_format=json
    bench/mesh_model.py mesh.json

A step of n elements a GPU takes  start + arithmetic * min(n, chip) + memory * max(0, n - chip) + exchange  microseconds, the last
only where there are several GPUs: what each step takes whatever its size (a block's sums, and the way to the other blocks), what an
element takes that stays on the chip, what one takes that comes and goes, and how much longer the way to another GPU's blocks is.
`chip`, how many elements stay, is the number that fits best. NumPy is needed.
"""

import json
import re
import sys

import numpy


def gpus_of(device):
    """How many a name like cuda:0-3 or cuda:0,2 has."""
    ranges = [part.split("-") for part in device.split(":")[1].split(",")]
    return sum(int(each[-1]) - int(each[0]) + 1 for each in ranges)


def points_of(report):
    """GPUs, elements and microseconds a step."""
    points = []
    for row in json.load(open(report))["benchmarks"]:
        found = re.match(r"mesh/complex64/(\d+)x(\d+)/([^/]+)/(\d+) RK4 steps", row["name"])
        if found and "error_message" not in row:
            rows, columns, device, steps = found.groups()
            points.append((gpus_of(device), int(rows) * int(columns), 1e3 * row["real_time"] / int(steps)))
    return points


def terms(gpus, elements, chip):
    each = elements / gpus
    return [1, min(each, chip), max(0, each - chip), float(gpus > 1)]


def fit(points):
    """The largest relative error, chip, and the four coefficients, so that squares of relative errors are least."""
    best = None
    times = numpy.array([t for _, _, t in points])
    for chip in numpy.arange(5e5, 2e7, 2.5e4):
        matrix = numpy.array([terms(gpus, elements, chip) for gpus, elements, _ in points]) / times[:, None]
        found = numpy.linalg.lstsq(matrix, numpy.ones(len(points)), rcond=None)[0]
        errors = matrix @ found - 1
        if best is None or errors @ errors < best[0]:
            best = (errors @ errors, abs(errors).max(), chip, found)
    return best[1:]


def main():
    points = points_of(sys.argv[1])
    worst, chip, found = fit(points)
    start, arithmetic, memory, exchange = found
    print(f"start {start:.2f} us, arithmetic {1e6 * arithmetic:.2f} ps an element, memory {1e6 * memory:.2f} ps, chip {chip:.3g} elements,"
          f" exchange {exchange:.2f} us; worst error {100 * worst:.1f} %\n")
    print("| GPUs | elements | measured, us a step | model |\n| --- | --- | --- | --- |")
    for gpus, elements, time in points:
        print(f"| {gpus} | {elements:.3g} | {time:.2f} | {numpy.dot(terms(gpus, elements, chip), found):.2f} |")
    print("\n| GPUs | 10^7 equations, ms for 100 steps | 10^7 a GPU | 512 x 512 |\n| --- | --- | --- | --- |")
    for gpus in (1, 2, 4, 8, 64):
        times = [0.1 * numpy.dot(terms(gpus, elements, chip), found) for elements in (1e7, 1e7 * gpus, 512**2)]
        print(f"| {gpus} | {times[0]:.2f} | {times[1]:.2f} | {times[2]:.3f} |")


if __name__ == "__main__":
    main()
