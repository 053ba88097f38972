#!/usr/bin/env python3
"""Fits a model of a loop's step to the measurements of bench_mesh, and predicts steps on more GPUs.

    bench_mesh cuda:0 cuda:0-1 --benchmark_out=mesh.json --benchmark_out_format=json
    bench/mesh_model.py mesh.json

A step of n elements a GPU takes

    start + arithmetic * min(n, chip) + memory * max(0, n - chip) + exchange

microseconds. `start` is independent of the size: a block's sums, and their exchange with the other
blocks. `arithmetic` is the time of an element that stays on the chip, `memory` that of an element
that is loaded and stored in each step. `exchange`, only with several GPUs, is the additional time
to reach another GPU's blocks. `chip` is the number of elements that stay on the chip; the value
that fits best is chosen. Needs NumPy.
"""

import re
import sys
from dataclasses import dataclass

import numpy

from peer.devices import gpus_of

# Numbers of GPUs for which the model is evaluated.
COUNTS = (1, 2, 4, 8, 64)


@dataclass
class Point:
    """A measured step, in microseconds."""

    gpus: int
    elements: int
    time: float


@dataclass
class Model:
    start: float
    arithmetic: float
    memory: float
    exchange: float
    chip: float
    worst: float  # Relative error.

    def step(self, gpus, elements):
        """The predicted time in microseconds."""
        found = self.start, self.arithmetic, self.memory, self.exchange
        return float(numpy.dot(terms(gpus, elements, self.chip), found))


def points_of(table):
    """The measured points in a table by report.py."""
    points = []
    for (_, group, dtype, size, work), row in table.rows.items():
        loop, shape = re.match(r"(\d+) RK4 steps", work), re.fullmatch(r"(\d+)x(\d+)", size)
        if group != "mesh" or not loop or not shape:
            continue
        for by, measured in row.items():
            if by.startswith("dsl ") and not measured.error:
                elements = int(shape[1]) * int(shape[2])
                points.append(Point(gpus_of(by[4:]), elements, 1e3 * measured.ms / int(loop[1])))
    return points


def terms(gpus, elements, chip):
    each = elements / gpus
    return [1, min(each, chip), max(0, each - chip), float(gpus > 1)]


def fit(points):
    """The Model with the least squares of relative errors; None if there are too few points."""
    if len(points) < 6 or len({point.gpus for point in points}) < 2:
        return None
    best, least = None, numpy.inf
    times = numpy.array([point.time for point in points])
    for chip in numpy.arange(5e5, 2e7, 2.5e4):
        matrix = (
            numpy.array([terms(point.gpus, point.elements, chip) for point in points])
            / times[:, None]
        )
        found = numpy.linalg.lstsq(matrix, numpy.ones(len(points)), rcond=None)[0]
        errors = matrix @ found - 1
        if errors @ errors < least:
            best, least = (
                Model(*map(float, found), float(chip), float(abs(errors).max())),
                errors @ errors,
            )
    return best


def lines_of(points):
    """Lines for a page about the model."""
    model = fit(points)
    if model is None:
        return []
    measured = {(point.gpus, point.elements): point.time for point in points}

    def cell(gpus, elements, digits):
        """The time of 100 steps in milliseconds. 3162 squared stands for 10^7 elements, 4472
        squared for 2 x 10^7."""
        here = [
            time
            for (count, size), time in measured.items()
            if count == gpus and abs(size / elements - 1) < 1e-3
        ]
        return f"{0.1 * model.step(gpus, elements):.{digits}f}" + (
            f" ({0.1 * here[0]:.{digits}f})" if here else ""
        )

    lines = [
        "A model of the loop's step, `start + arithmetic * min(n, chip) + memory * max(0, "
        "n - chip) + exchange` for n elements a GPU, the last "
        f"where there are several, fitted to these {len(points)} loops: start "
        f"{model.start:.2f} us, arithmetic {1e6 * model.arithmetic:.2f} ps "
        f"an element, chip {1e-6 * model.chip:.2f} million elements, memory "
        f"{1e6 * model.memory:.2f} ps an element, exchange "
        f"{model.exchange:.2f} us; the worst point is {100 * model.worst:.1f} % off. "
        "Milliseconds for 100 steps, measured ones in brackets:",
        "",
        "| GPUs | 10^7 elements | 10^7 a GPU | 512 x 512 |",
        "| --- | --- | --- | --- |",
    ]
    for gpus in COUNTS:
        cells = cell(gpus, 1e7, 2), cell(gpus, 1e7 * gpus, 2), cell(gpus, 512**2, 3)
        lines.append("| " + " | ".join([str(gpus), *cells]) + " |")
    return lines


def main():
    import report

    points = points_of(report.read(sys.argv[1:]))
    print("\n".join(lines_of(points) or ["There are too few points."]))


if __name__ == "__main__":
    main()
