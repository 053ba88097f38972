#!/usr/bin/env python3
"""Compares the code that compilers generate for formulas.cu with the recorded one. Needs no GPU.

usage: check.py [--record] COMPILER INCLUDE_DIRECTORY

With nvcc: for each kernel, the global loads and stores by width in bytes ("16x2 4x8" is two of 16
bytes and eight of 4), and the spilled bytes, must be exactly as in kernels.txt. Registers and
instructions may be a few percent more. The kernel of the RK4 step may have at most a tenth more
registers than the hand-written one in by_hand.cu. It must have twice as many loads and stores of 16
bytes: it has them once for arrays that are all in whole vectors, and once for any others.
With another compiler: for each formula's loop and each of three instruction sets, the instructions,
those on whole vectors, and the calls of vector functions and of others must be as in loops_g++.txt
or loops_clang++.txt.

--record writes the file. If the compiler's version is not the recorded one, the numbers are printed
and not compared.
"""
import argparse
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
# Allowed excess over the recorded value: a fraction and a number.
SPARE = {"registers": (0.05, 2), "instructions": (0.05, 4)}


def output_of(command, **options):
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    if done.returncode == 77:
        return None
    if done.returncode != 0:
        sys.exit(done.stdout)
    return done.stdout


def demangled(names):
    names = list(names)
    lines = subprocess.run(
        ["c++filt"], input="\n".join(names), stdout=subprocess.PIPE, text=True, check=True
    ).stdout.splitlines()
    return dict(zip(names, lines))


def template_arguments(spelled):
    """The arguments of the first template-id in a name."""
    found, depth = [], 0
    for c in spelled[spelled.index("<"):]:
        depth += {"<": 1, ">": -1}.get(c, 0)
        if depth == 0:
            break
        if c == "<" and depth == 1 or c == "," and depth == 1:
            found.append("")
        else:
            found[-1] += c
    return [argument.strip() for argument in found]


def short(name):
    """A name without namespaces."""
    return re.sub(r"\b\w+::", "", name).replace(", ", ",")


class Table:
    """The rows of a file, by the texts of their first columns."""

    def __init__(self, path, columns, keys):
        self.path, self.columns, self.keys = path, columns, keys
        self.version, self.rows = None, {}
        for line in path.read_text().splitlines() if path.exists() else []:
            if line.startswith("# by "):
                self.version = line[5:]
            elif line and not line.startswith("#"):
                cells = re.split(r"  +", line.strip())
                self.rows[tuple(cells[:keys])] = dict(zip(columns[keys:], cells[keys:]))

    def write(self, version, rows):
        lines = [self.columns] + [
            list(key) + [row[c] for c in self.columns[self.keys :]]
            for key, row in sorted(rows.items())
        ]
        widths = [max(len(str(line[i])) for line in lines) for i in range(len(self.columns))]
        text = [
            "  ".join(str(cell).ljust(width) for cell, width in zip(line, widths)).rstrip()
            for line in lines
        ]
        text[0] = "# " + re.sub(r"^(\S+)  ", r"\1", text[0], count=1)
        self.path.write_text(
            "# check.py --record writes this.\n# by " + version + "\n" + "\n".join(text) + "\n"
        )

    def compare(self, rows):
        wrong = []
        for key in sorted(rows.keys() | self.rows.keys()):
            name = " ".join(key)
            if key not in rows or key not in self.rows:
                missing = key not in rows
                wrong.append(
                    f"{name}: "
                    + ("is not there any more" if missing else f"is not recorded: {rows[key]}")
                )
                continue
            for column, was in self.rows[key].items():
                now = str(rows[key][column])
                if column in SPARE:
                    part, number = SPARE[column]
                    fits = int(now) <= max(int(was) * (1 + part), int(was) + number)
                else:
                    fits = now == was
                if not fits:
                    wrong.append(f"{name}: {column}: {now}, recorded {was}")
        return wrong


def disassemble(cubin):
    """nvdisasm's listing, from the toolkit or PyPI; None if there is no nvdisasm."""
    found = shutil.which("nvdisasm")
    return output_of(
        ([found] if found else ["sh", str(here / "../style/tool.sh"), "nvdisasm"])
        + ["-c", str(cubin)]
    )


