#!/usr/bin/env python3
"""Writes npy/: small files of every dtype, rank, order and version, and some invalid ones.

Made with NumPy 2.4.6:  python3 npy.py
"""
import pathlib

import numpy as np

folder = pathlib.Path(__file__).parent / "npy"
folder.mkdir(exist_ok=True)


def counted(dtype, shape):
    """0, 1, 2, ... in row-major order, times 1 - 2i if complex; 0, 1, 0, 1, ... if bool."""
    n = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    return (
        n % 2 == 1
        if dtype == "bool"
        else (n * (1 - 2j if dtype.startswith("complex") else 1)).astype(dtype)
    )


def write(name, array, version=(1, 0)):
    with open(folder / f"{name}.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=version)


for dtype in ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
              "float16", "float32", "float64", "complex64", "complex128"]:
    write(dtype, counted(dtype, (2, 3)))
shape = (2, 3, 1, 2, 1, 2, 1, 2, 1)
for rank in range(10):
    write(f"rank_{rank}", counted("int32", shape[:rank]))
write("empty", counted("float32", (0, 3)))
write("fortran", np.asfortranarray(counted("int16", (2, 3, 4))))
write("fortran_complex128", np.asfortranarray(counted("complex128", (2, 3))))
write("big_endian_float64", counted("float64", (2, 3)).astype(">f8"))
write("big_endian_complex64", np.asfortranarray(counted("complex64", (2, 3)).astype(">c8")))
write("version_2", counted("float32", (2, 3)), (2, 0))
write("version_3", counted("float32", (2, 3)), (3, 0))
write("structured", np.zeros(2, dtype=[("x", "f4"), ("y", "i4")]))
write("long_double", np.zeros(2, dtype="longdouble"))

good = (folder / "float64.npy").read_bytes()
wrong = {
    "cut_off": good[:-1],
    "cut_off_header": good[:50],
    "cut_off_start": good[:9],
    "not_npy": b"PK\x03\x04 and so on",
    "version_9": good[:6] + b"\x09" + good[7:],
    "without_shape": good.replace(b"'shape'", b"'shade'"),
    "negative_extent": good.replace(b"(2, 3)", b"(2,-3)"),
    "huge": good.replace(b"(2, 3), }          ", b"(4294967296, 4294967296), }")[:len(good)],
}
for name, contents in wrong.items():
    (folder / f"{name}.npy").write_bytes(contents)
