"""Random numbers, as in bench/random.cu: how each library draws them, and which moments they
must have."""

import math

import numpy as np

from .works import PATHS, SDE_STEPS

GROWTH, NOISE, START = 1.5, 0.01, 0.1
# Mean and variance.
MOMENTS = {
    "bits": (2**31 - 0.5, 2**64 / 12),
    "uniform": (0.5, 1 / 12),
    "normal": (0, 1),
    "exponential": (1, 1),
    "integers": (499.5, (1000**2 - 1) / 12),
}


def moments_of(work):
    h = 1 / SDE_STEPS
    if "Euler" in work.name:
        mean = START * (1 + GROWTH * h) ** SDE_STEPS
        return mean, START**2 * ((1 + GROWTH * h) ** 2 + NOISE**2 * h) ** SDE_STEPS - mean**2
    n = work.elements
    return MOMENTS.get(work.name, ((n - 1) / 2, (n**2 - 1) / 12))


def check(work, got):
    """Raises an error unless the moments are those of the distribution, within six standard
    errors; for pi, unless it is pi."""
    (x,) = got
    if work.name == "pi":
        wrong = abs(float(x) - math.pi) > 6 * math.sqrt(math.pi * (4 - math.pi) / work.elements)
    else:
        x = np.asarray(x).astype(np.float64).ravel()
        mean, variance = moments_of(work)
        wrong = (
            abs(x.mean() - mean) > 6 * math.sqrt(variance / x.size)
            or abs(x.var() / variance - 1) > 0.1
        )
    if wrong:
        raise ValueError("the moments are not the distribution's")


def ways_of(makers):
    """A way for each (name, function that makes a call). Some elements of a call's result are
    compared."""

    def prepare(make):
        made = make()
        call = lambda: made()
        call.join = lambda x: x.reshape(-1)[:10_000] if x.ndim else x
        return call

    return {name: lambda operands, make=make: prepare(make) for name, make in makers.items()}


def curand_call(work, cp):
    """NVIDIA's library, with the same generator as dsl's, through CuPy."""
    from cupy_backends.cuda.libs import curand

    generator = curand.createGenerator(curand.CURAND_RNG_PSEUDO_PHILOX4_32_10)
    curand.setPseudoRandomGeneratorSeed(generator, 42)
    fill = {
        ("bits", "uint32"): curand.generate,
        ("uniform", "float32"): curand.generateUniform,
        ("uniform", "float64"): curand.generateUniformDouble,
        ("normal", "float32"): lambda *to: curand.generateNormal(*to, 0, 1),
        ("normal", "float64"): lambda *to: curand.generateNormalDouble(*to, 0, 1),
    }[work.name, work.dtype]
    out = cp.empty(work.shape, work.dtype)

    def call():
        fill(generator, out.data.ptr, out.size)
        return out

    return call


def cupy_ways(work, cp):
    ways = {"CuPy": lambda: cupy_call(work, cp)}
    if work.name in ("bits", "uniform", "normal"):
        ways["cuRAND"] = lambda: curand_call(work, cp)
    return ways_of(ways)


def cupy_call(work, cp):
    rng, n = cp.random.Generator(cp.random.Philox4x3210(42)), work.shape
    if work.name == "pi":

        def pi():
            x, y = rng.random(n, np.float32), rng.random(n, np.float32)
            return 4 * cp.mean(x * x + y * y < 1)

        return pi
    if "Euler" in work.name:
        step = cp.ElementwiseKernel(
            "float32 x, float32 z, float32 drift, float32 width",
            "float32 y",
            "y = x + drift * x + width * x * z",
            "euler",
        )
        x, h = cp.empty((3, PATHS), np.float32), 1 / SDE_STEPS

        def paths():
            x.fill(START)
            for _ in range(SDE_STEPS):
                step(
                    x,
                    rng.standard_normal(x.shape, np.float32),
                    np.float32(GROWTH * h),
                    np.float32(NOISE * h**0.5),
                    x,
                )
            return x

        return paths
    out = cp.empty(n, work.dtype)
    return {
        "bits": lambda: rng.integers(0, 2**32, n, np.uint32),
        "uniform": lambda: rng.random(n, out.dtype, out=out),
        "normal": lambda: rng.standard_normal(n, out.dtype, out=out),
        "exponential": lambda: rng.standard_exponential(n, out.dtype, out=out),
        "integers": lambda: rng.integers(0, 1000, n, np.int32),
        "permutation": lambda: cp.random.permutation(n[0]),
    }[work.name]


