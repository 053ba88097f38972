#!/usr/bin/env python3
"""The problems of ensemble_problems.cpp beside SciPy, as the table of docs/ensembles.md.

    ensemble_problems.py PROGRAM [SYSTEMS]

Runs PROGRAM, bench_ensemble_problems, on the host, and solves the same systems by SciPy, one after
another in as many processes as there are cores; seconds per system are the wall time over the number
of systems. Beside each row of dsl stands SciPy's fastest method and tolerance whose error is at most
as large.
"""

import multiprocessing
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
TOLERANCES = [10.0**-digits for digits in range(3, 11)]
SYSTEMS_OF_A_CORE = 5


def known_table(name):
    """A table of tests/data/ensembles.inc."""
    text = (ROOT / "tests/data/ensembles.inc").read_text()
    rows = re.search(rf"{name}\[\].*?= {{\n(.*?)\n}};", text, re.S)[1]
    lines = [[float(x) for x in line.strip(" {},").split(",")] for line in rows.splitlines()]
    width = max(map(len, lines))
    return np.array([line + [0.0] * (width - len(line)) for line in lines])


def known_values(name):
    """begin and values of a stiff problem of tests/ode/problems.hpp."""
    text = (ROOT / "tests/ode/problems.hpp").read_text()
    body = text[text.index(f"struct {name} {{"):]
    found = re.search(r"begin{(.*?)},\s*values{(.*?)};", body, re.S)
    return [np.array([float(x) for x in part.split(",")]) for part in found.groups()]


def lorenz(t, y, rho):
    a, b, c = y
    return 10 * (b - a), a * (rho - c) - b, a * b - 8 / 3 * c


def lotka_volterra(t, y):
    return y[0] * (1.5 - y[1]), y[1] * (y[0] - 3)


def pendulum(t, y):
    return y[1], -np.sin(y[0])


def ball(t, y):
    return y[1], -9.81


def bubble(t, y, c):
    r, v = y
    first, second = 2 * np.pi * t, 2 * np.pi * c[10] * t
    over, mach = 1 / r, c[9] * v
    above = ((c[0] + c[1] * v) * over**4.2 - c[2] * (1 + mach) - c[3] * over - c[4] * v * over
             - 1.5 * (1 - mach / 3) * v * v
             - (c[5] * np.sin(first) + c[6] * np.sin(second)) * (1 + mach)
             - r * (c[7] * np.cos(first) + c[8] * np.cos(second)))
    return v, above / (r - mach * r + c[4] * c[9])


def valve(t, y, flow):
    return y[1], -1.25 * y[1] - (y[0] + 10) + y[2], 20 * (flow - y[0] * y[2] ** 0.5)


def robertson(t, y):
    a, b, c = y
    gained, lost = 1e4 * b * c, 3e7 * b * b
    return gained - 0.04 * a, 0.04 * a - gained - lost, lost


def van_der_pol(t, y):
    return y[1], ((1 - y[0] * y[0]) * y[1] - y[0]) * 1e6


def orego(t, y):
    a, b, c = y
    return 77.27 * (b + a * (1 - 8.375e-6 * a - b)), (c - (1 + a) * b) / 77.27, 0.161 * (a - c)


def hires(t, y):
    a, b, c, d, e, f, g, h = y
    fh = 280 * f * h
    return (-1.71 * a + 0.43 * b + 8.32 * c + 0.0007, 1.71 * a - 8.75 * b,
            -10.03 * c + 0.43 * d + 0.035 * e, 8.32 * b + 1.71 * c - 1.12 * d,
            -1.745 * e + 0.43 * f + 0.43 * g, -fh + 0.69 * d + 1.71 * e - 0.43 * f + 0.69 * g,
            fh - 1.81 * g, -fh + 1.81 * g)


