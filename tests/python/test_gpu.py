"""Tests modules of formulas with arrays of CuPy, PyTorch and JAX on a GPU: in place, and in
order with their libraries' streams. The tests of a library are skipped if it is not installed or
sees no GPU."""

import gc
import threading
import time
import unittest

import numpy as np

import formulas

try:
    import cupy

    if not cupy.is_available():
        cupy = None
except ImportError:
    cupy = None
try:
    import torch

    if not torch.cuda.is_available():
        torch = None
except ImportError:
    torch = None
try:
    import os

    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    import jax.numpy as jnp

    if jax.default_backend() != "gpu":
        jax = None
except ImportError:
    jax = None

LONG = 100_000_000  # Cycles: 50 ms or more.


def torch_spin(cycles=LONG):
    torch.cuda._sleep(cycles)


@unittest.skipIf(torch is None, "no PyTorch on a GPU")
class Torch(unittest.TestCase):
    def test_dtypes_and_layouts(self):
        for dtype in [
                torch.bool, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8,
                torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64,
                torch.complex128
        ]:
            x = torch.arange(1000, device="cuda").to(dtype)
            y = formulas.twice(x)
            self.assertEqual((y.dtype, y.device), (dtype, x.device))
            self.assertTrue(torch.equal(y, x | x if dtype == torch.bool else x + x), dtype)
        x = torch.rand(240, 360, device="cuda")
        for v in [x.T, x[::2, 1:], x[:0], x[:1].expand(240, 360), x[5:, 7:]]:
            self.assertTrue(torch.equal(formulas.twice(v), 2 * v))
        out = torch.zeros(360, 240, device="cuda").T
        self.assertIs(formulas.twice(x, out=out), out)
        self.assertTrue(torch.equal(out, 2 * x))
        here = x.clone()
        formulas.twice(here[1:], out=here[:-1])
        self.assertTrue(torch.equal(here[:-1], 2 * x[1:]))

    def test_in_order_with_the_current_stream_and_without_waiting(self):
        x, out = torch.zeros(1 << 20, device="cuda"), torch.zeros(1 << 20, device="cuda")
        formulas.twice(x, out=out)
        formulas.sum_and_max(x)
        torch_spin(1000)
        for side in [torch.cuda.Stream(), torch.cuda.current_stream()]:
            torch.cuda.synchronize()
            with torch.cuda.stream(side):
                start = time.perf_counter()
                torch_spin()
                x.fill_(3)
                y = formulas.twice(x)
                formulas.twice(y, out=out)
                total, largest = formulas.sum_and_max(out)
                x.fill_(0)
                z, later = y + 1, total + 1
                self.assertLess(time.perf_counter() - start, 0.02)
            side.synchronize()
            self.assertTrue((z == 7).all() and (out == 12).all())
            self.assertEqual((later.item(), largest.item()), (12 * 2**20 + 1, 12))
            out.zero_()

    def test_an_argument_may_be_freed_while_its_kernel_waits(self):
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(20):
                torch_spin(5_000_000)
                x = torch.full((1 << 20,), 3.0, device="cuda")
                y = formulas.twice(x)
                del x
                other = torch.full((1 << 20,), -1.0, device="cuda")
                self.assertTrue((y == 6).all().item())
                del other

    def test_loops(self):
        F, d = (
            torch.full((1 << 16,), 1e-6 + 0j, device="cuda"),
            torch.tensor(0.25 + 0j, device="cuda"),
        )
        wanted, history = formulas.rotate(6, F.cpu().numpy(), d.cpu().numpy(), 0.01)
        (new, last), sums = formulas.rotate(6, F, d, 0.01)
        np.testing.assert_allclose(new.cpu(), wanted[0], rtol=1e-4)
        np.testing.assert_allclose(sums.cpu(), history, rtol=1e-4)
        self.assertEqual(sums[-1], last)
        answer = formulas.rotate(6, F, d, 0.01, out=(F, d))
        self.assertIs(answer[0][0], F)
        self.assertTrue(torch.equal(F, new))
        np.testing.assert_allclose(
            formulas.rotate(6, torch.full_like(F, 1e-6), 0.25, 0.01)[1].cpu(), history, rtol=1e-4
        )
        x = torch.ones(1000, device="cuda")
        self.assertTrue((formulas.decay(3, x, 0.5)[0] == 0.125).all())

    def test_ensembles(self):
        double = {"dtype": torch.float64, "device": "cuda"}
        x, v = torch.linspace(1, 2, 10_000, **double), torch.zeros(10_000, **double)
        w = torch.linspace(0.5, 3, 10_000, **double)
        with torch.cuda.stream(torch.cuda.Stream()):
            formulas.swing(0.0, 2.0, x, v, w)
            (2 * x).sum()
            torch.cuda.synchronize()
            start = time.perf_counter()
            torch_spin()
            twice = 2 * x
            (end_x, end_v), got = formulas.swing(0.0, 2.0, twice, v, w, rtol=1e-9, atol=1e-9)
            later = end_x + 1
            self.assertLess(time.perf_counter() - start, 0.02)
            torch.testing.assert_close(later - 1, 2 * x * torch.cos(2 * w), rtol=0, atol=1e-7)
        self.assertEqual((end_v.dtype, end_v.device), (torch.float64, x.device))
        self.assertEqual((got.t.dtype, got.outcome.dtype), (torch.float64, torch.uint8))
        self.assertTrue((got.outcome == got.reached).all())
        times = torch.linspace(0, 2, 5, **double)
        answer, got = formulas.swing(
            0.0, 2.0, x, v, w, rtol=1e-9, atol=1e-9, save_at=times, out=(x, v)
        )
        self.assertIs(answer[0], x)
        torch.testing.assert_close(x, end_x / 2, rtol=0, atol=1e-7)
        torch.testing.assert_close(got.saved[0][-1], x, rtol=0, atol=1e-12)
        height = torch.ones(100, **double)
        _, got = formulas.fall(0.0, 3.0, height, 0 * height, 9.81)
        self.assertTrue((got.outcome == got.event).all())
        self.assertTrue(torch.equal(got.event_times[0][0], got.t))
        with self.assertRaisesRegex(RuntimeError, "host.*cuda:0|cuda:0.*host"):
            formulas.swing(0.0, 2.0, x, v, w.cpu())

    def test_devices_are_not_mixed(self):
        with self.assertRaisesRegex(RuntimeError, "host.*cuda:0|cuda:0.*host"):
            formulas.outer_sum(torch.ones(2, 3, device="cuda"), torch.ones(3))
        with self.assertRaisesRegex(RuntimeError, "host.*cuda:0|cuda:0.*host"):
            formulas.twice(torch.ones(3, device="cuda"), out=torch.ones(3))

    def test_threads_with_streams_of_their_own(self):
        wrong = []

        def work(seed):
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                for k in range(50):
                    x = torch.full((10_000 + seed,), float(k), device="cuda")
                    y = formulas.standardise(formulas.running_sum(formulas.twice(x) + 1))
                    total, _ = formulas.sum_and_max(x)
                    if total.item() != k * (10_000 + seed) or abs(y.mean().item()) > 1e-2:
                        wrong.append((seed, k))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_a_cuda_graph_takes_the_kernels(self):
        x, y = torch.zeros(1000, device="cuda"), torch.zeros(1000, device="cuda")
        formulas.twice(x, out=y)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            formulas.twice(x, out=y)
            y += 1
        x.fill_(5)
        graph.replay()
        torch.cuda.synchronize()
        self.assertTrue((y == 11).all())

    @unittest.skipIf(cupy is None, "no CuPy on a GPU")
    def test_two_libraries_in_one_call(self):
        side = cupy.cuda.Stream(non_blocking=True)
        for _ in range(5):
            with side:
                spin(2_000_000)
                b = cupy.full(3, 2, cupy.float32)
                a = torch.ones(2, 3, device="cuda")
                y = formulas.outer_sum(a, b)
                self.assertIs(type(y), torch.Tensor)
            self.assertTrue((y == 3).all().item())
        other = torch.cuda.Stream()
        for _ in range(5):
            with torch.cuda.stream(other), side:
                a = cupy.ones((2, 3), cupy.float32)
                torch_spin(5_000_000)
                b = torch.full((3,), 2.0, device="cuda")
                y = formulas.outer_sum(a, b)
                self.assertIsInstance(y, cupy.ndarray)
                self.assertTrue(bool((y == 3).all()))


