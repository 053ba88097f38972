#!/usr/bin/env python3
"""Mutation check: do the quick tests find small faults in the sources?

Applies the faults of faults.txt, one at a time, to a copy of the sources, builds the tests that are named beside each and runs them.
A fault is caught where one of them fails that passes without it. The checkout itself is never changed.

  tests/mutation/check.py                      all faults but those that need a GPU or a CUDA toolkit that is not there
  tests/mutation/check.py last-tile 'npy-*'    some, by their names
  tests/mutation/check.py 1-10 --file lib/     the first ten of the list, of these those in files whose path has "lib/" in it
  tests/mutation/check.py --list               what there is
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
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COPIED = ["CMakeLists.txt", "README.md", "cmake", "docs", "include", "lib", "tests"]
RUNNING = set()   # compilers and tests, which end with the check
MEMORY = 8 << 30  # of a test, in bytes: a fault may ask for anything
LINKED = {"numpy": "numpy_reference", "reductions": "reduction_reference", "interpreter": "interpreter"}  # what tests of, or with, a folder need

# The library of the copy, and a GoogleTest binary for each set of test files that faults name. In a tree for GPUs nvcc compiles them.
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
  target_include_directories(${{name}} PRIVATE "{source}/lib" "${{CMAKE_BINARY_DIR}}/dsl/pages")  # the pages' examples
  target_link_libraries(${{name}} PRIVATE dsl::dsl GTest::gtest_main)
endfunction()
"""


class Stop(Exception):
    """The check cannot go on; the message says why."""


@dataclass(frozen=True)
class Test:
    kind: str       # "files", "target" or "ctest"
    what: tuple     # test files; a target of the project; a test of CTest and the targets that it needs
    filter: str     # GoogleTest's

    def binary(self):
        return re.sub(r"\W+", "_", "_".join(self.what)).removesuffix("_cpp") if self.kind == "files" else self.what[0]

    def targets(self):
        return self.what[1:] if self.kind == "ctest" else (self.binary(),)

    def __str__(self):
        return {"files": " ".join(self.what), "target": self.what[0], "ctest": "ctest " + self.what[0]}[self.kind]


@dataclass
class Fault:
    name: str
    number: int
    file: str = ""
    breaks: str = ""
    before: str = ""
    after: str = ""
    needs: str = ""              # "gpu", "toolkit" or nothing
    compiles: bool = True        # where not, the tests' build is what is to find it
    keeps_library: bool = False  # a header's fault that nothing but the tests' own files has to do with
    missed: str = ""             # why no quick test finds it, and what does
    tests: list = field(default_factory=list)

    def pattern(self):
        """Of the text before, however it is broken into lines: white space may stand between any two of its words and signs."""
        return re.compile(r"\s*".join(re.escape(token) for token in re.findall(r"\w+|[^\w\s]", self.before)))

    def is_stale(self):
        path = ROOT / self.file
        return not path.is_file() or len(self.pattern().findall(path.read_text())) != 1


def read_faults(path):
    """The list: blocks of `key value` lines below `== name`; lines of `- ` and `+ ` are the text before and after."""
    faults, before, after = [], [], []
    flags = {"keeps library": "keeps_library"}

    def close():
        if faults:
            faults[-1].before, faults[-1].after = "\n".join(before), "\n".join(after)
            if not (faults[-1].before and faults[-1].file and faults[-1].breaks and faults[-1].tests):
                raise Stop(f"{path}: {faults[-1].name} lacks a file, a sentence, a text or a test")
            before.clear(), after.clear()

    for number, line in enumerate(path.read_text().splitlines(), 1):
        key, _, value = line.partition(" ")
        if not line.strip() or key == "#":
            continue
        if key == "==":
            close()
            if any(f.name == value for f in faults):
                raise Stop(f"{path}:{number}: {value} stands there twice")
            faults.append(Fault(value, len(faults) + 1))
        elif not faults:
            raise Stop(f"{path}:{number}: text before the first fault")
        elif key == "-":
            before.append(value)
        elif key == "+":
            after.append(value)
        elif key == "test":
            what, _, chosen = value.partition(" : ")
            words = what.split()
            kind = words[0] if words[0] in ("target", "ctest") else "files"
            faults[-1].tests.append(Test(kind, tuple(words if kind == "files" else words[1:]), chosen.strip() or "*"))
        elif key in ("file", "breaks", "needs", "missed"):
            setattr(faults[-1], key, value)
        elif line == "compiles not":
            faults[-1].compiles = False
        elif line in flags:
            setattr(faults[-1], flags[line], True)
        else:
            raise Stop(f"{path}:{number}: not understood: {line}")
    close()
    return faults