def pollution(t, y):
    r = (0.35 * y[0], 26.6 * y[1] * y[3], 1.23e4 * y[4] * y[1], 0.86e-3 * y[6], 0.82e-3 * y[6],
         1.5e4 * y[6] * y[5], 0.13e-3 * y[8], 2.4e4 * y[8] * y[5], 1.65e4 * y[10] * y[1],
         0.9e4 * y[10] * y[0], 0.022 * y[12], 1.2e4 * y[9] * y[1], 1.88 * y[13],
         1.63e4 * y[0] * y[5], 4.8e6 * y[2], 0.35e-3 * y[3], 0.0175 * y[3], 1e8 * y[15],
         4.44e11 * y[15], 1240 * y[16] * y[5], 2.1 * y[18], 5.78 * y[18], 0.0474 * y[0] * y[3],
         1780 * y[18] * y[0], 3.12 * y[19])
    return (-r[0] - r[9] - r[13] - r[22] - r[23] + r[1] + r[2] + r[8] + r[10] + r[11] + r[21] + r[24],
            -r[1] - r[2] - r[8] - r[11] + r[0] + r[20], -r[14] + r[0] + r[16] + r[18] + r[21],
            -r[1] - r[15] - r[16] - r[22] + r[14], -r[2] + 2 * r[3] + r[5] + r[6] + r[12] + r[19],
            -r[5] - r[7] - r[13] - r[19] + r[2] + 2 * r[17], -r[3] - r[4] - r[5] + r[12],
            r[3] + r[4] + r[5] + r[6], -r[6] - r[7], -r[11] + r[6] + r[8], -r[8] - r[9] + r[7] + r[10],
            r[8], -r[10] + r[9], -r[12] + r[11], r[13], -r[17] - r[18] + r[15], -r[19], r[19],
            -r[20] - r[21] - r[23] + r[22] + r[24], -r[24] + r[23])


def bubble_coefficients(row):
    density, surface, viscosity, sound = (9.970639504998557e2, 0.071977583160056,
                                          8.902125058209557e-4, 1.497251785455527e3)
    vapour, ambient, rest = 3.166775638952003e3, 1e5, 1e-5
    p1, p2, w1, w2 = 1e5 * row[0], 1e5 * row[1], 2000 * np.pi * row[2], 2000 * np.pi * row[3]
    unit, gas = 2 * np.pi / (rest * w1), 2 * surface / rest + ambient - vapour
    squared = unit * unit / density
    return (gas * squared, -3.2 * gas * unit / (sound * density), (ambient - vapour) * squared,
            2 * surface / rest * squared, 4 * viscosity / (density * rest * rest) * 2 * np.pi / w1,
            p1 * squared, p2 * squared, rest * w1 * p1 / sound * squared,
            rest * w2 * p2 / sound * squared, rest * w1 / (2 * np.pi * sound), w2 / w1)


def quarter_of_period(angle):
    mean, other = 1.0, np.cos(angle / 2)
    while mean - other > 1e-15:
        mean, other = (mean + other) / 2, np.sqrt(mean * other)
    return np.pi / 2 / mean


def height_of_ball(height, t):
    speed = 0.0
    while True:
        lands = (speed + np.sqrt(speed * speed + 2 * 9.81 * height)) / 9.81
        if lands > t:
            return height + (speed - 9.81 * t / 2) * t
        t, speed, height = t - lands, -0.9 * (speed - 9.81 * lands), 0.0


def falling(of, action=None):
    """An event where a function falls through 0; with an action the integration goes on behind it."""
    def event(t, y, *arguments):
        return of(y)

    event.direction, event.terminal, event.action = -1, action is not None, action
    return event


class Problem:
    """Systems with known answers: pairs of (values at 0, arguments, answer)."""

    def __init__(self, f, end, scale, systems, event=None, answer=lambda y, times: y[0],
                 relative=False, methods=("RK45", "DOP853", "LSODA")):
        self.f, self.end, self.scale, self.systems = f, end, scale, systems
        self.event, self.answer, self.relative, self.methods = event, answer, relative, methods

    def solve(self, method, tolerance, system):
        from scipy.integrate import solve_ivp

        y, arguments, _ = system
        t, times = 0.0, []
        while True:
            found = solve_ivp(self.f, (t, self.end), y, method, args=arguments, events=self.event,
                              rtol=tolerance, atol=self.scale * tolerance)
            times += list(found.t_events[0]) if self.event else []
            y, t = found.y[:, -1], found.t[-1]
            if found.status != 1:
                return self.answer(y, times)
            y = self.event.action(y)

    def error(self, found, system):
        known = np.asarray(system[2])
        distance = np.abs(np.asarray(found) - known)
        return np.max(distance / np.abs(known) if self.relative else distance)


