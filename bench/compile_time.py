#!/usr/bin/env python3
"""Measures the compilation of small programs, of the same by hand and with Thrust: processor time,
memory, the object's size, kernels.

usage: compile_time.py [--nvcc NVCC] [--cxx CXX] [--architecture sm_90] [--rounds 7] [NAME...]

Processor time is the user and system time of all processes that the compiler starts: the least and
the median of several rounds of compilations. Other work on the machine disturbs it less than wall
time. Memory is that of the largest process. Compiles with -O3 and the options of the CMake target,
by nvcc and by the C++ compiler alone. Prints a table for docs/performance.md. NAME: a part of a
program's name.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent
RK4 = f'#include "{root}/tests/rk4.hpp"\n#include <dsl/ode.hpp>\n'
TEN = [
    "a[i] + b[i]",
    "a[i] * b[i] + c[i]",
    "exp(a[i]) + 2 * b[i]",
    "sqrt(a[i] * a[i] + b[i] * b[i])",
    "a[i] < b[i] ? a[i] : c[i]",
    "sin(a[i]) * cos(b[i])",
    "1 / (1 + exp(-a[i]))",
    "log(a[i]) - log(b[i])",
    "abs(a[i] - b[i]) / (abs(a[i]) + abs(b[i]))",
    "max(a[i], b[i]) * tanh(c[i])",
]
TARGETS = ", ".join(f"o{k}" for k in range(10))


def arrays(names, kind="dsl::array<float>&"):
    return ", ".join(f"{kind} {name.strip()}" for name in names.split(","))


def loops(formulas):
    return "".join(
        f"  for (long i = 0; i < n; ++i) o{k}[i] = {f};\n" for k, f in enumerate(formulas)
    )


def kernels(formulas):
    each = "".join(
        f"__global__ void kernel{k}(float* o, const float* a, const float* b, const float* "
        f"c, long n) {{\n"
        "  const long i = threadIdx.x + static_cast<long>(blockIdx.x) * blockDim.x;\n"
        f"  if (i < n) o[i] = {f};\n}}\n"
        for k, f in enumerate(formulas)
    )
    calls = "".join(
        f"  kernel{k}<<<(n + 255) / 256, 256>>>(o{k}, a, b, c, n);\n" for k in range(len(formulas))
    )
    return each, calls


def by_hand(formulas):
    """The formulas as kernels for nvcc, and as loops for another compiler."""
    functions = (
        "#include <cmath>\nusing std::abs, std::cos, std::exp, std::log, std::max, "
        "std::sin, std::sqrt, std::tanh;\n"
    )
    each, calls = kernels([f.replace("max(", "fmaxf(").replace("abs(", "fabsf(") for f in formulas])
    run = (
        f"void run({arrays(','.join(f'o{k}' for k in range(len(formulas))), 'float*')}, "
        f"{arrays('a, b, c', 'const float*')}, long n) {{\n"
    )
    return {
        "nvcc": functions + each + run + calls + "}\n",
        "c++": "#include <algorithm>\n" + functions + run + loops(formulas) + "}\n",
    }


SUM_BY_HAND = """#include <cmath>
__global__ void partial(float* out, const float* a, const float* b, long n) {
  __shared__ float of_warp[8];
  float s = 0;
  for (long i = threadIdx.x + blockIdx.x * 256l; i < n; i += gridDim.x * 256l) s += a[i] * expf(b[i]);
  for (int k = 16; k > 0; k /= 2) s += __shfl_down_sync(~0u, s, k);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) s += of_warp[w];
    out[blockIdx.x] = s;
  }
}
__global__ void whole(float* out, const float* partials, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 32) s += partials[i];
  for (int k = 16; k > 0; k /= 2) s += __shfl_down_sync(~0u, s, k);
  if (threadIdx.x == 0) *out = s;
}
void run(float* out, float* partials, const float* a, const float* b, long n) {
  partial<<<528, 256>>>(partials, a, b, n);
  whole<<<1, 32>>>(out, partials, 528);
}
"""

# One text, or one for each compiler if they differ. A program that a compiler lacks is omitted from
# its columns.
PROGRAMS = {
    "an empty file": "",
    "the include alone": "#include <dsl/dsl.hpp>\n",
    "one expression": f"#include <dsl/dsl.hpp>\nvoid run({arrays('y, a, b')}) {{ y = exp(a) + 2 * b; }}\n",
    "one expression, by hand": by_hand(["exp(a[i]) + 2 * b[i]"]),
    "one expression, by Thrust": {
        "nvcc": """#include <thrust/device_vector.h>
#include <thrust/transform.h>
struct formula { __host__ __device__ float operator()(float a, float b) const { return expf(a) + 2 * b; } };
using vector = thrust::device_vector<float>;
void run(vector& y, const vector& a, const vector& b) { thrust::transform(a.begin(), a.end(), b.begin(), y.begin(), formula{}); }
"""
    },
    "ten expressions": "#include <dsl/dsl.hpp>\n"
    + f"void run({arrays(TARGETS + ', a, b, c')}) {{\n"
    + "".join(
        f"  o{k} = {f.replace('[i]', '').replace('a < b ? a : c', 'where(a < b, a, c)')};\n"
        for k, f in enumerate(TEN)
    )
    + "}\n",
    "ten expressions, by hand": by_hand(TEN),
    "a sum": "#include <dsl/dsl.hpp>\n"
    "dsl::scalar<float> run(const dsl::array<float>& a, const dsl::array<float>& b) { "
    "return dsl::sum(a * exp(b)); }\n",
    "a sum, by hand": {
        "nvcc": SUM_BY_HAND,
        "c++": """#include <cmath>
