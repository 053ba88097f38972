#!/usr/bin/env python3
"""Mutation check: do the quick tests find small faults in the sources?

Applies the faults of faults.txt, one at a time, to a copy of the sources, then builds and runs the
tests that are named beside each. A fault is caught if one of them fails that passes without it. The
checkout itself is never changed.

  check.py                      all faults; skips those for which a GPU or a toolkit is missing
  check.py last-tile 'npy-*'    some faults, by their names
  check.py 1-10 --file lib/     the first ten of the list, if their file's path contains "lib/"
  check.py --list               prints the faults, and where each lies in the sources
"""

import argparse
import fnmatch
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
from faults import Fault, Sources, Stale, Wrong, read_faults

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COPIED = ["CMakeLists.txt", "README.md", "cmake", "docs", "include", "lib", "tests"]
RUNNING = set()   # compilers and tests, which end with the check
MEMORY = 8 << 30  # limit of a test, in bytes: with a fault it may ask for any amount
# The library that a test needs if its file, or one that it includes, lies in this folder.
LINKED = {"numpy": "numpy_reference", "reductions": "reduction_reference",
          "interpreter": "interpreter"}

# The library of the copy, and a GoogleTest binary for each set of test files that faults name. In a
# tree for GPUs, nvcc compiles them.
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(mutation LANGUAGES CXX)
list(APPEND CMAKE_MODULE_PATH "{source}/cmake")
include(dsl_cuda)
enable_testing()
set(DSL_BUILD_TESTS ON)
set(DSL_BUILD_EXAMPLES OFF)
add_subdirectory("{source}" dsl)
find_package(GTest REQUIRED)
function(binary name)
  set(sources)
  foreach(file ${{ARGN}})
    if(DSL_HAS_CUDA)
      string(MAKE_C_IDENTIFIER "${{file}}" unit)
      file(CONFIGURE OUTPUT "${{unit}}.cu" CONTENT "#include \\"{source}/tests/${{file}}\\"\\n")
      list(APPEND sources "${{CMAKE_CURRENT_BINARY_DIR}}/${{unit}}.cu")
    else()
      list(APPEND sources "{source}/tests/${{file}}")
    endif()
  endforeach()
  add_executable(${{name}} ${{sources}})
  set(pages "${{CMAKE_BINARY_DIR}}/dsl/pages")  # the pages' examples
  target_include_directories(${{name}} PRIVATE "{source}/lib" "${{pages}}")
  target_link_libraries(${{name}} PRIVATE dsl::dsl GTest::gtest_main)
endfunction()
"""


class Stop(Exception):
    """The check cannot go on; the message says why."""


def choose(faults, wanted, file, places):
    def is_wanted(fault, word):
        numbers = re.fullmatch(r"(\d+)(?:-(\d+))?", word)
        if numbers:
            return int(numbers[1]) <= fault.number <= int(numbers[2] or numbers[1])
        return fnmatch.fnmatch(fault.name, word)

    for word in wanted:
        if not any(is_wanted(f, word) for f in faults):
            raise Stop(f"there is no fault {word}")
    return [f for f in faults if (not wanted or any(is_wanted(f, w) for w in wanted))
            and file in path_of(f, places)]


def places_of(faults, sources):
    """Where each fault lies: a Place, or why there is none."""
    places = {}
    for fault in faults:
        try:
            places[fault.name] = sources.find(fault)
        except Stale as why:
            places[fault.name] = str(why)
    return places


def is_stale(fault, places):
    return isinstance(places[fault.name], str)


def path_of(fault, places):
    """The path of a fault's file; if the fault is stale, only what the list says about it."""
    return fault.file if is_stale(fault, places) else places[fault.name].path


def has_gpu():
    command = ["sh", ROOT / "cmake/with_gpu.sh", "true"]
    return subprocess.run(command, capture_output=True).returncode == 0


def has_toolkit():
    return shutil.which("nvcc") is not None or Path("/usr/local/cuda/bin/nvcc").exists()


# The verdicts on a fault other than "caught".
VERDICTS = ("not caught", "does not compile", "too slow", "stale", "skipped")


