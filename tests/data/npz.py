#!/usr/bin/env python3
"""Writes npz/: archives of np.savez and np.savez_compressed, and some that are wrong.

Made with NumPy 2.4.6:  python3 npz.py
"""
import pathlib
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
at = stored.index(b"\x93NUMPY") + 128  # the first element of x
(folder / "damaged.npz").write_bytes(stored[:at] + b"\xff" + stored[at + 1:])
(folder / "cut_off.npz").write_bytes(stored[:len(stored) // 2])
with zipfile.ZipFile(folder / "other.npz", "w") as other:
    other.writestr("x.npy", "no array")
