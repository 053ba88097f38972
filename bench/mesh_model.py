#!/usr/bin/env python3
"""Fits a model of a loop's step to what bench_mesh measured, and says what it predicts for more GPUs.

    bench_mesh cuda:0 cuda:0-1 --benchmark_out=mesh.json --benchmark_out_format=json
    bench/mesh_model.py mesh.json

A step of n elements a GPU takes  start + arithmetic * min(n, chip) + memory * max(0, n - chip) + exchange  microseconds, the last
only where there are several GPUs: what each step takes whatever its size (a block's sums, and the way to the other blocks), what an
element takes that stays on the chip, what one takes that comes and goes, and how much longer the way to another GPU's blocks is.
`chip`, how many elements stay, is the number that fits best. NumPy is needed.
"""

import re
import sys
from dataclasses import dataclass

import numpy

from peer.devices import gpus_of

# GPUs for which it is evaluated.
COUNTS = (1, 2, 4, 8, 64)


@dataclass
class Point:
    """A step that was measured, in microseconds."""

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
    worst: float  # relative error

    def step(self, gpus, elements):
        """Microseconds."""
        found = self.start, self.arithmetic, self.memory, self.exchange
        return float(numpy.dot(terms(gpus, elements, self.chip), found))


def points_of(table):
    """Those of a table by report.py."""
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
    """The Model for which the squares of relative errors are least; None where there are too few points."""
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
    """What a page says of it."""
    model = fit(points)
    if model is None:
        return []
    measured = {(point.gpus, point.elements): point.time for point in points}

    def cell(gpus, elements, digits):
        """100 steps, in milliseconds; 3162 squared stands for 10^7 elements, 4472 squared for 2 x 10^7."""
        here = [
            time
            for (count, size), time in measured.items()
            if count == gpus and abs(size / elements - 1) < 1e-3
        ]
        return f"{0.1 * model.step(gpus, elements):.{digits}f}" + (
            f" ({0.1 * here[0]:.{digits}f})" if here else ""
        )

    lines = [
        "A model of the loop's step, `start + arithmetic * min(n, chip) + memory * max(0, n - chip) + exchange` for n elements a GPU "
        f"(`exchange` only with several GPUs), fitted to these {len(points)} loops: start {model.start:.2f} us, arithmetic {1e6 * model.arithmetic:.2f} ps "
        f"an element, chip {1e-6 * model.chip:.2f} million elements, memory {1e6 * model.memory:.2f} ps an element, exchange "
        f"{model.exchange:.2f} us; the worst point is {100 * model.worst:.1f} % off. Milliseconds for 100 steps, measured ones in brackets:",
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
