#!/usr/bin/env python3
"""Prints lib/ir/special.inc: the coefficients of lib/ir/special.cpp, fitted at Chebyshev nodes with mpmath in 50 digits.

special.py digamma, special.py logarithm: prints those of include/dsl/ir/digamma.hpp, logarithm.hpp instead."""
import struct
import sys

from mpmath import (atanh, besseli, chebyfit, digamma, erfc, erfinv, exp, expm1, factorial, findroot, log, mp, mpf, nstr, pi,
                    polygamma, polyval, sqrt, tan)

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


def fit_relatively(f, low, high, terms):
    c = chebyfit(f, [low, high], terms)
    points = [low + (high - low) * k / 400 for k in range(401)]
    return c, nstr(max(abs(polyval(c, x) / f(x) - 1) for x in points), 2)


def print_digamma():
    root = findroot(digamma, mpf("1.4616")) - 1

    def near(s):  # the terms in powers of s = u + 1/2
        return (1 + s) * (digamma(1 + s) / (s - root) if abs(s - root) > mpf(10) ** -25 else polygamma(1, 1 + root))

    def far(moved):
        def value(q):
            z = q / (1 - moved * q)  # 1 / y^2
            if z < mpf(10) ** -9:
                return (mpf(1) / 24 - 7 * z / 960) * z / q if q else mpf(1) / 24
            return (digamma(sqrt(1 / z) + mpf(1) / 2) - log(1 / z) / 2) / q
        return value

    def tangent(u):
        return (1 - 4 * u) * tan(pi * sqrt(u)) / (pi * sqrt(u)) if u else mpf(1)

    for name, rounded, counts, moved in (
        ("float", lambda x: struct.unpack("f", struct.pack("f", x))[0], (8, 5, 5), mpf(1) / 2), ("double", float, (17, 19, 9), mpf(1))
    ):
        high = rounded(root)
        print(f"// {name}: the root less 1 is {high.hex()} + {rounded(root - mpf(high)).hex()}")
        fits = (("near", lambda u: near(u + mpf(1) / 2), -mpf(1) / 2, mpf(1) / 2), ("far", far(moved), mpf(0), 1 / (mpf(9) / 4 + moved)),
                ("tangent", tangent, mpf(0), mpf(1) / 16))
        for (what, f, low, high), count in zip(fits, counts):
            c, error = fit_relatively(f, low, high, count)
            print(f"// {what}, relative error {error}\n{', '.join(rounded(x).hex() for x in c)}")


def print_logarithm():
    end = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2
    c = chebyfit(lambda z: 2 * (atanh(sqrt(z)) / sqrt(z) - 1) / z if z > mpf(10) ** -12 else mpf(2) / 3, [0, end], 7)
    points = [end * k / 400 for k in range(1, 401)]
    error = nstr(max(abs((1 + z * polyval(c, z) / 2) * sqrt(z) / atanh(sqrt(z)) - 1) for z in points), 2)
    table("log_terms", f"2 (atanh(s) - s) / s^3, in powers of s^2 up to s = (sqrt(2) - 1) / (sqrt(2) + 1); relative error of atanh(s) {error}", c)


if sys.argv[1:] == ["digamma"]:
    print_digamma()
    sys.exit()
if sys.argv[1:] == ["logarithm"]:
    print_logarithm()
    sys.exit()

print("// Made by lib/ir/special.py. Highest powers first.\n")
c, error = fit(erfinv_over_x, mpf(0), mpf(6), mpf(3), 14)
table("erfinv_central", f"erfinv(x) / x for w = -log(1 - x^2) up to 6, in powers of w - 3; error {error}", c)
c, error = fit(lambda s: erfinv_over_x(s * s), sqrt(mpf(6)), mpf("6.02"), mpf(4), 14)
table("erfinv_tail", f"The same above 6, in powers of sqrt(w) - 4; error {error}", c)
table("i0_series", "1 / k!^2 for k = 24, ..., 0", [1 / factorial(k) ** 2 for k in range(24, -1, -1)])
table("i1_series", "1 / (k! (k + 1)!) for k = 24, ..., 0", [1 / (factorial(k) * factorial(k + 1)) for k in range(24, -1, -1)])


def scaled_bessel(order, t):  # sqrt(x) e^-x times the function, for t = 16 / x - 1
    if t > -1 + mpf("1e-3"):
        x = 16 / (t + 1)
        return sqrt(x) * exp(-x) * besseli(order, x)
    total, term = mpf(0), 1 / sqrt(2 * pi)  # Abramowitz and Stegun 9.7.1
    for k in range(1, 10):
        total += term
        term *= -(4 * order ** 2 - (2 * k - 1) ** 2) * (t + 1) / (128 * k)
    return total


for order in 0, 1:
    c, error = chebyfit(lambda t: scaled_bessel(order, t), [-1, 1], 24, error=True)
    table(f"i{order}_asymptotic", f"sqrt(x) e^-x i{order}(x) for x from 8, in powers of 16 / x - 1; error {nstr(error, 2)}", c)


c, error = fit_relatively(lambda t: mpf(2) ** t, -mpf(1) / 2, mpf(1) / 2, 7)
table("power_of_two_terms", f"2^t for t up to 1/2; relative error {error}", c)
c, error = fit_relatively(lambda r: log(1 + r, 2) / r if abs(r) > mpf(10) ** -30 else 1 / log(2), sqrt(mpf(2)) / 2 - 1, sqrt(mpf(2)) - 1, 13)
table("log2_terms", f"log2(1 + r) / r for 1 + r from 1 / sqrt(2) to sqrt(2); relative error {error}", c)
end = mpf("10.25")
c, error = fit_relatively(lambda u: (lambda x: exp(x * x) * erfc(x))(3 * (1 + u) / (1 - u)), mpf(-1), (end - 3) / (end + 3), 12)
table("scaled_erfc_terms", f"e^(x^2) erfc(x) for x from 0 to 10.25, in powers of (x - 3) / (x + 3); relative error {error}", c)
