#!/usr/bin/env python3
"""Prints promotion.inc: NumPy 2's result dtype for every row of the op table that it has, and every
combination of dtypes.

Run as `promotion.py > promotion.inc`, with NumPy 2 and ml_dtypes (for bfloat16). A line is
DSL_PROMOTION(name, arity, "results") with a character for each result. For one operand: each of the
dtypes below. For two operands: every left dtype with every right one, then every dtype with a
Python scalar (bool, int, float, complex) to its right, then to its left. Characters are NumPy's for
dtypes; "x" is an error, "." is not compared, for the reasons listed below.
"""
import pathlib
import re
import warnings

import ml_dtypes
import numpy as np

warnings.simplefilter("ignore")

DTYPES = "?bhilBHILefdFD"
SCALARS = [True, 1, 1.0, 1j]
REALS = "efd"

# Cases where the language intentionally differs, or NumPy has no ufunc to follow.
# NumPy orders complex numbers lexicographically.
NO_COMPLEX = set("less less_equal greater greater_equal min max fmin fmax clip "
                 # Only for real numbers in the language.
                 "rint exp2 expm1 log2 log10 log1p asin acos atan asinh acosh atanh sinc".split())
# int / int is C++'s; NumPy's is float64.
INTEGER_QUOTIENT = {"divide"}
# C++ has no % for floating point numbers, to which int64 with uint64 would be converted.
INTEGERS_ONLY = {"modulus"}
# Python functions, which convert integers to float64; in the language they convert as ufuncs.
NOT_UFUNCS = {"sinc", "i0", "arg"}
# ldexp(1, int8_array) is float16, though ldexp(1, 2) is float64; clip converts it.
FIRST_IS_AN_ARRAY = {"ldexp", "clip"}


def rows():
    table = (pathlib.Path(__file__).parents[2] / "include/dsl/ir/ops.inc").read_text()
    for kind, name, rest in re.findall(
        r"^DSL_(OPERATOR|FUNCTION|LIBRARY|BOUNDED|OWN)\((\w+),(.*)$", table, re.M
    ):
        numpy, arity = re.search(r'"([^"]*)",\s*(\d)', rest).groups()
        if numpy.startswith("np."):
            yield name, getattr(np, numpy[3:]), int(arity)


def result(name, f, arity, *operands):
    kinds = [np.asarray(x).dtype.kind for x in operands]
    integers = all(k in "biu" for k in kinds)
    if name in NO_COMPLEX and "c" in kinds:
        return "x"
    if integers and name in NOT_UFUNCS | INTEGER_QUOTIENT:
        return "."
    if name in FIRST_IS_AN_ARRAY and not isinstance(operands[0], np.ndarray):
        return "."
    if name == "where":
        operands = (np.array([True]), *operands)
    if name == "clip":
        operands = (*operands, operands[-1])
    try:
        char = f(*operands).dtype.char.replace("q", "l").replace("Q", "L")
        return "x" if name in INTEGERS_ONLY and char in REALS else char
    except (TypeError, OverflowError, ValueError):
        return "x"


arrays = [np.ones(1, c) for c in DTYPES]
print("// Made by promotion.py with NumPy " + np.__version__ + ".")
for name, f, arity in rows():
    if arity == 1:
        print(f'DSL_PROMOTION({name}, 1, "{"".join(result(name, f, 1, x) for x in arrays)}")')
    else:
        pairs = [(x, y) for x in arrays for y in arrays]
        pairs += [(x, s) for s in SCALARS for x in arrays] + [
            (s, x) for s in SCALARS for x in arrays
        ]
        print(f'DSL_PROMOTION({name}, 2, "{"".join(result(name, f, 2, *pair) for pair in pairs)}")')


def with_bfloat16(c):
    try:
        promoted = np.promote_types(ml_dtypes.bfloat16, np.dtype(c))
    except TypeError:  # ml_dtypes has no rule for integers beyond 8 bits.
        return "."
    return "E" if promoted == ml_dtypes.bfloat16 else promoted.char


print(f'DSL_BFLOAT16("{"".join(with_bfloat16(c) for c in DTYPES)}")')
