"""A library's operands. Making and copying gigabytes for each work would take longer than measuring it, so each letter and dtype has
one long array, of which a work takes the first elements."""

import math

from .works import LONG, operand


class Operands:
    def __init__(self, library, works):
        self.library, self.works, self.arrays = library, works, {}

    def of(self, work):
        return [self.part(letter, work) if self.is_long(letter, work) else self.whole(letter, work) for letter in work.operands]

    @staticmethod
    def is_long(letter, work):
        return letter in LONG and not work.steps

    def whole(self, letter, work):
        return self.library.to_library(operand(letter, work, work.shape))

    def part(self, letter, work):
        base, dtype = LONG[letter], work.dtype
        if (base, dtype) not in self.arrays:
            # As long as any work with this dtype needs it.
            counts = [
                other.elements * (2 if name == "w" else 1)
                for other in self.works
                for name in other.operands
                if other.dtype == dtype and self.is_long(name, other) and LONG[name] == base
            ]
            self.arrays[base, dtype] = self.library.to_library(operand(base, work, (max(counts),)))
        shape = (work.shape[0], 2 * work.shape[1]) if letter == "w" else work.shape
        return self.library.part(self.arrays[base, dtype], shape, math.prod(shape))