def widths_of(instructions):
    """The widths of load or store instructions, such as "16x2 4x8"."""
    count = collections.Counter()
    for parts in instructions:
        bits = next((int(p) for p in parts if p in ("64", "128", "256")), 32)
        bits = next(
            (int(re.sub(r"\D", "", p)) for p in parts if re.fullmatch(r"[US]?(8|16)", p)), bits
        )
        count[bits // 8] += 1
    return " ".join(f"{width}x{n}" for width, n in sorted(count.items(), reverse=True)) or "-"


def kernels_by(nvcc, includes, work):
    """A row for each kernel."""
    rows = {}
    for source in ("formulas.cu", "by_hand.cu"):
        cubin = work / (source + "bin")
        log = output_of([
            nvcc, "--expt-relaxed-constexpr", "-std=c++20", "-O3", "-arch=sm_90", f"-I{includes}",
            "-cubin", "-Xptxas", "-v", "-o", str(cubin), str(here / source)
        ])
        registers, spilled, entry = {}, collections.Counter(), None
        for line in log.splitlines():
            if match := re.search(r"Compiling entry function '(\w+)'", line):
                entry = match.group(1)
            elif match := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
                spilled[entry] += int(match.group(1)) + int(match.group(2))
            elif match := re.search(r"Used (\d+) registers", line):
                registers[entry] = int(match.group(1))
        listing = disassemble(cubin)
        code, entry = collections.defaultdict(list), None
        for line in (listing or "").splitlines():
            if match := re.match(r"\s*\.section\s+\.text\.(\w+)", line):
                entry = match.group(1)
            elif match := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)", line):
                code[entry].append(match.group(1).split("."))
        for mangled, name in demangled(registers).items():
            kernel = re.search(r"(\w+)[<(]", re.sub(r".*?kernels::", "", name, count=1)).group(1)
            formula, path = kernel, ""
            if "kernels::" in name:
                arguments = template_arguments(name[name.index("kernels::"):])
                formula = short(arguments[0])
                told_apart = r"(linear|strided|patched|haloed)_arguments|(true|false)$"
                kinds = [
                    re.match(told_apart, re.sub(r"^(dsl::detail::|\(\w+\))", "", a))
                    for a in arguments[1:]
                ]
                path = "".join(" " + next(filter(None, kind.groups())) for kind in kinds if kind)
            row = {
                "registers": registers[mangled], "spilled": spilled[mangled], "instructions": 0,
                "loads": "-", "stores": "-"
            }
            if listing:
                known = [parts for parts in code[mangled] if parts[0] != "NOP"]
                row["instructions"] = len(known)
                row["loads"] = widths_of(parts[1:] for parts in known if parts[0] in ("LDG", "LD"))
                row["stores"] = widths_of(parts[1:] for parts in known if parts[0] in ("STG", "ST"))
            key = (formula, kernel + path)
            if key in rows:
                sys.exit(f"two kernels are called {key}: give their formulas names")
            rows[key] = row
    return rows, listing is not None


def beside_hand(rows, has_code):
    """The resources of which the RK4 step's kernel has more than the hand-written one."""
    wrong = []
    hand = rows[("rk4_by_hand", "rk4_by_hand")]
    has = lambda text: sum(int(part[3:]) for part in text.split() if part.startswith("16x"))
    for name in ("rk4", "rk4_by_ode"):
        ours = rows[(name, "map linear")]
        if ours["registers"] > 1.1 * hand["registers"]:
            wrong.append(f"{name}: {ours['registers']} registers, by hand {hand['registers']}")
        if has_code and (has(ours["loads"]), has(ours["stores"])) != (
            2 * has(hand["loads"]),
            2 * has(hand["stores"]),
        ):
            wrong.append(
                f"{name}: loads {ours['loads']}, stores {ours['stores']}, by hand "
                f"{hand['loads']} and {hand['stores']}"
            )
    return wrong


REGISTER = {"2": "%xmm", "3": "%ymm", "4": "%zmm"}