def choose(faults, wanted, file):
    def is_wanted(fault, word):
        numbers = re.fullmatch(r"(\d+)(?:-(\d+))?", word)
        if numbers:
            return int(numbers[1]) <= fault.number <= int(numbers[2] or numbers[1])
        return fnmatch.fnmatch(fault.name, word)

    for word in wanted:
        if not any(is_wanted(f, word) for f in faults):
            raise Stop(f"there is no fault {word}")
    return [f for f in faults if (not wanted or any(is_wanted(f, w) for w in wanted)) and file in f.file]


def has_gpu():
    return subprocess.run(["sh", ROOT / "cmake/with_gpu.sh", "true"], capture_output=True).returncode == 0


def has_toolkit():
    return shutil.which("nvcc") is not None or Path("/usr/local/cuda/bin/nvcc").exists()


@dataclass
class Result:
    fault: Fault
    verdict: str        # "caught", "not caught", "does not compile", "stale", "skipped", "too slow"
    by: str = ""
    built: float = 0
    ran: float = 0


def included_by(path):
    """A test file and the files beside it that it includes, and those that they do."""
    found, left = set(), [path]
    while left:
        path = left.pop().resolve()
        if path not in found and path.is_file():
            found.add(path)
            left += [path.parent / name for name in re.findall(r'^ *#include "(.+)"', path.read_text(), re.M)]
    return found


