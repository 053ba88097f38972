"""CuPy, PyTorch, JAX and NumPy: how each takes operands, runs a work, and is timed.

ways(work) maps each name under which the library appears in the table ("by") to a function of the
operands. That function returns a call, which runs the work once and returns its result.
"""

import math
import os
import time

import numpy as np

from . import derivatives, drawn, loops, solvers
from .operands import Operands
from .works import functions, numpy_functions


class Library:
    """Defaults for a library: operands, and times by the processor's clock."""

    # Least number of calls in a measurement.
    fewest_calls = 5

    def operands(self, works):
        """The function that gives the operands of each of these works."""
        return Operands(self, works)

    def cast(self, x, dtype):
        return x.astype(dtype)

    def agreed(self, value):
        """The same value in all processes of a library that has several."""
        return value

    def wait(self, result):
        pass

    def elapsed(self, call, n, wall):
        """Milliseconds of n calls."""
        begin = time.perf_counter()
        for _ in range(n):
            result = call()
        self.wait(result)
        return 1e3 * (time.perf_counter() - begin)

    def part(self, array, shape, count):
        """The first elements of a long array."""
        return array[:count].reshape(shape)

    def fits(self, work):
        return work.dtype != "bfloat16"

    def free(self):
        """Gives unused memory back."""

    def close(self):
        """Called after the last row."""


class OnGpu(Library):
    """A library whose launches are timed by events: event() records one, milliseconds(begin,
    end) is the time between two."""

    def elapsed(self, call, n, wall):
        if wall:
            return super().elapsed(call, n, wall)
        begin, end = self.event(), self.event()
        begin.record()
        for _ in range(n):
            call()
        end.record()
        end.synchronize()
        return self.milliseconds(begin, end)


class CuPy(OnGpu):
    def __init__(self, device):
        import cupy as cp
        from cupyx.scipy.special import erfc

        self.cp = cp
        self.event, self.milliseconds = cp.cuda.Event, cp.cuda.get_elapsed_time
        self.xp = functions(
            cp,
            norm=cp.linalg.norm,
            erfc=erfc,
            contiguous=cp.ascontiguousarray,
            flip_rows=lambda m: m[:, ::-1],
            copy_to=lambda out, a: cp.copyto(out, a),
            sum_by=self.sum_by,
            bincount=lambda keys, groups: cp.bincount(keys, minlength=groups),
            histogram=lambda x, bins, low, high: cp.histogram(x, bins, (low, high))[0],
            compress=lambda condition, x: x[condition],
        )
        self.versions = {"CuPy": cp.__version__}

    def sum_by(self, keys, values, groups):
        sums = self.cp.zeros(groups, values.dtype)
        self.cp.add.at(sums, keys, values)
        return sums

    def to_library(self, x):
        return self.cp.asarray(x)

    def to_numpy(self, x):
        return self.cp.asnumpy(x)

    def wait(self, result):
        self.cp.cuda.get_current_stream().synchronize()

    def free(self):
        self.cp.get_default_memory_pool().free_all_blocks()

    def ways(self, work):
        if work.group == "random":
            return drawn.cupy_ways(work, self.cp)
        if work.group == "derivatives":
            return {}
        if work.group == "solver":
            return solvers.cupy_ways(work, self.cp)
        if work.steps or work.operands == "FGd":
            return loops.cupy_ways(work, self.cp)
        ways = {"CuPy": lambda operands: plain_call(self.xp, work, operands)}
        if work.fuse:
            ways["CuPy fuse"] = lambda operands: fused_call(self.cp, self.xp, work, operands)
        return ways


def plain_call(xp, work, operands):
    """A call of the formula, or of its form that writes to existing memory."""
    if not work.into:
        return lambda: work.formula(xp, *operands)
    out = work.formula(xp, *operands)

    def call():
        work.into(xp, out, *operands)
        return out

    return call


def fused_call(cp, xp, work, operands):
    fused = cp.fuse(kernel_name="fused")(lambda *x: work.formula(xp, *x))
    return lambda: fused(*operands)


