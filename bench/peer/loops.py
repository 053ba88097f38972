"""The steps and loops of bench/README.md in CuPy, PyTorch and JAX, as a user who wants speed
writes them in each."""

import math

import numpy as np

from .replay import replayed
from .works import H, lorenz_step, rk4

# Four stages in one kernel; F and G may be the same arrays as Fn and Gn.
CUPY_STEP = """
    const complex<float> d = D[0], m2i(0, -2), mi(0, -1);
    complex<float> a = F, b = G, sumF = 0, sumG = 0;
    const float ahead[4] = {0.5f, 0.5f, 1, 0}, weight[4] = {1, 2, 2, 1};
    #pragma unroll
    for (int s = 0; s < 4; ++s) {
      const complex<float> f = m2i * a + mi * d * (2.0f * b - 1.0f), g = mi * (conj(d) * a - d * conj(a));
      sumF += weight[s] * f, sumG += weight[s] * g;
      a = F + ahead[s] * h * f, b = G + ahead[s] * h * g;
    }
    Fn = F + h / 6 * sumF, Gn = G + h / 6 * sumG;"""


def cupy_ways(work, cp):
    if work.operands != "FGd":
        return {}
    step = cp.ElementwiseKernel(
        "complex64 F, complex64 G, raw complex64 D, float32 h",
        "complex64 Fn, complex64 Gn",
        CUPY_STEP,
        "rk4",
    )
    h = np.float32(H)

    def prepare(operands):
        F, G, d = operands[0].copy(), operands[1].copy(), operands[2].reshape(1).copy()
        total, scale = cp.zeros((), cp.complex64), np.complex64(1 / F.size)

        def loop():
            for _ in range(work.steps):
                step(F, G, d, h, F, G)
                cp.sum(F, out=total)
                cp.multiply(total, scale, out=d[0])
            return d

        def summed():
            step(F, G, d, h, F, G)
            cp.sum(F, out=total)
            return F, G, total

        def once():
            step(F, G, d, h, F, G)
            return F, G

        return loop if work.steps else summed if "sum" in work.name else once

    return {"CuPy": prepare}


def times(a, b):
    """The product of two complex numbers, each a pair of real and imaginary part."""
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def rk4_of_pairs(F, G, d, h=H):
    """rk4 with complex numbers as pairs of real tensors, since torch.compile generates no
    kernels for complex tensors."""
    conj = lambda a: (a[0], -a[1])
    ahead = lambda a, h, da: (a[0] + h * da[0], a[1] + h * da[1])

    def slope(F, G):
        drive = times(d, (2 * G[0] - 1, 2 * G[1]))
        p, q = times(conj(d), F), times(d, conj(F))
        return (2 * F[1] + drive[1], -2 * F[0] - drive[0]), (p[1] - q[1], q[0] - p[0])

    F1, G1 = slope(F, G)
    F2, G2 = slope(ahead(F, h / 2, F1), ahead(G, h / 2, G1))
    F3, G3 = slope(ahead(F, h / 2, F2), ahead(G, h / 2, G2))
    F4, G4 = slope(ahead(F, h, F3), ahead(G, h, G3))
    sums = lambda a, b, c, d: tuple(x + 2 * y + 2 * z + w for x, y, z, w in zip(a, b, c, d))
    return ahead(F, h / 6, sums(F1, F2, F3, F4)), ahead(G, h / 6, sums(G1, G2, G3, G4))


def torch_ways(work, torch, device):
    scale = 1 / math.prod(work.shape)

    def step(F, G, d):
        return rk4_of_pairs(F, G, d)

    def summed(F, G, d):
        F, G = rk4_of_pairs(F, G, d)
        return F, G, (F[0].sum(), F[1].sum())

    def fed_back(F, G, d):
        F, G = rk4_of_pairs(F, G, d)
        return F, G, ((F[0] * scale).sum(), (F[1] * scale).sum())

    def prepare(operands):
        torch._dynamo.reset()
        start = tuple((x.real.clone(), x.imag.clone()) for x in operands)
        if not work.steps:
            compiled = torch.compile(summed if "sum" in work.name else step, dynamic=False)
            call = lambda: compiled(*start)
            call.join = lambda result: tuple(torch.complex(*x) for x in result)
            return call

        compiled = torch.compile(fed_back, dynamic=False)

        def all_steps():
            state = start
            for _ in range(work.steps):
                state = compiled(*state)
            return state

        call = replayed(torch, all_steps, device, warm_up=lambda: compiled(*start))
        wrapped = lambda: call()
        wrapped.join = lambda state: torch.complex(*state[2])
        return wrapped

    return {"torch.compile": prepare}


def jax_ways(work, jax, jnp):
    if work.operands == "xyz":
        loop = jax.jit(
            lambda *state: jax.lax.fori_loop(0, work.steps, lambda _, s: lorenz_step(*s), state)
        )
        return {"JAX": lambda operands: lambda: loop(*operands)}
    if not work.steps:
        step = jax.jit(lambda F, G, d: work.formula(jnp, F, G, d))
        return {"JAX": lambda operands: lambda: step(*operands)}
    scale = jnp.float32(1 / math.prod(work.shape))

    def fed_back(state, _):
        F, G = rk4(jnp, *state)
        d = (jnp.sum(F) * scale).astype(jnp.complex64)
        return (F, G, d), d

    loop = jax.jit(lambda *state: jax.lax.scan(fed_back, state, None, length=work.steps))
    return {"JAX": lambda operands: lambda: loop(*operands)[0][2]}
