"""Tests modules of formulas with NumPy's arrays, and with those of PyTorch and JAX in host
memory if they are installed."""

import gc
import os
import pickle
import sys
import threading
import unittest
import weakref

import numpy as np

import formulas

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None
try:
    import torch
except ImportError:
    torch = None
try:
    import jax
except ImportError:
    jax = None

ON_SIM = os.environ.get("DSL_DEVICE") == "sim"
DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
    "complex64 complex128"
).split()


def values(dtype, n=37):
    x = np.arange(n) % 50
    return x.astype(dtype) if np.dtype(dtype).kind != "c" else (x + 1j * (n - x)).astype(dtype)


class Dtypes(unittest.TestCase):
    def test_every_dtype(self):
        for dtype in DTYPES:
            with self.subTest(dtype):
                x = values(dtype)
                y = formulas.twice(x)
                self.assertIs(type(y), np.ndarray)
                self.assertEqual(y.dtype, x.dtype)
                np.testing.assert_array_equal(y, x + x)

    @unittest.skipIf(ml_dtypes is None, "no ml_dtypes")
    def test_bfloat16(self):
        x = values("float32").astype(ml_dtypes.bfloat16)
        y = formulas.twice(x)
        self.assertEqual(y.dtype, x.dtype)
        np.testing.assert_array_equal(y, x + x)
        out = np.zeros(37, ml_dtypes.bfloat16)
        self.assertIs(formulas.twice(x, out=out), out)
        np.testing.assert_array_equal(out, x + x)

    def test_another_dtype_lists_the_signatures(self):
        wrong = [
            values("float32").astype(">f4"),
            values("float64").astype(np.longdouble),
            np.array(["a"]),
            np.zeros(3, object),
        ]
        for x in wrong:
            with (
                self.subTest(x.dtype),
                self.assertRaisesRegex(TypeError, "formulas.busy has no signature for"),
            ):
                formulas.busy(x)
        with self.assertRaises(TypeError) as caught:
            formulas.outer_sum(values("float32"), 1.5)
        self.assertEqual(
            str(caught.exception),
            "formulas.outer_sum has no signature for (float32[:], float); it has\n"
            "  outer_sum(float32[:, :], float32[:], *, out=None) -> float32[:, :]",
        )
        with self.assertRaisesRegex(TypeError, r"\(float32\[:\], list, NoneType\)"):
            formulas.twice(values("float32"), [1, 2], None)
        with self.assertRaisesRegex(TypeError, r"MaskedArray \(pass x.filled\(\)"):
            formulas.twice(np.ma.masked_array(values("float32"), values("bool")))

    def test_signatures_by_rank(self):
        x = np.random.default_rng(1).random((3, 4)).astype(np.float32)
        self.assertEqual(formulas.largest(x.ravel())[()], x.max())
        np.testing.assert_array_equal(formulas.largest(x), x.max(0))
        with self.assertRaisesRegex(TypeError, r"float32\[:, :, :\]"):
            formulas.largest(np.zeros((1, 1, 1), np.float32))

    def test_derivatives(self):
        x = np.linspace(-2, 2, 101)
        value, slope = formulas.bell(x, 0.75)
        np.testing.assert_allclose(value, np.exp(-0.75 * x * x), rtol=1e-14)
        np.testing.assert_allclose(slope, -1.5 * x * np.exp(-0.75 * x * x), rtol=1e-14)

    def test_any_rank(self):
        for shape in [(), (37,), (3, 4), (2, 3, 4), (1,) * 8, (2, 1, 0), (2,) * 8]:
            x = np.random.default_rng(1).random(shape).astype(np.float32)
            y = formulas.twice(x)
            self.assertEqual(y.shape, shape)
            np.testing.assert_array_equal(y, 2 * x)
            np.testing.assert_array_equal(formulas.decay(2, x, 0.5)[0], x / 4)
        a, b = np.ones((3, 1, 5), np.float32), np.arange(4, dtype=np.float32).reshape(4, 1)
        both, total = formulas.sum_of_both(a, b)
        np.testing.assert_array_equal(both, a + b)
        self.assertEqual((total.shape, total[()]), ((), (a + b).sum()))
        out = np.zeros((5, 4, 3), np.float32).T
        self.assertIs(formulas.sum_of_both(a, b, out=(out, None))[0], out)
        np.testing.assert_array_equal(out, a + b)
        with self.assertRaisesRegex(
            ValueError,
            r"^sum_of_both: shapes do not broadcast: argument 1 has shape \(3, 1, 5\), "
            r"argument 2 \(3, 2\)$",
        ):
            formulas.sum_of_both(a, np.zeros((3, 2), np.float32))
        with self.assertRaisesRegex(
            ValueError, r"out=\[0\] has shape \(3, 4, 6\), which is not that of the arguments"
        ):
            formulas.sum_of_both(a, b, out=(np.zeros((3, 4, 6), np.float32), None))
        with self.assertRaisesRegex(TypeError, r"out=\[0\] is to be float32\[:, :, :\]"):
            formulas.sum_of_both(a, b, out=(np.zeros((4, 5), np.float32), None))
        with self.assertRaises(Exception):
            formulas.twice(np.zeros((1,) * 9, np.float32))

    def test_memmap_and_subclasses(self):
        class mine(np.ndarray):
            pass

        x = values("float32").view(mine)
        np.testing.assert_array_equal(formulas.twice(x), 2 * np.asarray(x))


