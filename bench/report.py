#!/usr/bin/env python3
"""Joins the JSON files of bench_cuda, bench_host and peers.py into one table, and writes docs/performance.md and its pictures.

    report.py FILE...                                   prints the table
    report.py FILE... --pictures DIR                    draws the pictures as well
    report.py FILE... --page docs/performance.md        rewrites the page between its two markers, and docs/performance/*.svg
"""
import argparse
import json
import math
import os
import re
import statistics
import sys
from dataclasses import dataclass, field

# The columns beside dsl's: a heading, and the names of what runs ("by") that it shows. The best of several is shown.
PEERS = {
    "by hand": ("hand",),
    "CUB": ("CUB",),
    "Thrust": ("Thrust",),
    "CuPy": ("CuPy",),
    "CuPy fuse": ("CuPy fuse",),
    "PyTorch": ("PyTorch",),
    "torch.compile": ("torch.compile",),
    "JAX": ("JAX",),
    "Numba": ("Numba", "Numba parallel"),
    "NumPy": ("NumPy",),
    "std": ("std",),
}
BEGIN, END = "<!-- What the last run printed: from here -->", "<!-- What the last run printed: to here -->"
TO_MS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
# What Google Benchmark appends to a name.
APPENDED = re.compile(r"(/((iterations|repeats|min_time|min_warmup_time|threads):[^/]*|manual_time|real_time|process_time))+$")


@dataclass
class Row:
    """One measurement: of a work by a library."""

    ms: float = math.nan
    counters: dict = field(default_factory=dict)
    error: str = ""


@dataclass
class Table:
    """rows[device, group, dtype, size, work][by] is a Row, in the order of the files; contexts[file name] is a file's context."""

    rows: dict = field(default_factory=dict)
    contexts: dict = field(default_factory=dict)


def device_of(context):
    """Where a file's rows ran: "cuda" or "host"."""
    return context.get("device") or ("cuda" if "cuda" in os.path.basename(context.get("executable", "")) else "host")


def read(paths):
    """The join of Google Benchmark's JSON files by device, group, dtype, size and work. Of repetitions the median counts."""
    table = Table()
    for path in paths:
        with open(path) as file:
            content = json.load(file)
        table.contexts[os.path.basename(path)] = context = content["context"]
        repeated = {}
        for entry in content["benchmarks"]:
            aggregate = entry.get("run_type") == "aggregate"
            if aggregate and entry.get("aggregate_name") != "median":
                continue
            name = APPENDED.sub("", entry.get("run_name") or entry["name"])
            parts = name.split("/", 4)
            if len(parts) != 5:
                print(f"{path}: '{name}' is not group/dtype/size/by/work", file=sys.stderr)
                continue
            group, dtype, size, by, work = parts
            if entry.get("error_occurred"):
                row = Row(error=entry.get("error_message") or "error")
            else:
                row = Row(entry["real_time"] * TO_MS[entry.get("time_unit", "ns")], {k: v for k, v in entry.items() if isinstance(v, (int, float))})
            repeated.setdefault(((device_of(context), group, dtype, size, work), by), []).append((aggregate, row))
        for (key, by), measured in repeated.items():
            of_median = [row for aggregate, row in measured if aggregate] or [row for _, row in measured]
            row = next((row for row in of_median if row.error), of_median[0])
            if not row.error:
                row.ms = statistics.median(row.ms for row in of_median)
            table.rows.setdefault(key, {})[by] = row
    return table


def peer_of(by):
    """The heading of the column that shows `by`, or None for dsl itself."""
    if by == "dsl" or by.startswith("dsl "):
        return None
    for heading, names in PEERS.items():
        if by in names or (heading == "by hand" and "hand" in by):
            return heading
    return by


def columns_of(cell_rows):
    """The columns that these rows need, in the order of PEERS, others after them."""
    seen = {peer_of(by) for row in cell_rows for by in row} - {None}
    return [heading for heading in PEERS if heading in seen] + sorted(seen - set(PEERS))


def best(row, heading):
    """The fastest Row of a column; one with an error if there is no other; None if there is none. The heading None is dsl's."""
    found = [measured for by, measured in row.items() if peer_of(by) == heading]
    return min(found, key=lambda measured: math.inf if measured.error else measured.ms, default=None)


def milliseconds(ms):
    """Four digits, and never an exponent."""
    if ms <= 0 or math.isnan(ms):
        return ""
    return f"{ms:.{min(6, max(0, 3 - math.floor(math.log10(ms))))}f}"