float run(const float* a, const float* b, long n) {
  float s = 0;
  for (long i = 0; i < n; ++i) s += a[i] * std::exp(b[i]);
  return s;
}
""",
    },
    "a sum, by Thrust": {
        "nvcc": """#include <thrust/device_vector.h>
#include <thrust/inner_product.h>
#include <thrust/functional.h>
struct formula { __host__ __device__ float operator()(float a, float b) const { return a * expf(b); } };
using vector = thrust::device_vector<float>;
float run(const vector& a, const vector& b) { return thrust::inner_product(a.begin(), a.end(), b.begin(), 0.0f, thrust::plus<float>(), formula{}); }
"""
    },
    "an RK4 step": RK4
    + "void run(dsl::array<c32, 2>& F, dsl::array<c32, 2>& G, const dsl::scalar<c32>& d, "
    "float h) {\n"
    "  dsl::tie(F, G) = dsl::ode::rk4(coupled_fields)(F, G, d, h);\n}\n",
    "an RK4 step, by hand": {"nvcc": (root / "tests/codegen/by_hand.cu").read_text()},
    "a step of 13 stages": RK4
    + "void run(dsl::array<c32, 2>& F, dsl::array<c32, 2>& G, const dsl::scalar<c32>& d, "
    "float h) {\n"
    "  dsl::tie(F, G) = dsl::ode::fehlberg8(coupled_fields)(F, G, d, h);\n}\n",
    "softmax of rows": """#include <dsl/dsl.hpp>
void run(dsl::array<float, 2>& y, const dsl::array<float, 2>& m) {
  const auto shifted = exp(m - dsl::max(m, dsl::axis(1), dsl::keep_dims));
  y = shifted / dsl::sum(shifted, dsl::axis(1), dsl::keep_dims);
}
""",
    "ode::integrate": """#include <tuple>
#include <dsl/ode.hpp>
constexpr auto pendulum = dsl::ode::with_time([](auto t, auto x, auto v, auto drive) { return std::tuple{v, drive * cos(t) - sin(x)}; });
dsl::ode::integration run(dsl::array<double>& x, dsl::array<double>& v, double drive) {
  return dsl::ode::integrate(pendulum, dsl::state(x, v), 0, 10, {.relative = 1e-9, .absolute = 1e-12}, drive);
}
""",
}


def compile_once(command):
    """Seconds of processor time, and MiB of the largest process."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(said.decode())
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def kernels_in(file):
    names = subprocess.run(
        ["nm", str(file)], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split()
    # Each kernel's launch has such a variable.
    return sum(bool(re.match(r"_ZZL?\d+__device_stub__\w+__handle$", name)) for name in names)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--architecture", default="sm_90")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    include = f"-I{root / 'include'}"
    commands = {
        "nvcc": [
            given.nvcc,
            "--expt-relaxed-constexpr",
            "--compress-mode=size",
            "-std=c++20",
            "-O3",
            f"-arch={given.architecture}",
            include,
        ],
        "c++": [given.cxx, "-std=c++20", "-O3", include],
    }
    runs = []
    with tempfile.TemporaryDirectory() as work:
        for number, (name, text) in enumerate(PROGRAMS.items()):
            if given.names and not any(part in name for part in given.names):
                continue
            for compiler, suffix in (("nvcc", "cu"), ("c++", "cpp")):
                code = text if isinstance(text, str) else text.get(compiler)
                if code is not None:
                    source = pathlib.Path(work, f"{number}.{suffix}")
                    source.write_text(code)
                    made = source.with_suffix(f".{suffix}.o")
                    runs.append(
                        (
                            name,
                            compiler,
                            made,
                            commands[compiler] + ["-c", str(source), "-o", str(made)],
                            [],
                        )
                    )
        for _ in range(given.rounds):
            for _, _, _, command, measured in runs:
                measured.append(compile_once(command))
        cells = {}
        for name, compiler, made, _, measured in runs:
            seconds = [s for s, _ in measured]
            row = [
                f"{min(seconds):.2f}",
                f"{statistics.median(seconds):.2f}",
                f"{max(m for _, m in measured):.0f}",
                f"{made.stat().st_size / 1000:.0f}",
            ]
            cells[name, compiler] = row + ([str(kernels_in(made))] if compiler == "nvcc" else [])
    print(
        f"| program | nvcc, s | median | MiB | kB | kernels | {given.cxx}, s | median | MiB | kB |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in PROGRAMS:
        if any((name, compiler) in cells for compiler in commands):
            print(
                "| "
                + " | ".join(
                    [name]
                    + cells.get((name, "nvcc"), [""] * 5)
                    + cells.get((name, "c++"), [""] * 4)
                )
                + " |"
            )


if __name__ == "__main__":
    sys.exit(main())
