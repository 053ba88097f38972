"""The works of bench/README.md that the Python libraries run too. A formula is written once, for
every library whose functions have NumPy's names; `xp` is the library."""

import itertools
import math
import types
from dataclasses import dataclass

import numpy as np

from . import solvers

SWEEP = tuple(1 << k for k in (10, 12, 14, 16, 18, 20, 22, 24, 26, 27, 28))
# torch.compile takes a second for each size.
SWEEP_COMPILED = tuple(1 << k for k in (10, 14, 18, 22, 26, 27))
# One more than powers of two, and primes before them; rows and columns that are primes.
SWEEP_ODD = ((1 << 20) - 3, (1 << 20) + 1, (1 << 27) - 39, (1 << 27) + 1)
SQUARE, ODD = ((8192, 8192),), ((10_007, 9_001),)
H, STEPS = 1e-3, 100
START_F, START_G, START_D = 0.01 + 0.02j, 0.9, 0.01


@dataclass(frozen=True)
class Work:
    """A work at one size.

    formula(xp, *operands) computes the result, or a tuple of several. Operands are letters: a, b,
    c, m, x, y with the work's shape; j four indices for each element; r a row, k a column, s a scalar, i a backward index, w a
    matrix with twice as many columns, q 19 arrays of the work's shape, F, G, d the coupled fields. For works by key, the shape is
    the number of elements and of groups, and operands are: v values, g keys, e the edges of bins.
    into(xp, out, *operands) does the same into existing memory, and returns what it wrote.
    """

    group: str
    name: str
    dtype: str
    shape: tuple
    operands: str
    formula: object
    into: object = None
    # CuPy's fuse and torch.compile can make one kernel of it.
    fuse: bool = False
    # torch.compile runs it at this size.
    compiled: bool = False
    # Measures the wall time of calls in a row, instead of events.
    wall: bool = False
    # Steps of a loop.
    steps: int = 0
    # Set if it is not that of all operands and the result, each counted once.
    bytes_an_element: float = 0

    @property
    def size(self):
        return "x".join(map(str, self.shape))

    @property
    def elements(self):
        return math.prod(self.shape)

    @property
    def is_uniform(self):
        """Whether all its elements are equal, so that its result is the same at every size."""
        return self.steps > 0 and (self.group in ("loop", "mesh") or self.operands == "FGd")


def functions(library, **more):
    """A module with a library's functions that the formulas use; torch.compile can look into
    modules, not into objects."""
    names = (
        "abs add amax amin argmax argsort concatenate conj cumsum dot exp log logaddexp mean "
        "multiply power roll searchsorted sin sort sqrt sum unique var"
    )
    module = types.ModuleType("functions")
    for name in names.split():
        if hasattr(library, name):
            setattr(module, name, getattr(library, name))
    for name, function in {
        "softmax_rows": softmax_rows(module),
        "layer_norm_rows": lambda m: layer_norm(module, m, 1),
        "rms_norm_rows": lambda m: rms_norm(module, m, 1),
        **more,
    }.items():
        setattr(module, name, function)
    return module


def softmax_rows(xp):
    def softmax(m):
        e = xp.exp(m - xp.amax(m, axis=1, keepdims=True))
        return e / xp.sum(e, axis=1, keepdims=True)

    return softmax


def layer_norm(xp, m, axis):
    return (m - xp.mean(m, axis=axis, keepdims=True)) / xp.sqrt(
        xp.var(m, axis=axis, keepdims=True) + 1e-5
    )


def rms_norm(xp, m, axis):
    return m / xp.sqrt(xp.mean(m * m, axis=axis, keepdims=True) + 1e-5)


def black_scholes(xp, a, b, c):
    spread = 0.3 * xp.sqrt(c)
    d1 = (xp.log(a / b) + (0.02 + 0.3 * 0.3 / 2) * c) / spread
    d2 = d1 - spread
    below = lambda d: 0.5 * xp.erfc(d * -(0.5**0.5))
    later = b * xp.exp(-0.02 * c)
    return a * below(d1) - later * below(d2), later * below(-d2) - a * below(-d1)


def heat(m, up, down, left, right):
    return m + 0.1 * (up + down + left + right - 4 * m)


def heat_by_slices(xp, m):
    return heat(m[1:-1, 1:-1], m[:-2, 1:-1], m[2:, 1:-1], m[1:-1, :-2], m[1:-1, 2:])


