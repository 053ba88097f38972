#!/usr/bin/env python3
"""Runs bench_opencl and the same statements in PyOpenCL on the same device, one after the other,
and prints a table of both.

    opencl.py build/bench/bench_opencl [LOG2]      the largest arrays have 2^LOG2 elements; 27

PyOpenCL's rows are its ElementwiseKernel and ReductionKernel, with positions computed by hand where
it has no such operation, and its arrays' operators. It has no sums along axes. The results of
PyOpenCL are compared with NumPy's, and dsl's by their sum. PYOPENCL_CTX chooses PyOpenCL's device.
VexCL and ArrayFire are in neither Debian nor PyPI (which has ArrayFire's bindings without it).
"""

import statistics
import subprocess
import sys
import time

import numpy as np
import pyopencl as cl
import pyopencl.array
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel

EXP_OF_ROWS = "r = exp(m - max(m, axis(1), keep_dims))"
RUNGE_KUTTA = """
    #define M(x, y) cfloat_mul(x, y)
    #define ADD(x, y) cfloat_add(x, y)
    #define BY(s, y) cfloat_rmul(s, y)
    #define DF(F, G) ADD(M(cfloat_new(0, -2), F), \\
        M(M(cfloat_new(0, -1), d), ADD(BY(2, G), cfloat_new(-1, 0))))
    #define DG(F) M(cfloat_new(0, -1), cfloat_sub(M(cfloat_conj(d), F), M(d, cfloat_conj(F))))
    #define SUM(x, y1, y2, y3, y4) \\
        ADD(x, BY(h / 6, ADD(ADD(y1, BY(2, y2)), ADD(BY(2, y3), y4))))
"""
STEP = """
    cfloat_t F1 = DF(F[i], G[i]), G1 = DG(F[i]);
    cfloat_t Fa = ADD(F[i], BY(h / 2, F1)), Ga = ADD(G[i], BY(h / 2, G1));
    cfloat_t F2 = DF(Fa, Ga), G2 = DG(Fa);
    cfloat_t Fb = ADD(F[i], BY(h / 2, F2)), Gb = ADD(G[i], BY(h / 2, G2));
    cfloat_t F3 = DF(Fb, Gb), G3 = DG(Fb);
    cfloat_t Fc = ADD(F[i], BY(h, F3)), Gc = ADD(G[i], BY(h, G3));
    cfloat_t F4 = DF(Fc, Gc), G4 = DG(Fc);
    next_F[i] = SUM(F[i], F1, F2, F3, F4);
    next_G[i] = SUM(G[i], G1, G2, G3, G4)
"""


def operand(n, k, dtype=np.float32):
    """As in opencl.cpp."""
    if np.dtype(dtype).kind == "c":
        return operand(n, k) + 1j * operand(n, k + 1)
    return (0.5 + (np.arange(n, dtype=np.int64) * 7919 + k * 131) % 1021 / 1021).astype(dtype)


def runge_kutta(F, G, d, h):
    def dF(F, G):
        return -2j * F - 1j * d * (2 * G - 1)

    def dG(F):
        return -1j * (np.conj(d) * F - d * np.conj(F))

    F1, G1 = dF(F, G), dG(F)
    F2, G2 = dF(F + h / 2 * F1, G + h / 2 * G1), dG(F + h / 2 * F1)
    F3, G3 = dF(F + h / 2 * F2, G + h / 2 * G2), dG(F + h / 2 * F2)
    F4 = dF(F + h * F3, G + h * G3)
    return F + h / 6 * (F1 + 2 * F2 + 2 * F3 + F4)


