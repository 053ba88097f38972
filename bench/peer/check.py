"""Checks a library's result against NumPy's."""

import numpy as np

from . import drawn
from .operands import PERIOD
from .works import numpy_functions


def small_shape(work):
    """A shape of the same rank that is small enough to compare the result with NumPy's; the
    work's own if that is small."""
    if work.elements <= PERIOD or work.is_uniform or work.group == "random":
        return work.shape
    return (
        (1000,)
        if len(work.shape) == 1
        else (min(work.shape[0], 48),) * len(work.shape)
        if len(set(work.shape)) == 1
        else tuple(min(n, 40) for n in work.shape)
    )


def reference(work, operands):
    """The result in double precision, by NumPy."""
    if work.is_uniform:
        operands = [x[(slice(4),) * x.ndim] for x in operands]
    wide = [
        x
        if x.dtype.kind in "iub"
        else x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
        for x in operands
    ]
    return work.formula(numpy_functions(), *wide)


TOLERANCE = {
    "float16": 5e-3,
    "float32": 2e-4,
    "float64": 1e-10,
    "complex64": 2e-4,
    "int32": 0,
    "int64": 0,
}


def check(work, got, operands):
    """Raises an error unless `got`, NumPy arrays, is the reference's result. Random numbers must
    have the distribution instead."""
    if work.group == "random":
        return drawn.check(work, got)
    expected = reference(work, operands)
    expected = expected if isinstance(expected, tuple) else (expected,)
    if len(got) != len(expected):
        raise ValueError(f"{len(got)} results instead of {len(expected)}")
    for x, right in zip(got, expected):
        right = np.asarray(right)
        x = np.asarray(x).reshape(right.shape) if np.size(x) == right.size else np.asarray(x)
        if work.group == "by key":
            # JAX pads a selection to a known size.
            x = x[: right.size]
        tolerance = TOLERANCE[work.dtype]
        scale = float(np.max(np.abs(right))) if right.size else 1
        if x.shape != right.shape or not np.allclose(
            x, right, rtol=tolerance, atol=tolerance * scale
        ):
            raise ValueError("the result differs from NumPy's")