def heat_by_shift(xp, m):
    up, down = xp.concatenate([m[:1], m[:-1]]), xp.concatenate([m[1:], m[-1:]])
    left, right = (
        xp.concatenate([m[:, :1], m[:, :-1]], axis=1),
        xp.concatenate([m[:, 1:], m[:, -1:]], axis=1),
    )
    return heat(m, up, down, left, right)


def neighbours(xp, m):
    zero = 0 * m[:, :1]
    return xp.concatenate([zero, m[:, :-1]], axis=1) + xp.concatenate([m[:, 1:], zero], axis=1)


def mean_of(xp, m, points):
    """The mean of the points at the given displacements along each axis, on a grid whose
    opposite edges meet."""
    total = 0
    for places in points:
        moved = m
        for axis, k in enumerate(places):
            moved = xp.roll(moved, k, axis) if k else moved
        total = total + moved
    return total * (1 / len(points))


def star(radius):
    along = [k for k in range(-radius, radius + 1) if k]
    return [(0, 0)] + [(k, 0) for k in along] + [(0, k) for k in along]


def box(radius):
    return list(itertools.product(range(-radius, radius + 1), repeat=2))


CUBE = list(itertools.product((-1, 0, 1), repeat=3))
STENCILS = {
    **{f"star of radius {k}": star(k) for k in (1, 2, 3, 4)},
    "box of 3 x 3": box(1),
    "box of 5 x 5": box(2),
    "7 points": [places for places in CUBE if sum(map(abs, places)) <= 1],
    "27 points": CUBE,
}


BEFORE, INSIDE, AFTER = slice(None, -2), slice(1, -1), slice(2, None)


def mean_by_slices(xp, m, points):
    """The same for the inner points, by slices."""
    moved = {-1: BEFORE, 0: INSIDE, 1: AFTER}
    total = 0
    for places in points:
        total = total + m[tuple(moved[k] for k in places)]
    return total * (1 / len(points))


# Steps along z, y and x of the directions of D3Q19: none, six straight, twelve diagonal ones.
D3Q19 = sorted(
    (places for places in CUBE if sum(map(abs, places)) <= 2),
    key=lambda places: (sum(map(abs, places)), places),
)
WEIGHTS = (1 / 3, 1 / 18, 1 / 36)


def lattice_step(xp, f):
    """A step of the lattice Boltzmann method on a periodic box: each population arrives from the
    cell before it, and relaxes towards equilibrium."""
    arrived = [xp.roll(g, c, (0, 1, 2)) if any(c) else g for g, c in zip(f, D3Q19)]
    density = sum(arrived)
    along = [
        sum(c[axis] * g for g, c in zip(arrived, D3Q19) if c[axis]) / density for axis in range(3)
    ]
    rest = 1 - 1.5 * sum(u * u for u in along)
    relaxed = []
    for g, c in zip(arrived, D3Q19):
        u = sum(c[axis] * along[axis] for axis in range(3) if c[axis])
        w = WEIGHTS[sum(map(abs, c))]
        relaxed.append(g + 1.2 * (w * density * (rest + 3 * u + 4.5 * u * u) - g))
    return tuple(relaxed)


def pairs(xp, x, y):
    return xp.sum(1 / (1 + (x[:, None] - x[None, :]) ** 2 + (y[:, None] - y[None, :]) ** 2), axis=1)


def softmax(xp, a):
    e = xp.exp(a - xp.amax(a))
    return e / xp.sum(e)


def correlation(xp, a, b):
    covariance = xp.mean(a * b) - xp.mean(a) * xp.mean(b)
    return covariance / xp.sqrt(xp.var(a) * xp.var(b))


def rk4(xp, F, G, d, h=H):
    """A step of the coupled fields in array operations."""
    dF = lambda F, G: -2j * F - 1j * d * (2 * G - 1)
    dG = lambda F: -1j * (xp.conj(d) * F - d * xp.conj(F))
    F1, G1 = dF(F, G), dG(F)
    F2, G2 = dF(F + h / 2 * F1, G + h / 2 * G1), dG(F + h / 2 * F1)
    F3, G3 = dF(F + h / 2 * F2, G + h / 2 * G2), dG(F + h / 2 * F2)
    F4, G4 = dF(F + h * F3, G + h * G3), dG(F + h * F3)
    return F + h / 6 * (F1 + 2 * F2 + 2 * F3 + F4), G + h / 6 * (G1 + 2 * G2 + 2 * G3 + G4)


