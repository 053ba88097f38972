"""JAX and PyTorch on several GPUs, and on the first of them alone.

The names of rows end with the devices, as in bench_mesh: "JAX cuda:0-1". Outermost dimensions are
divided evenly, as users of each library do it: in JAX by a sharding, from which the compiler
derives the exchange between devices; in PyTorch by a process for each GPU, as torchrun starts them,
and NCCL. host:0-1 are two devices on the processor, for trials.
"""

import os

import numpy as np

from . import libraries, loops
from .devices import gpus_of
from .works import ALL_REDUCES, EXCHANGE, MEAN_H, START_D, START_F, START_G, heat_by_slices


class Constants:
    """Operands with equal elements, as in bench/mesh.cu, without memory: they are created on the
    GPUs where they are needed."""

    def of(self, work):
        value = {"b": 2, "F": START_F, "G": START_G, "d": START_D}
        dtype = np.dtype(work.dtype)
        shape = lambda letter: () if letter == "d" else work.shape
        return [
            np.broadcast_to(dtype.type(value.get(letter, 1)), shape(letter))
            for letter in work.operands
        ]


class OnMesh:
    """Common to both libraries: names of devices, and operands that are placed on them when a
    call is prepared."""

    def set_devices(self, device):
        kind, self.count = device.split(":")[0], gpus_of(device)
        self.devices = {f"{kind}:0": 1, device: self.count}

    def operands(self, works):
        return Constants()

    def to_library(self, x):
        return x


class JAX(OnMesh, libraries.JAX):
    def __init__(self, device):
        self.set_devices(device)
        super().__init__(device.split(":")[0])
        if len(self.jax.devices()) < self.count:
            raise ImportError(f"JAX has {len(self.jax.devices())} devices")

    def place(self, x, sharding):
        if any(x.strides):
            return self.jax.device_put(x, sharding)
        return self.jax.jit(
            lambda: self.jnp.full(x.shape, x.flat[0], x.dtype), out_shardings=sharding
        )()

    def ways(self, work):
        if work.name == ALL_REDUCES:
            return {}
        return {
            f"JAX {device}": lambda operands, count=count: self.prepare(work, operands, count)
            for device, count in self.devices.items()
        }

    def prepare(self, work, operands, count):
        sharding = self.jax.sharding
        mesh = sharding.Mesh(np.array(self.jax.devices()[:count]), ("gpu",))
        divided, everywhere = (
            sharding.NamedSharding(mesh, sharding.PartitionSpec(*axes)) for axes in (["gpu"], [])
        )
        placed = [self.place(x, divided if x.ndim else everywhere) for x in operands]
        if work.operands == "FGd":
            (loop,) = loops.jax_ways(work, self.jax, self.jnp).values()
            return loop(placed)
        to = (
            everywhere
            if work.name in ("sum(a)", "sum of columns") or EXCHANGE in work.name
            else divided
        )
        if EXCHANGE in work.name:
            formula = self.fed_back(work)
        # If the compiler divides it, 2^18 elements take 1.6 seconds on two devices of the
        # processor.
        elif work.name == "cumsum(a)":
            formula = self.jax.shard_map(
                self.summed_up, mesh=mesh, in_specs=divided.spec, out_specs=divided.spec
            )
        else:
            formula = lambda *x: work.formula(self.xp, *x)
        jitted = self.jax.jit(formula, out_shardings=to)
        return lambda: jitted(*placed)

    def summed_up(self, a):
        """A device's part of the sums up to each element."""
        sums, lax = self.jnp.cumsum(a), self.jax.lax
        totals = lax.all_gather(sums[-1], "gpu")
        return sums + self.jnp.sum(
            totals, where=self.jnp.arange(totals.size) < lax.axis_index("gpu")
        )

    def fed_back(self, work):
        def step(_, state):
            x, mean = state
            x = x + MEAN_H * mean
            return x, self.jnp.mean(x)

        return lambda x: self.jax.lax.fori_loop(0, work.steps, step, (x, self.jnp.float32(1)))[1]


