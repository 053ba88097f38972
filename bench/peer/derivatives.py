"""The derivatives of bench/derivatives.cu. JAX and PyTorch differentiate the formulas here; NumPy's
references are closed forms, but for the coupled fields: differences in double precision."""

import math

import numpy as np

from .loops import rk4_of_pairs
from .replay import replayed
from .works import rk4

GREEKS, ENTROPY, LOGISTIC = (
    "Black-Scholes with five Greeks",
    "gradient of softmax cross-entropy of rows",
    "logistic regression, loss and gradient",
)
FIELDS, HEAT = "100 RK4 steps, sum(F) fed back, gradient", "1000 steps of heat, gradient"
RATE, VOLATILITY, OFFSET = 0.02, 0.3, 0.5


def below(xp, d):
    """The cumulative normal distribution."""
    return 0.5 * xp.erfc(d * -(0.5**0.5))


def call_price(xp, stock, strike, years, rate, volatility):
    spread = volatility * xp.sqrt(years)
    d = (xp.log(stock / strike) + rate * years) / spread + 0.5 * spread
    return stock * below(xp, d) - strike * xp.exp(-rate * years) * below(xp, d - spread)


def price_and_greeks(xp, grad, vmap, stock, strike, years, rate=RATE, volatility=VOLATILITY):
    """Price, delta, gamma, vega, theta and rho of each element, by a library's grad and vmap."""
    price = lambda *x: call_price(xp, *x)
    values = (stock, strike, years, rate, volatility)
    by_element = lambda f: vmap(f, (0, 0, 0, None, None))(*values)
    delta, theta, rho, vega = by_element(grad(price, argnums=(0, 2, 3, 4)))
    return by_element(price), delta, by_element(grad(grad(price))), vega, -theta, rho


def greeks_in_closed_form(xp, stock, strike, years):
    spread = VOLATILITY * xp.sqrt(years)
    d = (xp.log(stock / strike) + RATE * years) / spread + 0.5 * spread
    paid = strike * xp.exp(-RATE * years) * below(xp, d - spread)
    density = xp.exp(-0.5 * d * d) / math.sqrt(2 * math.pi)
    return (
        stock * below(xp, d) - paid,
        below(xp, d),
        density / (stock * spread),
        stock * density * xp.sqrt(years),
        -0.5 * stock * density * VOLATILITY / xp.sqrt(years) - RATE * paid,
        years * paid,
    )


def labels_of(column):
    """The column of a label for each row, 0 to 7, of numbers in [0.5, 1.5)."""
    return np.floor(8 * (np.asarray(column)[:, 0] - 0.5)).astype(np.int64)


def entropy_in_closed_form(xp, m, column):
    p = xp.softmax_rows(m)
    p[np.arange(m.shape[0]), labels_of(column)] -= 1
    return p


def signs_of(column):
    return np.where(np.asarray(column)[:, 0] > 1, 1, -1)


def weights_of(row):
    return 0.1 * (row - 1)


def logistic_loss(xp, x, signs, w, b):
    return xp.mean(xp.logaddexp(0 * signs, -signs * (x @ w + b)))


def logistic_in_closed_form(xp, x, column, row):
    signs, w = signs_of(column), weights_of(row)
    z = x @ w + OFFSET
    off = -signs / (1 + xp.exp(signs * z)) / x.shape[0]
    return np.mean(np.logaddexp(0, -signs * z)), off @ x, np.sum(off)


def fields_after(xp, F, G, d, steps):
    for _ in range(steps):
        F, G = rk4(xp, F, G, d)
        d = xp.sum(F) / math.prod(F.shape)
    return F


def fields_by_differences(xp, F, G, d, steps=100, h=1e-6):
    """All elements are equal and have equal derivatives: that of one element's square by a change
    of all elements."""
    square = lambda F: np.abs(fields_after(xp, F, G, d, steps)) ** 2
    slope = lambda change: (square(F + change) - square(F - change)) / (2 * h)
    return slope(h) - 1j * slope(1j * h)


def heat_step(xp, u):
    around = xp.roll(u, 1, 0) + xp.roll(u, -1, 0) + xp.roll(u, 1, 1) + xp.roll(u, -1, 1)
    return u + 0.1 * (around - 4 * u)


def heat_in_closed_form(xp, u, steps=1000):
    """A step is a symmetric matrix, so the derivative of half the last square is the state after
    as many steps again."""
    for _ in range(2 * steps):
        u = heat_step(xp, u)
    return u


REFERENCES = {
    GREEKS: greeks_in_closed_form,
    ENTROPY: entropy_in_closed_form,
    LOGISTIC: logistic_in_closed_form,
    FIELDS: fields_by_differences,
    HEAT: heat_in_closed_form,
}


def with_join(call, join):
    """A call whose results are compared as `join` gives them."""
    wrapped = lambda: call()
    wrapped.join = join
    return wrapped