@dataclass
class Result:
    fault: Fault
    verdict: str        # "caught", or one of VERDICTS
    by: str = ""
    built: float = 0
    ran: float = 0


def included_by(path):
    """A test file, and the files that it includes by relative paths, directly or not."""
    found, left = set(), [path]
    while left:
        path = left.pop().resolve()
        if path not in found and path.is_file():
            found.add(path)
            names = re.findall(r'^ *#include "(.+)"', path.read_text(), re.M)
            left += [path.parent / name for name in names]
    return found


class Tree:
    """A copy of the sources with a build of it, in which one fault at a time is tried."""

    def __init__(self, folder, cuda, jobs, limit):
        self.source, self.build, self.kept = folder / "source", folder / "build", folder / "kept"
        self.sources = None  # of the copy, once it is there
        self.folder, self.cuda, self.jobs, self.limit = folder, cuda, jobs, limit
        self.log = folder / "log"

    def prepare(self, tests):
        """Builds and runs the tests without a fault: they must pass, or failures mean nothing."""
        self.put_back_build()  # of a run that was stopped
        self.copy_sources()
        self.sources = Sources(self.source)
        lines = PROJECT.format(source=self.source)
        for binary, files in sorted({(t.binary(), t.what) for t in tests if t.kind == "files"}):
            lines += f"binary({binary} {' '.join(files)})\n"
            for folder, library in LINKED.items():
                included = (path for f in files for path in included_by(ROOT / "tests" / f))
                if any(folder in path.parts for path in included):
                    lines += f"target_link_libraries({binary} PRIVATE {library})\n"
        (self.folder / "CMakeLists.txt").write_text(lines)
        options = ["-GNinja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1",
                   "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON", "-DDSL_CCACHE=none",
                   f"-DDSL_CUDA={'ON' if self.cuda else 'OFF'}"]
        self.must(["cmake", "-S", self.folder, "-B", self.build, *options], 600)
        self.must(self.ninja(sorted({target for t in tests for target in t.targets()})), None)
        for test in tests:
            by, _ = self.run(test)
            if by:
                raise Stop(f"{test} fails without a fault: {by}; see {self.log}")
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(self.build, self.kept, symlinks=True)

    def copy_sources(self):
        there = {p.relative_to(self.source) for p in self.source.rglob("*") if p.is_file()}
        for name in COPIED:
            root = ROOT / name
            for path in [root] if root.is_file() else sorted(root.rglob("*")):
                if not path.is_file() or "__pycache__" in path.parts:
                    continue
                part = path.relative_to(ROOT)
                to = self.source / part
                there.discard(part)
                if not to.exists() or to.read_bytes() != path.read_bytes():
                    to.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, to)
                    shutil.copymode(path, to)
        for part in there:
            (self.source / part).unlink()

    def put_back_build(self):
        """Puts back the build without a fault: only what the next one changes is then compiled."""
        if not self.kept.exists():
            return
        stamp = lambda p: (p.lstat().st_size, p.lstat().st_mtime_ns)
        for path in list(self.build.rglob("*")):
            if not path.is_dir() and not (self.kept / path.relative_to(self.build)).exists():
                path.unlink()
        for path in self.kept.rglob("*"):
            to = self.build / path.relative_to(self.kept)
            if path.is_file() and (not to.exists() or stamp(to) != stamp(path)):
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, to)

    def ninja(self, targets):
        return ["cmake", "--build", self.build, "-j", str(self.jobs), "--target", *targets]

    def call(self, command, limit, **options):
        """Runs and logs a command. Gives its status, None if it took too long, and its output."""
        command = [str(c) for c in command]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", stdin=subprocess.DEVNULL, start_new_session=True,
                              **options) as process:
            RUNNING.add(process.pid)
            try:
                output, status = process.communicate(timeout=limit)[0], process.returncode
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, status = process.communicate()[0], None
            finally:
                RUNNING.discard(process.pid)
        with open(self.log, "a") as log:
            log.write(f"\n$ {' '.join(command)}\n{output}\n")
        return status, output

    def must(self, command, limit):
        status, output = self.call(command, limit)
        if status != 0:
            begin = " ".join(str(c) for c in command[:3])
            raise Stop(f"{begin} ... failed without a fault:\n{output[-2000:]}\nsee {self.log}")

    def run(self, test, limit=None):
        """The name of the first test that fails, or "", and the output."""
        def restrict():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if not self.cuda:
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

        if test.kind == "ctest":
            command = ["ctest", "--test-dir", self.build, "-R", f"^{re.escape(test.what[0])}$",
                       "--no-tests=error", "--output-on-failure"]
            status, output = self.call(command, limit)
            return ("" if status == 0 else f"ctest {test.what[0]}"), output
        found = (self.build / test.binary(), *self.build.rglob(test.binary()))
        program = next((p for p in found if p.is_file() and os.access(p, os.X_OK)), None)
        if program is None:
            raise Stop(f"there is no program {test.binary()}")
        command = [program, f"--gtest_filter={test.filter}", "--gtest_fail_fast"]
        status, output = self.call(command, limit, preexec_fn=restrict)
        if re.search(r"^\[  PASSED  \] 0 tests", output, re.M) and status == 0:
            raise Stop(f"{test} : {test.filter} runs no test: the list is stale")
        if status == 0:
            return "", output
        failed = (re.search(r"^\[  FAILED  \] ([^\s,]+)", output, re.M)
                  or re.search(r"^\[ RUN      \] (\S+)(?![\s\S]*^\[ RUN )", output, re.M))
        name = failed[1] if failed else test.binary()
        if status is None:
            name += " (does not end)"
        elif status < 0:
            name += f" (signal {-status})"
        return name, output

    def attempt(self, fault):
        try:
            place = self.sources.find(fault)
        except Stale as why:
            return Result(fault, "stale", str(why))
        path = self.source / place.path
        original, times = path.read_bytes(), path.stat()
        with open(self.log, "a") as log:
            log.write(f"\n==== {fault.name}: {fault.breaks}\n")
        try:
            path.write_text(self.sources.with_fault(fault, place))
            if fault.keeps_library:  # only what is missing is compiled
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
                for test in fault.tests:
                    for made in self.build.rglob(f"{test.binary()}.dir/**/*.o"):
                        made.unlink()
            began = time.monotonic()
            result = Result(fault, "not caught")
            for test in fault.tests:
                at = time.monotonic()
                left = self.limit - (at - began)
                if test.targets():
                    status, output = self.call(self.ninja(test.targets()), max(left, 1))
                    result.built += time.monotonic() - at
                    if status is None:
                        result.verdict, result.by = "too slow", f"building {test}"
                        return result
                    if status != 0:
                        if fault.compiles:
                            result.verdict = "does not compile"
                        else:
                            result.verdict, result.by = "caught", f"building {test}"
                        return result
                at = time.monotonic()
                by, _ = self.run(test, max(self.limit - (at - began), 20))
                result.ran += time.monotonic() - at
                if by:
                    result.verdict, result.by = "caught", by
                    return result
            return result
        finally:
            path.write_bytes(original)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            self.put_back_build()


