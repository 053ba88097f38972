"""Writes printing.txt: arrays, and how NumPy 2 prints them.

Made with NumPy 2.4:  python printing.py > printing.txt

Each case is a line "dtype rank extents...", a line of the elements (their bits in hexadecimal, or
"arange" with the first element and a step), the number of lines that NumPy prints, and those lines.
"""
import numpy as np


def case(a, elements=None):
    a = np.asarray(a)
    if elements is None:
        parts = (lambda e: [e.real, e.imag]) if a.dtype.kind == "c" else (lambda e: [e])
        elements = " ".join(
            ",".join(part.tobytes()[::-1].hex() for part in parts(e)) for e in a.ravel()
        )
    text = str(a).split("\n")
    print(a.dtype.name, a.ndim, *a.shape)
    print(elements)
    print(len(text))
    print("\n".join(text))


def arange(dtype, start, step, *shape):
    case(
        (start + step * np.arange(np.prod(shape), dtype=np.float64)).astype(dtype).reshape(shape),
        f"arange {start!r} {step!r}",
    )


random = np.random.default_rng(7)
reals = ["float16", "float32", "float64"]
np.seterr(all="ignore")

for dtype in reals:
    for values in [[1, 2, 3], [0.5, -1.25, 100], [1 / 3, 2 / 3], [0.1, 0.2, 0.30000001], [0],
                   [-0.0, 0], [1e-5, 1], [1e-4, 1e-3], [1, 1000], [1, 1001], [999.5, 1000.5],
                   [123456.7], [999999, 1e6 - 1], [1e6], [99999999.0], [1e8], [1.5e10, -2.25e-7],
                   [1e100, 1e-100], [3e38, 1e-38], [5e-324, 1e-45, 6e-8], [np.nan], [np.inf],
                   [-np.inf], [np.nan, 1], [np.inf, -1.5], [-np.inf, 1],
                   [np.nan, np.inf, -np.inf, 1e20, 0], [-np.inf, 12345.678], [65504, 6.1e-5],
                   [0.99999999999, 1], [123.456789012345, 0.123456789012345], [1e16],
                   [9007199254740993, 1], [1e23, 8.5e22], [2.5, 1e3, 33200, 32864, 8208, 4100],
                   [1.00000001, 2], [0.000123456789], [-1e-9, -2e9], [12345678.9, 1.5]]:
        case(np.array(values, dtype))
    for _ in range(4):
        size = int(random.integers(2, 40))
        case((random.standard_normal(size) * 10.0 ** random.integers(-6, 7)).astype(dtype))
        case(
            (random.standard_normal((3, 4)) * 10.0 ** random.integers(-3, 4, (3, 4))).astype(dtype)
        )
    case(np.array(random.integers(0, 1 << 16, 60), np.uint16).view(np.float16).astype(dtype))
    for value in [
            0, 1, -1.5, 0.1, 1 / 3, 1e-4, 9.9e-5, 1e15, 1e16, 123456789, 65504, 6e-8, 1e300, np.nan,
            np.inf, -np.inf, -0.0, 8208
    ]:
        case(np.array(value, dtype))
case(2.0 ** np.arange(-24, 16, dtype=np.float16))
for dtype in ["float32", "float64"]:
    case(np.array(random.integers(0, 1 << 32, 40), np.uint32).view(np.float32).astype(dtype))
case(np.array(random.integers(0, 1 << 63, 40), np.uint64).view(np.float64))

for dtype in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]:
    info = np.iinfo(dtype)
    case(np.array([0, 1, info.max, info.min, 7], dtype))
    case(np.array(5, dtype))
    case(random.integers(0, 100, (5, 5)).astype(dtype))
case(np.array([True, False, True]))
case(np.array([[True], [False]]))
case(np.array(True))
case(np.array(False))
case(random.integers(0, 2, (4, 40)).astype(bool))

for dtype in ["complex64", "complex128"]:
    for values in [[1 + 2j, -3.5j], [0], [1e10 + 1j, 1e-10j],
                   [complex(np.nan, 1), complex(1, np.nan)], [complex(np.inf, -np.inf), 1],
                   [complex(-np.inf, np.nan), complex(-0.0, -0.0)], [complex(np.nan, np.nan)],
                   [0.1 + 0.2j, 100.5 - 3j], [complex(1, np.inf), complex(2, 3.25)]]:
        case(np.array(values, dtype))
    for value in [
            1 + 2j, 2j, 0, -1, complex(-0.0, 1), complex(0, -0.0), complex(np.nan, np.inf),
            0.1 - 1e-7j, 1e20 + 1e16j, complex(1, -np.nan), complex(1, -np.inf)
    ]:
        case(np.array(value, dtype))
    case((random.standard_normal((4, 5)) + 1j * random.standard_normal((4, 5))).astype(dtype))

for shape in [(0,), (0, 3), (3, 0), (2, 0, 4)]:
    case(np.zeros(shape, np.float32), "")
for shape in [(1,), (1, 1), (1, 1, 1), (2, 3, 4), (1, 2, 1, 2), (2, 1, 2, 1, 2), (2,) * 6,
              (1,) * 8, (2, 1, 1, 2, 1, 1, 2, 2)]:
    arange("int64", -3.0, 1.0, *shape)
    arange("float64", 0.5, 0.25, *shape)
for n in [18, 19, 24, 25, 74, 100]:
    arange("int32", 0.0, 1.0, n)
    arange("int32", 1000.0, 7.0, n)
    arange("float32", 0.0, 0.125, n)
arange("float64", 1e7, 1.0 / 3, 3, 9)
arange("int64", 1e17, 1e14, 3, 4)
arange("complex128", 0.0, 0.5, 30)
# Shapes near 1000 elements, above which the middle is omitted, and then with axes of 6 and 7
# elements.
for shape in [(1000,), (1001,), (2000, 1), (1, 1001), (6, 167), (7, 143), (7, 144), (200, 6),
              (10, 10, 10), (11, 10, 10), (2, 3, 200), (200, 3, 2), (7, 6, 5, 5), (3, 3, 3, 3, 13),
              (2, 2, 2, 2, 2, 2, 2, 9), (7, 1, 7, 1, 7, 1, 1, 7)]:
    arange("int32", 0.0, 1.0, *shape)
    if len(shape) < 4:
        arange("float32", -1.0, 0.5, *shape)
arange("float64", 0.0, 1e-3, 3000)
arange("bool", 0.0, 1.0, 40, 40)