def torch_ways(work, torch, device):
    return ways_of({"PyTorch": lambda: torch_call(work, torch, device)})


def torch_call(work, torch, device):
    where, n = {"device": "cuda" if device == "cuda" else "cpu"}, work.shape
    if work.name == "pi":

        def pi():
            x, y = torch.rand(n, **where), torch.rand(n, **where)
            return 4 * torch.mean((x * x + y * y < 1).float())

        return pi
    if "Euler" in work.name:
        x, z, h = torch.empty((3, PATHS), **where), torch.empty((3, PATHS), **where), 1 / SDE_STEPS

        def paths():
            x.fill_(START)
            for _ in range(SDE_STEPS):
                x.mul_(z.normal_().mul_(NOISE * h**0.5).add_(1 + GROWTH * h))
            return x

        return paths
    if work.name == "permutation":
        return lambda: torch.randperm(n[0], **where)
    out = torch.empty(n, dtype=getattr(torch, work.dtype), **where)
    if work.name == "bits":
        signed = out.view(torch.int32)
        return lambda: signed.random_(-(2**31), 2**31).view(torch.uint32)
    return {
        "uniform": out.uniform_,
        "normal": out.normal_,
        "exponential": out.exponential_,
        "integers": lambda: out.random_(0, 1000),
    }[work.name]


def compiled_ways(work, torch, device):
    ways = {"torch.compile": lambda: compiled_call(work, torch, device)}
    return ways_of(ways) if work.name in ("pi", "uniform", "normal") or "Euler" in work.name else {}


def compiled_call(work, torch, device):
    """torch.compile draws within the formula's kernel."""
    where, n, dtype = (
        {"device": "cuda" if device == "cuda" else "cpu"},
        work.shape,
        getattr(torch, work.dtype),
    )
    torch._dynamo.reset()
    if "Euler" in work.name:
        h = 1 / SDE_STEPS
        step = torch.compile(
            lambda x: x + GROWTH * h * x + NOISE * h**0.5 * x * torch.randn_like(x), dynamic=False
        )

        def paths():
            x = torch.full((3, PATHS), START, **where)
            for _ in range(SDE_STEPS):
                x = step(x)
            return x

        return paths

    def pi():
        x, y = torch.rand(n, **where), torch.rand(n, **where)
        return 4 * torch.mean((x * x + y * y < 1).float())

    draws = {
        "pi": pi,
        "uniform": lambda: torch.rand(n, dtype=dtype, **where),
        "normal": lambda: torch.randn(n, dtype=dtype, **where),
    }
    return torch.compile(draws[work.name], dynamic=False)


def jax_ways(work, jax, jnp):
    kinds = "threefry2x32", "rbg"
    return ways_of(
        {f"JAX, {kind}": lambda kind=kind: jax_call(work, jax, jnp, kind) for kind in kinds}
    )


def jax_call(work, jax, jnp, kind):
    draw, n, dtype = jax.random, work.shape, work.dtype
    key = draw.key(42, impl=kind)

    def pi(key):
        x, y = (
            draw.uniform(draw.fold_in(key, 0), n, dtype),
            draw.uniform(draw.fold_in(key, 1), n, dtype),
        )
        return 4 * jnp.mean((x * x + y * y < 1).astype(dtype))

    def paths(key):
        h = 1 / SDE_STEPS
        step = lambda i, x: (
            x
            + GROWTH * h * x
            + NOISE * h**0.5 * x * draw.normal(draw.fold_in(key, i), x.shape, dtype)
        )
        return jax.lax.fori_loop(0, SDE_STEPS, step, jnp.full((3, PATHS), START, dtype))

    formula = {
        "bits": lambda key: draw.bits(key, n, dtype),
        "uniform": lambda key: draw.uniform(key, n, dtype),
        "normal": lambda key: draw.normal(key, n, dtype),
        "exponential": lambda key: draw.exponential(key, n, dtype),
        "integers": lambda key: draw.randint(key, n, 0, 1000, dtype),
        "permutation": lambda key: draw.permutation(key, n[0]),
        "pi": pi,
    }.get(work.name, paths)
    jitted = jax.jit(formula)
    return lambda: jitted(key)
