"""The solvers of bench/solver.cu: loops whose steps use their own sums. A formula is written once
for NumPy, JAX and torch.compile; CuPy's are kernels of its own, as a user who wants speed writes
them."""

import numpy as np

from .replay import replayed

CG, FLOW, GRAPH = (
    "200 steps of conjugate gradients",
    "200 steps of y = sin(x) + 0.3 x, x = y / norm(y)",
    "100 steps of oscillators on a graph of degree 4",
)
STAGES, HEAT = "100 RK4 steps, sum(F) in every stage", "100 RK4 steps of heat"
H, HEAT_H, GRAPH_H = 1e-3, 0.1, 0.01


def laplace(xp, p):
    """Five points, with zeros around the square."""
    row, column = 0 * p[:1], 0 * p[:, :1]
    up, down = xp.concatenate([row, p[:-1]]), xp.concatenate([p[1:], row])
    left = xp.concatenate([column, p[:, :-1]], axis=1)
    right = xp.concatenate([p[:, 1:], column], axis=1)
    return 4 * p - up - down - left - right


def cg_step(xp, x, r, p, squares):
    q = laplace(xp, p)
    alpha = squares / xp.sum(p * q)
    r = r - alpha * q
    next_squares = xp.sum(r * r)
    return x + alpha * p, r, r + next_squares / squares * p, next_squares


def flow_step(xp, x):
    y = xp.sin(x) + 0.3 * x
    return (y / xp.sqrt(xp.sum(y * y)),)


def runge_kutta(slopes, h, state):
    """A step of the classical method, of a tuple of fields."""
    ahead = lambda h, k: tuple(v + h * dv for v, dv in zip(state, k))
    k1 = slopes(*state)
    k2 = slopes(*ahead(h / 2, k1))
    k3 = slopes(*ahead(h / 2, k2))
    k4 = slopes(*ahead(h, k3))
    return tuple(v + h / 6 * (a + 2 * b + 2 * c + d) for v, a, b, c, d in zip(state, k1, k2, k3, k4))


def stages_step(xp, F, G):
    scale = 1 / (F.shape[0] * F.shape[1])

    def slopes(F, G):
        d = xp.sum(F) * scale
        return -2j * F - 1j * d * (2 * G - 1), -1j * (xp.conj(d) * F - d * xp.conj(F))

    return runge_kutta(slopes, H, (F, G))


def stages_step_of_parts(xp, a, b, u, v):
    """The same with F = a + ib and G = u + iv: torch.compile makes no kernels of complex numbers."""
    scale = 1 / (a.shape[0] * a.shape[1])

    def slopes(a, b, u, v):
        re, im = xp.sum(a) * scale, xp.sum(b) * scale
        return (
            2 * b + re * 2 * v + im * (2 * u - 1),
            -2 * a - re * (2 * u - 1) + im * 2 * v,
            2 * (re * b - im * a),
            0 * a,
        )

    return runge_kutta(slopes, H, (a, b, u, v))


def heat_step(xp, u):
    def slopes(u):
        around = xp.roll(u, 1, 0) + xp.roll(u, -1, 0) + xp.roll(u, 1, 1) + xp.roll(u, -1, 1)
        return (around - 4 * u,)

    return runge_kutta(slopes, HEAT_H, (u,))


def graph_step(xp, u, neighbours, rate):
    pull = sum(xp.sin(u[list_] - u) for list_ in neighbours)
    return u + GRAPH_H * (rate + 0.25 * pull)


def start_of(name, xp, operands):
    """The state before the first step, and what does not change."""
    if name == CG:
        b = operands[0]
        return (0 * b, b, b, xp.sum(b * b)), ()
    if name == GRAPH:
        return (operands[0],), tuple(operands[1:])
    return tuple(operands), ()


def step_of(name, xp):
    """A function of the state and of what does not change, which gives the new state."""
    if name == GRAPH:
        return lambda u, neighbours, rate: (graph_step(xp, u, neighbours, rate),)
    step = {CG: cg_step, FLOW: flow_step, STAGES: stages_step, HEAT: heat_step}[name]
    return lambda *state: step(xp, *state)


def formula(name, steps):
    """The first array of the state after all steps."""

    def all_steps(xp, *operands):
        state, fixed = start_of(name, xp, operands)
        step = step_of(name, xp)
        for _ in range(steps):
            state = step(*state, *fixed)
        return state[0]

    return all_steps