def loop_of(lines, level):
    """Counts for the innermost loop with the most instructions on whole vectors."""
    labels, spans, best = {}, [], None
    for at, line in enumerate(lines):
        if match := re.match(r"(\.L\w+):", line):
            labels[match.group(1)] = at
        elif (match := re.match(r"\tj\w+\t(\.L\w+)", line)) and match.group(1) in labels:
            spans.append((labels[match.group(1)], at))
    for begin, end in spans:
        if any(begin <= b and e <= end and (b, e) != (begin, end) for b, e in spans):
            continue
        code = [
            line.strip()
            for line in lines[begin : end + 1]
            if line.startswith("\t") and not line.startswith("\t.")
        ]
        whole = sum(REGISTER[level] in line for line in code)
        calls = [line.split("\t")[1] for line in code if line.startswith(("call\t", "callq\t"))]
        counts = (
            whole,
            len(code),
            sum("_ZGV" in call for call in calls),
            sum("_ZGV" not in call for call in calls),
        )
        best = max(best or counts, counts)
    return "-" if best is None else "{1} {0} {2} {3}".format(*best)


def loops_by(compiler, includes, work):
    """A row for each formula's loop over elements, and one for its loop over strips."""
    assembly = work / "formulas.s"
    output_of([
        compiler, "-x", "c++", "-std=c++20", "-O3", "-DDSL_BACK_ENDS=host", f"-I{includes}", "-S",
        "-o", str(assembly), str(here / "formulas.cu")
    ])
    functions, name = {}, None
    labels = set()
    for line in assembly.read_text().splitlines():
        if match := re.match(r"(_Z\w+):", line):
            name = match.group(1)
            labels.add(name)
            functions[name] = []
        elif "\t.cfi_endproc" in line:
            name = None
        elif name:
            functions[name].append(line)
    spelled = demangled(labels)
    named = [
        template_arguments(s[kind.start() :])
        for s in spelled.values()
        if (kind := re.search(r"(pass|chain|scan)_kind<", s))
    ]
    rows = collections.defaultdict(dict)
    for mangled, text in spelled.items():
        match = re.search(r"host_loop<(.*)>::(strips_)?v([234])\(", text)
        if not match:
            continue
        owners = {
            a[0] for a in named if any(match.group(1).strip() in argument for argument in a[1:])
        } - {"dsl::detail::unnamed"}
        for owner in sorted(owners):
            key = (short(owner), "strips" if match.group(2) else "elements")
            column = {"2": "SSE2", "3": "AVX2", "4": "AVX-512"}[match.group(3)]
            counted = loop_of(functions[mangled], match.group(3))
            # A chain has several.
            rows[key][column] = ", ".join(
                sorted(filter(None, rows[key].get(column, "").split(", ") + [counted]))
            )
    return rows


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("compiler")
    parser.add_argument("includes")
    given = parser.parse_args()
    said = output_of([given.compiler, "--version"])
    with tempfile.TemporaryDirectory() as work:
        if "nvcc" in pathlib.Path(given.compiler).name:
            table = Table(
                here / "kernels.txt",
                ["formula", "kernel", "registers", "spilled", "instructions", "loads", "stores"],
                2,
            )
            version = "nvcc " + re.search(r"V([\d.]+)", said).group(1)
            rows, has_code = kernels_by(given.compiler, given.includes, pathlib.Path(work))
            wrong = beside_hand(rows, has_code)
            if not has_code:
                print("without nvdisasm: registers and spills alone")
                table.columns = table.columns[:4]
                table.rows = {
                    key: {c: row[c] for c in table.columns[2:]} for key, row in table.rows.items()
                }
        else:
            kind = "clang++" if "clang" in said else "g++"
            table = Table(
                here / f"loops_{kind}.txt", ["formula", "loop", "SSE2", "AVX2", "AVX-512"], 2
            )
            version = said.splitlines()[0]
            rows, wrong, has_code = (
                loops_by(given.compiler, given.includes, pathlib.Path(work)),
                [],
                True,
            )
    if given.record:
        if not has_code:
            sys.exit("nvdisasm is needed to record: it comes with CUDA, or from PyPI")
        table.write(version, rows)
    elif table.version == version:
        wrong += table.compare(rows)
    else:
        print(f"recorded by {table.version}, not by {version}")
    for line in wrong:
        print("FAILED:", line)
    print(f"{len(rows)} rows, {len(wrong)} failures")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
