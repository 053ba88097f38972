#!/usr/bin/env python3
"""Writes ode.inc: how SciPy's RK45 integrates a driven van der Pol oscillator, and where it arrives.

Made with SciPy 1.17.1 and NumPy 2.4.6:  python3 ode.py > ode.inc
"""
import numpy as np
from scipy.integrate import solve_ivp

u = np.array([2.0, 0.5, -1.0])
v = np.array([0.0, 1.0, 0.25])


def oscillator(t, y):
    u, v = y.reshape(2, -1)
    return np.concatenate([v, 5 * (1 - u * u) * v - u + np.cos(t)])


print("// Made by ode.py: t0, t1, relative, absolute, steps tried, rejected, {u, v}")
for t0, t1, relative, absolute in [(0, 10, 1e-3, 1e-6), (0, 10, 1e-6, 1e-9), (0.5, 3, 1e-10, 1e-10), (1, -0.5, 1e-6, 1e-9)]:
    found = solve_ivp(oscillator, (t0, t1), np.concatenate([u, v]), rtol=relative, atol=absolute)
    tried, accepted = (found.nfev - 2) // 6, len(found.t) - 1
    print(f"{{{t0}, {t1}, {relative}, {absolute}, {tried}, {tried - accepted}, {{{', '.join(repr(float(x)) for x in found.y[:, -1])}}}}},")