class PyTorch(OnGpu):
    """Eager PyTorch; `Compiled` is the same with torch.compile."""

    def __init__(self, device):
        import torch

        if device == "cuda":
            torch.cuda.init()
        self.torch, self.device = torch, device
        torch.set_grad_enabled(False)
        shaped = lambda axis, keepdims: {} if axis is None else {"dim": axis, "keepdim": keepdims}
        self.xp = functions(
            torch,
            sum=lambda x, axis=None, keepdims=False: torch.sum(x, **shaped(axis, keepdims)),
            mean=lambda x, axis=None, keepdims=False: torch.mean(x, **shaped(axis, keepdims)),
            amax=lambda x, axis=None, keepdims=False: torch.amax(x, **shaped(axis, keepdims)),
            amin=lambda x, axis=None, keepdims=False: torch.amin(x, **shaped(axis, keepdims)),
            var=lambda x, axis=None, keepdims=False: torch.var(
                x, correction=0, **shaped(axis, keepdims)
            ),
            argmax=lambda x, axis=None: torch.argmax(x, dim=axis),
            cumsum=lambda x, axis: torch.cumsum(x, dim=axis),
            concatenate=lambda parts, axis=0: torch.cat(parts, dim=axis),
            power=torch.pow,
            multiply=torch.mul,
            norm=torch.linalg.vector_norm,
            erfc=torch.erfc,
            contiguous=lambda x: x.contiguous(),
            flip_rows=lambda m: torch.flip(m, (1,)),
            roll=lambda m, places, axis: torch.roll(m, places, axis),
            copy_to=lambda out, a: out.copy_(a),
            softmax_rows=lambda m: torch.softmax(m, dim=1),
            layer_norm_rows=lambda m: torch.nn.functional.layer_norm(m, m.shape[1:]),
            rms_norm_rows=lambda m: torch.nn.functional.rms_norm(m, m.shape[1:], eps=1e-5),
            sum_by=lambda keys, values, groups: values.new_zeros(groups).index_add_(
                0, keys, values
            ),
            bincount=lambda keys, groups: torch.bincount(keys, minlength=groups),
            histogram=torch.histc,
            compress=lambda condition, x: x[condition],
            sort=lambda x: torch.sort(x)[0],
        )
        self.versions = {"PyTorch": torch.__version__}

    def event(self):
        return self.torch.cuda.Event(enable_timing=True)

    def milliseconds(self, begin, end):
        return begin.elapsed_time(end)

    def elapsed(self, call, n, wall):
        return super().elapsed(call, n, wall or self.device == "host")

    def cast(self, x, dtype):
        return x.to(getattr(self.torch, dtype))

    def to_library(self, x):
        return self.torch.from_numpy(np.array(x)).to("cuda" if self.device == "cuda" else "cpu")

    def to_numpy(self, x):
        return x.cpu().numpy()

    def wait(self, result):
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def free(self):
        if self.device == "cuda":
            self.torch.cuda.empty_cache()

    def ways(self, work):
        if work.group == "random":
            return drawn.torch_ways(work, self.torch, self.device)
        if work.steps or work.operands == "FGd" or work.group == "derivatives":
            return {}
        return {"PyTorch": lambda operands: plain_call(self.xp, work, operands)}


class Compiled(PyTorch):
    def ways(self, work):
        if not work.compiled:
            return {}
        if work.group == "random":
            return drawn.compiled_ways(work, self.torch, self.device)
        if work.group == "derivatives":
            return derivatives.torch_ways(work, self.torch, self.xp, self.device)
        if work.group == "solver":
            return solvers.torch_ways(work, self.torch, self.xp, self.device)
        if work.operands == "FGd":
            return loops.torch_ways(work, self.torch, self.device)

        def prepare(operands):
            # Compiles each work as if it were the only one, so that earlier compilations do not
            # count against it.
            self.torch._dynamo.reset()
            formula, xp = work.formula, self.xp
            compiled = self.torch.compile(lambda *x: formula(xp, *x), dynamic=False)
            return lambda: compiled(*operands)

        return {"torch.compile": prepare}


class JAX(Library):
    # It has no events; with many calls, the wait for the last one does not matter.
    fewest_calls = 20

    def __init__(self, device):
        if device == "host":
            os.environ["JAX_PLATFORMS"] = "cpu"
        import jax
        import jax.numpy as jnp
        from jax.scipy.special import erfc

        if device == "cuda" and jax.default_backend() != "gpu":
            raise ImportError(f"JAX runs on {jax.default_backend()} alone")
        jax.config.update("jax_enable_x64", True)
        self.jax, self.jnp = jax, jnp
        self.xp = functions(
            jnp,
            norm=jnp.linalg.norm,
            erfc=erfc,
            contiguous=lambda x: x,
            flip_rows=lambda m: m[:, ::-1],
            softmax_rows=lambda m: jax.nn.softmax(m, axis=1),
            sum_by=lambda keys, values, groups: jax.ops.segment_sum(values, keys, groups),
            bincount=lambda keys, groups: jnp.bincount(keys, length=groups),
            histogram=lambda x, bins, low, high: jnp.histogram(x, bins, (low, high))[0],
            # Sizes are known when a function is compiled.
            compress=lambda condition, x: jnp.compress(condition, x, size=x.size),
            unique=lambda keys: jnp.unique(keys, size=min(keys.size, 10_000)),
        )
        self.versions = {"JAX": jax.__version__}

    def to_library(self, x):
        return self.jnp.asarray(x)

    def to_numpy(self, x):
        return np.asarray(x)

    def wait(self, result):
        self.jax.block_until_ready(result)

    def ways(self, work):
        if work.group == "random":
            return drawn.jax_ways(work, self.jax, self.jnp)
        if work.group == "derivatives":
            return derivatives.jax_ways(work, self.jax, self.xp)
        if work.group == "solver":
            return solvers.jax_ways(work, self.jax, self.xp)
        if work.operands == "FGd" or work.steps:
            return loops.jax_ways(work, self.jax, self.jnp)
        if work.name == "copy":
            return {}

        def prepare(operands):
            jitted = self.jax.jit(lambda *x: work.formula(self.xp, *x))
            return lambda: jitted(*operands)

        return {"JAX": prepare}


class NumPy(Library):
    def __init__(self, device):
        self.xp = numpy_functions()
        self.versions = {"NumPy": np.__version__}

    def to_library(self, x):
        return x

    def to_numpy(self, x):
        return np.asarray(x)

    def ways(self, work):
        if work.name == "Black-Scholes" or (
            work.group == "loop" and math.prod(work.shape) > 1_000_000
        ):
            return {}  # It has no erfc; a step takes a second.
        return {"NumPy": lambda operands: plain_call(self.xp, work, operands)}
