#!/usr/bin/env python3
"""Error and time of other libraries on the problems of ensembles.cpp, and the picture of both.

    ensembles.py measure [LIBRARY...] >> rows      scipy, gradsolve, diffrax, torchdiffeq
    ensembles.py plot ensembles.svg rows...        the rows of this script and of bench_ensembles

A row is: problem, device, library, method, tolerance, error, seconds per system. The problems:
Lorenz's equations from 1, 0, 0, rho from 0 to 21, to t = 1, and Robertson's, k1 from 0.04 to 0.05,
to t = 40. Error: of Lorenz's the root of the mean square of x's, of Robertson's the largest
relative one of a value. Beside it stands SciPy's DOP853 or Radau with a tolerance of 1e-13.

SciPy solves one system after another, in as many processes as there are cores: seconds per system
are the wall time over the number of systems. `RK45 stacked` is one system of all, with equal steps.
The other libraries solve all at once, on the GPU if there is one, the best of five calls that have
been compiled. Libraries that are not installed are left out.
"""

import importlib
import multiprocessing
import os
import sys
import time

import numpy as np

TOLERANCES = [10.0**-digits for digits in range(3, 11)]
PROBLEMS = {"lorenz": (0.0, 21.0, 1.0, 1.0), "robertson": (0.04, 0.05, 40.0, 1e-6)}
START = (1.0, 0.0, 0.0)


def lorenz(t, y, rho):
    a, b, c = y
    return 10 * (b - a), a * (rho - c) - b, a * b - 8 / 3 * c


def robertson(t, y, k1):
    a, b, c = y
    gained, lost = 1e4 * b * c, 3e7 * b * b
    return gained - k1 * a, k1 * a - gained - lost, lost


def robertson_jacobian(t, y, k1):
    a, b, c = y
    return [
        [-k1, 1e4 * c, 1e4 * b],
        [k1, -1e4 * c - 6e7 * b, -1e4 * b],
        [0, 6e7 * b, 0],
    ]


def parameters(problem, count):
    low, high, _, _ = PROBLEMS[problem]
    return np.linspace(low, high, count)


def solved(task):
    """A system's values at the end, by SciPy."""
    from scipy.integrate import odeint, solve_ivp

    problem, method, tolerance, value = task
    _, _, end, absolute = PROBLEMS[problem]
    f = globals()[problem]
    jacobian = robertson_jacobian if problem == "robertson" else None
    if method == "odeint":
        return odeint(f, START, [0, end], (value,), jacobian, rtol=tolerance,
                      atol=absolute * tolerance, mxstep=10**6, tfirst=True)[-1]
    options = {"jac": jacobian} if jacobian and method in ("Radau", "BDF", "LSODA") else {}
    found = solve_ivp(f, (0, end), START, method, args=(value,), t_eval=[end], rtol=tolerance,
                      atol=absolute * tolerance, **options)
    return found.y[:, -1]


def error_of(problem, found, exact):
    found, exact = np.asarray(found, np.float64), np.asarray(exact)
    if problem == "lorenz":
        return np.sqrt(np.mean((found[:, 0] - exact[:, 0]) ** 2))
    return np.max(np.abs(found / exact - 1))


def row(problem, device, library, method, tolerance, error, seconds):
    print(problem, device, library, method, f"{tolerance:.0e}".replace("e-0", "e-"), f"{error:.3g}",
          f"{seconds:.4g}", flush=True)


def exact_values(problem, pool, count):
    method = {"lorenz": "DOP853", "robertson": "odeint"}[problem]
    tasks = [(problem, method, 1e-13, p) for p in parameters(problem, count)]
    return np.array(pool.map(solved, tasks, chunksize=1))