def spin(cycles):
    spin.kernel((1,), (1,), (np.int64(cycles),))


if cupy is not None:
    spin.kernel = cupy.RawKernel(
        "extern \"C\" __global__ void spin(long long n) { long long t = clock64(); while "
        "(clock64() - t < n) {} }",
        "spin",
    )


@unittest.skipIf(cupy is None, "no CuPy on a GPU")
class CuPy(unittest.TestCase):
    def test_dtypes_and_layouts(self):
        for dtype in (
            "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 "
            "float64 complex64 complex128"
        ).split():
            x = (cupy.arange(1000) % 50).astype(dtype)
            y = formulas.twice(x)
            self.assertIsInstance(y, cupy.ndarray)
            self.assertEqual(y.dtype, x.dtype)
            self.assertTrue((y == x + x).all(), dtype)
        x = cupy.random.random((240, 360)).astype("float32")
        for v in [x.T, x[::-2, 3::5], x[:0], cupy.broadcast_to(x[0], x.shape), x[:, ::-1]]:
            self.assertTrue((formulas.twice(v) == 2 * v).all(), (v.shape, v.strides))
        out = cupy.zeros((360, 240), "float32").T
        self.assertIs(formulas.twice(x, out=out), out)
        self.assertTrue((out == 2 * x).all())
        total, largest = formulas.sum_and_max(x.ravel())
        self.assertEqual((total.shape, float(largest)), ((), float(x.max())))

    def test_in_order_with_the_current_stream_and_without_waiting(self):
        x, out = cupy.zeros(1 << 20, "float32"), cupy.zeros(1 << 20, "float32")
        for side in [
            cupy.cuda.Stream(non_blocking=True),
            cupy.cuda.Stream(),
            cupy.cuda.Stream.null,
        ]:
            # Its memory pool begins empty, and waits for the GPU when it grows.
            with side:
                spin(1000)
                x.fill(3)
                kept = formulas.twice(x), formulas.twice(x, out=out) + 1
                del kept
            cupy.cuda.Device().synchronize()
            with side:
                start = time.perf_counter()
                spin(LONG)
                x.fill(3)
                y = formulas.twice(x)
                formulas.twice(y, out=out)
                x.fill(0)
                z = y + 1
                self.assertLess(time.perf_counter() - start, 0.02)
            side.synchronize()
            self.assertTrue((z == 7).all() and (out == 12).all())
            out.fill(0)

    def test_ensembles(self):
        y, rate = cupy.ones((3, 4), "float32"), cupy.full(4, 0.5, "float32")
        new, got = formulas.decline(0.0, 1.0, y, rate, rtol=1e-5, save_at=cupy.array([0.0, 1.0]))
        self.assertIsInstance(got.outcome, cupy.ndarray)
        self.assertTrue(bool((got.outcome == got.reached).all()))
        self.assertTrue(bool((abs(new - np.exp(-0.5)) < 1e-4).all()))
        self.assertEqual((got.t.shape, got.saved[0].shape), ((3, 4), (2, 3, 4)))
        end = cupy.linspace(0, 1, 50)
        new, got = formulas.decline(0.0, end, cupy.ones(50), 2.0, rtol=1e-8, atol=1e-10)
        cupy.testing.assert_allclose(new, cupy.exp(-2 * end), rtol=1e-6)

    def test_many_streams_come_and_go(self):
        x = cupy.ones(1000, "float32")
        for k in range(200):
            with cupy.cuda.Stream(non_blocking=True) as side:
                total, _ = formulas.sum_and_max(x)
                side.synchronize()
            self.assertEqual(float(total), 1000)
        gc.collect()
        self.assertEqual(float(formulas.sum_and_max(x)[0]), 1000)