def elements(size):
    """The number of elements of "1024" or "32x32"."""
    return math.prod(int(part) for part in re.findall(r"\d+", size)) if re.search(r"\d", size) else 0


def size_text(size):
    """2^27 for a power of two from 2^10 on, 8192 x 8192 for 8192x8192."""
    if size.isdigit():
        n = int(size)
        return f"2^{n.bit_length() - 1}" if n >= 1024 and n & (n - 1) == 0 else size
    return size.replace("x", " x ")


def line_of(key, row, columns, mark):
    """The cells of one line; mark(text) marks the fastest."""
    _, _, dtype, size, work = key
    mine = best(row, None)
    times = {heading: best(row, heading) for heading in columns}
    everyone = [measured.ms for measured in [mine, *times.values()] if measured and not measured.error]
    fastest = min(everyone, default=math.nan)

    def cell(measured):
        if measured is None:
            return ""
        if measured.error:
            return "failed"
        text = milliseconds(measured.ms)
        return mark(text) if measured.ms == fastest and len(everyone) > 1 else text

    def counter(name, digits="{:.0f}"):
        # A row that dsl lacks, as the copy, shows its only measurement's counters.
        shown = mine or (next(iter(row.values())) if len(row) == 1 else None)
        return digits.format(shown.counters[name]) if shown and not shown.error and name in shown.counters else ""

    peers = [measured.ms for measured in times.values() if measured and not measured.error]
    ratio = f"{mine.ms / min(peers):.2f}" if mine and not mine.error and peers else ""
    return [work, dtype, size_text(size), cell(mine), counter("GB/s"), counter("percent of copy"), *(cell(times[heading]) for heading in columns), ratio]


HEAD = ["work", "dtype", "size", "dsl, ms", "GB/s", "% of copy"]
LAST = "dsl / best peer"


def print_table(table, out=sys.stdout):
    """One table for the terminal: a line a work, * at the fastest."""
    columns = columns_of(table.rows.values())
    lines = [[*HEAD, *columns, LAST]]
    titles = {}
    for (device, group), keys in groups_of(table).items():
        titles[len(lines)] = f"{device}: {group}"
        lines += [line_of(key, table.rows[key], columns, "*{}".format) for key in keys]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for i, line in enumerate(lines):
        if i in titles:
            print(f"\n{titles[i]}", file=out)
        print("  ".join(text.ljust(width) if k < 3 else text.rjust(width) for k, (text, width) in enumerate(zip(line, widths))).rstrip(), file=out)
    for key, row in table.rows.items():
        for by, measured in row.items():
            if measured.error:
                print(f"failed: {by}, {' '.join(key)}: {measured.error}", file=out)


def groups_of(table, device=None):
    """(device, group) -> keys, cuda first, groups and rows in the order in which they came."""
    groups = {}
    for key in table.rows:
        if device in (None, key[0]):
            groups.setdefault(key[:2], []).append(key)
    return dict(sorted(groups.items(), key=lambda item: item[0][0] != "cuda"))


def is_sweep(table, keys):
    """Whether a work is there at so many sizes that a page shows it as a line for each work and a column for each size."""
    sizes = {}
    for _, _, dtype, size, work in keys:
        sizes.setdefault((dtype, work), set()).add(size)
    return max(map(len, sizes.values()), default=0) > 4