class PyTorch(OnMesh, libraries.PyTorch):
    """All processes run the same works in the same order; the first one measures. It also runs
    the rows of a single GPU, alone."""

    def __init__(self, device):
        import torch.distributed as dist

        self.set_devices(device)
        kind, self.dist, self.rank = device.split(":")[0], dist, int(os.environ["RANK"])
        super().__init__(kind)
        if kind == "cuda":
            self.torch.cuda.set_device(self.rank)
        dist.init_process_group(
            "nccl" if kind == "cuda" else "gloo",
            device_id=self.torch.device("cuda", self.rank) if kind == "cuda" else None,
        )
        # For messages between processes outside of the measurements.
        self.hosts = dist.new_group(backend="gloo")
        if kind == "cuda":
            self.versions["NCCL"] = ".".join(map(str, self.torch.cuda.nccl.version()))

    def close(self):
        self.dist.destroy_process_group()

    def agreed(self, value):
        """The first process's value."""
        shared = [value]
        self.dist.broadcast_object_list(shared, src=0, group=self.hosts)
        return shared[0]

    def elapsed(self, call, n, wall):
        self.dist.barrier(group=self.hosts)
        return self.agreed(super().elapsed(call, n, True))

    def ways(self, work):
        if work.name == ALL_REDUCES:
            devices = {name: count for name, count in self.devices.items() if count == self.count}
        else:
            devices = self.devices
        return {
            f"PyTorch {name}": lambda operands, count=count: self.prepare(work, operands, count)
            for name, count in devices.items()
        }

    def prepare(self, work, operands, count):
        self.torch._dynamo.reset()
        call, is_divided = (lambda: None), False
        if self.rank < count:
            self.parts = count
            call, is_divided = self.call_of(work, [self.place(x) for x in operands])
        shared = lambda: call()
        shared.join = lambda result: self.joined(result, count, is_divided)
        return shared

    def joined(self, result, count, is_divided):
        """The whole result, in every process."""
        parts = [None] * self.count
        self.dist.all_gather_object(
            parts, None if result is None else self.to_numpy(result), group=self.hosts
        )
        return np.concatenate(parts[:count]) if is_divided else parts[0]

    def to_numpy(self, x):
        return x if isinstance(x, np.ndarray) or np.isscalar(x) else super().to_numpy(x)

    def place(self, x):
        """This process's part."""
        where = {"device": "cuda" if self.device == "cuda" else "cpu"}
        if x.ndim and x.shape[0] % self.parts == 0:
            length = x.shape[0] // self.parts
            x = x[self.rank * length :][:length]
        if any(x.strides):
            return self.torch.from_numpy(np.array(x)).to(**where)
        value = x.flat[0] if x.ndim else x[()]
        return self.torch.full(
            x.shape, value.item(), dtype=getattr(self.torch, x.dtype.name), **where
        )

    def sum_of_all(self, x):
        if self.parts > 1:
            self.dist.all_reduce(x)
        return x

    def call_of(self, work, x):
        """A call, and whether its result is divided."""
        torch = self.torch
        if work.name == "a + b":
            out = torch.empty_like(x[0])
            return lambda: torch.add(*x, out=out), True
        if work.name == "sum(a)":
            return lambda: self.sum_of_all(torch.sum(x[0])), False
        if work.name == "sum of rows":
            return lambda: torch.sum(x[0], dim=1), True
        if work.name == "sum of columns":
            return lambda: self.sum_of_all(torch.sum(x[0], dim=0)), False
        if work.name == "transpose(m)":
            return self.transposed(x[0]), True
        if work.name == "cumsum(a)":
            return self.summed_up(x[0]), True
        if work.name == "five-point heat by slices":
            return self.heat(x[0]), True
        if work.name == ALL_REDUCES:
            return self.all_reduces(work)
        if EXCHANGE in work.name:
            return self.mean_fed_back(work, x[0]), False
        return self.fields(work, *x), False

    def transposed(self, m):
        if self.parts == 1:
            out = self.torch.empty(m.shape[::-1], dtype=m.dtype, device=m.device)
            return lambda: out.copy_(m.T)
        rows, columns = m.shape[0], m.shape[1] // self.parts
        sent = self.torch.empty((self.parts, columns, rows), dtype=m.dtype, device=m.device)
        received, out = (
            self.torch.empty_like(sent),
            self.torch.empty((columns, self.parts * rows), dtype=m.dtype, device=m.device),
        )

        def call():
            sent.copy_(m.view(rows, self.parts, columns).permute(1, 2, 0))
            self.dist.all_to_all_single(received, sent)
            out.view(columns, self.parts, rows).copy_(received.permute(1, 0, 2))
            return out

        return call

    def summed_up(self, a):
        out, totals = (
            self.torch.empty_like(a),
            self.torch.empty(self.parts, dtype=a.dtype, device=a.device),
        )

        def call():
            self.torch.cumsum(a, 0, out=out)
            if self.parts > 1:
                self.dist.all_gather_into_tensor(totals, out[-1:])
                out.add_(totals[: self.rank].sum())
            return out

        return call

    def heat(self, m):
        """A row of each neighbour is above and below the process's own rows."""
        above, below = int(self.rank > 0), int(self.rank < self.parts - 1)
        padded = self.torch.empty(
            (above + m.shape[0] + below, m.shape[1]), dtype=m.dtype, device=m.device
        )
        padded[above : above + m.shape[0]] = m
        compiled = self.torch.compile(lambda m: heat_by_slices(None, m), dynamic=False)
        operations, p2p = [], self.dist.P2POp
        if above:
            operations += [
                p2p(self.dist.isend, padded[1], self.rank - 1),
                p2p(self.dist.irecv, padded[0], self.rank - 1),
            ]
        if below:
            operations += [
                p2p(self.dist.isend, padded[-2], self.rank + 1),
                p2p(self.dist.irecv, padded[-1], self.rank + 1),
            ]

        def call():
            for exchange in self.dist.batch_isend_irecv(operations) if operations else ():
                exchange.wait()
            return compiled(padded)

        return call

    def all_reduces(self, work):
        zeros = self.torch.zeros(work.shape, device="cuda" if self.device == "cuda" else "cpu")
        # After an addition: consecutive all-reduces in the same memory take seven times as long.
        return self.all_steps(work, zeros, lambda x: self.sum_of_all(x + 0)), False

    def mean_fed_back(self, work, x):
        scale = 1 / work.elements

        @self.torch.compile(dynamic=False)
        def step(x, mean):
            x = x + MEAN_H * mean
            return x, (x * scale).sum()

        def exchanged(state):
            x, mean = step(*state)
            return x, self.sum_of_all(mean)

        call = self.all_steps(
            work, (x, self.torch.ones((), dtype=x.dtype, device=x.device)), exchanged
        )
        return lambda: call()[1]

    def fields(self, work, F, G, d):
        """Complex numbers are pairs of real tensors, as in loops.py; the sums of both parts are
        one tensor of 8 bytes."""
        torch, scale = self.torch, 1 / work.elements

        @torch.compile(dynamic=False)
        def step(F, G, d):
            F, G = loops.rk4_of_pairs(F, G, (d[0], d[1]))
            return F, G, torch.stack([(F[0] * scale).sum(), (F[1] * scale).sum()])

        def exchanged(state):
            F, G, d = step(*state)
            return F, G, self.sum_of_all(d)

        pair = lambda x: (x.real.clone(), x.imag.clone())
        call = self.all_steps(work, (pair(F), pair(G), torch.view_as_real(d).clone()), exchanged)
        return lambda: torch.view_as_complex(call()[2])

    def all_steps(self, work, start, step):
        """All steps; on GPUs in a CUDA graph of at most 1000 steps, which continues from its
        last results."""

        def run(steps):
            state = start
            for _ in range(steps):
                state = step(state)
            return state

        if self.device != "cuda":
            return lambda: run(work.steps)
        torch, steps = self.torch, min(1000, work.steps)
        for _ in range(3):
            step(start)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        # NCCL's watchdog makes calls of its own at the same time.
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            end = run(steps)
            if steps < work.steps:
                for old, new in zip(start, end):
                    old.copy_(new)

        def replay():
            for _ in range(work.steps // steps):
                graph.replay()
            return end

        return replay