def stiff(f, end, scale):
    begin, values = known_values(f.__name__)
    return Problem(f, end, scale, [(begin, (), values)], answer=lambda y, times: y, relative=True,
                   methods=("Radau", "BDF", "LSODA"))


def first(y, times):
    return times[0] if times else np.inf


PROBLEMS = {
    "lorenz": Problem(lorenz, 3, 1, [((1, 0, 0), (row[0],), row[1])
                                     for row in known_table("lorenz_ends")]),
    "lotka_volterra": Problem(
        lotka_volterra, 5, 1, [((row[0], 1.5), (), row[1])
                               for row in known_table("lotka_volterra_periods")],
        event=falling(lambda y: y[1] - 1.5), answer=lambda y, times: times[-1] if times else np.inf,
        relative=True),
    "pendulum": Problem(pendulum, 5, 1, [((a, 0), (), quarter_of_period(a))
                                         for a in (0.01, 0.5, 1.5, 2.5, 3)],
                        event=falling(lambda y: y[0]), answer=first, relative=True),
    "ball": Problem(ball, 3, 1, [((h, 0), (), height_of_ball(h, 3)) for h in (1, 1.25, 1.5, 1.75, 2)],
                    event=falling(lambda y: y[0], lambda y: (0.0, -0.9 * y[1]))),
    "bubble": Problem(bubble, 2, 1, [((1, 0), (bubble_coefficients(row),), row[4])
                                     for row in known_table("bubbles")], relative=True),
    "valve": Problem(valve, 6, 1, [((0.2, 0, 1), (row[0],), row[1]) for row in known_table("valves")],
                     event=falling(lambda y: y[0], lambda y: (0.0, -0.8 * y[1], y[2]))),
    "robertson": stiff(robertson, 1e11, 1e-11),
    "van_der_pol": stiff(van_der_pol, 2, 0.1),
    "orego": stiff(orego, 360, 0.1),
    "hires": stiff(hires, 321.8122, 1e-3),
    "pollution": stiff(pollution, 60, 1e-14),
}


def solved(task):
    problem, method, tolerance, system = task
    of = PROBLEMS[problem]
    try:
        found = of.solve(method, tolerance, of.systems[system])
    except ValueError:  # SciPy does not find an event's root.
        return np.inf
    return of.error(found, of.systems[system])


def scipy_runs(problem, pool, cores):
    """(error, seconds per system, method, tolerance) of all methods and tolerances."""
    of, runs = PROBLEMS[problem], []
    for method in of.methods:
        for tolerance in TOLERANCES:
            count = SYSTEMS_OF_A_CORE * cores
            tasks = [(problem, method, tolerance, k % len(of.systems)) for k in range(count)]
            begin = time.perf_counter()
            errors = pool.map(solved, tasks, chunksize=2)
            runs.append((max(errors), (time.perf_counter() - begin) / count, method, tolerance))
    return runs


def main(program, *options):
    cores = len(os.sched_getaffinity(0))
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    os.environ.update(dict.fromkeys(threads, "1"))
    environment = {**os.environ, "DSL_DEVICE": "host"}
    rows = subprocess.run([program, *options], env=environment, check=True, capture_output=True,
                          text=True).stdout
    runs = {}
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        print("| problem | dsl: method, tolerance | error | steps | µs | SciPy: method, tolerance |"
              " error | µs | ratio |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
        for line in rows.splitlines():
            problem, _, _, method, tolerance, error, seconds, steps = line.split()
            if problem not in runs:
                runs[problem] = scipy_runs(problem, pool, cores)
            good = [run for run in runs[problem] if run[0] <= float(error)] or [min(runs[problem])]
            other = min(good, key=lambda run: run[1])
            print(f"| {problem} | `{method}`, {tolerance} | {error} | {steps} | "
                  f"{float(seconds) * 1e6:.3g} | {other[2]}, {other[3]:.0e} | {other[0]:.2g} | "
                  f"{other[1] * 1e6:.4g} | {other[1] / float(seconds):.0f} |".replace("e-0", "e-"),
                  flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
