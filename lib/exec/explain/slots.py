#!/usr/bin/env python3
"""Measures the cost of each row of ir/ops.inc on a GPU and writes slots.inc. Needs nvcc.

slots.py [OPTION...]: options for nvcc, such as -arch=sm_90.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TYPES = ["float", "double", "int", "std::int64_t", "std::complex<float>", "std::complex<double>"]
HEAD = """\
// The cost of each row of ir/ops.inc for an element, in multiply-adds of float. Measured on an H100
// by lib/exec/explain/slots.py, compiled by nvcc 13.0 without fast math, with arguments from 0.4 to
// 1.4 (integers from 40 to 140). 0 if the row is not defined for the dtype.
//
//        row               float double    int  int64  complex64 complex128
"""


def measured(of: str, options: list[str]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/slots"
        command = ["nvcc", "-std=c++20", "--expt-relaxed-constexpr", f"-DTYPE={of}",
                   f"-I{ROOT}/include", f"{HERE}/slots.cu", "-o", program, *options]
        subprocess.run(command, check=True)
        ran = subprocess.run([program], check=True, capture_output=True, text=True)
    pairs = (line.split() for line in ran.stdout.split("\n") if line)
    return {name: max(0.0, float(slots)) for name, slots in pairs}


def rows() -> list[str]:
    table = (ROOT / "include/dsl/ir/ops.inc").read_text()
    kinds = "OPERATOR|FUNCTION|LIBRARY|BOUNDED|OWN|FAST"
    found = re.findall(rf"^DSL_({kinds})\((\w+),", table, re.M)
    return [("fast_" if kind == "FAST" else "") + name for kind, name in found]


def main() -> None:
    columns = [measured(of, sys.argv[1:]) for of in TYPES]
    lines = []
    for name in rows():
        slots = [column.get(name, 0.0) for column in columns]
        cells = ", ".join(f"{s:6.1f}" if s < 20 else f"{s:6.0f}" for s in slots)
        lines.append(f"DSL_SLOTS({name + ',':16s} {cells})\n")
    (HERE / "slots.inc").write_text(HEAD + "".join(lines) + "#undef DSL_SLOTS\n")


main()