def scipy_rows(pool, cores):
    counts = {"lorenz": 32 * cores, "robertson": 4 * cores}
    methods = {"lorenz": ("RK45", "DOP853", "LSODA", "odeint"),
               "robertson": ("Radau", "LSODA", "odeint")}
    for problem, names in methods.items():
        count = counts[problem]
        exact = exact_values(problem, pool, count)
        for method in names:
            for tolerance in TOLERANCES:
                tasks = [(problem, method, tolerance, p) for p in parameters(problem, count)]
                best = float("inf")
                for _ in range(2):
                    begin = time.perf_counter()
                    found = pool.map(solved, tasks, chunksize=max(1, count // cores // 4))
                    best = min(best, time.perf_counter() - begin)
                row(problem, "host", "SciPy", method, tolerance,
                    error_of(problem, found, exact), best / count)
    stacked_rows(pool)


def stacked_rows(pool):
    """All systems as one, in NumPy's arrays."""
    from scipy.integrate import solve_ivp

    count, sampled = 65536, 64
    rho = parameters("lorenz", count)
    some = np.linspace(0, count - 1, sampled).astype(int)
    exact = np.array(pool.map(solved, [("lorenz", "DOP853", 1e-13, p) for p in rho[some]]))
    start = np.repeat(START, count)

    def f(t, y):
        return np.concatenate(lorenz(t, y.reshape(3, count), rho))

    for tolerance in TOLERANCES:
        begin = time.perf_counter()
        found = solve_ivp(f, (0, 1), start, "RK45", t_eval=[1], rtol=tolerance, atol=tolerance)
        seconds = time.perf_counter() - begin
        values = found.y[:, -1].reshape(3, count).T[some]
        row("lorenz", "host", "SciPy", "RK45-stacked", tolerance,
            error_of("lorenz", values, exact), seconds / count)


def batch_rows(library, method, device, problem, exact, run):
    """Rows of run(parameters, tolerance), which gives all systems' values at the end."""
    count, sampled = (1 << 20 if device != "host" else 1 << 16), len(exact)
    many, few = parameters(problem, count), parameters(problem, sampled)
    for tolerance in TOLERANCES:
        try:
            error = error_of(problem, run(few, tolerance), exact)
            times = []
            for _ in range(6):  # The first one compiles.
                begin = time.perf_counter()
                run(many, tolerance)
                times.append(time.perf_counter() - begin)
                if times[-1] > 20:
                    break
        except Exception as failed:  # More steps than it allows, or too little memory.
            print(f"{library} {method} {tolerance:g}: {str(failed)[:200]}", file=sys.stderr)
            break
        row(problem, device, library, method, tolerance, error, min(times[1:] or times) / count)


def on_device(make):
    """Arrays in the device's memory, made once for each set of parameters: copies are not measured."""
    made = {}

    def of(p):
        if len(p) not in made:
            made[len(p)] = make(p)
        return made[len(p)]

    return of


def jax_device():
    import jax

    jax.config.update("jax_enable_x64", True)
    return "host" if jax.default_backend() == "cpu" else jax.devices()[0].device_kind.replace(" ", "-")


def gradsolve_rows(exact):
    import jax
    import jax.numpy as jnp
    from gradsolve.cuda._ffi_bridge import make_runner

    device = jax_device()
    solve = make_runner("lorenz", 3, "float64", "cuda")
    arrays = on_device(lambda p: (
        jnp.asarray(np.repeat(START, len(p)).reshape(3, -1)), jnp.asarray(p)))

    def run(p, tolerance):
        y, rho = arrays(p)
        found = jax.block_until_ready(solve(y, rho, 1.0, tolerance, tolerance, 100000))
        values = found[0] if isinstance(found, (tuple, list)) else found
        return lazily(values)

    batch_rows("gradsolve", "tsit5", device, "lorenz", exact["lorenz"], run)


class lazily:
    """Values of a device with a column for each system, copied when they are compared."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        values = getattr(self.values, "cpu", lambda: self.values)()
        return np.asarray(values, dtype).reshape(3, -1).T


def diffrax_rows(exact):
    import diffrax
    import jax
    import jax.numpy as jnp

    device = jax_device()
    for problem, method, solver in (("lorenz", "Tsit5", diffrax.Tsit5()),
                                    ("robertson", "Kvaerno5", diffrax.Kvaerno5())):
        _, _, end, absolute = PROBLEMS[problem]
        f = globals()[problem]
        term = diffrax.ODETerm(lambda t, y, p, f=f: jnp.stack(f(t, y, p)))

        @jax.jit
        def solve(p, tolerance, term=term, solver=solver, end=end, absolute=absolute):
            control = diffrax.PIDController(rtol=tolerance, atol=absolute * tolerance)
            one = lambda p: diffrax.diffeqsolve(
                term, solver, 0.0, end, None, jnp.array(START), p, stepsize_controller=control,
                max_steps=10**6, adjoint=diffrax.ForwardMode(), throw=False).ys[-1]
            return jax.vmap(one)(p).T

        arrays = on_device(jnp.asarray)
        batch_rows("diffrax", method, device, problem, exact[problem],
                   lambda p, tolerance: lazily(
                       jax.block_until_ready(solve(arrays(p), jnp.float64(tolerance)))))


def torchdiffeq_rows(exact):
    import torch
    from torchdiffeq import odeint

    gpu = torch.cuda.is_available()
    device = torch.device("cuda" if gpu else "cpu")
    name = torch.cuda.get_device_name().replace(" ", "-") if gpu else "host"
    arrays = on_device(lambda p: torch.as_tensor(p, device=device))
    times = torch.tensor([0.0, 1.0], dtype=torch.float64, device=device)

    @torch.no_grad()
    def run(p, tolerance):
        rho = arrays(p)
        start = torch.zeros(3, len(p), dtype=torch.float64, device=device)
        start[0] = 1
        f = lambda t, y: torch.stack(lorenz(t, y, rho))
        found = odeint(f, start, times, rtol=tolerance, atol=tolerance, method="dopri5")[-1]
        if gpu:
            torch.cuda.synchronize()
        return lazily(found)

    batch_rows("torchdiffeq", "dopri5-stacked", name, "lorenz", exact["lorenz"], run)


def measure(names):
    cores = len(os.sched_getaffinity(0))
    # Of the processes below: one thread each.
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    os.environ.update(dict.fromkeys(threads, "1"))
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        if "scipy" in names:
            scipy_rows(pool, cores)
        exact = {problem: exact_values(problem, pool, 64) for problem in PROBLEMS}
    for variable in threads:
        del os.environ[variable]
    for name in names:
        if name == "scipy":
            continue
        try:
            importlib.import_module(name)
        except ImportError as missing:
            print(f"{name}: {missing}", file=sys.stderr)
            continue
        globals()[f"{name}_rows"](exact)


def plot(path, files):
    """Time over error, a panel for each problem."""
    from pictures import STYLE, plt, save, set_up

    set_up()
    rows = [line.split() for file in files for line in open(file) if len(line.split()) == 7]
    figure, panels = plt.subplots(1, 2, figsize=(13, 4.4), layout="constrained")
    colours = {"dsl": STYLE["dsl"][0], "SciPy": STYLE["CUB"][0], "gradsolve": STYLE["PyTorch"][0],
               "diffrax": STYLE["JAX"][0], "torchdiffeq": STYLE["CuPy"][0]}
    dashes, marks = ("-", "--", ":", "-.", (0, (1, 3))), "os^DPvX"
    titles = {"lorenz": "Lorenz's equations: error of x",
              "robertson": "Robertson's problem: largest relative error"}
    for panel, (problem, title) in zip(panels, titles.items()):
        lines = {}
        for of, device, library, method, _, error, seconds in rows:
            if of == problem:
                where = "" if device.startswith("host") else ", GPU"
                lines.setdefault((library, method + where), []).append((float(error), float(seconds)))
        count = {}
        for (library, method), points in lines.items():
            place = count[library] = count.get(library, -1) + 1
            panel.plot(*zip(*points), color=colours[library], marker=marks[place % len(marks)],
                       markersize=4, linewidth=1.2, linestyle=dashes[place % len(dashes)],
                       label=f"{library} {method}")
        panel.set(xscale="log", yscale="log", xlabel="error", ylabel="seconds per system", title=title)
        panel.invert_xaxis()
        panel.grid(color="#dddddd", linewidth=0.6)
        panel.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    folder, name = os.path.split(path)
    save(figure, folder or ".", name)


if __name__ == "__main__":
    if sys.argv[1:2] == ["plot"] and len(sys.argv) > 3:
        plot(sys.argv[2], sys.argv[3:])
    elif sys.argv[1:2] == ["measure"]:
        measure(sys.argv[2:] or ["scipy", "gradsolve", "diffrax", "torchdiffeq"])
    else:
        sys.exit(__doc__)