class Numbers(unittest.TestCase):
    def test_python_and_numpy_numbers(self):
        z = values("complex64")
        for keep, a, b in [
            (True, 2.0, 1j),
            (np.bool_(True), np.float32(2), np.complex64(1j)),
            (True, 2, 1),
            (True, np.int64(2), 1.0),
        ]:
            np.testing.assert_array_equal(
                formulas.mixed(z, keep, a, b), z * np.float32(a) + np.complex64(b)
            )
        np.testing.assert_array_equal(
            formulas.mixed(z, False, 2.0, 3), np.full(37, 3, np.complex64)
        )

    def test_a_number_of_a_higher_kind_is_refused(self):
        z = values("complex64")
        for keep, a, b in [
            (1, 2.0, 1j),
            (True, 2j, 1j),
            (True, "2", 1j),
            (True, np.array(2.0, np.float32), 1j),
        ]:
            with self.assertRaises(TypeError):
                formulas.mixed(z, keep, a, b)

    def test_integers_keep_their_range(self):
        x = values("int32")
        for low, high in [(0, -(2**63)), (255, 2**63 - 256), (np.uint8(7), np.int16(-9))]:
            np.testing.assert_array_equal(
                formulas.packed(x, low, high), np.full(37, int(low) + int(high))
            )
        for low, high in [(256, 0), (-1, 0), (0, 2**63), (0, -(2**63) - 1), (2**70, 0)]:
            with self.assertRaisesRegex(OverflowError, "is outside u?int"):
                formulas.packed(x, low, high)

    def test_one_value_in_device_memory(self):
        x = values("float32")
        for by in [np.array(1.5, np.float32), 1.5, 2, np.float32(1.5), np.float64(1.5)]:
            np.testing.assert_array_equal(formulas.shifted(x, by), x + np.float32(by))
        with self.assertRaises(TypeError):
            formulas.shifted(x, np.array([1.5], np.float32))
        with self.assertRaises(TypeError):
            formulas.shifted(x, np.array(1.5))


