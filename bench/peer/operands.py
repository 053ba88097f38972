"""A library's operands. Making and copying gigabytes for each work would take longer than
measuring it, so each letter and dtype has one long array, of which a work takes the first
elements."""

import math
import zlib

import numpy as np

from .works import START_D, START_F, START_G

# Operands repeat after this number of elements. It is a prime, so that rows differ.
PERIOD = 65521


# Operands of the work's size, and the long arrays of which they are the first elements. Keys are
# computed from random numbers that do not repeat.
LONG = {"a": "a", "b": "b", "c": "c", "m": "a", "w": "b", "x": "a", "y": "b", "q": "a", "v": "v", "g": "u"}


def operand(letter, work, shape):
    """The operand of this name as a NumPy array, the same in every run."""
    dtype = np.dtype(work.dtype)
    if letter in "FG":
        return np.full(shape, START_F if letter == "F" else START_G, dtype)
    if letter == "d":
        return np.full((), START_D, dtype)
    if letter == "i":
        return np.arange(shape[0] - 1, -1, -1, np.int32)
    if letter in "uv":
        # Some sums would be rounded to 1.5.
        below = np.nextafter(np.float32(1.5), np.float32(0))
        return np.minimum(
            np.random.default_rng(ord(letter)).random(shape[:1], np.float32) + np.float32(0.5),
            below,
        )
    if letter == "g":
        return ((operand("u", work, shape) - np.float32(0.5)) * np.float32(shape[1])).astype(
            dtype_of_keys(work)
        )
    if letter == "e":
        return np.linspace(0.5, 1.5, 1000, dtype=dtype)
    if letter == "j":  # Neighbours on a graph.
        return np.random.default_rng(1).integers(0, shape[0], (4, *shape), np.int32)
    if work.steps and letter in "xyz":  # Lorenz.
        return np.full(shape, {"x": 1, "y": 1, "z": 20}[letter], dtype)
    shape = {
        "r": shape[1:],
        "k": (shape[0], 1),
        "s": (),
        "w": (shape[0], 2 * shape[-1]),
        "q": (19, *shape),
    }.get(letter, shape)
    rng = np.random.default_rng(zlib.crc32(LONG.get(letter, letter).encode()))
    if dtype.kind in "iu":
        values = rng.integers(0, 8, PERIOD).astype(dtype)
    else:
        values = (
            rng.random(PERIOD) + 0.5 + (1j * (rng.random(PERIOD) + 0.5) if dtype.kind == "c" else 0)
        ).astype(dtype)
    return np.resize(values, shape)


def dtype_of_keys(work):
    return "int64" if work.dtype == "int64" else "int32"


def operands(work, shape):
    return [operand(letter, work, shape) for letter in work.operands]


class Operands:
    def __init__(self, library, works):
        self.library, self.works, self.arrays = library, works, {}

    def of(self, work):
        return [
            self.part(letter, work) if self.is_long(letter, work) else self.whole(letter, work)
            for letter in work.operands
        ]

    @staticmethod
    def is_long(letter, work):
        return letter in LONG and not work.steps

    def whole(self, letter, work):
        return self.library.to_library(operand(letter, work, work.shape))

    def part(self, letter, work):
        base, dtype = LONG[letter], "float32" if letter == "g" else work.dtype
        if (base, dtype) not in self.arrays:
            # Long enough for every work with this dtype.
            counts = [
                self.count(name, other)
                for other in self.works
                for name in other.operands
                if (name == "g" or other.dtype == dtype)
                and self.is_long(name, other)
                and LONG[name] == base
            ]
            self.arrays[base, dtype] = self.library.to_library(operand(base, work, (max(counts),)))
        whole = self.arrays[base, dtype]
        if letter in "gv":
            x = self.library.part(whole, work.shape[:1], work.shape[0])
            return (
                x
                if letter == "v"
                else self.library.cast((x - 0.5) * work.shape[1], dtype_of_keys(work))
            )
        shape = {"w": (work.shape[0], 2 * work.shape[-1]), "q": (19, *work.shape)}.get(
            letter, work.shape
        )
        return self.library.part(whole, shape, math.prod(shape))

    @staticmethod
    def count(letter, work):
        return work.shape[0] if letter in "gv" else work.elements * {"w": 2, "q": 19}.get(letter, 1)