def shares(faults, count):
    """Faults for `count` trees, those with the same tests in the same one."""
    groups = {}
    for fault in faults:
        groups.setdefault((fault.needs != "", fault.tests[0]), []).append(fault)
    all_shares = [[] for _ in range(count)]
    for group in sorted(groups.values(), key=len, reverse=True):
        min(all_shares, key=len).extend(group)
    return [s for s in all_shares if s]


def said_of(result):
    by = "by " if result.verdict == "caught" else ""
    return f"{result.verdict} {by}{result.by}".strip()


def check(faults, places, options):
    results, lock, failure = {}, threading.Lock(), []

    def report(result):
        with lock:
            results[result.fault.name] = result
            print(f"{result.fault.number:3} {result.fault.name}: {said_of(result)} "
                  f"({result.built:.0f} + {result.ran:.0f} s)", flush=True)

    def work(number, share):
        try:
            for cuda in (False, True):
                mine = [f for f in share if (f.needs != "") == cuda]
                if not mine:
                    continue
                folder = options.work / f"{number}{'-cuda' if cuda else ''}"
                tree = Tree(folder, cuda, options.jobs, options.limit)
                tree.folder.mkdir(parents=True, exist_ok=True)
                began = time.monotonic()
                tree.prepare(list(dict.fromkeys(t for f in mine for t in f.tests)))
                with lock:
                    print(f"tree {number}: tests of {len(mine)} faults built and passed "
                          f"without one in {time.monotonic() - began:.0f} s", flush=True)
                for fault in mine:
                    report(tree.attempt(fault))
        except Stop as why:
            failure.append(str(why))

    tried = []
    gpu, toolkit = has_gpu(), has_toolkit()
    for fault in faults:
        lacks = ""
        if fault.needs == "gpu" and not gpu:
            lacks = "no GPU"
        elif fault.needs == "toolkit" and not toolkit:
            lacks = "no CUDA toolkit"
        if is_stale(fault, places):
            report(Result(fault, "stale", places[fault.name]))
        elif lacks:
            report(Result(fault, "skipped", lacks))
        else:
            tried.append(fault)
    threads = [threading.Thread(target=work, args=each, daemon=True)
               for each in enumerate(shares(tried, options.at_once))]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(1)
    return results, failure


