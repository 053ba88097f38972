#!/usr/bin/env python3
"""Prints the rows of include/dsl/ir/power_table.hpp, computed with mpmath in 60 digits."""
import struct

from mpmath import log, mp, mpf, nint

mp.dps = 60


def with_upper_half(bits):
    return mpf(struct.unpack("<d", struct.pack("<Q", bits << 32))[0])


def spelled(x):
    digits, exponent = float(x).hex().split("p") if x != 0 else ("0x0.0", "+0")
    return digits.rstrip("0").rstrip(".") + "p" + exponent if x != 0 else "0"


for at in range(128):
    first = 0x3FE69555 + (at << 13)
    low, high = with_upper_half(first), with_upper_half(first + (1 << 13))
    middle = (low + high) / 2
    bits = 7 if middle < 1 else 8
    inverse = mpf(1) if low <= 1 <= high else nint(2**bits / middle) / 2**bits
    exact = -log(inverse)
    rounded = nint(exact * 2**43) / mpf(2) ** 43
    print(f"      {{{spelled(inverse)}, {spelled(rounded)}, {spelled(mpf(float(exact - rounded)))}}},")
