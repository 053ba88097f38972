#!/usr/bin/env python3
"""Joins the JSON files of bench_cuda, bench_host and peers.py into one table, and writes docs/performance.md and its pictures.

report.py FILE...                                   prints the table
report.py FILE... --pictures DIR                    draws the pictures as well
report.py FILE... --page docs/performance.md        rewrites the page between its markers, and docs/performance/*.svg

A page has a part between two markers for each of PARTS. Those for which the files have rows are rewritten, the others stay; so do the
tables of a device of which the files have no rows. Between a heading and its tables a part may have a reading: paragraphs between two
markers of their own, written by hand and kept as they are.

Rows of dsl that are behind stand first: those that reach less than 85 % of their limit, for which the page has no reason. The limit is a
copy of as many bytes in the same run, or the run's multiply-adds where a row counts its operations. Reasons are the lines of a table
between two markers, written by hand: where, work, dtype, size, why. An empty cell stands for any, "..." at the end of a work for any
rest, and a size may be several, separated by commas.
"""

import argparse
import json
import math
import os
import re
import statistics
import sys
from dataclasses import dataclass, field

from peer.devices import gpus_of

# Percent of its limit below which a row needs a reason.
LEAST_OF_LIMIT = 85

# The columns beside dsl's. It shows the best of what runs under its name or under that and more, as "hand, cooperative".
PEERS = [
    "hand",
    "copy",
    "CUB",
    "Thrust",
    "std",
    "cuRAND",
    "cuSPARSE",
    "CuPy",
    "CuPy fuse",
    "PyTorch",
    "torch.compile",
    "JAX",
    "Numba",
    "NumPy",
]
SHOWN_AS = {
    "cudaMemcpy": "copy",
    "memcpy": "copy",
    "par_unseq": "std",
    "Numba parallel": "Numba",
    "Numba vectorize": "Numba",
}
# What a page shows apart from all else: rows of these groups, from runs of their own.
PARTS = ["", "mesh", "random", "by key", "solver", "derivatives"]
TO_MS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
# What Google Benchmark appends to a name.
APPENDED = re.compile(
    r"(/((iterations|repeats|min_time|min_warmup_time|threads):[^/]*|manual_time|real_time|process_time))+$"
)


@dataclass
class Row:
    """One measurement: of a work by a library."""

    ms: float = math.nan
    counters: dict = field(default_factory=dict)
    error: str = ""


@dataclass
class Table:
    """rows[device, group, dtype, size, work][by] is a Row, in the order of the files; contexts[file name] is a file's context, and
    groups[file name] those that it has rows of."""

    rows: dict = field(default_factory=dict)
    contexts: dict = field(default_factory=dict)
    groups: dict = field(default_factory=dict)

    def part(self, name):
        """The rows of one of PARTS, and the files that they are from."""
        rows = {key: row for key, row in self.rows.items() if part_of(key[1]) == name}
        files = [
            file
            for file, groups in self.groups.items()
            if any(part_of(group) == name for group in groups)
        ]
        return Table(
            rows,
            {file: self.contexts[file] for file in files},
            {file: self.groups[file] for file in files},
        )


def part_of(group):
    return group if group in PARTS else ""


def device_of(context):
    """Where a file's rows ran: "cuda" or "host"."""
    return context.get("backend") or (
        "cuda" if "cuda" in os.path.basename(context.get("executable", "")) else "host"
    )


def read(paths):
    """The join of Google Benchmark's JSON files by device, group, dtype, size and work. Of repetitions the median counts."""
    table = Table()
    for path in paths:
        if os.path.getsize(path) == 0:
            continue  # what Google Benchmark leaves where no row is asked for
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
            table.groups.setdefault(os.path.basename(path), set()).add(group)
            if entry.get("error_occurred"):
                row = Row(error=entry.get("error_message") or "error")
            else:
                row = Row(
                    entry["real_time"] * TO_MS[entry.get("time_unit", "ns")],
                    {k: v for k, v in entry.items() if isinstance(v, (int, float))},
                )
            repeated.setdefault(((device_of(context), group, dtype, size, work), by), []).append(
                (aggregate, row)
            )
        for (key, by), measured in repeated.items():
            of_median = [row for aggregate, row in measured if aggregate] or [
                row for _, row in measured
            ]
            row = next((row for row in of_median if row.error), of_median[0])
            if not row.error:
                row.ms = statistics.median(row.ms for row in of_median)
            table.rows.setdefault(key, {})[by] = row
    return table


