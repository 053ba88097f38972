#!/usr/bin/env python3
"""Writes slots.inc: what each row of ir/ops.inc takes a GPU. Needs one, and nvcc.

slots.py [OPTION...]: options of nvcc, as -arch=sm_90.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TYPES = ["float", "double", "int", "std::int64_t", "std::complex<float>", "std::complex<double>"]
HEAD = """\
// What each row of ir/ops.inc takes a GPU for an element, in multiply-adds of float: measured on an H100 by lib/exec/explain/slots.py, compiled by
// nvcc 13.0 without fast math, of arguments from 0.4 to 1.4 (integers from 40 to 140); 0 where the row is not defined.
//
//        row               float double    int  int64  complex64 complex128
"""


def measured(of: str, options: list[str]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/slots"
        subprocess.run(["nvcc", "-std=c++20", "--expt-relaxed-constexpr", f"-DTYPE={of}", f"-I{ROOT}/include",
                        f"{HERE}/slots.cu", "-o", program, *options], check=True)
        lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split("\n")
    return {name: max(0.0, float(slots)) for name, slots in (line.split() for line in lines if line)}


def rows() -> list[str]:
    found = re.findall(r"^DSL_(OPERATOR|FUNCTION|LIBRARY|BOUNDED|OWN|FAST)\((\w+),", (ROOT / "include/dsl/ir/ops.inc").read_text(), re.M)
    return [("fast_" if kind == "FAST" else "") + name for kind, name in found]


def main() -> None:
    columns = [measured(of, sys.argv[1:]) for of in TYPES]
    lines = []
    for name in rows():
        slots = [column.get(name, 0.0) for column in columns]
        lines.append(f"DSL_SLOTS({name + ',':16s} " + ", ".join(f"{s:6.1f}" if s < 20 else f"{s:6.0f}" for s in slots) + ")\n")
    (HERE / "slots.inc").write_text(HEAD + "".join(lines) + "#undef DSL_SLOTS\n")


main()
