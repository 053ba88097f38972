#!/usr/bin/env python3
"""Writes ensembles.inc: solutions of differential equations, correct in all digits that it prints.

Made with mpmath 1.4.1:  python3 ensembles.py > ensembles.inc

Every problem is solved twice in 32 digits by the extrapolated midpoint rule, with 12 and with 10
columns and different tolerances. The script fails where the two differ by more than 1e-17 of a
value.

The bubble: J. B. Keller, M. Miksis, J. Acoust. Soc. Am. 68, 1980, driven at two frequencies. The
equation here has units; the test's is the one without units of MPGOS. Parameters: F. Hegedus, GPU
program package MPGOS, tutorial "Quasiperiodic forcing" (github.com/FerencHegedus/
Massively-Parallel-GPU-ODE-Solver; Commun. Nonlinear Sci. Numer. Simul. 97, 2021).
The valve: C. Hos, A. R. Champneys, Physica D 241, 2012; parameters: MPGOS, tutorial "Impact
dynamics".
"""
import sys

from mpmath import mp, mpf, pi, sqrt

mp.dps = 32


def midpoint(f, t, y, h, pieces):
    """Gragg's midpoint rule, whose error has even powers of h alone."""
    step = h / pieces
    before, now = y, [a + step * s for a, s in zip(y, f(t, y))]
    for k in range(1, pieces):
        slope = f(t + k * step, now)
        before, now = now, [a + 2 * step * s for a, s in zip(before, slope)]
    return now


def extrapolated(f, t, y, h, columns):
    """The value after a step, and an estimate of its error."""
    rows = []
    for j in range(columns):
        row = [midpoint(f, t, y, h, 2 * (j + 1))]
        for k in range(1, j + 1):
            ratio = mpf(j + 1) / (j + 1 - k)
            factor = 1 / (ratio * ratio - 1)
            row.append([a + (a - b) * factor for a, b in zip(row[k - 1], rows[-1][k - 1])])
        rows.append(row)
    last = rows[-1]
    error = max(abs(a - b) / (1 + abs(a)) for a, b in zip(last[-1], last[-2]))
    return last[-1], error


def solve(f, y, end, columns, tolerance, events=()):
    """The values at the end, and a list of times for each event: (function, direction, action)."""
    t, h, y = mpf(0), mpf(10) ** -6, [mpf(a) for a in y]
    times = [[] for _ in events]
    values = [mpf(0)] * len(events)  # 0: a root that was just handled, or at the beginning.
    while t < end:
        h = min(h, end - t)
        after, error = extrapolated(f, t, y, h, columns)
        factor = mpf("0.7") * (tolerance / (error + mp.eps)) ** (mpf(1) / (2 * columns - 1))
        following = h * min(max(factor, mpf("0.2")), 3)
        if error > tolerance:
            h = following
            continue
        cut = None
        for i, (g, rises, _) in enumerate(events):
            now = g(after)
            if values[i] * now < 0 and (now > 0) == rises:
                at = root(lambda step: g(extrapolated(f, t, y, step, columns)[0]), h, values[i], now)
                if cut is None or at < cut[0]:
                    cut = at, i
        if cut is None:
            t, y = t + h, after
            values = [g(y) for g, _, _ in events]
            h = following
            continue
        at, i = cut
        y = extrapolated(f, t, y, at, columns)[0]
        t += at
        times[i].append(t)
        y = events[i][2](y)
        values = [mpf(0) if j == i else g(y) for j, (g, _, _) in enumerate(events)]
        h = min(h, mpf(10) ** -4)
    return y, times


def root(g, h, before, now):
    """Where g is 0 between 0 and h: by secants, bisecting where these leave the interval."""
    low, high, at_low, at_high = mpf(0), h, before, now
    x = low - at_low * (high - low) / (at_high - at_low)
    while True:
        value = g(x)
        if abs(value) < mpf(10) ** -28:
            return x
        if (value > 0) == (at_high > 0):
            high, at_high, at_low = x, value, at_low / 2
        else:
            low, at_low, at_high = x, value, at_high / 2
        if high - low < mpf(10) ** -28 * h:
            return x
        x = low - at_low * (high - low) / (at_high - at_low)


def agreed(f, y, end, events=(), tolerance=1e-22):
    """The solution, after it was found in two ways."""
    found = [
        solve(f, y, mpf(end), columns, mpf(tolerance) * factor, events)
        for columns, factor in ((12, 1), (10, mpf("0.01")))
    ]
    numbers = [list(values) + [t for each in times for t in each] for values, times in found]
    assert len(numbers[0]) == len(numbers[1])
    apart = max(abs(a - b) / max(abs(a), mpf(10) ** -3) for a, b in zip(*numbers))
    print(f"{len(numbers[0])} numbers, apart by {mp.nstr(apart, 2)}", file=sys.stderr, flush=True)
    assert apart < 1e-17
    return found[0]