def rk4_summed(xp, F, G, d, h=H):
    F, G = rk4(xp, F, G, d, h)
    return F, G, xp.sum(F)


def rk4_loop(xp, F, G, d, steps, h=H):
    """The last d, which is the mean of F after each step."""
    scale = 1 / math.prod(F.shape)
    for _ in range(steps):
        F, G = rk4(xp, F, G, d, h)
        d = xp.sum(F) * scale
    return d


def lorenz(x, y, z):
    return 10 * (y - x), x * (28 - z) - y, x * y - (8 / 3) * z


def lorenz_step(x, y, z, h=H):
    """A step of the Lorenz systems, by the classical Runge-Kutta method."""
    return solvers.runge_kutta(lorenz, h, (x, y, z))


def lorenz_loop(x, y, z, steps):
    for _ in range(steps):
        x, y, z = lorenz_step(x, y, z)
    return x, y, z


# Floats near 1 are multiples of an eighth of it, so sums of thousands are nearly exact.
MEAN_H = 2**-20


def fed_back_mean(xp, x, steps, h=MEAN_H):
    """The last mean of x after steps of x + h mean(x)."""
    mean = 1.0
    for _ in range(steps):
        x = x + h * mean
        mean = xp.mean(x)
    return mean


def permuted(a):
    """The axes in the order 2, 0, 1."""
    return a.swapaxes(1, 2).swapaxes(0, 1)