class Layouts(unittest.TestCase):
    def setUp(self):
        self.base = np.random.default_rng(2).random((24, 36)).astype(np.float32)

    def test_views(self):
        b = self.base
        for x in [
                b[::2], b[:, ::3], b[::-1], b[:, ::-1], b[::-2, 5:-3:2], b.T, b.T[::-3],
                np.asfortranarray(b), b[:0], b[:, :0], np.broadcast_to(b[0], b.shape), b[3:4],
                b.reshape(36, 24).T
        ]:
            with self.subTest(shape=x.shape, strides=x.strides):
                np.testing.assert_array_equal(formulas.twice(x), 2 * x)
                out = np.full((40, 40), -1, np.float32)[1 : 1 + x.shape[0], 2 : 2 + x.shape[1]]
                self.assertIs(formulas.twice(x, out=out), out)
                np.testing.assert_array_equal(out, 2 * x)

    def test_strided_and_reversed_targets(self):
        b = self.base
        for place in [np.s_[::2, ::3], np.s_[::-1], np.s_[:, ::-1], np.s_[5:9, 7:8]]:
            whole = np.zeros_like(b)
            wanted = whole.copy()
            wanted[place] = 2 * b[place]
            formulas.twice(b[place], out=whole[place])
            np.testing.assert_array_equal(whole, wanted)
        out = np.zeros(b.T.shape, np.float32).T
        formulas.twice(b, out=out)
        np.testing.assert_array_equal(out, 2 * b)

    def test_results_are_complete_before_they_are_written(self):
        x = values("float32", 1000)
        for source, target in [
            (np.s_[1:], np.s_[:-1]),
            (np.s_[:-1], np.s_[1:]),
            (np.s_[:], np.s_[:]),
            (np.s_[:], np.s_[::-1]),
        ]:
            here, wanted = x.copy(), x.copy()
            wanted[target] = 2 * x[source]
            formulas.twice(here[source], out=here[target])
            np.testing.assert_array_equal(here, wanted)

    def test_empty(self):
        self.assertEqual(formulas.twice(np.zeros(0, np.float64)).shape, (0,))
        self.assertEqual(formulas.twice(np.zeros((0, 3), np.float32)).shape, (0, 3))
        np.testing.assert_array_equal(formulas.row_sums(np.zeros((3, 0), np.float32)), np.zeros(3))
        with self.assertRaises(ValueError):
            formulas.sum_and_max(np.zeros(0, np.float32))

    def test_misaligned_is_refused(self):
        raw = np.zeros(4 * 37 + 1, np.uint8)
        x = raw[1:].view(np.float32)
        self.assertNotEqual(x.ctypes.data % 4, 0)
        with self.assertRaisesRegex(
            ValueError, "twice: argument 1 lies at an address that is no multiple of 4 bytes"
        ):
            formulas.twice(x)
        with self.assertRaisesRegex(ValueError, "out= lies at an address"):
            formulas.twice(values("float32"), out=x)
        records = np.zeros(5, np.dtype([("a", "u1"), ("x", "<f4")]))
        with self.assertRaises((ValueError, BufferError)):
            formulas.twice(records["x"])
        aligned = np.zeros(5, np.dtype([("x", "<f4"), ("a", "<i4")]))
        aligned["x"] = [1, 2, 3, 4, 5]
        np.testing.assert_array_equal(formulas.twice(aligned["x"]), [2, 4, 6, 8, 10])

    def test_read_only(self):
        x = values("float32")
        x.flags.writeable = False
        np.testing.assert_array_equal(formulas.twice(x), 2 * x)
        with self.assertRaisesRegex(ValueError, "out= may only be read"):
            formulas.twice(values("float32"), out=x)
        with self.assertRaisesRegex(ValueError, "same place|only be read"):
            formulas.twice(values("float32"), out=np.broadcast_to(np.float32(0), (37,)))
        overlapping = np.lib.stride_tricks.as_strided(np.zeros(40, np.float32), (3, 37), (4, 4))
        with self.assertRaisesRegex(ValueError, "same place"):
            formulas.twice(np.zeros((3, 37), np.float32), out=overlapping)


class Results(unittest.TestCase):
    def test_broadcasting(self):
        a, b = np.ones((3, 1), np.float32), np.arange(4, dtype=np.float32)
        np.testing.assert_array_equal(formulas.outer_sum(a, b), a + b)
        with self.assertRaisesRegex(
            ValueError,
            r"^outer_sum: shapes do not broadcast: argument 1 has shape \(3, 5\), argument "
            r"2 \(4,\)$",
        ):
            formulas.outer_sum(np.ones((3, 5), np.float32), b)
        with self.assertRaisesRegex(
            ValueError,
            r"^outer_sum: .*cannot be assigned to shape \(3, 3\).*; argument 1 has shape "
            r"\(3, 1\), argument 2 \(4,\)$",
        ):
            formulas.outer_sum(a, b, out=np.zeros((3, 3), np.float32))

    def test_reductions_are_arrays_of_rank_0(self):
        x = values("float32", 1000)
        total, largest = formulas.sum_and_max(x)
        self.assertEqual((total.shape, largest.shape, total.dtype), ((), (), np.float32))
        self.assertEqual((total[()], largest[()]), (x.sum(), 49))
        np.testing.assert_array_equal(
            formulas.row_sums(x.reshape(10, 100)), x.reshape(10, 100).sum(1)
        )
        np.testing.assert_allclose(formulas.standardise(x), (x - x.mean()) / x.std(), rtol=1e-5)
        np.testing.assert_array_equal(formulas.running_sum(x), np.cumsum(x))

    def test_out(self):
        x = values("float32")
        total = np.zeros((), np.float32)
        answer = formulas.sum_and_max(x, out=(total, None))
        self.assertIs(answer[0], total)
        self.assertEqual((total[()], answer[1][()]), (x.sum(), 36))
        for out in [
                np.zeros(37),
                np.zeros((37, 1), np.float32),
                np.zeros(37, np.complex64), 3.0, [None, None]
        ]:
            with self.assertRaisesRegex(TypeError, "out=.* is to be float32|out= is one array"):
                formulas.twice(x, out=out)
        with self.assertRaisesRegex(TypeError, r"out= is a tuple of 2 arrays"):
            formulas.sum_and_max(x, out=total)
        with self.assertRaisesRegex(ValueError, "two targets have an element in common"):
            formulas.sum_and_max(x, out=(total, total))
        with self.assertRaisesRegex(TypeError, "twice does not know axis=: by name it takes out="):
            formulas.twice(x, axis=0)
        single = np.zeros(37, np.float32)
        self.assertIs(formulas.twice(x, out=(single,)), single)

    def test_a_copy_is_a_copy(self):
        x = values("float32")
        y = formulas.copy(x)
        x[:] = -1
        np.testing.assert_array_equal(y, values("float32"))

    def test_documentation(self):
        self.assertIn("twice(complex64[:], *, out=None) -> complex64[:]", formulas.twice.__doc__)
        self.assertIn("x + x, of any dtype.", formulas.twice.__doc__)
        self.assertIn(
            "rotate(steps, complex64[:], complex64[()], float32, *, every=1, out=None) -> "
            "((complex64[:], complex64[()]), complex64[:])",
            formulas.rotate.__doc__,
        )