def jax_ways(work, jax, xp):
    step = step_of(work.name, xp)

    def by_count(operands):
        def loop(*operands):
            state, fixed = start_of(work.name, xp, operands)
            return jax.lax.fori_loop(0, work.steps, lambda _, s: step(*s, *fixed), state)[0]

        compiled = jax.jit(loop)
        return lambda: compiled(*operands)

    def by_condition(operands):
        """Ends on the device, as `until` does; here after all steps."""

        def loop(*operands):
            state, _ = start_of(work.name, xp, operands)
            goes_on = lambda s: (s[0] < work.steps) & (s[1][3] > 0)
            return jax.lax.while_loop(goes_on, lambda s: (s[0] + 1, step(*s[1])), (0, state))[1][0]

        compiled = jax.jit(loop)
        return lambda: compiled(*operands)

    return {"JAX": by_count, **({"JAX while_loop": by_condition} if work.name == CG else {})}


def torch_ways(work, torch, xp, device):
    """A compiled step, all steps in a CUDA graph."""
    is_complex = work.name == STAGES
    step = (lambda *s: stages_step_of_parts(xp, *s)) if is_complex else step_of(work.name, xp)

    def prepare(operands):
        torch._dynamo.reset()
        if is_complex:
            F, G = operands
            operands = [F.real.clone(), F.imag.clone(), G.real.clone(), G.imag.clone()]
        compiled = torch.compile(step, dynamic=False)

        def all_steps():
            state, fixed = start_of(work.name, xp, operands)
            for _ in range(work.steps):
                state = compiled(*state, *fixed)
            return state

        call = replayed(torch, all_steps, device, warm_up=all_steps)
        wrapped = lambda: call()
        wrapped.join = lambda s: torch.complex(s[0], s[1]) if is_complex else s[0]
        return wrapped

    return {"torch.compile": prepare}


CUPY_CG = """
    const int side = n, row = i / side, column = i % side;
    T sum = 4 * p[i];
    if (row > 0) sum -= p[i - side];
    if (row + 1 < side) sum -= p[i + side];
    if (column > 0) sum -= p[i - 1];
    if (column + 1 < side) sum -= p[i + 1];
    q = sum;"""


def cupy_ways(work, cp):
    kernel = cp.ElementwiseKernel
    dot = cp.ReductionKernel("T a, T b", "T s", "a * b", "a + b", "s = a", "0", "dot")

    def cg(operands):
        b = operands[0]
        product = kernel("raw T p, int32 n", "T q", CUPY_CG, "product")
        residual = kernel(
            "T p, T q, raw T squares, raw T product",
            "T x, T r",
            "T alpha = squares[0] / product[0]; x += alpha * p; r -= alpha * q",
            "residual",
        )
        direction = kernel(
            "T r, raw T next, raw T squares", "T p", "p = r + next[0] / squares[0] * p", "direction"
        )
        q, pq = cp.empty_like(b), cp.empty(1, b.dtype)
        x, r, p = cp.empty_like(b), cp.empty_like(b), cp.empty_like(b)
        sums = [cp.empty(1, b.dtype), cp.empty(1, b.dtype)]

        def call():
            x.fill(0)
            cp.copyto(r, b)
            cp.copyto(p, b)
            dot(b, b, out=sums[0][0])
            squares, following = sums
            for _ in range(work.steps):
                product(p, np.int32(b.shape[1]), q)
                dot(p, q, out=pq[0])
                residual(p, q, squares, pq, x, r)
                dot(r, r, out=following[0])
                direction(r, following, squares, p)
                squares, following = following, squares
            return x

        return call

    def flow(operands):
        advance = kernel("T x", "T y", "y = sin(x) + (T)0.3 * x", "advance")
        divide = kernel("T y, raw T squares", "T x", "x = y / sqrt(squares[0])", "divide")
        start = operands[0]
        x, y, squares = cp.empty_like(start), cp.empty_like(start), cp.empty(1, start.dtype)

        def call():
            cp.copyto(x, start)
            for _ in range(work.steps):
                advance(x, y)
                dot(y, y, out=squares[0])
                divide(y, squares, x)
            return x

        return call

    def graph(operands):
        step = kernel(
            "raw T u, T mine, raw int32 j, T rate, int64 n",
            "T next",
            f"""T pull = 0;
            for (int d = 0; d < 4; ++d) pull += sin(u[j[d * n + i]] - mine);
            next = mine + (T){GRAPH_H} * (rate + (T)0.25 * pull);""",
            "oscillate",
        )
        start, neighbours, rate = operands
        both = [cp.empty_like(start), cp.empty_like(start)]

        def call():
            now, following = both
            cp.copyto(now, start)
            for _ in range(work.steps):
                step(now, now, neighbours, rate, start.size, following)
                now, following = following, now
            return now

        return call

    way = {CG: cg, FLOW: flow, GRAPH: graph}.get(work.name)
    return {"CuPy": way} if way else {}