def heading_of(by):
    """The column of `by`. dsl's own is "dsl"; what it does in a way that was asked for, as "dsl graph", is no column."""
    return SHOWN_AS.get(by, by.split(",")[0])


def is_variant(by):
    return by.startswith("dsl ")


def columns_of(cell_rows):
    """The columns beside dsl's that these rows need, in the order of PEERS, others after them."""
    seen = {heading_of(by) for row in cell_rows for by in row if by != "dsl" and not is_variant(by)}
    return [heading for heading in PEERS if heading in seen] + sorted(seen - set(PEERS))


def best(row, heading):
    """The fastest Row of a column; one with an error if there is no other; None if there is none."""
    found = [measured for by, measured in row.items() if heading_of(by) == heading]
    return min(
        found, key=lambda measured: math.inf if measured.error else measured.ms, default=None
    )


def milliseconds(ms):
    """Four digits, and never an exponent."""
    if ms <= 0 or math.isnan(ms):
        return ""
    return f"{ms:.{min(7, max(0, 3 - math.floor(math.log10(ms))))}f}"


def elements(size):
    """The number of elements of "1024" or "32x32"."""
    return (
        math.prod(int(part) for part in re.findall(r"\d+", size)) if re.search(r"\d", size) else 0
    )


def size_text(size):
    """2^27, 2^27 + 1 and 10^7 for such powers; 8192 x 8192 and 8 x 10^7 for shapes."""
    if "x" in size:
        return " x ".join(size_text(part) if len(part) > 5 else part for part in size.split("x"))
    if re.fullmatch("10{5,}", size):
        return f"10^{len(size) - 1}"
    n = int(size) if size.isdigit() else 0
    for more, said in ((0, ""), (1, " + 1")):
        power = n - more
        if power >= 1024 and power & (power - 1) == 0:
            return f"2^{power.bit_length() - 1}{said}"
    return size


def line_of(key, row, columns, mark):
    """The cells of one line; mark(text) marks the fastest."""
    _, _, dtype, size, work = key
    mine = row.get("dsl")
    times = {heading: best(row, heading) for heading in columns}
    everyone = [
        measured.ms for measured in [mine, *times.values()] if measured and not measured.error
    ]
    fastest = min(everyone, default=math.nan)
    # A work that dsl has no row for, as the copy, shows another's bandwidth.
    shown = next(
        (measured for measured in [mine, *row.values()] if measured and not measured.error), Row()
    ).counters
    if "TFLOP/s" in shown:
        work += f", {shown['TFLOP/s']:.1f} TFLOP/s"

    def cell(measured):
        if measured is None:
            return ""
        if measured.error:
            return "failed"
        text = milliseconds(measured.ms)
        return mark(text) if measured.ms == fastest and len(everyone) > 1 else text

    counter = lambda name: f"{shown[name]:.0f}" if name in shown else ""
    peers = [measured.ms for measured in times.values() if measured and not measured.error]
    ratio = f"{mine.ms / min(peers):.2f}" if mine and not mine.error and peers else ""
    return [
        work,
        dtype,
        size_text(size),
        cell(mine),
        counter("GB/s"),
        counter("percent of copy"),
        *(cell(times[heading]) for heading in columns),
        ratio,
    ]


def lines_of(key, row, columns, mark):
    """line_of, and a line for each variant of dsl's."""
    yield line_of(key, row, columns, mark)
    for by, measured in row.items():
        if is_variant(by):
            cells = line_of(key, {"dsl": measured}, [], str)
            yield [f"{key[4]}: {by[4:]}", *cells[1:-1], *[""] * len(columns), ""]


HEAD = ["work", "dtype", "size", "dsl, ms", "GB/s", "% of copy"]
LAST = "dsl / best peer"


def print_lines(lines, out):
    """Prints lines of cells as columns, of which the first three begin at the left."""
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print(
            "  ".join(
                text.ljust(width) if k < 3 else text.rjust(width)
                for k, (text, width) in enumerate(zip(line, widths))
            ).rstrip(),
            file=out,
        )
    print(file=out)