FORMULAS = {
    "copy": ("a", lambda xp, a: a + 0, lambda xp, out, a: xp.copy_to(out, a)),
    "a + b": ("ab", lambda xp, a, b: a + b, lambda xp, out, a, b: xp.add(a, b, out=out)),
    "a + 1": ("a", lambda xp, a: a + 1, lambda xp, out, a: xp.add(a, 1, out=out)),
    "exp(a)": ("a", lambda xp, a: xp.exp(a), lambda xp, out, a: xp.exp(a, out=out)),
    "sin(a)": ("a", lambda xp, a: xp.sin(a), lambda xp, out, a: xp.sin(a, out=out)),
    "pow(a, b)": ("ab", lambda xp, a, b: a**b, lambda xp, out, a, b: xp.power(a, b, out=out)),
    "a * exp(-b * b) + sqrt(abs(c))": (
        "abc",
        lambda xp, a, b, c: a * xp.exp(-b * b) + xp.sqrt(xp.abs(c)),
        None,
    ),
    "exp(a) + 2 * b": ("ab", lambda xp, a, b: xp.exp(a) + 2 * b, None),
    "a * a + a": ("a", lambda xp, a: a * a + a, None),
    "a * a + 1i * a": ("a", lambda xp, a: a * a + 1j * a, None),
    "Black-Scholes": ("abc", black_scholes, None),
    "a[1:] + b[:-1]": ("ab", lambda xp, a, b: a[1:] + b[:-1], None),
    "exp(a[1:])": ("a", lambda xp, a: xp.exp(a[1:]), None),
    "m * row": ("mr", lambda xp, m, r: m * r, lambda xp, out, m, r: xp.multiply(m, r, out=out)),
    "m * col": ("mk", lambda xp, m, k: m * k, lambda xp, out, m, k: xp.multiply(m, k, out=out)),
    "m * row + col": ("mrk", lambda xp, m, r, k: m * r + k, None),
    "m * scalar": ("ms", lambda xp, m, s: m * s, lambda xp, out, m, s: xp.multiply(m, s, out=out)),
    "row * col": ("rk", lambda xp, r, k: r * k, lambda xp, out, r, k: xp.multiply(r, k, out=out)),
    "transpose(m)": (
        "m",
        lambda xp, m: xp.contiguous(m.T),
        lambda xp, out, m: xp.copy_to(out, m.T),
    ),
    "m + transpose(m)": ("m", lambda xp, m: m + m.T, lambda xp, out, m: xp.add(m, m.T, out=out)),
    "m + m": ("m", lambda xp, m: m + m, lambda xp, out, m: xp.add(m, m, out=out)),
    "m + row": ("mr", lambda xp, m, r: m + r, lambda xp, out, m, r: xp.add(m, r, out=out)),
    "m + col": ("mk", lambda xp, m, k: m + k, lambda xp, out, m, k: xp.add(m, k, out=out)),
    "m + flip(m, 1)": ("m", lambda xp, m: m + xp.flip_rows(m), None),
    "a + b[:, ::2]": (
        "aw",
        lambda xp, a, b: a + b[:, ::2],
        lambda xp, out, a, b: xp.add(a, b[:, ::2], out=out),
    ),
    "five-point heat by slices": ("m", heat_by_slices, None),
    "five-point heat by shift": ("m", heat_by_shift, None),
    "neighbours by shift": ("m", neighbours, None),
    **{
        name: ("m", lambda xp, m, points=points: mean_of(xp, m, points), None)
        for name, points in STENCILS.items()
    },
    "box of 3 x 3 by slices": ("m", lambda xp, m: mean_by_slices(xp, m, box(1)), None),
    "7 points by slices": ("m", lambda xp, m: mean_by_slices(xp, m, STENCILS["7 points"]), None),
    "lattice Boltzmann D3Q19": ("q", lattice_step, None),
    "permute(a, 2, 0, 1)": (
        "a",
        lambda xp, a: xp.contiguous(permuted(a)),
        lambda xp, out, a: xp.copy_to(out, permuted(a)),
    ),
    "take(a, index)": ("ai", lambda xp, a, i: a[i], None),
    "sum(a)": ("a", lambda xp, a: xp.sum(a), None),
    "sum(a * exp(b))": ("ab", lambda xp, a, b: xp.sum(a * xp.exp(b)), None),
    "norm(a)": ("a", lambda xp, a: xp.norm(a), None),
    "var(a)": ("a", lambda xp, a: xp.var(a), None),
    "min(a)": ("a", lambda xp, a: xp.amin(a), None),
    "argmax(a)": ("a", lambda xp, a: xp.argmax(a), None),
    "min(a), max(a), mean(a)": ("a", lambda xp, a: (xp.amin(a), xp.amax(a), xp.mean(a)), None),
    "correlation of a and b": ("ab", correlation, None),
    "dot(a, b)": ("ab", lambda xp, a, b: xp.dot(a, b), None),
    "a / norm(a)": ("a", lambda xp, a: a / xp.norm(a), None),
    "softmax(a)": ("a", softmax, None),
    "sum of rows": ("m", lambda xp, m: xp.sum(m, axis=1), None),
    "sum of columns": ("m", lambda xp, m: xp.sum(m, axis=0), None),
    "argmax of rows": ("m", lambda xp, m: xp.argmax(m, axis=1), None),
    "var of columns": ("m", lambda xp, m: xp.var(m, axis=0), None),
    "m - mean of rows": ("m", lambda xp, m: m - xp.mean(m, axis=1, keepdims=True), None),
    "softmax of rows": ("m", lambda xp, m: xp.softmax_rows(m), None),
    "layer norm of rows": ("m", lambda xp, m: xp.layer_norm_rows(m), None),
    "layer norm of columns": ("m", lambda xp, m: layer_norm(xp, m, 0), None),
    "RMS norm of rows": ("m", lambda xp, m: xp.rms_norm_rows(m), None),
    "vector times matrix": ("km", lambda xp, k, m: k[:, 0] @ m, None),
    "sum over j of 1 / (1 + (xi - xj)^2 + (yi - yj)^2)": ("xy", pairs, None),
    "cumsum(a)": ("a", lambda xp, a: xp.cumsum(a, axis=0), None),
    "cumsum(a * b)": ("ab", lambda xp, a, b: xp.cumsum(a * b, axis=0), None),
    "cumsum along rows": ("m", lambda xp, m: xp.cumsum(m, axis=1), None),
    "cumsum down columns": ("m", lambda xp, m: xp.cumsum(m, axis=0), None),
    "RK4 step": ("FGd", rk4, None),
    "RK4 step with sum(F)": ("FGd", rk4_summed, None),
}
# Works of several operations that are one kernel if the library can fuse them.
FUSED = {
    "a * exp(-b * b) + sqrt(abs(c))",
    "exp(a) + 2 * b",
    "a * a + a",
    "a * a + 1i * a",
    "Black-Scholes",
    "m * row + col",
}


def works(group, names, dtypes, shapes, compiled=(), **more):
    """A Work for each name, dtype and shape. `compiled` gives the names that torch.compile runs,
    or the shapes."""
    for name in names:
        operands, formula, into = FORMULAS[name]
        for dtype in dtypes.split():
            for shape in shapes:
                shape = shape if isinstance(shape, tuple) else (shape,)
                by_compiler = name in compiled or shape[0] in compiled
                yield Work(
                    group,
                    name,
                    dtype,
                    shape,
                    operands,
                    formula,
                    into,
                    name in FUSED,
                    by_compiler,
                    **more,
                )