def table(name, comment, rows):
    width = max(len(row) for row in rows)
    print(f"// {comment}\nconstexpr double {name}[][{width}] = {{")
    for row in rows:
        print("    {" + ", ".join(repr(float(x)) for x in row) + "},")
    print("};")


def lorenz(rho):
    beta = mpf(8) / 3
    return lambda t, y: [
        10 * (y[1] - y[0]),
        y[0] * (rho - y[2]) - y[1],
        y[0] * y[1] - beta * y[2],
    ]


def lotka_volterra(t, y):
    return [y[0] * (mpf(3) / 2 - y[1]), y[1] * (y[0] - 3)]


def bubble(amplitudes, kilohertz):
    """The radius and its speed, in units of the radius at rest and of the first period."""
    density, surface, viscosity = "997.0639504998557", "0.071977583160056", "8.902125058209557e-4"
    density, surface, viscosity = mpf(density), mpf(surface), mpf(viscosity)
    speed, vapour = mpf("1497.251785455527"), mpf("3166.775638952003")
    ambient, exponent, rest = mpf(10) ** 5, mpf("1.4"), mpf(10) ** -5
    drives = [(mpf(a) * ambient, 2 * pi * 1000 * mpf(f)) for a, f in zip(amplitudes, kilohertz)]
    period = 1 / (1000 * mpf(kilohertz[0]))
    gas_at_rest = ambient - vapour + 2 * surface / rest
    hardness = 3 * exponent

    def slopes(t, y):
        t, R, V = t * period, rest * y[0], y[1] * rest / period
        waves = [(p, w, *mp.cos_sin(w * t)) for p, w in drives]
        outside = ambient + sum(p * sine for p, w, cosine, sine in waves)
        change_outside = sum(p * w * cosine for p, w, cosine, sine in waves)
        gas = gas_at_rest * y[0] ** -hardness
        tension, friction, rate = 2 * surface / R, 4 * viscosity / R, V / R
        at_wall = gas + vapour - tension - friction * V
        # How the pressure at the wall changes, without the part with the acceleration.
        change = rate * (tension + friction * V - hardness * gas)
        mach = V / speed
        right = (1 + mach) * (at_wall - outside) + R / speed * (change - change_outside)
        left = (1 - mach) * R + 4 * viscosity / (density * speed)
        acceleration = (right / density - (1 - mach / 3) * 3 * V * V / 2) / left
        return [y[1], acceleration * period**2 / rest]

    return slopes


def valve(flow):
    kappa, delta, beta = mpf(5) / 4, 10, 20
    return lambda t, y: [
        y[1],
        -kappa * y[1] - (y[0] + delta) + y[2],
        beta * (mpf(flow) - y[0] * sqrt(y[2])),
    ]


if __name__ == "__main__":
    print("// Made by ensembles.py.")
    table(
        "lorenz_ends",
        "Lorenz's equations from 1, 0, 0 to t = 3: rho, x, y, z",
        [(rho, *agreed(lorenz(rho), (1, 0, 0), 3)[0]) for rho in (0, 7, 14, 21, 28)],
    )
    begin = lambda y: y
    table(
        "lotka_volterra_periods",
        "x' = x (3/2 - y), y' = y (x - 3), from x and y = 3/2: x, the period",
        [
            (x, agreed(lotka_volterra, (x, 1.5), 7, [(lambda y: y[1] - 1.5, False, begin)])[1][0][0])
            for x in (0.125, 0.5, 1, 2, 2.875)
        ],
    )
    rows = []
    for flow in (1.5, 3, 5, 7.5, 9):
        # The exact square root of y[2] = 0 is not differentiable there.
        values, (impacts, maxima) = agreed(
            valve(flow), (0.2, 0, 1), 6,
            [(lambda y: y[0], False, lambda y: [y[0], -mpf(4) / 5 * y[1], y[2]]),
             (lambda y: y[1], False, begin)])
        rows.append((flow, *values, len(impacts), *(impacts + [0, 0])[:2], len(maxima),
                     *maxima[:1]))
    table(
        "valves",
        "A valve from 0.2, 0, 1 to t = 6: the flow, y1, y2, y3, the number of impacts, the first "
        "two, the number of maxima, the first one",
        rows,
    )
    driven = [((1.1, 0.7), (100, 37)), ((0.5, 0.7), (50, 71)), ((1.1, 1.2), (400, 550))]
    rows = []
    for amplitudes, kilohertz in driven:
        values, times = agreed(bubble(amplitudes, kilohertz), (1, 0), 2,
                               [(lambda y: y[1], False, begin)])
        rows.append((*amplitudes, *kilohertz, *values, len(times[0]), *times[0][:2]))
    table(
        "bubbles",
        "A bubble from rest, to t = 2: the amplitudes in bar, the frequencies in kHz, y, y', how "
        "often y has a maximum, and when first",
        rows,
    )