def print_table(table, reasons=(), out=sys.stdout):
    """The table for the terminal: a line a work, each group with the columns that it needs, * at the fastest; then what is behind."""
    for (device, group), keys in groups_of(table).items():
        if group == "mesh":
            lines = mesh_lines(table, keys, "*{}".format)
            lines[0][0] = f"{device}: {group}"
        else:
            columns = columns_of(table.rows[key] for key in keys)
            lines = [[f"{device}: {group}", *HEAD[1:], *columns, LAST]]
            lines += [
                line
                for key in keys
                for line in lines_of(key, table.rows[key], columns, "*{}".format)
            ]
        print_lines(lines, out)
    if late := behind(table, reasons):
        print_lines([["behind", *BEHIND[1:]], *late], out)
    for key, row in table.rows.items():
        for by, measured in row.items():
            if measured.error:
                print(f"failed: {by}, {' '.join(key)}: {measured.error}", file=out)


def mesh_lines(table, keys, mark):
    """Of rows whose `by` is a library and a device, "dsl cuda:0-1": the head, and a line a work, in which mark(text) marks the fastest."""
    every = dict.fromkeys(tuple(by.split(" ")) for key in keys for by in table.rows[key])
    libraries = sorted({library for library, _ in every}, key=lambda library: library != "dsl")
    devices = sorted({device for _, device in every}, key=gpus_of)
    columns = [(library, device) for library in libraries for device in devices]
    plural = lambda device: "1 GPU" if gpus_of(device) == 1 else f"{gpus_of(device)} GPUs"
    heads = [f"{library}, {plural(device)}" for library, device in columns]
    faster = len(devices) > 1 and "dsl" in libraries
    lines = [
        [
            "work",
            "dtype",
            "size",
            *heads[: len(devices)],
            *["times as fast"] * faster,
            *heads[len(devices) :],
        ]
    ]
    for key in keys:
        row = {tuple(by.split(" ")): measured for by, measured in table.rows[key].items()}
        fastest = min(
            (measured.ms for measured in row.values() if not measured.error), default=math.nan
        )

        def cell(column):
            measured = row.get(column)
            if measured is None:
                return ""
            text = "failed" if measured.error else milliseconds(measured.ms)
            return mark(text) if measured.ms == fastest and len(row) > 1 else text

        cells = [cell(column) for column in columns]
        if faster:
            one, all_of_them = (row.get(("dsl", device)) for device in (devices[0], devices[-1]))
            both = one and all_of_them and not one.error and not all_of_them.error
            cells.insert(len(devices), f"{one.ms / all_of_them.ms:.2f}" if both else "")
        lines.append([key[4], key[2], size_text(key[3]), *cells])
    return lines


def mesh_table(table, keys):
    """The same for a page, and what the model of mesh_model.py makes of it, where there is NumPy."""
    head, *lines = mesh_lines(table, keys, "**{}**".format)
    lines = [[code(work), *cells] for work, *cells in lines]
    page = [
        "Milliseconds:",
        "",
        markdown_row(head),
        "|" + " --- |" * len(head),
        *map(markdown_row, lines),
    ]
    try:
        import mesh_model
    except ImportError as missing:
        print(f"No model of several GPUs: {missing}.", file=sys.stderr)
        return page
    model = mesh_model.lines_of(mesh_model.points_of(table))
    return [*page, "", *model] if model else page


def title_of(key):
    """Where a page shows a row: the device and the group."""
    return f"{'GPU' if key[0] == 'cuda' else 'Host'}: {key[1]}"


@dataclass
class Reason:
    """A line of the page's table of reasons."""

    where: str
    work: str
    dtype: str
    size: str
    why: str

    def holds(self, key):
        """Whether it is one for this row."""
        _, _, dtype, size, work = key
        begins = self.work.endswith("...") and work.startswith(self.work[:-3])
        return (
            self.where in ("", title_of(key))
            and (begins or self.work in ("", work))
            and self.dtype in ("", dtype)
            and (not self.size or size_text(size) in self.size.split(", "))
        )


REASONS = "<!-- Reasons, by hand: from here -->", "<!-- Reasons, by hand: to here -->"


def reasons_of(page):
    """The page's reasons. ValueError if their table is not there once, or a line has other columns."""
    begin, end = REASONS
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise ValueError(f"the page needs one line '{begin}' and after it one line '{end}'")
    between = page[page.index(begin) : page.index(end)]
    lines = [line for line in between.splitlines() if line.startswith("|")][2:]
    cells = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]
    if wrong := [line for line, found in zip(lines, cells) if len(found) != 5 or not found[4]]:
        raise ValueError(f"a reason has five cells, of which the last is not empty: {wrong[0]}")
    return [Reason(*found) for found in cells]