class Loops(unittest.TestCase):
    def test_state_and_histories(self):
        F, d = values("complex64", 20) / np.float32(100), np.array(0.25, np.complex64)
        state, history, sums, at = F.copy(), [], [], d[()]
        for _ in range(6):
            state = (state + np.float32(0.01) * 1j * at * state).astype(np.complex64)
            at = np.complex64(state.sum() / 2)
            sums.append(at)
        (new, last), history = formulas.rotate(6, F, d, 0.01)
        np.testing.assert_allclose(new, state, rtol=1e-5)
        np.testing.assert_allclose(history, sums, rtol=1e-5)
        self.assertEqual(last[()], history[-1])
        self.assertEqual((history.dtype, history.shape), (np.complex64, (6,)))
        np.testing.assert_array_equal(F, values("complex64", 20) / np.float32(100))
        self.assertEqual(formulas.rotate(6, F, d, 0.01, every=2)[1].shape, (3,))
        np.testing.assert_array_equal(formulas.rotate(6, F, d, 0.01, every=2)[1], history[1::2])
        np.testing.assert_array_equal(formulas.rotate(6, F, 0.25, 0.01)[1], history)
        self.assertEqual(formulas.rotate(0, F, d, 0.01)[1].shape, (0,))

    def test_in_place(self):
        F, d = values("complex64", 20) / np.float32(100), np.array(0.25, np.complex64)
        (wanted, last), history = formulas.rotate(6, F, d, 0.01)
        answer = formulas.rotate(6, F, d, 0.01, out=(F, d))
        self.assertIs(answer[0][0], F)
        np.testing.assert_array_equal(F, wanted)
        self.assertEqual(d, last)

    def test_neighbours(self):
        for u in (
            values("float32", 35).reshape(5, 7),
            np.asfortranarray(values("float32", 35).reshape(5, 7))[::2, ::-1],
        ):
            wanted = u
            for _ in range(3):
                wanted = wanted + np.float32(0.1) * (
                    np.roll(wanted, 1, 0) + np.roll(wanted, -1, 1) - 2 * wanted
                )
            np.testing.assert_allclose(formulas.diffuse(3, u, 0.1)[0], wanted, rtol=1e-5)
            in_place = u.copy()
            formulas.diffuse(3, in_place, 0.1, out=in_place)
            np.testing.assert_allclose(in_place, wanted, rtol=1e-5)

    def test_without_single_values(self):
        x = values("float32")
        y, history = formulas.decay(3, x, 0.5)
        np.testing.assert_array_equal(y, x / 8)
        self.assertEqual(history, ())

    def test_errors(self):
        x = values("float32")
        with self.assertRaisesRegex(ValueError, "a loop of -1 steps"):
            formulas.decay(-1, x, 0.5)
        with self.assertRaises(TypeError):
            formulas.decay(x, 0.5)
        for steps in 2**63, -(2**70), 10**5000:
            with self.assertRaisesRegex(
                OverflowError, "^decay: the number of steps .* is outside int64$"
            ):
                formulas.decay(steps, x, 0.5)
            with self.assertRaisesRegex(OverflowError, "^decay: every= .* is outside int64$"):
                formulas.decay(1, x, 0.5, every=steps)
            with self.assertRaisesRegex(OverflowError, "is outside uint8$"):
                formulas.packed(np.zeros(3, np.int32), steps, 0)
        with self.assertRaisesRegex(TypeError, "number of steps"):
            formulas.decay()
        F = values("complex64", 20)
        with self.assertRaisesRegex(ValueError, r"out=\[1\] shares memory with argument 1"):
            formulas.rotate(3, F, F[3], 0.01, out=(None, F[4:5].reshape(())))
        with self.assertRaisesRegex(ValueError, "rank 0|every|at least 1|steps"):
            formulas.rotate(3, F, 0.25, 0.01, every=0)


