#!/usr/bin/env python3
"""Writes statements with nested reductions, drawn with fixed seeds, as C++ files of tests
(statements.hpp).

make.py FOLDER FILES COUNT [FIRST]: writes FOLDER/drawn_0.cpp and so on, with COUNT statements each,
with the seeds from FIRST (0) on.

An expression is drawn with its kind, which is its shape when combined with R x C arrays, and a
bound of its elements: while they are integers below 2^22, every device must give the exact values.
An expression that exceeds the bound is clipped. A mean is not an integer: values that depend on one
are compared with a tolerance, and not counted.
"""
import os
import random
import re
import sys

# Shapes: R x C, R x 1, 1 x C, C, R, one.
MATRIX, COLUMN, ROW, LINE, SIDE, VALUE = "matrix", "column", "row", "line", "side", "value"
LEAVES = {
    MATRIX: ["x.m", "x.n", "x.d", "x.i", "x.t"], COLUMN: ["x.column"], ROW: ["x.row"],
    LINE: ["x.line"], SIDE: ["x.side"], VALUE: ["x.s", "x.k", "2", "3"]
}
BESIDE = {
    MATRIX: [MATRIX, MATRIX, MATRIX, COLUMN, ROW, LINE, VALUE], COLUMN: [COLUMN, COLUMN, VALUE],
    ROW: [ROW, ROW, LINE, VALUE], LINE: [LINE, LINE, VALUE], SIDE: [SIDE, SIDE, VALUE],
    VALUE: [VALUE]
}
# Arguments of a reduction that reduce a matrix to a smaller kind.
REDUCED = {
    COLUMN: ["dsl::axis(1), dsl::keep_dims", "dsl::keep_dims, dsl::axis(-1)"],
    ROW: ["dsl::axis(0), dsl::keep_dims"],
    LINE: ["dsl::axis(0)"],
    SIDE: ["dsl::axis(1)"],
    VALUE: [None],
}
ROWS, COLUMNS, MOST = 64, 300, 1 << 22
COUNT = {COLUMN: COLUMNS, ROW: ROWS, LINE: ROWS, SIDE: COLUMNS, VALUE: ROWS * COLUMNS}


class Expression:
    def __init__(self, text, kind, bound, whole=True, named=False, literal=False):
        self.text, self.kind, self.bound, self.whole = text, kind, bound, whole
        self.named, self.literal = named, literal


