#!/usr/bin/env python3
"""Runs the works of bench/README.md with Python libraries, and writes Google Benchmark's JSON.

    peers.py --device cuda --out peers_cuda.json      CuPy, PyTorch, torch.compile, JAX, Numba
    peers.py --device host --out peers_host.json      NumPy, PyTorch, torch.compile, JAX, Numba
    peers.py --device cuda:0-1 --out peers_mesh.json  JAX and PyTorch on one GPU and on several

Libraries that are not installed are omitted. Each runs in a process of its own, with a share of the
total time; when that is used up, it starts no further row. The result of every formula is compared
with NumPy's; a row that fails gives the reason.
"""

import argparse
import datetime
import importlib
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import time

from peer.devices import gpus_of

LIBRARIES = {
    "cuda": [
        "libraries.CuPy",
        "libraries.PyTorch",
        "libraries.JAX",
        "numba_cuda.NumbaCuda",
        "libraries.Compiled",
    ],
    "host": [
        "libraries.NumPy",
        "libraries.PyTorch",
        "libraries.JAX",
        "numba_host.NumbaHost",
        "libraries.Compiled",
    ],
    "mesh": ["meshes.JAX", "meshes.PyTorch"],
}
# Seconds for all libraries of a device, and the share of each library.
SECONDS = {"cuda": 450, "host": 260, "mesh": 120}
SHARES = {
    "libraries.CuPy": 2,
    "libraries.NumPy": 2,
    "libraries.PyTorch": 1.5,
    "libraries.JAX": 3,
    "numba_cuda.NumbaCuda": 2,
    "numba_host.NumbaHost": 2,
    "libraries.Compiled": 4,
    "meshes.JAX": 1,
    "meshes.PyTorch": 1,
}


def kind_of(device):
    """A key of LIBRARIES."""
    return "mesh" if ":" in device else device


def processes_of(library, device):
    """The number of processes that run together, one for each GPU."""
    return gpus_of(device) if library == "meshes.PyTorch" else 1


def measure(library, call, work):
    """Milliseconds of a call: the median of up to 20 measurements, made as in bench/row.cpp."""
    seconds_for_a_row, ms_of_a_batch = 0.1, 0.2
    if library.elapsed(call, 1, True) > 1000:
        return library.elapsed(call, 1, True)
    about = max(1e-4, min(library.elapsed(call, 1, True) for _ in range(2)))
    if not work.wall:
        # A GPU that was limited by its power recovers its clock rate.
        time.sleep(0.1)
    if work.wall:
        calls = (
            500 if work.group == "latency" else 10 if work.group == "mesh" and not work.steps else 1
        )
    else:
        calls = 1 if about > 10 else min(100, max(library.fewest_calls, int(ms_of_a_batch / about)))
    batches = min(20, max(2 if about > 200 else 5, int(1e3 * seconds_for_a_row / (about * calls))))
    times = [library.elapsed(call, calls, work.wall) / calls for _ in range(batches + 1)]
    return statistics.median(times[1:])


def first_line(error):
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) < 200 else text[:197] + "..."


def results_of(library, call):
    result = getattr(call, "join", lambda x: x)(call())
    return [library.to_numpy(x) for x in (result if isinstance(result, tuple) else (result,))]


def ways_of(library, work):
    """library.ways(work). If that fails, a single way that raises the same error when it is
    called."""
    try:
        return library.ways(work)
    except Exception as error:
        failed = error

        def fails(operands):
            raise failed

        return {type(library).__name__: fails}


def rows_of(library, device, seconds, only):
    """A JSON row for each work of the library."""
    from peer import works
    from peer.check import check, small_shape
    from peer.operands import operands as arrays_of

    end = time.monotonic() + seconds
    checked, of_last, held, call = set(), None, None, None
    todo = [
        work
        for work in {"cuda": works.cuda_works, "host": works.host_works, "mesh": works.mesh_works}[
            kind_of(device)
        ]()
        if library.fits(work) and ways_of(library, work)
    ]
    if only:
        asked = lambda work, by: any(
            text in f"{work.group}/{work.dtype}/{work.size}/{by}/{work.name}" for text in only
        )
        todo = [work for work in todo if any(asked(work, by) for by in ways_of(library, work))]
    operands_of = library.operands(todo)
    for work in todo:
        for by, prepare in ways_of(library, work).items():
            row = {
                "name": f"{work.group}/{work.dtype}/{work.size}/{by}/{work.name}",
                "run_type": "iteration",
                "repetitions": 1,
                "iterations": 1,
                "threads": 1,
            }
            row["run_name"] = row["name"]
            if only and not any(text in row["name"] for text in only):
                continue
            if library.agreed(time.monotonic() > end):
                print(f"{by}: the time is up before {row['name']}", file=sys.stderr)
                return
            try:
                key = work.operands, work.dtype, work.shape, work.steps
                if key != of_last:
                    of_last = held = call = None
                    library.free()
                    held, of_last = operands_of.of(work), key
                # A formula is compared once for each dtype, on small operands. A loop whose
                # elements are all equal is compared separately at every size.
                small, what = (
                    small_shape(work),
                    (by, work.name, work.dtype, work.is_uniform and work.size),
                )
                if what not in checked and small != work.shape:
                    operands = arrays_of(work, small)
                    check(
                        work,
                        results_of(library, prepare([library.to_library(x) for x in operands])),
                        operands,
                    )
                    checked.add(what)
                call = prepare(held)
                if what not in checked:
                    check(work, results_of(library, call), arrays_of(work, small))
                    checked.add(what)
                ms = measure(library, call, work)
                row["real_time"] = row["cpu_time"] = ms
                row["time_unit"] = "ms"
                row["bytes"] = moved = works.bytes_of(work)
                row["GB/s"] = 1e-6 * moved / ms
                call = None
            except Exception as error:  # A row that fails never stops the others.
                row.update(
                    error_occurred=True,
                    error_message=first_line(error),
                    real_time=0,
                    cpu_time=0,
                    time_unit="ms",
                )
            yield row