class Ensembles(unittest.TestCase):
    def setUp(self):
        self.x, self.v = np.linspace(1, 2, 70), np.zeros(70)
        self.w = np.linspace(0.5, 3, 70)

    def test_fields_and_result(self):
        x, v, w = self.x.copy(), self.v.copy(), self.w
        (new_x, new_v), got = formulas.swing(0, 2.0, x, v, w, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(new_x, x * np.cos(2 * w), atol=1e-7)
        np.testing.assert_allclose(new_v, -x * w * np.sin(2 * w), atol=1e-7)
        np.testing.assert_array_equal((x, v), (self.x, self.v))
        np.testing.assert_array_equal(got.t, np.full(70, 2.0))
        for found, dtype in [
            (got.t, np.float64),
            (got.steps, np.int32),
            (got.rejected, np.int32),
            (got.outcome, np.uint8),
        ]:
            self.assertEqual((found.dtype, found.shape), (dtype, (70,)))
        self.assertTrue((got.outcome == got.reached).all())
        self.assertTrue((got.steps > 10).all())
        self.assertTrue((np.diff(got.steps) >= 0).all())
        self.assertEqual((got.saved, got.event_times), ((), ()))
        self.assertIs(type(got), formulas.EnsembleResult)

    def test_limits_of_the_steps(self):
        x, v, w = self.x, self.v, self.w
        got = formulas.swing(0, 2.0, x, v, w, most_steps=3)[1]
        self.assertTrue((got.outcome == got.too_many_steps).all())
        self.assertTrue((got.t < 2).all())
        coarse = formulas.swing(0, 2.0, x, v, w, first_step=None, largest_step=None)[1]
        fine = formulas.swing(0, 2.0, x, v, w, largest_step=0.01)[1]
        self.assertTrue((fine.steps >= 200).all() and (coarse.steps < 200).all())
        one = formulas.swing(0, 2.0, x, v, w, first_step=1e-3, most_steps=1)[1]
        np.testing.assert_allclose(one.t, 1e-3, rtol=1e-6)

    def test_saved(self):
        x, v, w = self.x, self.v, self.w
        times = np.linspace(0, 2, 5)
        wanted = x * np.cos(times[:, None] * w)
        for given in [times, list(times), tuple(times), [0, 0.5, 1, np.float32(1.5), 2],
                      np.repeat(times, 2)[::2]]:
            _, got = formulas.swing(0, 2.0, x, v, w, rtol=1e-8, atol=1e-8, save_at=given)
            self.assertEqual(len(got.saved), 2)
            np.testing.assert_allclose(got.saved[0], wanted, atol=1e-6)
        np.testing.assert_array_equal(got.saved[1][0], v)
        _, got = formulas.swing(2.0, 0, x, v, w, rtol=1e-8, atol=1e-8, save_at=times[::-1])
        np.testing.assert_allclose(got.saved[0], wanted, atol=1e-6)
        self.assertEqual(formulas.swing(0, 2.0, x, v, w, save_at=[])[1].saved[0].shape, (0, 70))

    def test_in_place(self):
        (wanted_x, wanted_v), _ = formulas.swing(0, 2.0, self.x, self.v, self.w)
        x, v = self.x.copy(), np.zeros(140)[::2]
        answer, _ = formulas.swing(0, 2.0, x, v, self.w, out=(x, v))
        self.assertIs(answer[0], x)
        self.assertIs(answer[1], v)
        np.testing.assert_array_equal((x, v), (wanted_x, wanted_v))
        out = np.zeros(70)
        (first, second), _ = formulas.swing(0, 2.0, self.x, self.v, self.w, out=(None, out))
        self.assertIs(second, out)
        np.testing.assert_array_equal((first, out), (wanted_x, wanted_v))

    def test_any_rank(self):
        for shape in [(), (37,), (3, 4), (2, 3, 4), (1, 2, 1, 2, 1, 2, 1), (0,), (3, 0)]:
            with self.subTest(shape):
                y = 1 + np.random.default_rng(1).random(shape).astype(np.float32)
                y = np.asarray(y, np.float32)
                rate = np.full(shape[-1:], 0.5, np.float32)
                new, got = formulas.decline(0, 1, y, rate, rtol=1e-5, save_at=[0, 1])
                np.testing.assert_allclose(new, y * np.float32(np.exp(-0.5)), rtol=1e-4)
                self.assertEqual((got.t.shape, got.outcome.shape), (shape, shape))
                self.assertEqual(got.saved[0].shape, (2, *shape))
                np.testing.assert_array_equal(got.saved[0][0], y)
                np.testing.assert_allclose(got.saved[0][1], new, rtol=1e-5)
        with self.assertRaisesRegex(ValueError, "decline: arrays of 8 dimensions"):
            formulas.decline(0, 1, np.zeros((1,) * 8, np.float32), np.float32([1]))

    def test_times_of_elements(self):
        y, end = np.ones(37), np.linspace(-1, 2, 37)
        new, got = formulas.decline(0.0, end, y, 2.0, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(new, np.exp(-2 * end), rtol=1e-6)
        np.testing.assert_array_equal(got.t, end)
        z = np.full(37, 1j)
        new, got = formulas.decline(end, 2.0, z, 1j, save_at=[2.0])
        np.testing.assert_allclose(new, 1j * np.exp(1j * (end - 2)), rtol=1e-8)
        self.assertTrue((got.steps[:-1] == 200).all())
        np.testing.assert_allclose(got.saved[0][0, :-1], new[:-1], rtol=1e-12)

    def test_events(self):
        height, velocity = np.linspace(1, 2, 37), np.zeros(37)
        for options in {}, {"save_at": [0.25]}:
            (height_there, _), got = formulas.fall(0, 3, height, velocity, 9.81, **options)
            hit = np.sqrt(2 * height / 9.81)
            self.assertTrue((got.outcome == got.event).all())
            np.testing.assert_allclose(got.t, hit, rtol=1e-6)
            np.testing.assert_allclose(height_there, 0, atol=1e-9)
            (times,) = got.event_times
            self.assertEqual(times.shape, (2, 37))
            np.testing.assert_array_equal(times[0], got.t)
            self.assertTrue(np.isnan(times[1]).all())
        np.testing.assert_allclose(got.saved[0][0], height - 9.81 / 32, rtol=1e-6)

    def test_errors(self):
        x, v, w = self.x.copy(), self.v.copy(), self.w
        single = x.astype(np.float32)
        for exception, says, arguments, options in [
            (TypeError, "no signature for .int, int, float32", (0, 1, single, v, w), {}),
            (TypeError, "no signature for", (0, 1, x, v), {}),
            (TypeError, "no signature for", (0, x, x, v, w), {}),
            (TypeError, "no signature for", (x, v, w), {}),
            (ValueError, "fields have different shapes, .70. and .69.", (0, 1, x, v[1:], w), {}),
            (ValueError, "does not broadcast.* argument 5 .69,.", (0, 1, x, v, w[1:]), {}),
            (ValueError, "t1 is inf", (0, np.inf, x, v, w), {}),
            (ValueError, "relative is -1", (0, 1, x, v, w), {"rtol": -1}),
            (TypeError, "rtol= is a number, not str", (0, 1, x, v, w), {"rtol": "1"}),
            (TypeError, "most_steps= is an integer", (0, 1, x, v, w), {"most_steps": 1.5}),
            (OverflowError, "outside int64", (0, 1, x, v, w), {"most_steps": 2**63}),
            (TypeError, "save_at= and out=, all else", (0, 1, x, v, w), {"every": 2}),
            (ValueError, "0.5, and is to be not before", (0, 1, x, v, w), {"save_at": [0.7, 0.5]}),
            (ValueError, "between t0 and t1", (0, 1, x, v, w), {"save_at": [0.5, 1.5]}),
            (ValueError, "nan", (0, 1, x, v, w), {"save_at": [np.nan]}),
            (TypeError, "save_at= is to be float64", (0, 1, x, v, w), {"save_at": single}),
            (TypeError, "save_at= is to be float64", (0, 1, x, v, w), {"save_at": x[None]}),
            (TypeError, "save_at= is to be float64", (0, 1, x, v, w), {"save_at": 3}),
            (TypeError, "a time of save_at= is a number", (0, 1, x, v, w), {"save_at": [1j]}),
            (TypeError, "out= is a tuple of 2 arrays", (0, 1, x, v, w), {"out": x}),
            (TypeError, "is to be float64", (0, 1, x, v, w), {"out": (single, None)}),
            (ValueError, "to shape .69.", (0, 1, x, v, w), {"out": (x[1:].copy(), None)}),
            (ValueError, "shares memory with argument 5", (0, 1, x, v, w), {"out": (None, w)}),
            (ValueError, "share", (0, 1, x, v, w), {"out": (same := x.copy(), same)}),
        ]:
            with self.subTest(says), self.assertRaisesRegex(exception, says):
                formulas.swing(*arguments, **options)
        np.testing.assert_array_equal((x, v), (self.x, self.v))

    def test_documentation(self):
        self.assertIn(
            "swing(t0: float64, t1: float64, float64[:], float64[:], float64[:], *, rtol=0.001, "
            "atol=1e-06, first_step=None, largest_step=None, most_steps=100000, save_at=None, "
            "out=None) -> ((float64[:], float64[:]), EnsembleResult)",
            formulas.swing.__doc__,
        )
        self.assertIn("outcome", formulas.EnsembleResult.__doc__)

    def test_a_result_may_be_pickled(self):
        got = formulas.swing(0, 1, self.x, self.v, self.w)[1]
        again = pickle.loads(pickle.dumps(got))
        self.assertIs(type(again), formulas.EnsembleResult)
        np.testing.assert_array_equal(again.steps, got.steps)


class Lifetimes(unittest.TestCase):
    def test_nothing_is_kept(self):
        x = values("float32", 1000)
        out = np.zeros(1000, np.float32)
        before = sys.getrefcount(x), sys.getrefcount(out)
        for _ in range(100):
            formulas.twice(x, out=out)
            with self.assertRaises(TypeError):
                formulas.twice(x, 1)
        self.assertEqual((sys.getrefcount(x), sys.getrefcount(out)), before)

        class watched(np.ndarray):
            pass

        y = np.zeros(10, np.float32).view(watched)
        gone = weakref.ref(y)
        formulas.decay(2, y, 0.5)
        formulas.sum_and_max(y)
        formulas.decline(0, 1, y, y, save_at=[0.5])
        del y
        gc.collect()
        self.assertIsNone(gone())

    def test_memory_does_not_grow(self):
        import resource

        x = np.zeros(1 << 20, np.float32)
        for k in range(60):
            formulas.twice(x)
            formulas.sum_and_max(x)
            formulas.decay(2, x, 0.5)
            if k == 10:
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 40 * 1024)

    def test_results_outlive_arguments(self):
        y = formulas.twice(values("float64", 5000).copy())
        history = formulas.rotate(4, values("complex64", 5000) / np.float32(1e6), 0.5, 0.01)[1]
        gc.collect()
        np.testing.assert_array_equal(y, 2 * values("float64", 5000))
        self.assertTrue(np.isfinite(history).all())


@unittest.skipIf(ON_SIM, "the simulator is slow, and its device is one")
class Threads(unittest.TestCase):
    def test_the_interpreter_goes_on(self):
        x = np.random.default_rng(3).random(4_000_000)
        done = threading.Event()
        turns = 0

        def work():
            for _ in range(4):
                formulas.busy(x)
            done.set()

        thread = threading.Thread(target=work)
        switch = sys.getswitchinterval()
        sys.setswitchinterval(1e-4)
        thread.start()
        while not done.is_set():
            turns += 1
        thread.join()
        sys.setswitchinterval(switch)
        self.assertGreater(turns, 1000)

    def test_threads_share_a_module(self):
        wrong = []

        def work(seed):
            x = np.random.default_rng(seed).random(1000 + seed).astype(np.float32)
            out = np.zeros_like(x)
            for _ in range(200):
                formulas.twice(x, out=out)
                if not np.array_equal(out, 2 * x) or formulas.sum_and_max(x)[1] != x.max():
                    wrong.append(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])