def percent_of_limit(measured, multiply_adds):
    """The percentage of its limit that a row reaches, and which limit: the larger percentage counts. None if no limit is known.
    `multiply_adds`: those of the run, in TFLOP/s, or None."""
    known = []
    if "percent of copy" in measured.counters:
        known.append((measured.counters["percent of copy"], "copy"))
    if multiply_adds and "TFLOP/s" in measured.counters:
        known.append((100 * measured.counters["TFLOP/s"] / multiply_adds, "multiply-adds"))
    return max(known, default=None)


def reached_by(table):
    """key -> (percent of the limit, which limit) of dsl's rows with a known limit, the lowest first."""
    peaks = {
        key[0]: measured.counters.get("TFLOP/s")
        for key, row in table.rows.items()
        if key[4] == "multiply-adds"
        for measured in row.values()
    }
    found = {}
    for key, row in table.rows.items():
        mine = row.get("dsl")
        reached = percent_of_limit(mine, peaks.get(key[0])) if mine and not mine.error else None
        if reached:
            found[key] = reached
    return dict(sorted(found.items(), key=lambda item: item[1][0]))


def below_limit(table):
    """Those of `reached_by` that reach too little."""
    every = reached_by(table).items()
    return {key: reached for key, reached in every if reached[0] < LEAST_OF_LIMIT}


BEHIND = ["where", "work", "dtype", "size", "dsl, ms", "% of limit", "limit", "dsl / best peer"]


def behind(table, reasons):
    """The cells of BEHIND for each row below its limit without a reason."""
    lines = []
    for key, (percent, limit) in below_limit(table).items():
        if any(reason.holds(key) for reason in reasons):
            continue
        row = table.rows[key]
        cells = line_of(key, row, columns_of([row]), str)
        where = [title_of(key), key[4], key[2], size_text(key[3])]
        lines.append([*where, cells[3], f"{percent:.1f}", limit, cells[-1]])
    return lines


def unneeded(table, reasons):
    """The reasons that hold for some of dsl's rows, none of which is below its limit."""
    below = below_limit(table)
    rows = [key for key, row in table.rows.items() if "dsl" in row]
    return [
        reason
        for reason in reasons
        if any(map(reason.holds, rows)) and not any(map(reason.holds, below))
    ]


def behind_lines(table, reasons):
    """What a page says of rows that are behind; nothing where no row has a known limit."""
    late = behind(table, reasons)
    if not reached_by(table):
        return []
    if not late:
        return [f"No row is behind: each reaches {LEAST_OF_LIMIT} % of its limit, or has a reason.", ""]
    cells = [[where, code(work), *others] for where, work, *others in late]
    return [
        f"Behind, that is below {LEAST_OF_LIMIT} % of the limit and without a reason:",
        "",
        markdown_row(BEHIND),
        "|" + " --- |" * len(BEHIND),
        *map(markdown_row, cells),
        "",
    ]


def groups_of(table):
    """(device, group) -> keys, cuda first, groups and rows in the order in which they came."""
    groups = {}
    for key in table.rows:
        groups.setdefault(key[:2], []).append(key)
    return dict(sorted(groups.items(), key=lambda item: item[0][0] != "cuda"))


def split(keys):
    """The keys that a page shows a line each, and those of works that run over many sizes, with a column for each size."""
    sizes = {}
    for key in keys:
        if key[1] == "loop" or key[3].isdigit() and int(key[3]) & (int(key[3]) - 1) == 0:
            sizes.setdefault((key[2], key[4]), set()).add(key[3])
    is_swept = lambda key: (
        key[3] in sizes.get((key[2], key[4]), ())
        and (key[1] == "loop" or len(sizes[key[2], key[4]]) >= 6)
    )
    swept = [key for key in keys if is_swept(key)]
    single = [key for key in keys if not is_swept(key)]
    # One of the sizes stands in the first table as well: the one that most others there have, else the largest.
    others = [key[2:4] for key in single]
    for dtype, work in dict.fromkeys((key[2], key[4]) for key in swept if key[1] != "loop"):
        size = max(
            sizes[dtype, work], key=lambda size: (others.count((dtype, size)), elements(size))
        )
        single.append(next(key for key in swept if key[2:] == (dtype, size, work)))
    order = {key: k for k, key in enumerate(keys)}
    return sorted(single, key=order.get), swept