def markdown_row(cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def code(work):
    """A formula in code font; words as they are."""
    return f"`{work}`" if re.search(r"[()*+\[\]=]", work) else work


def plain_table(table, keys):
    """A line a work: dsl's time, GB/s and part of the copy, then the peers' times."""
    columns = columns_of(table.rows[key] for key in keys)
    dtypes = {key[2] for key in keys}
    sizes = {key[3] for key in keys}
    # A column that says the same in every line is said once, above the table.
    hidden = [1] * (len(dtypes) == 1) + [2] * (len(sizes) == 1)
    said = ", ".join([*dtypes] * (len(dtypes) == 1) + [size_text(size) for size in sizes] * (len(sizes) == 1))
    keep = lambda cells: [cell for i, cell in enumerate(cells) if i not in hidden]
    lines = [f"{said}, milliseconds:" if said else "Milliseconds:", ""]
    head = keep([*HEAD, *columns, LAST])
    lines += [markdown_row(head), "|" + " --- |" * len(head)]
    for key in keys:
        cells = line_of(key, table.rows[key], columns, "**{}**".format)
        lines.append(markdown_row(keep([code(cells[0]), *cells[1:]])))
    return lines


def sweep_table(table, keys):
    """Microseconds over sizes, a line for each work and library."""
    sizes = sorted({key[3] for key in keys}, key=elements)
    if len(sizes) > 10:
        step = math.ceil(len(sizes) / 10)
        sizes = sizes[::-1][::step][::-1]
    lines = ["Microseconds a call:", "", markdown_row(["work", "dtype", "by", *map(size_text, sizes)]), "|" + " --- |" * (3 + len(sizes))]
    works = {}
    for key in keys:
        works.setdefault((key[4], key[2]), {})[key[3]] = table.rows[key]
    for (work, dtype), by_size in works.items():
        for heading in [None, *columns_of(by_size.values())]:
            cells = []
            for size in sizes:
                row = by_size.get(size, {})
                measured = best(row, heading)
                fastest = min((m.ms for m in row.values() if not m.error), default=math.nan)
                text = "" if measured is None else "failed" if measured.error else milliseconds(1e3 * measured.ms)
                cells.append(f"**{text}**" if measured and measured.ms == fastest and len(row) > 1 else text)
            if any(cells):
                lines.append(markdown_row([code(work), dtype, heading or "dsl", *cells]))
    return lines


# Of a file's context, what names the machine or says nothing about the measurement.
NOT_SHOWN = re.compile(r"host_name|executable|mhz_per_cpu|cpu_scaling_enabled|aslr_enabled|caches|load_avg|json_schema_version|command|library_build_type")


def context_lines(table):
    """What was measured with what: the contexts of all files, each value once."""
    lines, seen = ["| | |", "| --- | --- |"], set()
    commands = dict.fromkeys(context["command"] for context in table.contexts.values() if "command" in context)
    for context in table.contexts.values():
        for name, value in context.items():
            if NOT_SHOWN.fullmatch(name) or isinstance(value, (dict, list)):
                continue
            name, value = {"library_version": "Google Benchmark", "num_cpus": "cores"}.get(name, name), str(value)
            if name == "date":
                value = value[:10]
            if name == "device" or (name, value) in seen:
                continue
            seen.add((name, value))
            lines.append(markdown_row([name, value]))
    return lines + [markdown_row(["command", f"`{command}`"]) for command in commands]


def page_part(table, pictures):
    """What stands between the page's markers; pictures are (path, what it shows)."""
    lines = [*context_lines(table), ""]
    for path, caption in pictures:
        lines += [f"![{caption}]({path})", "", f"{caption}.", ""]
    for (device, group), keys in groups_of(table).items():
        lines += [f"### {'GPU' if device == 'cuda' else 'Host'}: {group}", ""]
        lines += [*(sweep_table if is_sweep(table, keys) else plain_table)(table, keys), ""]
    return "\n".join(lines)


def between_markers(page, part):
    """The page with `part` between its markers. ValueError if they are not there once each, in order."""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise ValueError(f"the page needs one line '{BEGIN}' and after it one line '{END}'")
    return page[: page.index(BEGIN) + len(BEGIN)] + "\n\n" + part.strip() + "\n\n" + page[page.index(END) :]


def draw(table, folder):
    """The pictures as (file name, what it shows); none where matplotlib is missing."""
    try:
        import pictures
    except ImportError as missing:
        print(f"No pictures: {missing} (Debian and Ubuntu: python3-matplotlib).", file=sys.stderr)
        return []
    os.makedirs(folder, exist_ok=True)
    return pictures.draw(table, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--pictures", metavar="DIR", help="draw the pictures there")
    parser.add_argument("--page", help="rewrite this page between its markers, its pictures in a folder of its name")
    arguments = parser.parse_args()
    table = read(arguments.files)
    if not table.rows:
        sys.exit("report.py: no rows in " + ", ".join(arguments.files))
    print_table(table)
    if arguments.pictures:
        draw(table, arguments.pictures)
    if arguments.page:
        folder = os.path.splitext(arguments.page)[0]
        drawn = [(f"{os.path.basename(folder)}/{name}", caption) for name, caption in draw(table, folder)]
        with open(arguments.page) as file:
            page = between_markers(file.read(), page_part(table, drawn))
        with open(arguments.page, "w") as file:
            file.write(page)


if __name__ == "__main__":
    main()