@unittest.skipIf(torch is None, "no PyTorch")
class Torch(unittest.TestCase):
    def test_tensors(self):
        for dtype in [
                torch.bool, torch.int8, torch.int64, torch.uint8, torch.float16, torch.bfloat16,
                torch.float32, torch.complex64
        ]:
            x = torch.arange(37).to(dtype)
            y = formulas.twice(x)
            self.assertIs(type(y), torch.Tensor)
            self.assertEqual(y.dtype, dtype)
            self.assertTrue(torch.equal(y, x | x if dtype == torch.bool else x + x))
        x = torch.rand(24, 36)
        for v in [x.T, x[::2, 1:], x[:0], x.expand(24, 36)]:
            self.assertTrue(torch.equal(formulas.twice(v), 2 * v))
        out = torch.zeros(36, 24).T
        self.assertIs(formulas.twice(x, out=out), out)
        self.assertTrue(torch.equal(out, 2 * x))
        (state, last), history = formulas.rotate(
            3, torch.ones(8, dtype=torch.complex64), torch.tensor(1 + 0j), 0.1
        )
        self.assertIs(type(history), torch.Tensor)
        self.assertEqual(history[-1], last)
        y, got = formulas.decline(0, 1, x, torch.full((36,), 0.5), rtol=1e-5)
        torch.testing.assert_close(y, x * float(np.exp(-0.5)), rtol=1e-4, atol=0)
        self.assertTrue((got.outcome == got.reached).all())

    def test_what_a_tensor_has_beside_its_elements_is_refused(self):
        z = torch.ones(5, dtype=torch.complex64) * (1 + 2j)
        with self.assertRaisesRegex(ValueError, "resolve_conj"):
            formulas.twice(z.conj())
        with self.assertRaisesRegex(ValueError, "resolve_neg"):
            formulas.twice(z.conj().imag)
        with self.assertRaisesRegex(ValueError, "detach"):
            formulas.twice(torch.ones(5, requires_grad=True))
        self.assertTrue(torch.equal(formulas.twice(z.conj().resolve_conj()), 2 * z.conj()))
        with self.assertRaisesRegex(ValueError, "same place"):
            formulas.twice(torch.ones(5), out=torch.zeros(1).expand(5))
        with self.assertRaises(Exception):
            formulas.twice(torch.ones(3, 3).to_sparse())
        parameter = torch.nn.Parameter(torch.ones(5), requires_grad=False)
        self.assertTrue(torch.equal(formulas.twice(parameter), 2 * torch.ones(5)))