def loop_works(steps, sides, group="loop"):
    name = f"{steps} RK4 steps, sum(F) fed back"
    for n in sides:
        formula = lambda xp, F, G, d: rk4_loop(xp, F, G, d, steps)
        yield Work(
            group,
            name,
            "complex64",
            (n, n),
            "FGd",
            formula,
            compiled=True,
            wall=True,
            steps=steps,
            bytes_an_element=32 * steps,
        )


def solver_works():
    """The works of bench/solver.cu."""
    for name, dtype, operands, shapes, steps, moved in (
        (solvers.CG, "float32", "b", [(n, n) for n in (256, 512, 513, 1024, 2048, 4096)], 200, 24),
        (solvers.FLOW, "float32", "a", [(n,) for n in (1 << 16, 1 << 20, (1 << 20) + 1, 1 << 24)], 200, 8),
        (solvers.STAGES, "complex64", "FG", [(512, 512), (513, 513)], 100, 32),
        (solvers.HEAT, "float32", "a", [(1024, 1024), (1025, 1025)], 100, 8),
        (solvers.GRAPH, "float32", "ajb", [(1_000_000,), (999_983,)], 100, 28),
    ):
        for shape in shapes:
            yield Work(
                "solver",
                name,
                dtype,
                shape,
                operands,
                solvers.formula(name, steps),
                compiled=True,
                wall=True,
                steps=steps,
                bytes_an_element=moved * steps,
            )


