#!/usr/bin/env python3
"""Compiles wrong programs and checks the compilers' messages.

usage: check.py [options] COMPILER INCLUDE_DIRECTORY [CASE...]

Each .cpp file in this folder has a prelude and cases, which begin with a comment:

    // case NAME
    // says: a part of the one error's line
    // nvcc says: the same, where that compiler says something else
    // lines: g++ 6, nvcc 9, clang++ 7
    // mentions: the same, of what the compiler says in its own words
    // options: -arch=sm_75
    // without: an option of those that all cases are compiled with
    // errors: g++ 2
    // alone: why --quick does not compile it beside others

A case must not compile with a compiler that "lines" names. Its output has that many lines at most,
never more than MOST_LINES, and one error, or as many as "errors" says; the first error's first line
contains the sentence. "nvcc compiles" in "lines" means that nvcc accepts the case. A case with an
#include of its own is compiled without the prelude.

--quick takes the first case for each sentence and compiles them together, after the preludes of all
files; the cases' names in the errors tell them apart. --record writes the numbers of lines into the files. --show
prints the compiler's output.
--page FILE: the sentences in the table of that page must be those of the cases.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# clang shows the source of each step that leads to an error.
MOST_LINES = {"g++": 15, "nvcc": 15, "clang++": 45}
# The compilers' versions for which "lines" hold; for others only MOST_LINES holds.
RECORDED = {"g++": "12", "nvcc": "13.0", "clang++": "14"}
here = pathlib.Path(__file__).resolve().parent


class Case:
    def __init__(self, file, prelude, name, text):
        self.file, self.prelude, self.name = file, prelude, name
        notes, self.code = [], []
        for line in text:
            (notes if not self.code and line.startswith("// ") else self.code).append(line)
        self.notes = dict(note[3:].split(": ", 1) for note in notes)
        self.lines = {}
        for entry in filter(None, self.notes.get("lines", "").split(", ")):
            compiler, count = entry.split(" ")
            self.lines[compiler] = None if count == "compiles" else int(count)
        self.errors = dict(
            entry.split(" ") for entry in filter(None, self.notes.get("errors", "").split(", "))
        )
        self.options = self.notes.get("options", "").split()
        self.own_prelude = any(line.startswith("#include") for line in self.code)
        self.alone = (
            bool(self.options)
            or self.own_prelude
            or "without" in self.notes
            or "alone" in self.notes
        )

    def says(self, compiler):
        keys = (compiler + " says", compiler + " mentions", "says", "mentions")
        return next((self.notes[key] for key in keys if key in self.notes), None)

    def spelled(self):
        prelude = [] if self.own_prelude else self.prelude
        return "\n".join(prelude + [f'#line 1 "{self.name}"'] + self.code) + "\n"


def read_cases():
    cases = []
    for file in sorted(here.glob("*.cpp")):
        parts = re.split(r"^// case (\w+)\n", file.read_text(), flags=re.M)
        prelude = parts[0].splitlines()
        cases += [
            Case(file, prelude, name, text.splitlines())
            for name, text in zip(parts[1::2], parts[2::2])
        ]
    names = [case.name for case in cases]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        sys.exit(f"two cases of one name: {sorted(twice)}")
    return cases


class Compiler:
    def __init__(self, command, includes, work):
        self.work = work
        name = pathlib.Path(command).name
        self.kind = "nvcc" if name.startswith("nvcc") else "clang++" if "clang" in name else "g++"
        self.command = [command, f"-I{includes}"]
        self.first, self.records = [], False
        said = subprocess.run([command, "--version"], stdout=subprocess.PIPE, text=True).stdout
        version = re.search(r"release (\S+)," if self.kind == "nvcc" else r" (\d+)\.\d+", said)
        self.is_recorded = version is not None and version.group(1) == RECORDED[self.kind]
        if self.kind == "nvcc":
            self.command += ["-x", "cu", "--expt-relaxed-constexpr", "-c", "-o", "/dev/null"]
        else:
            self.command += ["-fsyntax-only", "-fdiagnostics-color=never"]
        # The library's headers are parsed once for all cases.
        if self.kind == "g++":
            header = work / "dsl.hpp"
            header.write_text(
                "".join(f"#include <dsl/{name}.hpp>\n" for name in ("dsl", "ode", "scan"))
            )
            subprocess.run([
                command, "-std=c++20", f"-I{includes}", "-x", "c++-header",
                str(header), "-o", f"{header}.gch"
            ], check=True)
            self.first = ["-include", str(header)]

    def run(self, name, text, options, own_prelude=False, without=None, together=False):
        source = self.work / f"{name}.cpp"
        source.write_text(text)
        command = [o for o in self.command if o != without] + ([] if own_prelude else self.first)
        if not any(o.startswith("-std") for o in options):
            command.append("-std=c++20")
        if self.kind == "nvcc" and not any("arch" in o for o in options):
            command.append("-arch=sm_80")
        if together:
            command[command.index("-c")] = "-ptx"
            command.append("-Xcudafe=--error_limit=1000")
        result = subprocess.run(
            command + options + [str(source)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return result.returncode, result.stdout.replace(str(self.work) + "/", "")


def errors_of(output):
    return [line for line in output.splitlines() if re.search(r"\b(error|fatal error): ", line)]


def check_alone(compiler, case, show):
    """The error, and the number of lines."""
    code, output = compiler.run(
        case.name, case.spelled(), case.options, case.own_prelude, case.notes.get("without")
    )
    count = len(output.splitlines())
    if show:
        print(f"--- {case.name}\n{output}")
    kind = compiler.kind
    if kind in case.lines and case.lines[kind] is None:
        return ([] if code == 0 else ["does not compile: " + output[:300]]), count
    if code == 0:
        return ["compiles"], 0
    wrong, errors = [], errors_of(output)
    if len(errors) != int(case.errors.get(kind, 1)):
        wrong.append(f"{len(errors)} errors")
    if not errors or case.says(kind) is None or case.says(kind) not in errors[0]:
        wrong.append(f"says: {errors[0] if errors else output[:300]}")
    most = MOST_LINES[kind]
    if compiler.is_recorded and not compiler.records:
        most = min(case.lines.get(kind) or most, most)
    if count > most:
        wrong.append(f"{count} lines, for {most}")
    return wrong, count


def blocks_of(output):
    """nvcc ends each error with an empty line."""
    return [block for block in output.split("\n\n") if errors_of(block)]


def gcc_blocks_of(output):
    """GCC explains the context before an error, and adds notes after it, which may begin in the
    same way."""
    way = re.compile(
        r"^(In file included|  *from )|: (In|At) [a-z ]|^\S+:   (required|recursively|in "
        r".constexpr)"
    )
    blocks, at_end = [], True
    for line in output.splitlines():
        is_way = bool(way.search(line))
        if (
            (is_way and at_end)
            or not blocks
            or (errors_of(line) and errors_of("\n".join(blocks[-1])))
        ):
            blocks.append([])
        at_end = not is_way
        blocks[-1].append(line)
    joined = []
    for block in blocks:
        if errors_of("\n".join(block)) or not joined:
            joined.append(block)
        else:
            joined[-1] += block
    return ["\n".join(block) for block in joined]


def check_together(compiler, cases, show):
    """The errors of cases of several files, by name."""
    preludes = {case.file: case.prelude for case in cases}
    text = [line for prelude in preludes.values() for line in prelude]
    for case in cases:
        text += [f"namespace {case.name} {{", f'#line 1 "{case.name}"'] + case.code + ["}"]
    code, output = compiler.run(
        "together", "\n".join(text) + "\n", [], together=compiler.kind == "nvcc"
    )
    if show:
        print(output)
    blocks = blocks_of(output) if compiler.kind == "nvcc" else gcc_blocks_of(output)
    wrong = {}
    for case in cases:
        mine = [b for b in blocks if re.search(rf"(^|\W){case.name}([:(\"]|$)", b, flags=re.M)]
        said = [errors_of(b)[0] for b in mine]
        if len(mine) != int(case.errors.get(compiler.kind, 1)):
            wrong[case.name] = [f"{len(mine)} errors: " + " | ".join(said)]
        elif case.says(compiler.kind) not in said[0]:
            wrong[case.name] = [f"says: {said[0]}"]
        elif len(mine[0].splitlines()) > MOST_LINES[compiler.kind]:
            wrong[case.name] = [f"{len(mine[0].splitlines())} lines"]
        blocks = [b for b in blocks if b not in mine]
    if blocks:
        wrong["together"] = [f"an error of no case: {errors_of(b)[0]}" for b in blocks]
    return wrong


def record(compiler, counts, cases):
    for file in {case.file for case in cases}:
        text = file.read_text()
        for case in cases:
            if case.file != file or counts.get(case.name) is None:
                continue
            lines = dict(case.lines)
            if lines.get(compiler.kind, 0) is not None:
                lines[compiler.kind] = counts[case.name]
            spelled = ", ".join(
                f"{k} {'compiles' if v is None else v}"
                for k, v in sorted(lines.items(), key=lambda e: -ord(e[0][0]))
            )
            text = re.sub(
                rf"(// case {case.name}\n(?:// (?!lines).*\n)*)(?:// lines: .*\n)?",
                rf"\1// lines: {spelled}\n",
                text,
            )
        file.write_text(text)


def sentences_of_page(page):
    """The second cells of the tables under "Errors of the compiler"."""
    section = page.read_text().split("## Errors of the compiler", 1)[1].split("\n## ", 1)[0]
    rows = [
        re.split(r"(?<!\\) \| ", line)[1]
        for line in section.splitlines()
        if line.startswith("| ") and not line.startswith("| ---")
    ]
    return [row.replace("`", "") for row in rows if row != "the compiler says"]


def check_page(page, cases):
    said = [
        sentence for case in cases for key, sentence in case.notes.items() if key.endswith("says")
    ]
    rows = sentences_of_page(page)
    failures = [
        f"no case says what {page.name} lists: {row}"
        for row in rows
        if not any(row in s or s in row for s in said)
    ]
    return failures + [
        f"{page.name} does not list: {s}"
        for s in sorted(set(said))
        if not any(row in s or s in row for row in rows)
    ]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for flag in ("--quick", "--record", "--show"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("compiler")
    parser.add_argument("includes", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    cases, failures, counts = read_cases(), [], {}
    if given.page:
        failures += check_page(given.page, cases)
    with tempfile.TemporaryDirectory() as work:
        compiler = Compiler(given.compiler, given.includes.resolve(), pathlib.Path(work))
        compiler.records = given.record
        cases = [
            c
            for c in cases
            if (not given.names or c.name in given.names)
            and (given.record or compiler.kind in c.lines)
        ]
        if given.quick:
            cases = list({case.says(compiler.kind): case for case in reversed(cases)}.values())
        jobs = []
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            together = [
                c
                for c in cases
                if given.quick and not c.alone and c.lines.get(compiler.kind) is not None
            ]
            if together:
                jobs.append((together, pool.submit(check_together, compiler, together, given.show)))
            for case in cases:
                if case not in together:
                    jobs.append(([case], pool.submit(check_alone, compiler, case, given.show)))
        for mine, job in jobs:
            result = job.result()
            if isinstance(result, tuple):
                counts[mine[0].name] = None if result[0] else result[1]
                result = {mine[0].name: result[0]} if result[0] else {}
            failures += [
                f"{name}: {what}" for name, all_of_it in result.items() for what in all_of_it
            ]
    if given.record:
        record(compiler, counts, cases)
    for failure in failures:
        print("FAILED:", failure)
    print(f"{len(cases)} cases, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