def jax_ways(work, jax, xp):
    jnp = jax.numpy

    def greeks(operands):
        jitted = jax.jit(lambda *x: price_and_greeks(xp, jax.grad, jax.vmap, *x))
        return lambda: jitted(*operands)

    def entropy(operands):
        m, labels = operands[0], jnp.asarray(labels_of(operands[1]))

        def loss(m, labels):
            of_label = jnp.take_along_axis(m, labels[:, None], axis=1)[:, 0]
            return jnp.sum(jax.nn.logsumexp(m, axis=1) - of_label)

        jitted = jax.jit(jax.grad(loss))
        return lambda: jitted(m, labels)

    def logistic(operands):
        x, w = operands[0], weights_of(operands[2])
        signs, b = jnp.asarray(signs_of(operands[1]), x.dtype), jnp.asarray(OFFSET, x.dtype)
        loss = lambda x, signs, w, b: logistic_loss(xp, x, signs, w, b)
        jitted = jax.jit(jax.value_and_grad(loss, argnums=(2, 3)))
        return with_join(lambda: jitted(x, signs, w, b), lambda found: (found[0], *found[1]))

    def fields(operands):
        scale = jnp.float32(1 / math.prod(work.shape))

        def step(state, _):
            F, G = rk4(xp, *state)
            return (F, G, (jnp.sum(F) * scale).astype(F.dtype)), None

        def loss(*state):
            F = jax.lax.scan(step, state, None, length=work.steps)[0][0]
            return jnp.sum(jnp.real(F * jnp.conj(F)))

        jitted = jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2)))
        return with_join(lambda: jitted(*operands), lambda found: found[1][0][:4, :4])

    def heat(operands):
        def loss(u):
            step = lambda u, _: (heat_step(xp, u), None)
            last = jax.lax.scan(step, u, None, length=work.steps)[0]
            return 0.5 * jnp.sum(last * last)

        jitted = jax.jit(jax.value_and_grad(loss))
        return with_join(lambda: jitted(*operands), lambda found: found[1])

    ways = {GREEKS: greeks, ENTROPY: entropy, LOGISTIC: logistic, FIELDS: fields, HEAT: heat}
    return {"JAX": ways[work.name]}


def torch_ways(work, torch, xp, device):
    """Compiled formulas and their derivatives. Of a loop the step is compiled, with its backward
    step; on a GPU the whole loop and its way back are a CUDA graph."""
    compiled = lambda f: torch.compile(f, dynamic=False)
    grad, vmap = torch.func.grad, torch.func.vmap

    def greeks(operands):
        call = compiled(lambda *x: price_and_greeks(xp, grad, vmap, *x))
        # It differentiates with respect to tensors alone.
        constants = [torch.tensor(x).to(operands[0]) for x in (RATE, VOLATILITY)]
        return lambda: call(*operands, *constants)

    def entropy(operands):
        m = operands[0]
        labels = torch.from_numpy(labels_of(operands[1].cpu())).to(m.device)
        loss = lambda m, labels: torch.nn.functional.cross_entropy(m, labels, reduction="sum")
        call = compiled(grad(loss))
        return lambda: call(m, labels)

    def logistic(operands):
        x, w = operands[0], weights_of(operands[2])
        signs = torch.from_numpy(signs_of(operands[1].cpu())).to(x)
        b = torch.tensor(OFFSET).to(x)
        loss = lambda x, signs, w, b: logistic_loss(xp, x, signs, w, b)
        call = compiled(torch.func.grad_and_value(loss, argnums=(2, 3)))
        return with_join(lambda: call(x, signs, w, b), lambda found: (found[1], *found[0]))

    def loop(step, loss, start, join):
        state = tuple(x.detach().clone().requires_grad_() for x in start)
        once = compiled(step)

        def there_and_back():
            with torch.enable_grad():
                last = state
                for _ in range(work.steps):
                    last = once(*last)
                value = loss(*last)
                return value, torch.autograd.grad(value, state)

        return with_join(replayed(torch, there_and_back, device, warm_up=there_and_back), join)

    def fields(operands):
        scale = 1 / math.prod(work.shape)

        def step(*parts):
            F, G = rk4_of_pairs(parts[0:2], parts[2:4], parts[4:6])
            return (*F, *G, (F[0] * scale).sum(), (F[1] * scale).sum())

        return loop(
            step,
            lambda re, im, *_: (re * re + im * im).sum(),
            [part for x in operands for part in (x.real, x.imag)],
            lambda found: torch.complex(found[1][0], -found[1][1])[:4, :4],
        )

    def heat(operands):
        return loop(
            lambda u: (heat_step(xp, u),),
            lambda u: 0.5 * (u * u).sum(),
            operands,
            lambda found: found[1][0],
        )

    ways = {GREEKS: greeks, ENTROPY: entropy, LOGISTIC: logistic, FIELDS: fields, HEAT: heat}

    def prepare(operands):
        torch._dynamo.reset()
        return ways[work.name](operands)

    return {"torch.compile": prepare}