def cuda_works():
    """The most important works first: those that are left when the time is up are omitted."""
    n, big = 1 << 27, (4096, 4096)
    formula = ["a * exp(-b * b) + sqrt(abs(c))"]
    yield from works("map", ["a + b", "exp(a)"], "float32", [n], [n])
    yield from works("map", formula, "float32", [n], formula)
    yield from works("reduction", ["sum(a)"], "float32", [n], [n])
    yield from loop_works(STEPS, (4, 512, 3162))
    yield from solver_works()
    yield from derivative_works()
    yield from works("ode", ["RK4 step", "RK4 step with sum(F)"], "complex64", [big], [4096])
    yield from works(
        "axis",
        ["softmax of rows", "layer norm of rows", "layer norm of columns"],
        "float32",
        SQUARE,
        [8192],
    )
    softmax, norms = ["softmax of rows"], ["RMS norm of rows", "layer norm of columns"]
    long_rows = [(100_003, 257), (513, 70_001), (16, 4_000_037)]
    yield from works("axis", softmax, "float32", long_rows, softmax)
    yield from works("axis", norms, "float32", [(70_001, 513)], norms)
    flat = ["five-point heat by slices", "m * row + col"]
    yield from works("strided", flat, "float32", (*SQUARE, *ODD), flat)
    yield from works("strided", ["five-point heat by shift"], "float32", SQUARE, [8192])
    flat, deep = list(STENCILS)[:6], list(STENCILS)[6:]
    yield from works("stencil", flat, "float32", SQUARE, flat)
    yield from works("stencil", deep, "float32", [(512, 512, 512)], deep)
    flat, deep = ["box of 3 x 3 by slices"], ["7 points by slices"]
    cubes = [(512, 512, 512), (509, 509, 509)]
    yield from works("stencil", flat, "float32", (*SQUARE, *ODD), flat)
    yield from works("stencil", deep, "float32", cubes, deep)
    lattice = ["lattice Boltzmann D3Q19"]
    boxes = [(256, 256, 256), (257, 257, 257)]
    yield from works("stencil", lattice, "float32", boxes, lattice, bytes_an_element=152)
    yield from works("strided", ["transpose(m)"], "float32", ODD)
    yield from works("strided", ["permute(a, 2, 0, 1)"], "float32", cubes)
    yield from works("axis", ["sum of rows", "sum of columns"], "float32", ODD)
    yield from works("axis", ["vector times matrix"], "float32", [(16_384,) * 2, (16_381,) * 2])
    yield from works("axis", norms[:1], "float32", SQUARE, norms)
    yield from works("reduction", ["a / norm(a)"], "float32", [1 << 16, 1 << 20])
    yield from works("map", ["a + b", "exp(a)"], "float32", [n + 1], [n + 1])
    yield from works("reduction", ["sum(a)"], "float32", [n + 1], [n + 1])
    yield from works(
        "axis", ["sum over j of 1 / (1 + (xi - xj)^2 + (yi - yj)^2)"], "float32", [8192], [8192]
    )
    yield from works("latency", ["a + b", "sum(a)"], "float32", [1000], [1000], wall=True)
    yield from works("latency", ["a + 1"], "float32", [1 << 20], [1 << 20], wall=True)
    yield from works("map", ["Black-Scholes"], "float32", [n], ["Black-Scholes"])
    yield from works("reduction", ["sum(a * exp(b))", "norm(a)"], "float32", [n], [n])
    yield from works("axis", ["sum of rows", "sum of columns"], "float32", SQUARE, [8192])
    yield from works("map", ["sin(a)", "pow(a, b)"], "float32", [n], [n])
    yield from works("map", ["exp(a)", "sin(a)", "pow(a, b)"], "float64", [n // 2], [n // 2])
    yield from works("map", ["exp(a)"], "float16", [2 * n], [2 * n])
    yield from works("map", ["a * a + 1i * a"], "complex64", [n // 2])
    yield from works(
        "reduction",
        [
            "min(a), max(a), mean(a)",
            "var(a)",
            "argmax(a)",
            "dot(a, b)",
            "a / norm(a)",
            "softmax(a)",
        ],
        "float32",
        [n],
        ["softmax(a)"],
    )
    n_pairs = [100_000_000]
    yield from works("reduction", ["correlation of a and b"], "float64", n_pairs, n_pairs)
    yield from works("ode", ["RK4 step", "RK4 step with sum(F)"], "complex64", [(1024, 1024)])
    yield Work(
        "ode",
        "1000 RK4 steps of Lorenz",
        "float32",
        (10_000_000,),
        "xyz",
        lambda xp, x, y, z: lorenz_loop(x, y, z, 1000),
        wall=True,
        steps=1000,
        bytes_an_element=24,
    )
    yield from works("scan", ["cumsum(a)"], "float32 float64 int32", [80_000_000])
    yield from works("scan", ["cumsum(a)"], "float32", [79_999_987])
    yield from works("scan", ["cumsum(a * b)"], "float32", [80_000_000])
    shapes = (
        (4096, 4096),
        (10_000_000, 8),
        (8, 10_000_000),
        (1_000_000, 100),
        (10_000_000, 3),
        (100, 1_000_000),
        (1000, 3),
    )
    yield from works("axis", ["sum of rows", "sum of columns"], "float32", shapes)
    yield from works("axis", ["argmax of rows", "m - mean of rows"], "float32", (*SQUARE, *shapes))
    yield from works(
        "scan",
        ["cumsum along rows", "cumsum down columns"],
        "float32",
        [(10_000_000, 8), (8, 10_000_000), (4096, 4096)],
    )
    sweep, compiled = (
        [size for size in SWEEP if size != n],
        [size for size in SWEEP_COMPILED if size != n],
    )
    sweep += [size for size in SWEEP_ODD if size != n + 1]
    yield from works("map", ["a + b", "exp(a)"], "float32", sweep, compiled)
    yield from works("reduction", ["sum(a)"], "float32", sweep, compiled)
    yield from works("map", formula, "float32", sweep)
    yield from works("map", ["exp(a)"], "float32", [10_000_000])
    yield from works("map", ["a + b"], "int32", [20_000_000])
    yield from works("map", ["a + b"], "float64", [n // 2])
    yield from works("map", ["a + b"], "float16", [2 * n])
    yield from works("map", ["exp(a) + 2 * b"], "float32", [n], ["exp(a) + 2 * b"])
    yield from works(
        "strided",
        ["m * row", "m * col", "m * scalar", "row * col", "transpose(m)", "m + transpose(m)"],
        "float32",
        SQUARE,
    )
    yield from works("strided", ["take(a, index)"], "float32", [1 << 26])
    yield from works("alignment", ["a[1:] + b[:-1]", "exp(a[1:])"], "float32", [n])
    yield from drawn_works()
    yield from keyed_works()


def derivative_works():
    """The works of bench/derivatives.cu."""
    from . import derivatives as of  # It uses this module.

    def work(name, dtype, operands, shapes, bytes_an_element, steps=0):
        for shape in shapes:
            yield Work(
                "derivatives",
                name,
                dtype,
                shape,
                operands,
                of.REFERENCES[name],
                compiled=True,
                wall=steps > 0,
                steps=steps,
                bytes_an_element=bytes_an_element,
            )

    n = 1 << 27
    yield from work(of.GREEKS, "float32", "abc", [(n,), (n + 1,)], 36)
    yield from work(of.ENTROPY, "float32", "mk", [(8192, 8192), (8191, 8193)], 8)
    for points, features in ((1_000_000, 50), (999_983, 51)):
        moved = 4 * (features + 1) / features
        yield from work(of.LOGISTIC, "float32", "mkr", [(points, features)], moved)
    yield from work(of.FIELDS, "complex64", "FGd", [(512, 512), (513, 513)], 8000, 100)
    yield from work(of.HEAT, "float32", "m", [(1024, 1024), (1025, 1025)], 16_000, 1000)


def host_works():
    sizes, formula = (1000, 100_000, 9_999_991, 10_000_000), "a * exp(-b * b) + sqrt(abs(c))"
    yield from works("map", ["a + b", "exp(a)", formula, "pow(a, b)"], "float32", sizes, [formula])
    yield from works("reduction", ["sum(a)", "dot(a, b)"], "float32", sizes)
    yield from loop_works(10, (64, 512, 513, 3162))
    yield from works("map", ["Black-Scholes"], "float32", sizes, ["Black-Scholes"])
    long = [1 << 24, (1 << 24) + 1]
    yield from works("reduction", ["sum(a)", "min(a)", "var(a)", "argmax(a)"], "float32", long)
    yield from works(
        "axis",
        ["sum of rows", "sum of columns"],
        "float32",
        [(4096, 4096), (4099, 4093), (2097152, 8), (8, 2097152), (167772, 100), (16777, 1000)],
    )
    yield from works(
        "axis",
        ["argmax of rows", "var of columns"],
        "float32",
        [(4096, 4096), (4099, 4093), (167772, 100)],
    )
    yield from works("scan", ["cumsum(a)"], "float32", long)
    squares = [(1024, 1024), (1021, 1021)]
    yield from works(
        "strided",
        ["m + m", "m + row", "m + col", "m + transpose(m)", "m + flip(m, 1)", "a + b[:, ::2]"],
        "float32",
        squares,
    )
    yield from works(
        "strided",
        ["five-point heat by slices", "five-point heat by shift", "neighbours by shift"],
        "float32 float64",
        squares,
        ["five-point heat by slices"],
    )
    yield from works(
        "map", ["exp(a)", "sin(a)", "pow(a, b)", "a * a + a"], "float32 float64", [65536, 65537]
    )
    yield from works("map", ["copy"], "float32", sizes)


def keyed_works():
    """The works of bench/by_key.cu."""
    n, sums, counts = (
        100_000_000,
        lambda k: lambda xp, g, v: xp.sum_by(g, v, k),
        lambda k: lambda xp, g: xp.bincount(g, k),
    )
    for groups in (1000, 1, 10, 100, 10_000, 100_000, 1_000_000):
        yield Work(
            "by key", "sum_by", "float32", (n, groups), "gv", sums(groups), bytes_an_element=8
        )
    for groups in (100, 10_000):
        yield Work(
            "by key", "bincount", "int64", (n // 2, groups), "g", counts(groups), bytes_an_element=8
        )
    yield Work(
        "by key",
        "histogram",
        "float32",
        (n, 100),
        "v",
        lambda xp, v: xp.histogram(v, 100, 0.5, 1.5),
        bytes_an_element=4,
    )
    yield Work(
        "by key",
        "compress(a > 1, a)",
        "float32",
        (n,),
        "v",
        lambda xp, v: xp.compress(v > 1, v),
        bytes_an_element=6,
    )
    search = lambda xp, e, v: xp.searchsorted(e, v)
    yield Work(
        "by key", "searchsorted(1000 edges, a)", "float32", (n,), "ev", search, bytes_an_element=12
    )
    yield Work(
        "by key", "sort(a)", "float32", (n,), "v", lambda xp, v: xp.sort(v), bytes_an_element=8
    )
    yield Work(
        "by key",
        "argsort(a)",
        "float32",
        (n,),
        "v",
        lambda xp, v: xp.argsort(v),
        bytes_an_element=12,
    )
    yield Work(
        "by key",
        "unique(keys)",
        "int32",
        (n, 10_000),
        "g",
        lambda xp, g: xp.unique(g),
        bytes_an_element=4,
    )


SDE_STEPS, PATHS = 256, 1 << 23


def drawn_works():
    """The works of bench/random.cu; drawn.py computes them."""
    n = (1 << 28,)
    drawn = lambda name, dtype, written, **more: Work(
        "random", name, dtype, n, "", None, bytes_an_element=written, **more
    )
    for dtype, item in (("float32", 4), ("float64", 8)):
        yield drawn("uniform", dtype, item, compiled=True)
        yield drawn("normal", dtype, item, compiled=True)
    yield drawn("pi", "float32", 0, compiled=True)
    steps = f"{SDE_STEPS} Euler-Maruyama steps of a linear SDE"
    yield Work(
        "random", steps, "float32", (PATHS,), "", None, compiled=True, wall=True, bytes_an_element=0
    )
    yield drawn("bits", "uint32", 4)
    yield drawn("exponential", "float32", 4)
    yield drawn("integers", "int32", 4)
    yield drawn("permutation", "int64", 8)


EXCHANGE = "steps of x + h mean(x)"
ALL_REDUCES = "1000 all-reduces of 8 bytes in a CUDA graph"


def mesh_works():
    """The works of bench/mesh.cu, the most important first."""
    yield from loop_works(STEPS, (512, 1024, 3162, 4472), "mesh")
    for n, steps in ((1 << 21, 1000), (1 << 20, 10_000)):
        mean = lambda xp, x, steps=steps: fed_back_mean(xp, x, steps)
        yield Work(
            "mesh",
            f"{steps} {EXCHANGE}",
            "float32",
            (n,),
            "x",
            mean,
            wall=True,
            steps=steps,
            bytes_an_element=8 * steps,
        )
    yield Work(
        "mesh",
        ALL_REDUCES,
        "float32",
        (2,),
        "x",
        lambda xp, x: 0 * x,
        wall=True,
        steps=1000,
        bytes_an_element=4000,
    )
    yield from works("mesh", ["a + b", "sum(a)"], "float32", [1 << 29], wall=True)
    yield from works(
        "mesh", ["sum of rows", "sum of columns"], "float32", [(1 << 14, 1 << 15)], wall=True
    )
    yield from works(
        "mesh",
        ["five-point heat by slices", "transpose(m)"],
        "float32",
        [(1 << 14, 1 << 14)],
        wall=True,
    )
    yield from works("mesh", ["cumsum(a)"], "float32", [1 << 25], wall=True)


def bytes_of(work):
    """The bytes of a call: operands and results, each counted once, as in bench/README.md."""
    item, n = np.dtype(work.dtype).itemsize, work.elements
    if work.bytes_an_element or work.group == "random":
        return work.bytes_an_element * (work.shape[0] if work.group == "by key" else n)
    if (
        work.group in ("axis", "mesh")
        and " of " in work.name
        and work.name.split()[0] in ("sum", "var", "argmax")
    ):
        results = work.shape[1] if "columns" in work.name else work.shape[0]
        return item * n + (8 if "argmax" in work.name else item) * results
    if work.name == "vector times matrix":
        return item * (n + sum(work.shape))
    operands = sum(
        {"r": 0, "k": 0, "s": 0, "d": 0, "i": 4 / item}.get(letter, 1) for letter in work.operands
    )
    is_reduced = work.group == "reduction" and "/" not in work.name and "softmax" not in work.name
    results = 0 if is_reduced or work.name == "sum(a)" else 1
    if "over j" in work.name:
        return 12 * n
    if work.name.startswith("RK4") or work.name == "Black-Scholes":
        results = 2
    return item * n * (operands + results) + (
        4 * n if work.dtype == "int32" and work.group == "scan" else 0
    )


def numpy_functions():
    return functions(
        np,
        norm=np.linalg.norm,
        erfc=np.vectorize(math.erfc, otypes=[float]),
        contiguous=np.ascontiguousarray,
        flip_rows=lambda m: m[:, ::-1],
        copy_to=np.copyto,
        sum_by=lambda keys, values, groups: np.bincount(keys, values, groups),
        bincount=lambda keys, groups: np.bincount(keys, minlength=groups),
        histogram=lambda x, bins, low, high: np.histogram(x, bins, (low, high))[0],
        compress=np.compress,
    )
