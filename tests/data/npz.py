#!/usr/bin/env python3
"""Writes npz/: archives of np.savez and np.savez_compressed, and some invalid ones.

Made with NumPy 2.4.6:  python3 npz.py
"""
import io
import pathlib
import warnings
import zipfile

import numpy as np

folder = pathlib.Path(__file__).parent / "npz"
folder.mkdir(exist_ok=True)

arrays = {
    "x": np.arange(6, dtype="f4").reshape(2, 3),
    "columns": np.asfortranarray(np.arange(6, dtype="f8").reshape(2, 3)),
    "z": np.arange(5) * (1 - 2j),
    "one": np.array(7, dtype="i4"),
    "mask": np.arange(10) % 2 == 1,
    "größe": np.arange(3, dtype=">i2"),
    "long": np.arange(5000, dtype="i8") % 100,
}
np.savez(folder / "stored.npz", **{k: v for k, v in arrays.items() if k != "long"})
np.savez_compressed(folder / "deflated.npz", **arrays)

stored = (folder / "stored.npz").read_bytes()
at = stored.index(b"\x93NUMPY") + 128  # The first element of x.
(folder / "damaged.npz").write_bytes(stored[:at] + b"\xff" + stored[at + 1:])
(folder / "cut_off.npz").write_bytes(stored[:len(stored) // 2])
with zipfile.ZipFile(folder / "other.npz", "w") as other:
    other.writestr("x.npy", "no array")


def npy(array, behind=b""):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue() + behind


# Archives that np.load can read: with bytes after the elements, a name without ".npy", a name that
# occurs twice (the last one counts), and a file that is no array.
with zipfile.ZipFile(folder / "unusual.npz", "w") as unusual, warnings.catch_warnings():
    warnings.simplefilter("ignore")  # A warning about the name that occurs twice.
    for name, contents, how in [
        ("stored.npy", npy(np.arange(3.0), b"\0"), zipfile.ZIP_STORED),
        ("deflated.npy", npy(np.arange(3.0), b"behind" * 30_000), zipfile.ZIP_DEFLATED),
        ("bare", npy(np.arange(4.0)), zipfile.ZIP_STORED),
        ("twice.npy", npy(np.arange(5.0)), zipfile.ZIP_STORED),
        ("twice.npy", npy(np.arange(6.0)), zipfile.ZIP_STORED),
        ("both", b"the text beside both.npy", zipfile.ZIP_STORED),
        ("both.npy", npy(np.arange(7.0)), zipfile.ZIP_STORED),
        ("a/b.npy", npy(np.arange(8.0)), zipfile.ZIP_STORED),
        ("readme.txt", b"no array", zipfile.ZIP_STORED),
        ("folder/", b"", zipfile.ZIP_STORED),
        ("long.npy", npy(np.arange(9.0)).replace(b"(9,), } ", b"(99,), }"), zipfile.ZIP_STORED),
    ]:
        unusual.writestr(zipfile.ZipInfo(name), contents, how)
with zipfile.ZipFile(folder / "empty.npz", "w"):
    pass
