#!/usr/bin/env python3
"""Writes ode.inc: results and step counts of SciPy's RK45 for a driven van der Pol oscillator.

Made with SciPy 1.17.1 and NumPy 2.4.6:  python3 ode.py > ode.inc
"""
import numpy as np
from scipy.integrate import solve_ivp

u = np.array([2.0, 0.5, -1.0])
v = np.array([0.0, 1.0, 0.25])


def oscillator(t, y):
    u, v = y.reshape(2, -1)
    return np.concatenate([v, 5 * (1 - u * u) * v - u + np.cos(t)])


inf = float("inf")
runs = [  # t0, t1, relative, absolute, first step (0: SciPy's choice), largest step.
    (0, 10, 1e-3, 1e-6, 0, inf), (0, 10, 1e-6, 1e-9, 0, inf), (0.5, 3, 1e-10, 1e-10, 0, inf),
    (1, -0.5, 1e-6, 1e-9, 0, inf),
    (0, 1.0005, 1e-3, 1e-6, 0.1, 0.1),  # Ten steps of 0.1, and the rest.
    (0, 1, 1e-2, 1e-2, 0.1, 0.1), (1, -0.5, 1e-3, 1e-3, 0, 0.0625),
    (2, 1.005, 1e-2, 1e-2, 0.01, 0.01),
    (0, 3, 1e-3, 1e-6, 0.5, 0.05),  # A first step above the largest.
    (0, 2, 1e-3, 1e-6, 2, inf), (1, 1.5, 1e-6, 1e-9, 1e-20, inf), (1, 0.5, 1e-6, 1e-9, 1e-20, 0.25),
    (0.5, 0.5 + 5 * 2 ** -53, 1e-3, 1e-6, 0, inf),
    (0.5, 0.5 + 50 * 2 ** -53, 1e-3, 1e-6, 0, 12 * 2 ** -53)
]
print(
    "// Made by ode.py: t0, t1, relative, absolute, first step, largest step (0: any), "
    "steps tried, rejected, {u, v}"
)
for t0, t1, relative, absolute, first, largest in runs:
    found = solve_ivp(oscillator, (t0, t1), np.concatenate([u, v]), rtol=relative, atol=absolute,
                      first_step=first or None, max_step=largest)
    tried, accepted = (found.nfev - (1 if first else 2)) // 6, len(found.t) - 1
    print(
        f"{{{t0!r}, {t1!r}, {relative}, {absolute}, {first}, "
        f"{largest if largest < inf else 0}, {tried}, {tried - accepted}, "
        f"{{{', '.join(repr(float(x)) for x in found.y[:, -1])}}}}},"
    )