@unittest.skipIf(jax is None, "no JAX")
class Jax(unittest.TestCase):
    def test_arrays(self):
        import jax.numpy as jnp

        for dtype in [
                "bool", "int8", "int32", "uint32", "float16", "bfloat16", "float32", "complex64"
        ]:
            x = jnp.arange(37).astype(dtype)
            y = formulas.twice(x)
            self.assertIsInstance(y, jax.Array)
            self.assertEqual(y.dtype, x.dtype)
            self.assertTrue((y == x + x).all())
        x = jnp.arange(37.0)
        total, largest = formulas.sum_and_max(x)
        self.assertEqual((float(total), float(largest)), (float(x.sum()), 36.0))
        (state, last), history = formulas.rotate(
            3, jnp.ones(8, jnp.complex64), jnp.complex64(1), 0.1
        )
        self.assertEqual(complex(history[-1]), complex(last))
        y, got = formulas.decline(0, 1, x, 0 * x + 0.5, rtol=1e-5, save_at=[0.0, 1.0])
        np.testing.assert_allclose(y, np.arange(37) * np.exp(-0.5), rtol=1e-4)
        self.assertTrue((got.outcome == got.reached).all())
        self.assertEqual(got.saved[0].shape, (2, 37))
        with self.assertRaisesRegex(ValueError, "arrays of jax cannot be written"):
            formulas.twice(x, out=jnp.zeros(37))
        with self.assertRaises(Exception):
            jax.jit(formulas.twice)(x)

    def test_results_keep_their_memory(self):
        import jax.numpy as jnp

        kept = [formulas.twice(jnp.full(1000, float(k))) for k in range(50)]
        gc.collect()
        for k, y in enumerate(kept):
            self.assertTrue((np.asarray(y) == 2 * k).all())


if __name__ == "__main__":
    unittest.main()