@unittest.skipIf(jax is None, "no JAX on a GPU")
class Jax(unittest.TestCase):
    def test_dtypes(self):
        for dtype in "bool int8 int32 uint8 float16 bfloat16 float32 complex64".split():
            x = (jnp.arange(1000) % 50).astype(dtype)
            y = formulas.twice(x)
            self.assertIsInstance(y, jax.Array)
            self.assertEqual((y.dtype, y.devices()), (x.dtype, x.devices()))
            self.assertTrue((y == x + x).all(), dtype)
        with self.assertRaisesRegex(ValueError, "arrays of jax cannot be written"):
            formulas.twice(x.astype("float32"), out=jnp.zeros(1000))

    def test_ensembles(self):
        y = jnp.ones((3, 4), "float32")
        new, got = formulas.decline(0.0, 1.0, y, 0.5 * y, rtol=1e-5, save_at=[0.0, 0.5, 1.0])
        self.assertTrue((abs(new - np.exp(-0.5)) < 1e-4).all())
        self.assertTrue((got.outcome == got.reached).all())
        self.assertEqual(got.saved[0].shape, (3, 3, 4))
        self.assertIsInstance(got.saved[0], jax.Array)
        self.assertEqual(got.t.devices(), y.devices())

    def test_in_order_with_what_is_queued(self):
        slow = jax.jit(lambda x: jax.lax.fori_loop(0, 300, lambda _, m: m @ m * 0 + 3, x))
        after = jax.jit(lambda y: y + 1)
        slow(jnp.ones((1024, 1024))).block_until_ready()
        after(jnp.ones((1024, 1024))).block_until_ready()
        formulas.twice(jnp.ones((8, 8)))
        for _ in range(10):
            x = slow(jnp.ones((1024, 1024)))
            y = formulas.twice(x)
            # Its memory must not be reused before it has been read.
            del x
            others = [jnp.full((1024, 1024), -1.0) for _ in range(4)]
            z = after(y)
            self.assertTrue((z == 7).all())
            del others

    def test_results_keep_their_memory(self):
        kept = [formulas.twice(jnp.full(100_000, float(k))) for k in range(30)]
        gc.collect()
        for k, y in enumerate(kept):
            self.assertTrue((y == 2 * k).all())
        (new, last), history = formulas.rotate(
            3, jnp.full(1000, 1e-6 + 0j), jnp.complex64(0.5), 0.01
        )
        self.assertEqual(complex(history[-1]), complex(last))


if __name__ == "__main__":
    unittest.main(verbosity=2)
