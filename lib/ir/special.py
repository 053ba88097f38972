#!/usr/bin/env python3
"""Prints lib/ir/special.inc: the coefficients of lib/ir/special.cpp, fitted at Chebyshev nodes with mpmath in 50 digits."""
from mpmath import besseli, chebyfit, erfinv, exp, expm1, factorial, mp, mpf, nstr, pi, sqrt

mp.dps = 50


def table(name, what, coefficients):
    print(f"// {what}")
    print(f"constexpr double {name}[] = {{")
    for i in range(0, len(coefficients), 4):
        print("    " + ", ".join(float(c).hex() for c in coefficients[i:i + 4]) + ",")
    print("};\n")


def erfinv_over_x(w):  # as a function of w = -log(1 - x^2)
    x = sqrt(-expm1(-w))
    return erfinv(x) / x if w > mpf(10) ** -40 else sqrt(pi) / 2


def fit(f, low, high, centre, terms):  # highest power first
    coefficients, error = chebyfit(lambda t: f(t + centre), [low - centre, high - centre], terms, error=True)
    return coefficients, nstr(error, 2)


print("// Made by lib/ir/special.py. Highest powers first.\n")
c, error = fit(erfinv_over_x, mpf(0), mpf(6), mpf(3), 14)
table("erfinv_central", f"erfinv(x) / x for w = -log(1 - x^2) up to 6, in powers of w - 3; error {error}", c)
c, error = fit(lambda s: erfinv_over_x(s * s), sqrt(mpf(6)), mpf("6.02"), mpf(4), 14)
table("erfinv_tail", f"The same above 6, in powers of sqrt(w) - 4; error {error}", c)
table("i0_series", "1 / k!^2 for k = 24, ..., 0", [1 / factorial(k) ** 2 for k in range(24, -1, -1)])
c, error = chebyfit(lambda t: (lambda x: sqrt(x) * exp(-x) * besseli(0, x))(16 / (t + 1)) if t > -1 + mpf("1e-3") else
                    sum(factorial(2 * k) ** 2 / (factorial(k) ** 3 * 32 ** k) * ((t + 1) / 16) ** k for k in range(9)) / sqrt(2 * pi),
                    [-1, 1], 24, error=True)
table("i0_asymptotic", f"sqrt(x) e^-x i0(x) for x from 8, in powers of 16 / x - 1; error {nstr(error, 2)}", c)