def run_library(name, device, seconds, only, out):
    """Runs one library in its process: prints a line of JSON with the versions, and one for each
    row."""
    module, kind = name.split(".")
    begin = time.monotonic()
    try:
        library = getattr(importlib.import_module("peer." + module), kind)(device)
    except Exception as missing:  # Not installed, or without this device.
        print(f"{kind}: {first_line(missing)}", file=sys.stderr)
        return
    print(json.dumps({"versions": library.versions}), file=out, flush=True)
    for row in rows_of(library, device, seconds - (time.monotonic() - begin), only):
        print(json.dumps(row), file=out, flush=True)
    library.close()


def lines_of(name, command, count, seconds, environment):
    """The lines that the first of `count` processes prints. A single row may take long to
    compile; after these seconds all processes are ended."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        meeting = {
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(free.getsockname()[1]),
            "WORLD_SIZE": str(count),
        }
    processes = [
        subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL if rank else subprocess.PIPE,
            env={**environment, **meeting, "RANK": str(rank)},
            text=True,
        )
        for rank in range(count)
    ]
    try:
        lines, _ = processes[0].communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        for process in processes:
            process.kill()
        lines, _ = processes[0].communicate()
        print(f"{name}: stopped, its last row took too long", file=sys.stderr)
    for process in processes:
        if process is not processes[0] and processes[0].returncode:
            process.kill()  # It would wait for the first one.
        if process.wait():
            print(f"{name}: ended with {process.returncode}", file=sys.stderr)
    return lines


def context_of(device):
    context = {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "executable": "peers.py",
        "num_cpus": len(os.sched_getaffinity(0)),
        "backend": device.split(":")[0],
        "Python": platform.python_version(),
    }
    return context


def as_json(context, rows):
    return json.dumps({"context": context, "benchmarks": rows}, indent=1)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", required=True, help="cuda, host, or several GPUs as cuda:0-1")
    parser.add_argument("--out", help="the JSON file; standard output without it")
    parser.add_argument(
        "--seconds",
        type=float,
        help="for all libraries together; without it "
        + ", ".join(f"{n} ({kind})" for kind, n in SECONDS.items()),
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="TEXT",
        help="only rows whose names have one of these texts in them",
    )
    parser.add_argument(
        "--libraries",
        default="",
        metavar="TEXT,...",
        help="only libraries with one of these in their names, as CuPy,Numba",
    )
    parser.add_argument("--library", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    device, kind = arguments.device, kind_of(arguments.device)
    if kind not in LIBRARIES:
        parser.error(f"--device {device}: cuda, host, or several GPUs as cuda:0-1")
    seconds = SECONDS[kind] if arguments.seconds is None else arguments.seconds
    if arguments.library:
        with os.fdopen(os.dup(1), "w") as out:
            os.dup2(2, 1)  # Libraries' own output is not JSON.
            run_library(arguments.library, device, seconds, arguments.only, out)
        return

    environment = {
        **os.environ,
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    context, rows, end = context_of(device), [], time.monotonic() + seconds
    wanted = [
        name
        for name in LIBRARIES[kind]
        if any(part.lower() in name.lower() for part in arguments.libraries.split(","))
    ]
    for k, name in enumerate(wanted):
        # The time that a library does not use goes to those after it.
        share = max(
            5, (end - time.monotonic()) * SHARES[name] / sum(SHARES[other] for other in wanted[k:])
        )
        command = [
            sys.executable,
            os.path.abspath(__file__),
            "--device",
            device,
            "--library",
            name,
            "--seconds",
            str(share),
        ]
        command += [word for text in arguments.only for word in ("--only", text)]
        lines = lines_of(name, command, processes_of(name, device), share + 60, environment)
        for line in lines.splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue  # An incomplete line, from a process that was stopped.
            if "versions" in row:
                context.update(row["versions"])
            else:
                rows.append(row)
        # After each library, so that finished ones are kept if a user stops the next one.
        if arguments.out:
            with open(arguments.out, "w") as file:
                print(as_json(context, rows), file=file)
    if not arguments.out:
        print(as_json(context, rows))


if __name__ == "__main__":
    main()