def table(results, faults, places):
    print(f"\n{'':3} {'fault':28} {'file':32} {'seconds':>7}  result")
    for fault in faults:
        r = results.get(fault.name)
        if r is None:
            continue
        print(f"{fault.number:3} {fault.name:28} {path_of(fault, places):32} "
              f"{r.built + r.ran:7.0f}  {said_of(r)}")
        if r.verdict != "caught" and fault.missed:
            print(f"{'':4}{fault.missed}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("faults", nargs="*", help="names, patterns of names, numbers or ranges of numbers (all)")
    add("--file", default="", help="only faults in files with this in their path")
    add("--needs", choices=["gpu", "toolkit", "nothing"],
        help="only faults that need a GPU, a CUDA toolkit, or neither")
    add("--list", action="store_true",
        help="print where each fault lies and what it breaks; the status is 1 if one is stale")
    add("--jobs", type=int, default=os.cpu_count(), help="compilers at once in a tree (all cores)")
    add("--at-once", type=int, default=1, help="faults at once, each in a tree of its own (1)")
    add("--limit", type=float, default=180, help="seconds that a fault may take (180)")
    add("--at-least", type=int,
        help="the status is 1 if fewer are caught (nine of ten of those that were tried)")
    add("--work", type=Path, default=ROOT / "build/mutation",
        help="folder in which the trees are made (build/mutation)")
    add("--keep", action="store_true", help="keep the trees, for the next run and for their logs")
    options = parser.parse_args()
    options.work = options.work.resolve()

    faults = read_faults(HERE / "faults.txt")
    places = places_of(faults, Sources(ROOT))
    faults = choose(faults, options.faults, options.file, places)
    if options.needs:
        faults = [f for f in faults if f.needs == options.needs.replace("nothing", "")]
    if options.list:
        for f in faults:
            place = places[f.name]
            where = f"STALE, {place}" if is_stale(f, places) else f"{place.path}:{place.line}"
            print(f"{f.number:3} {f.name:28} {f.entity or f.file} ({where}): {f.breaks}"
                  f"{' [' + f.needs + ']' if f.needs else ''}")
        return any(is_stale(f, places) for f in faults)

    began = time.monotonic()
    results, failure = check(faults, places, options)
    table(results, faults, places)
    verdicts = [r.verdict for r in results.values()]
    tried = sum(v != "skipped" for v in verdicts)
    caught = verdicts.count("caught")
    wanted = options.at_least if options.at_least is not None else -(-9 * tried // 10)
    others = ", ".join(f"{verdicts.count(v)} {v}" for v in VERDICTS if v in verdicts)
    print(f"\n{caught} of {tried} caught{'; ' + others if others else ''}; "
          f"{time.monotonic() - began:.0f} s")
    for why in failure:
        print(why, file=sys.stderr)
    if not options.keep and not failure:
        shutil.rmtree(options.work, ignore_errors=True)
    return bool(failure) or caught < wanted


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(int(main()))
    except (Stop, Wrong) as why:
        sys.exit(str(why))
    except KeyboardInterrupt:
        for process in list(RUNNING):
            os.killpg(process, signal.SIGKILL)
        sys.exit(130)