class Tree:
    """A copy of the sources with a build of it, in which one fault at a time is tried."""

    def __init__(self, folder, cuda, jobs, limit):
        self.source, self.build, self.kept = folder / "source", folder / "build", folder / "kept"
        self.folder, self.cuda, self.jobs, self.limit = folder, cuda, jobs, limit
        self.log = folder / "log"

    def prepare(self, tests):
        """Builds the tests as they are and runs them: those that fail without a fault say nothing of one."""
        self.put_back_build()  # of a run that was stopped
        self.copy_sources()
        lines = PROJECT.format(source=self.source)
        for binary, files in sorted({(t.binary(), t.what) for t in tests if t.kind == "files"}):
            lines += f"binary({binary} {' '.join(files)})\n"
            for folder, library in LINKED.items():
                if any(folder in path.parts for f in files for path in included_by(ROOT / "tests" / f)):
                    lines += f"target_link_libraries({binary} PRIVATE {library})\n"
        (self.folder / "CMakeLists.txt").write_text(lines)
        options = ["-GNinja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON", "-DDSL_CCACHE=none",
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
        there = {p.relative_to(self.source) for p in self.source.rglob("*") if p.is_file()} if self.source.exists() else set()
        for name in COPIED:
            root = ROOT / name
            for path in [root] if root.is_file() else sorted(p for p in root.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
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
        """The build as it was without a fault: so the next one recompiles what it changes, and not what the one before did."""
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
        """Runs a command, its output into the log. Gives its status, None where it took too long, and the output."""
        with subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, start_new_session=True, **options) as process:
            RUNNING.add(process.pid)
            try:
                output, status = process.communicate(timeout=limit)[0], process.returncode
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, status = process.communicate()[0], None
            finally:
                RUNNING.discard(process.pid)
        with open(self.log, "a") as log:
            log.write(f"\n$ {' '.join(str(c) for c in command)}\n{output}\n")
        return status, output

    def must(self, command, limit):
        status, output = self.call(command, limit)
        if status != 0:
            raise Stop(f"{' '.join(str(c) for c in command[:3])} ... failed without a fault:\n{output[-2000:]}\nsee {self.log}")

    def run(self, test, limit=None):
        """What a test that fails is called, or nothing; and its output."""
        def restrict():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if not self.cuda:
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

        if test.kind == "ctest":
            status, output = self.call(["ctest", "--test-dir", self.build, "-R", f"^{re.escape(test.what[0])}$", "--no-tests=error", "--output-on-failure"], limit)
            return ("" if status == 0 else f"ctest {test.what[0]}"), output
        program = next((p for p in (self.build / test.binary(), *self.build.rglob(test.binary())) if p.is_file() and os.access(p, os.X_OK)), None)
        if program is None:
            raise Stop(f"there is no program {test.binary()}")
        status, output = self.call([program, f"--gtest_filter={test.filter}", "--gtest_fail_fast"], limit, preexec_fn=restrict)
        if re.search(r"^\[  PASSED  \] 0 tests", output, re.M) and status == 0:
            raise Stop(f"{test} : {test.filter} runs no test: the list is stale")
        if status == 0:
            return "", output
        failed = re.search(r"^\[  FAILED  \] ([^\s,]+)", output, re.M) or re.search(r"^\[ RUN      \] (\S+)(?![\s\S]*^\[ RUN )", output, re.M)
        name = failed[1] if failed else test.binary()
        return (f"{name} (does not end)" if status is None else f"{name} (signal {-status})" if status < 0 else name), output

    def attempt(self, fault):
        path = self.source / fault.file
        original, times = path.read_bytes(), path.stat()
        with open(self.log, "a") as log:
            log.write(f"\n==== {fault.name}: {fault.breaks}\n")
        try:
            path.write_text(fault.pattern().sub(lambda _: fault.after, original.decode()))
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
                        result.verdict, result.by = ("caught", f"building {test}") if not fault.compiles else ("does not compile", "")
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


def check(faults, options):
    results, lock, failure = {}, threading.Lock(), []

    def report(result):
        with lock:
            results[result.fault.name] = result
            said = f"{result.verdict} by {result.by}" if result.verdict == "caught" else f"{result.verdict} {result.by}".strip()
            print(f"{result.fault.number:3} {result.fault.name}: {said} ({result.built:.0f} + {result.ran:.0f} s)", flush=True)

    def work(number, share):
        try:
            for cuda in (False, True):
                mine = [f for f in share if (f.needs != "") == cuda]
                if not mine:
                    continue
                tree = Tree(options.work / f"{number}{'-cuda' if cuda else ''}", cuda, options.jobs, options.limit)
                tree.folder.mkdir(parents=True, exist_ok=True)
                began = time.monotonic()
                tree.prepare(list(dict.fromkeys(t for f in mine for t in f.tests)))
                with lock:
                    print(f"tree {number}: tests of {len(mine)} faults built and passed without one in {time.monotonic() - began:.0f} s", flush=True)
                for fault in mine:
                    report(tree.attempt(fault))
        except Stop as why:
            failure.append(str(why))

    tried = []
    gpu, toolkit = has_gpu(), has_toolkit()
    for fault in faults:
        lacks = "no GPU" if fault.needs == "gpu" and not gpu else "no CUDA toolkit" if fault.needs == "toolkit" and not toolkit else ""
        if fault.is_stale():
            report(Result(fault, "stale", "the text before is not there exactly once"))
        elif lacks:
            report(Result(fault, "skipped", lacks))
        else:
            tried.append(fault)
    threads = [threading.Thread(target=work, args=each, daemon=True) for each in enumerate(shares(tried, options.at_once))]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(1)
    return results, failure


def table(results, faults):
    print(f"\n{'':3} {'fault':28} {'file':32} {'seconds':>7}  result")
    for fault in faults:
        r = results.get(fault.name)
        if r is None:
            continue
        said = f"caught by {r.by}" if r.verdict == "caught" else f"{r.verdict} {r.by}".strip()
        print(f"{fault.number:3} {fault.name:28} {fault.file:32} {r.built + r.ran:7.0f}  {said}")
        if r.verdict != "caught" and fault.missed:
            print(f"{'':4}{fault.missed}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", help="names, patterns of names, numbers or ranges of numbers; all if there are none")
    parser.add_argument("--file", default="", help="only faults in files with this in their path")
    parser.add_argument("--needs", choices=["gpu", "toolkit", "nothing"], help="only faults that need a GPU, a CUDA toolkit, or neither")
    parser.add_argument("--list", action="store_true", help="say what each fault breaks, and stop; the status is 1 where one is stale")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at once in a tree (all cores)")
    parser.add_argument("--at-once", type=int, default=1, help="faults at once, each in a tree of its own (1)")
    parser.add_argument("--limit", type=float, default=180, help="seconds that a fault may take (180)")
    parser.add_argument("--at-least", type=int, help="the status is 1 where fewer are caught (nine of ten of those that were tried)")
    parser.add_argument("--work", type=Path, default=ROOT / "build/mutation", help="where the trees are made (build/mutation)")
    parser.add_argument("--keep", action="store_true", help="leave the trees there, for the next run and for a look at their logs")
    options = parser.parse_args()
    options.work = options.work.resolve()

    faults = choose(read_faults(HERE / "faults.txt"), options.faults, options.file)
    if options.needs:
        faults = [f for f in faults if f.needs == options.needs.replace("nothing", "")]
    if options.list:
        for f in faults:
            print(f"{f.number:3} {f.name:28} {f.file}: {f.breaks}{' [' + f.needs + ']' if f.needs else ''}{' STALE' if f.is_stale() else ''}")
        return any(f.is_stale() for f in faults)

    began = time.monotonic()
    results, failure = check(faults, options)
    table(results, faults)
    verdicts = [r.verdict for r in results.values()]
    tried = sum(v != "skipped" for v in verdicts)
    caught = verdicts.count("caught")
    wanted = options.at_least if options.at_least is not None else -(-9 * tried // 10)
    others = ", ".join(f"{verdicts.count(v)} {v}" for v in ("not caught", "does not compile", "too slow", "stale", "skipped") if v in verdicts)
    print(f"\n{caught} of {tried} caught{'; ' + others if others else ''}; {time.monotonic() - began:.0f} s")
    for why in failure:
        print(why, file=sys.stderr)
    if not options.keep and not failure:
        shutil.rmtree(options.work, ignore_errors=True)
    return bool(failure) or caught < wanted


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(int(main()))
    except Stop as why:
        sys.exit(str(why))
    except KeyboardInterrupt:
        for process in list(RUNNING):
            os.killpg(process, signal.SIGKILL)
        sys.exit(130)