class Statement:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.names = [], []

    def pick(self, options):
        return options[self.random.randrange(len(options))]

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def clipped(self, e):
        if e.bound < MOST:
            return e
        return Expression(f"clip({e.text}, -5, 5)", e.kind, 5, e.whole)

    def leaf(self, kind):
        text = self.pick(LEAVES[kind])
        literal = text[0].isdigit()
        return Expression(text, kind, int(text) if literal else 3, literal=literal)

    def named(self, kind):
        known = [e for e in self.names if e.kind == kind]
        return self.pick(known) if known and self.chance(60) else None

    def draw(self, kind, depth, of_array=False):
        """`of_array`: not made of literals or C++ scalars alone."""
        known = self.named(kind)
        if known and (kind != VALUE or not of_array or known.named):
            return known
        way = self.random.randrange(100)
        if depth >= 2 and way >= 75:
            return self.twice(kind, depth)
        if depth == 0 or way < 8:
            if kind != VALUE or not of_array:
                return self.leaf(kind)
            return Expression("x.s", VALUE, 3)
        if kind != MATRIX and way < 60:
            return self.reduction(kind, depth)
        if kind in (MATRIX, LINE) and way < 30:
            return self.formula(kind, depth)
        if way < 70:
            return self.unary(kind, depth)
        return self.binary(kind, depth)

    def unary(self, kind, depth):
        e = self.draw(kind, depth - 1, of_array=True)
        way = self.random.randrange(5)
        if way == 0:
            return Expression(f"abs({e.text})", kind, e.bound, e.whole)
        if way == 1:
            return Expression(f"-({e.text})", kind, e.bound, e.whole)
        if way == 2:
            return Expression(
                f"cast<{self.pick(['float', 'double'])}>({e.text})", kind, e.bound, e.whole
            )
        if way == 3:
            return Expression(f"clip({e.text}, -2, 3)", kind, min(3, e.bound), e.whole)
        return self.clipped(Expression(f"square({e.text})", kind, e.bound ** 2, e.whole))

    def binary(self, kind, depth):
        a = self.draw(kind, depth - 1, of_array=True)
        b = self.draw(self.pick(BESIDE[kind]), depth - 1)
        if self.chance(50):
            a, b = b, a
        whole = a.whole and b.whole
        way = self.pick(["+", "-", "-", "*", "max", "min"])
        if way in "+-":
            e = Expression(f"({a.text} {way} {b.text})", kind, a.bound + b.bound, whole)
        elif way == "*":
            e = Expression(f"({a.text} * {b.text})", kind, a.bound * b.bound, whole)
        else:
            e = Expression(f"{way}({a.text}, {b.text})", kind, max(a.bound, b.bound), whole)
        return self.clipped(e)

    def twice(self, kind, depth):
        """Two functions of a named expression, joined by an operator; with a reduction where
        possible."""
        of = self.pick([COLUMN, ROW, LINE, VALUE]) if kind == MATRIX else kind
        e = self.name(self.reduction(of, depth - 1))
        a, b = self.function_of(e), self.function_of(e)
        joined = self.clipped(
            Expression(
                f"({a.text} {self.pick(['-', '+'])} {b.text})", of, a.bound + b.bound, e.whole
            )
        )
        if self.chance(30):
            joined = self.clipped(
                Expression(f"({a.text} * {b.text})", of, a.bound * b.bound, e.whole)
            )
        if kind != MATRIX:
            return joined
        other = self.draw(MATRIX, depth - 2, of_array=True)
        return self.clipped(
            Expression(f"({other.text} - {joined.text})", MATRIX, other.bound + joined.bound,
                       e.whole and other.whole))

    def function_of(self, e):
        text, bound = self.pick([(f"({e.text} + 1)", e.bound + 1), (f"({e.text} * 2)", e.bound * 2),
                                 (f"abs({e.text})", e.bound),
                                 (f"clip({e.text}, -4, 7)", min(7, e.bound)),
                                 (f"cast<double>({e.text})", e.bound), (e.text, e.bound)])
        return Expression(text, e.kind, bound, e.whole)

    def name(self, e):
        name = f"e{len(self.lines)}"
        self.lines.append(f"const auto {name} = {e.text};")
        self.names.append(Expression(name, e.kind, e.bound, e.whole, named=True))
        return self.names[-1]

    def reduction(self, kind, depth):
        of, arguments = MATRIX, self.pick(REDUCED[kind])
        if kind == VALUE and self.chance(40):
            of = self.pick([COLUMN, ROW, LINE, SIDE])
        e = self.draw(of, depth - 1, of_array=True)
        count = COUNT[kind] if of == MATRIX else max(ROWS, COLUMNS)
        names = ["sum", "sum", "max", "min", "mean"] + (
            ["count_nonzero", "argmax"] if e.whole else []
        )
        name = self.pick(names)
        bound = {"sum": count * e.bound, "count_nonzero": count, "argmax": count}.get(name, e.bound)
        text = f"{name}({e.text}, {arguments})" if arguments else f"{name}({e.text})"
        return self.clipped(Expression(text, kind, bound, e.whole and name != "mean"))

    def formula(self, kind, depth):
        """A lambda with reductions of its own: of all elements, or of each row."""
        e = self.draw(kind, depth - 1, of_array=True)
        body, factor = self.pick([("u - max(u)", 2), ("u * 2 - min(u)", 3),
                                  ("max(u) - u + min(u)", 3), ("u - mean(u)", 2)])
        bound, whole = e.bound * factor, e.whole and "mean" not in body
        f = f"[](auto u) {{ return {body}; }}"
        if kind == MATRIX and self.chance(50):
            text = f"x.along({f}, dsl::axis({self.random.randrange(2)}), {e.text})"
        else:
            text = f"x.formula({f}, {e.text})"
        return self.clipped(Expression(text, kind, bound, whole))

    def name_some(self, kinds, depth):
        for _ in range(self.random.randrange(3)):
            kind = self.pick(kinds)
            self.name(self.draw(kind, depth, of_array=True))

    def output(self, kind, depth):
        e = self.draw(kind, depth, of_array=True)
        while e.text.startswith("x.") and "(" not in e.text:  # Not a statement.
            e = self.binary(kind, 1)
        return e

    def make(self):
        form = self.random.randrange(10)
        if form < 5:
            self.name_some([MATRIX, COLUMN, ROW, LINE, SIDE, VALUE], 2)
            kind = self.pick([MATRIX, COLUMN, ROW, LINE, SIDE, VALUE, VALUE, VALUE])
            outputs = [self.twice(kind, 4) if self.chance(50) else self.output(kind, 4)]
        elif form < 8:  # Reductions alone, of any shapes.
            self.name_some([MATRIX, SIDE, LINE, VALUE], 2)
            outputs = [
                self.reduction(self.pick([VALUE, VALUE, SIDE, LINE]), 3)
                for _ in range(2 + self.random.randrange(2))
            ]
        else:  # Arrays and single values, of one shape.
            self.name_some([MATRIX, VALUE], 2)
            outputs = []
            for _ in range(1 + self.random.randrange(2)):
                outputs.append(
                    self.clipped(Expression(f"(x.m - {self.output(MATRIX, 2).text})", MATRIX, MOST))
                )
            e = self.draw(MATRIX, 2, of_array=True)
            outputs.append(
                Expression(f"{self.pick(['sum', 'max'])}(clip(x.m + {e.text}, -9, 9))", VALUE, MOST)
            )
        lines = [f"return std::tuple{{{', '.join(e.text for e in outputs)}}};"]
        for line in reversed(self.lines):  # Lines that are used.
            if re.search(rf"\b{line.split()[2]}\b", " ".join(lines)):
                lines.insert(0, line)
        return lines


def main():
    folder, files, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    for number in range(files):
        text = ["// Made by tests/statements/make.py.", '#include "statements.hpp"', ""]
        for seed in range(first + number * count, first + (number + 1) * count):
            text += [
                f"DRAWN_STATEMENT(seed_{seed}, [](const auto& x) {{",
                *("  " + line for line in Statement(seed).make()),
                "});",
                "",
            ]
        path = os.path.join(folder, f"drawn_{number}.cpp")
        whole = "\n".join(text)
        if not os.path.exists(path) or open(path, encoding="utf-8").read() != whole:
            with open(path, "w", encoding="utf-8") as f:
                f.write(whole)


if __name__ == "__main__":
    main()