class Statements:
    """Each statement as (name, elements, way, call, NumPy's result): `call` queues it, and returns
    the array of its result. It is None where PyOpenCL has no such operation."""

    def __init__(self, queue):
        self.queue, self.context = queue, queue.context

    def on_device(self, host):
        return cl.array.to_device(self.queue, host)

    def elementwise(self, arguments, operation, **more):
        return ElementwiseKernel(self.context, arguments, operation, **more)

    def of_lines(self, n):
        host_a, host_b = operand(n, 0), operand(n, 1)
        a, b = self.on_device(host_a), self.on_device(host_b)
        c = cl.array.empty_like(a)
        add = self.elementwise("float *c, float *a, float *b", "c[i] = a[i] + 2 * b[i]")
        exp = self.elementwise("float *c, float *a, float *b", "c[i] = exp(a[i]) + b[i]")
        total = ReductionKernel(
            self.context, np.float32, "0", "a + b", map_expr="x[i]", arguments="float *x"
        )

        def run(kernel):
            kernel(c, a, b)
            return c

        wanted = host_a + 2 * host_b
        yield "c = a + 2 * b", n, "PyOpenCL kernel", lambda: run(add), wanted
        yield "c = a + 2 * b", n, "PyOpenCL arrays", lambda: a + 2 * b, wanted
        wanted = np.exp(host_a) + host_b
        yield "c = exp(a) + b", n, "PyOpenCL kernel", lambda: run(exp), wanted
        yield "sum(a)", n, "PyOpenCL kernel", lambda: total(a), host_a.sum(dtype=np.float64)

    def of_doubles(self, n):
        host = operand(n, 0, np.float64)
        x = self.on_device(host)
        y = cl.array.empty_like(x)
        kernel = self.elementwise("double *y, double *x", "y[i] = 2 * x[i] + 1")

        def run():
            kernel(y, x)
            return y

        yield "y = 2 * x + 1 of doubles", n, "PyOpenCL kernel", run, 2 * host + 1

    def of_complex(self, n):
        host = [operand(n, k, np.complex64) for k in (0, 2)]
        F, G = (self.on_device(x) for x in host)
        next_F, next_G = cl.array.empty_like(F), cl.array.empty_like(G)
        kernel = self.elementwise(
            "cfloat_t *next_F, cfloat_t *next_G, cfloat_t *F, cfloat_t *G, cfloat_t d, float h",
            STEP,
            preamble="#include <pyopencl-complex.h>" + RUNGE_KUTTA,
        )
        d, h = np.complex64(0.25 + 0.5j), np.float32(0.01)

        def run():
            kernel(next_F, next_G, F, G, d, h)
            return next_F

        yield "a Runge-Kutta step", n, "PyOpenCL kernel", run, runge_kutta(*host, d, h)

    def of_matrices(self, rows, columns):
        n = rows * columns
        host_m, host_v = operand(n, 0).reshape(rows, columns), operand(columns, 1)
        m, v = self.on_device(host_m), self.on_device(host_v)
        r, largest = cl.array.empty_like(m), cl.array.empty(self.queue, rows, np.float32)
        add = self.elementwise(
            "float *r, float *m, float *v, long columns", "r[i] = m[i] + v[i % columns]"
        )
        most = self.elementwise(
            "float *most, float *m, long columns",
            "float x = m[i * columns];"
            "for (long j = 1; j < columns; ++j) x = fmax(x, m[i * columns + j]);"
            "most[i] = x",
        )
        exp = self.elementwise(
            "float *r, float *m, float *most, long columns", "r[i] = exp(m[i] - most[i / columns])"
        )
        around = self.elementwise(
            "float *r, float *m, long rows, long columns",
            "const long y = i / columns, x = i % columns;"
            "r[i] = m[i] + m[(y + 1) % rows * columns + x] + m[(y + rows - 1) % rows * columns + x]"
            " + m[y * columns + (x + 1) % columns]"
            " + m[y * columns + (x + columns - 1) % columns]",
        )
        rows, columns = np.int64(rows), np.int64(columns)

        def add_rows():
            add(r, m, v, columns)
            return r

        def exp_of_rows():
            most(largest, m, columns)
            exp(r, m, largest, columns)
            return r

        def sum_around():
            around(r, m, rows, columns)
            return r

        for axis in (1, 0):
            yield f"sum(m, axis({axis}))", n, None, None, host_m.sum(axis, np.float64)
        yield "r = m + v", n, "PyOpenCL kernel", add_rows, host_m + host_v
        wanted = np.exp(host_m - host_m.max(axis=1, keepdims=True))
        yield EXP_OF_ROWS, n, "2 PyOpenCL kernels", exp_of_rows, wanted
        wanted = host_m + sum(
            np.roll(host_m, by, axis) for by, axis in ((1, 0), (-1, 0), (1, 1), (-1, 1))
        )
        yield "a sum of five neighbours", n, "PyOpenCL kernel", sum_around, wanted

    def all(self, log2):
        """In the order of bench_opencl."""
        yield from self.of_lines(1000)
        for more in (0, 1):
            yield from self.of_lines(2**log2 + more)
            yield from self.of_lines(2**log2 // 8 + more)
            yield from self.of_doubles(2**log2 // 8 + more)
            yield from self.of_complex(2**log2 // 8 + more)
            rows = 2 ** ((log2 - 2) // 2)
            yield from self.of_matrices(rows + more, 2 ** (log2 - 2) // rows + more)


def milliseconds(queue, call):
    """The median of up to 20 measurements, made as in opencl.cpp."""

    def measured(calls):
        queue.finish()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        queue.finish()
        return (time.perf_counter() - begin) * 1e3 / calls

    measured(1)
    about = max(1e-4, min(measured(1), measured(1)))
    calls = int(min(max(10 / about, 1), 1e4))
    times = int(min(max(1e3 / (about * calls), 3), 20))
    return statistics.median(measured(calls) for _ in range(times))


def sum_of(result):
    """Both parts of complex numbers."""
    result = np.asarray(result)
    total = result.sum(dtype=np.complex128 if result.dtype.kind == "c" else np.float64)
    return float(total.real + total.imag)


def dsl_rows(program, log2):
    """Milliseconds and the sum of the results by statement, elements and device."""
    run = subprocess.run([program, str(log2)], check=True, stdout=subprocess.PIPE, text=True)
    for line in run.stdout.splitlines():
        statement, elements, by, ms, total = line.split("|")
        yield statement, int(elements), by, float(ms), float(total)


def main():
    program, log2 = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 27
    rows, wanted_sums = {}, {}
    for statement, elements, by, ms, total in dsl_rows(program, log2):
        rows.setdefault((statement, elements), []).append((by, ms, total))
    queue = cl.CommandQueue(cl.create_some_context(interactive=False))
    print(f"PyOpenCL {cl.VERSION_TEXT} on {queue.device.name}", file=sys.stderr)
    wrong = []
    for statement, elements, by, call, wanted in Statements(queue).all(log2):
        wanted_sums[statement, elements] = sum_of(wanted)
        if call is None:
            continue
        got = call().get()
        if not np.abs(got - wanted).max() < 1e-5 * np.abs(wanted).max():
            wrong.append((by, statement, elements))
        rows[statement, elements].append((by, milliseconds(queue, call), sum_of(got)))
    print("| statement | elements | by | ms |\n| --- | --- | --- | --- |")
    for (statement, elements), of in rows.items():
        wanted = wanted_sums[statement, elements]
        for by, ms, total in of:
            print(f"| `{statement}` | {elements} | {by} | {ms:.4g} |")
            if not abs(total - wanted) < 1e-5 * abs(wanted):
                wrong.append((by, statement, elements))
    for row in wrong:
        print("wrong:", *row, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