def markdown_row(cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def code(work):
    """A formula in code font; words, and what is said after it, as they are."""
    formula, said = re.fullmatch(r"(.*?)((?:: [a-z ]+|, [\d.]+ TFLOP/s)?)", work).groups()
    return (f"`{formula}`" if re.search(r"[()*+\[\]=]|^x1$", formula) else formula) + said


def plain_table(table, keys):
    """A line a work: dsl's time, GB/s and part of the copy, then the peers' times."""
    columns = columns_of(table.rows[key] for key in keys)
    dtypes = {key[2] for key in keys}
    sizes = {key[3] for key in keys}
    # A column that says the same in every line is said once, above the table.
    hidden = [1] * (len(dtypes) == 1) + [2] * (len(sizes) == 1)
    said = ", ".join(
        [*dtypes] * (len(dtypes) == 1) + [size_text(size) for size in sizes] * (len(sizes) == 1)
    )
    keep = lambda cells: [cell for i, cell in enumerate(cells) if i not in hidden]
    lines = [f"{said}, milliseconds:" if said else "Milliseconds:", ""]
    head = keep([*HEAD, *columns, LAST])
    lines += [markdown_row(head), "|" + " --- |" * len(head)]
    for key in keys:
        for cells in lines_of(key, table.rows[key], columns, "**{}**".format):
            lines.append(markdown_row(keep([code(cells[0]), *cells[1:]])))
    return lines


def sweep_table(table, keys):
    """Times over sizes, a line for each work and library."""
    sizes = sorted({key[3] for key in keys}, key=elements)
    unit, factor = ("Milliseconds", 1) if keys[0][1] == "loop" else ("Microseconds", 1e3)
    lines = [
        f"{unit} over sizes:",
        "",
        markdown_row(["work", "dtype", "by", *map(size_text, sizes)]),
        "|" + " --- |" * (3 + len(sizes)),
    ]
    works = {}
    for key in keys:
        works.setdefault((key[4], key[2]), {})[key[3]] = table.rows[key]
    for (work, dtype), by_size in works.items():
        variants = dict.fromkeys(by for row in by_size.values() for by in row if is_variant(by))
        for k, heading in enumerate(["dsl", *variants, *columns_of(by_size.values())]):
            cells = []
            for size in sizes:
                row = by_size.get(size, {})
                measured = best(row, heading)
                fastest = min((m.ms for by, m in row.items() if not m.error), default=math.nan)
                text = (
                    ""
                    if measured is None
                    else "failed"
                    if measured.error
                    else milliseconds(factor * measured.ms)
                )
                cells.append(
                    f"**{text}**" if measured and measured.ms == fastest and len(row) > 1 else text
                )
            if any(cells):
                lines.append(markdown_row([code(work), dtype, heading, *cells]))
    return lines


# Of a file's context, what names the machine or says nothing about the measurement.
NOT_SHOWN = re.compile(
    r"host_name|executable|mhz_per_cpu|cpu_scaling_enabled|aslr_enabled|caches|load_avg|json_schema_version|library_build_type"
)


def context_lines(table):
    """What was measured with what: a line for each device, of the contexts of all its files, each value once."""
    said = {}
    for context in table.contexts.values():
        values = said.setdefault(device_of(context), {})
        for name, value in context.items():
            if name == "backend" or NOT_SHOWN.fullmatch(name) or isinstance(value, (dict, list)):
                continue
            name = {"library_version": "Google Benchmark", "num_cpus": "cores"}.get(name, name)
            values.setdefault(name, str(value)[:10] if name == "date" else str(value))
    lines = []
    for device in sorted(said):
        values = said[device]
        first = [values.pop("date", ""), values.pop("device", "")]
        lines += [
            f"{'GPU' if device == 'cuda' else 'Host'}: "
            + ", ".join(
                [*filter(None, first), *(f"{name} {value}" for name, value in values.items())]
            )
            + ".",
            "",
        ]
    return lines


# The group that a picture stands below, by the picture's file. Others are of several groups.
SHOWN_BELOW = {
    "bandwidth-cuda.svg": ("cuda", "map"),
    "latency.svg": ("cuda", "latency"),
    "bandwidth-host.svg": ("host", "map"),
}
READING = "<!-- Reading, by hand: from here -->", "<!-- Reading, by hand: to here -->"


def readings(part):
    """heading -> what stands between the markers of READING below it, in a part that page_part made."""
    found = re.findall(rf"^### ([^\n]*)\n\n{READING[0]}\n(.*?)\n{READING[1]}$", part, re.M | re.S)
    return {heading: text.strip() for heading, text in found}


def sections_of(table):
    """(device, group) -> the lines of its tables."""
    sections = {}
    for (device, group), keys in groups_of(table).items():
        if part_of(group):
            sections[device, group] = [
                *(mesh_table if group == "mesh" else plain_table)(table, keys),
                "",
            ]
            continue
        single, swept = split(keys)
        sections[device, group] = [*plain_table(table, single), ""] if single else []
        sections[device, group] += [*sweep_table(table, swept), ""] if swept else []
    return sections


def assembled(context, sections, pictures, kept):
    """The lines of a part: context, then each section with its heading, its reading of `kept`, its tables and its pictures. Pictures of
    several groups stand behind a device's last one, with a heading of their own."""
    below = {}
    for path, caption in pictures:
        name = os.path.basename(path)
        place = SHOWN_BELOW.get(name, ("host" if "-host" in name else "cuda", ""))
        below.setdefault(place, []).extend([f"![{caption}]({path})", "", f"{caption}.", ""])
    lines, last = [*context], {device: group for device, group in sections}
    for (device, group), tables in sections.items():
        if part_of(group):
            lines += [*below.pop((device, ""), []), *tables]
            continue
        title = title_of((device, group))
        reading = [READING[0], "", kept[title], "", READING[1], ""] if title in kept else []
        lines += [f"### {title}", "", *reading, *tables, *below.pop((device, group), [])]
        if group == last[device] and (device, "") in below:
            lines += [f"### {title_of((device, 'all groups'))}", "", *below.pop((device, ""))]
    return lines + [line for left in below.values() for line in left]


def page_part(table, pictures, kept=None, reasons=()):
    """What stands between the page's markers; pictures are (path, what it shows), `kept` are the readings of the page before."""
    sections, kept = sections_of(table), kept or {}
    first = [*context_lines(table), *behind_lines(table, reasons)]
    lines = assembled(first, sections, pictures, kept)
    for title in kept:
        if f"### {title}" not in lines:
            print(
                f"The reading of '{title}' is left out, since no file has such rows.",
                file=sys.stderr,
            )
    return "\n".join(lines)


def markers(name):
    """Between which a page has one of PARTS."""
    of = f" of {name}" if name else ""
    return (
        f"<!-- What the last run{of} printed: from here -->",
        f"<!-- What the last run{of} printed: to here -->",
    )


def part_of_page(page, name=""):
    """What stands between the page's markers. ValueError if they are not there once each, in order."""
    begin, end = markers(name)
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise ValueError(f"the page needs one line '{begin}' and after it one line '{end}'")
    return page[page.index(begin) + len(begin) : page.index(end)]


def between_markers(page, part, name=""):
    """The page with `part` between its markers."""
    old = part_of_page(page, name)
    begin = page.index(markers(name)[0]) + len(markers(name)[0])
    return page[:begin] + "\n\n" + part.strip() + "\n\n" + page[begin + len(old) :]


def rows_of_page(page):
    """(group of the GPU, work, size) -> column -> milliseconds, of the tables of the page's first part. Of several dtypes the first counts."""
    rows, number = {}, re.compile(r"\d+(\.\d+)?")
    for section in re.split(r"^### ", part_of_page(page), flags=re.M)[1:]:
        device, _, group = section.split("\n", 1)[0].partition(": ")
        head, factor, said_size = [], 1.0, ""
        for line in section.splitlines():
            if line.lower().endswith(("seconds:", "seconds over sizes:")):
                factor = 1e-3 if "icroseconds" in line else 1.0
                said_size = (["", "", *line.split(", ")])[
                    -2
                ]  # above the table where it is the same in every line
            if not line.startswith("| "):
                head = []
                continue
            cells = [cell.strip().strip("*`") for cell in line.strip("|").split("|")]
            if not head:
                head = cells
            elif device == "GPU" and not set(line) <= set("|- "):
                named = dict(zip(head, cells))
                if "by" in named:  # sizes are columns
                    for size in head[3:]:
                        if number.fullmatch(named[size]):
                            row = rows.setdefault((group, named["work"], size), {})
                            row.setdefault(named["by"], factor * float(named[size]))
                else:
                    columns = head[head.index("dsl, ms") :]
                    times = {
                        name.removesuffix(", ms"): named[name]
                        for name in columns
                        if name not in HEAD[4:] + [LAST]
                    }
                    times = {
                        name: float(text) for name, text in times.items() if number.fullmatch(text)
                    }
                    rows.setdefault((group, named["work"], named.get("size", said_size)), times)
    return rows


def with_other_devices(part, old):
    """The part with what only `old`, the page's part before, has: the line and the sections of a device of which no file has rows."""
    line = r"^(GPU|Host): \d{4}-.*\n\n?"
    (head, *sections), (old_head, *old_sections) = (
        re.split(r"^(?=### )", text.strip() + "\n", flags=re.M) for text in (part, old)
    )
    lines = {of[1]: of[0].strip() for of in re.finditer(line, head, re.M)}
    missing = {of[1]: of[0].strip() for of in re.finditer(line, old_head, re.M) if of[1] not in lines}
    if not missing:
        return part
    sections += [one for one in old_sections if one[4:].partition(":")[0] in missing]
    rest = re.sub(line, "", head, flags=re.M).strip()
    behind = re.findall(rf"^\| (?:{'|'.join(missing)}): .*", old_head, re.M)
    if behind and "| where |" not in rest:
        rest = re.sub(r"^\| (GPU|Host): .*\n?", "", re.sub(line, "", old_head, flags=re.M), flags=re.M).strip()
    rest = "\n".join([rest, *behind])
    lines |= missing
    by_device = lambda text: text.partition("### ")[2].partition(":")[0]
    return "\n\n".join(
        [
            *(lines[device] for device in sorted(lines)),
            *filter(None, [rest]),
            *(one.strip() for one in sorted(sections, key=by_device)),
        ]
    )


def draw(table, folder, part):
    """The pictures of a part as (file name, what it shows); none where matplotlib is missing."""
    try:
        import pictures
    except ImportError as missing:
        print(f"No pictures: {missing} (Debian and Ubuntu: python3-matplotlib).", file=sys.stderr)
        return []
    os.makedirs(folder, exist_ok=True)
    return pictures.draw(table, folder, part)


def draw_summary(page, folder):
    """README.md's picture, of the figures on the page."""
    try:
        import pictures
    except ImportError as missing:
        print(f"No picture of {page}: {missing}.", file=sys.stderr)
        return
    with open(page) as file:
        pictures.summary(rows_of_page(file.read()), folder)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+")
    parser.add_argument("--pictures", metavar="DIR", help="draw the pictures there")
    parser.add_argument(
        "--page", help="rewrite this page between its markers, its pictures in a folder of its name"
    )
    parser.add_argument(
        "--reasons", metavar="PAGE", help="the page with the reasons; without it that of --page"
    )
    arguments = parser.parse_args()
    table = read(arguments.files)
    if not table.rows:
        sys.exit("report.py: no rows in " + ", ".join(arguments.files))
    reasons = []
    if arguments.reasons or arguments.page:
        with open(arguments.reasons or arguments.page) as file:
            reasons = reasons_of(file.read())
    print_table(table, reasons)
    for reason in unneeded(table, reasons):
        cells = filter(None, (reason.where, reason.work, reason.dtype, reason.size))
        print(f"no row needs the reason for {', '.join(cells)}")
    for name in PARTS:
        part = table.part(name)
        if not part.rows:
            continue
        if arguments.pictures:
            draw(part, arguments.pictures, name)
        if arguments.page:
            folder = os.path.splitext(arguments.page)[0]
            drawn = [
                (f"{os.path.basename(folder)}/{file}", caption)
                for file, caption in draw(part, folder, name)
            ]
            with open(arguments.page) as file:
                page = file.read()
            old = part_of_page(page, name)
            devices = {title_of(key).partition(":")[0] for key in groups_of(part)}
            kept = {title: text for title, text in readings(old).items() if title.partition(":")[0] in devices}
            fresh = page_part(part, drawn, kept, reasons)
            with open(arguments.page, "w") as file:
                file.write(between_markers(page, with_other_devices(fresh, old), name))
            if not name:
                draw_summary(arguments.page, folder)


if __name__ == "__main__":
    main()
