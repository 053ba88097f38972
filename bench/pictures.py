#!/usr/bin/env python3
"""The pictures of docs/performance.md, from report.py's table. README.md's is drawn from the page's own figures.

pictures.py docs/performance.md     draws that one again, docs/performance/summary.svg
"""

import io
import math
import os
import re
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from peer.devices import gpus_of
from report import best, columns_of, elements, milliseconds, size_text

# Colours that colour-blind readers tell apart, and a mark for each, so that colour is not all.
STYLE = {
    "dsl": ("#000000", "o"),
    "hand": ("#7f7f7f", "s"),
    "CUB": ("#0072b2", "^"),
    "Thrust": ("#56b4e9", "v"),
    "cuRAND": ("#0072b2", "^"),
    "std": ("#56b4e9", "v"),
    "CuPy": ("#009e73", "D"),
    "CuPy fuse": ("#7fcfb5", "d"),
    "PyTorch": ("#d55e00", "P"),
    "torch.compile": ("#e69f00", "X"),
    "JAX": ("#cc79a7", "*"),
    "Numba": ("#a68a00", "<"),
    "NumPy": ("#8c5a2b", ">"),
    "copy": ("#7f7f7f", ""),
}
DARK = ("#000000", "#0072b2", "#7f7f7f", "#8c5a2b")
NAMES = {"hand": "by hand", "std": "std::par_unseq", "Numba": "Numba"}
# Arithmetic operations an element, as the formula is written; a function counts as one, a complex multiplication as six.
OPERATIONS = {
    "a + b": 1,
    "exp(a)": 1,
    "a * exp(-b * b) + sqrt(abs(c))": 7,
    "exp(a) + 2 * b": 3,
    "a * a + 1i * a": 10,
    "Black-Scholes": 31,
    "sum(a)": 1,
    "sum(a * exp(b))": 3,
    "var(a)": 4,
    "five-point heat by slices": 6,
    "softmax of rows": 5,
    "layer norm of rows": 8,
    "RK4 step": 160,
    "RK4 step with sum(F)": 162,
    "sum over j of 1 / (1 + (xi - xj)^2 + (yi - yj)^2)": 9 * 8192,
}


def style(heading):
    return STYLE.get(heading, ("#bbbbbb", "."))


def shorter(svg):
    """The same picture with coordinates in tenths of a point and without what only an editor needs: a quarter of the bytes."""
    tenths = lambda number: f"{float(number[0]):.1f}".removesuffix(".0")
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"-?\d+\.\d{2,}", tenths, tag[0]), svg)
    svg = re.sub(
        r' transform="rotate\(-0 [^)]*\)"| id="[a-z]\w*\.?\w*_\d+"|; font-family: [^;"]*|; text-anchor: start',
        "",
        svg,
    )
    svg = svg.replace(
        "*{stroke-linejoin", "*{font-family: 'DejaVu Sans', Verdana, sans-serif; stroke-linejoin"
    )
    for _ in range(4):  # groups of nothing, and of one thing, within each other
        svg = re.sub(
            r"<g>\s*</g>|<g/>|<defs/>",
            "",
            re.sub(r"<g>\s*(<(\w+)[^>]*/>|<(\w+)[^>]*>[^<]*</\3>)\s*</g>", r"\1", svg),
        )
    return re.sub(r"\s*\n\s*", "\n", svg)


def save(figure, folder, name):
    """Neither a date nor random names in the file, so the same numbers make the same file."""
    svg = io.StringIO()
    figure.savefig(svg, format="svg", metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)
    with open(os.path.join(folder, name), "w") as file:
        file.write(shorter(svg.getvalue()))


def legend_below(figure, headings, **more):
    """One legend for all panels, below them, where no data is."""
    handles = []
    for heading in headings:
        colour, mark = style(heading)
        dashed = heading == "copy"
        handles.append(
            Line2D(
                [],
                [],
                color=colour,
                marker=mark,
                linestyle="--" if dashed else "-",
                markersize=5,
                label=NAMES.get(heading, heading),
            )
        )
    figure.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        ncols=min(7, len(handles)),
        frameon=False,
        **more,
    )


def swept(table, device, least):
    """(work, dtype) -> size -> row, of the works with at least so many sizes: powers of two on the GPU, of ten on the host."""
    works = {}
    regular = (
        (lambda n: n & (n - 1) == 0) if device == "cuda" else (lambda n: str(n).strip("0") == "1")
    )
    for (where, group, dtype, size, work), row in table.rows.items():
        if (
            where == device
            and group in ("map", "reduction")
            and size.isdigit()
            and regular(int(size))
        ):
            works.setdefault((work, dtype), {})[int(size)] = row
    return {
        key: dict(sorted(by_size.items()))
        for key, by_size in works.items()
        if len(by_size) >= least
    }


def series(by_size, heading, value):
    """Sizes and values of a column, where it has some."""
    points = [
        (size, value(best(row, heading), row))
        for size, row in by_size.items()
        if best(row, heading) and not best(row, heading).error
    ]
    return [size for size, _ in points], [y for _, y in points]


def powers(axis, sizes):
    ticks = sizes if len(sizes) <= 5 else [n for n in sizes if n.bit_length() % 4 == 3]
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda n, _: size_name(int(n))))


def size_name(n):
    text = f"10^{len(str(n)) - 1}" if str(n).strip("0") == "1" else size_text(str(n))
    return re.sub(r"(\d+)\^(\d+)", r"$\1^{\2}$", text)


def moved(row):
    """The bytes of a call, as dsl's row states them, or any other's."""
    return next(
        (
            m.counters["bytes"]
            for m in [row.get("dsl"), *row.values()]
            if m and "bytes" in m.counters
        ),
        math.nan,
    )


def lines_over_sizes(axes, by_size, value, headings):
    for heading in headings:
        sizes, values = series(by_size, heading, value)
        colour, mark = style(heading)
        mine = heading == "dsl"
        axes.plot(
            sizes,
            values,
            color=colour,
            marker=mark,
            markersize=4,
            linewidth=2 if mine else 1,
            zorder=5 if mine else 3,
        )
    axes.set_xscale("log")
    powers(axes.xaxis, sorted(by_size))
    axes.set_xlabel("elements")
    axes.grid(color="#dddddd", linewidth=0.6)


def bandwidth(table, device, folder):
    """GB/s over the number of elements."""
    works = swept(table, device, 6 if device == "cuda" else 3)
    copies = works.pop(("copy", "float32"), {})
    works = dict(list(works.items())[:6])
    if not works:
        return []
    columns = 2 if len(works) < 5 else 3
    lines = math.ceil(len(works) / columns)
    figure, panels = plt.subplots(
        lines, columns, figsize=(4.6 * columns, 3.2 * lines), squeeze=False, layout="constrained"
    )
    gb_a_second = lambda measured, row: moved(row) / measured.ms * 1e-6
    used = ["dsl", *columns_of(row for by_size in works.values() for row in by_size.values())]
    for panel, ((work, dtype), by_size) in zip(panels.flat, works.items()):
        sizes, values = series(copies, "copy", gb_a_second)
        panel.plot(sizes, values, color=style("copy")[0], linestyle="--", linewidth=1.2)
        lines_over_sizes(panel, by_size, gb_a_second, used)
        panel.set_title(f"{work}, {dtype}", fontsize=10)
        panel.set_ylabel("GB/s")
        panel.set_ylim(bottom=0)
    for panel in list(panels.flat)[len(works) :]:
        panel.set_axis_off()
    legend_below(figure, [*used, "copy"] if copies else used)
    save(figure, folder, f"bandwidth-{device}.svg")
    where = "the GPU" if device == "cuda" else "the host"
    return [
        (
            f"bandwidth-{device}.svg",
            f"Bandwidth over the number of elements on {where}; dashed, a copy",
        )
    ]


def compared(table, device, peers=2):
    """The works with dsl and at least so many peers, each at its largest size: key -> column -> milliseconds."""
    largest = {}
    for key, row in table.rows.items():
        where, group, dtype, size, work = key
        mine = row.get("dsl")
        if where != device or group in ("latency", "loop") or not mine or mine.error:
            continue
        times = {
            "dsl": mine.ms,
            **{h: best(row, h).ms for h in columns_of([row]) if not best(row, h).error},
        }
        known = largest.get((group, dtype, work))
        if len(times) > peers and (
            not known or (len(times), elements(size)) > (len(known[1]), elements(known[0][3]))
        ):
            largest[group, dtype, work] = key, times
    return dict(largest.values())


def relative_bars(panel, times, title):
    """Times relative to dsl's; those that are longer than four times end there, and say so."""
    most = 4.0
    names = list(times)
    ratios = [times[name] / times["dsl"] for name in names]
    panel.barh(
        range(len(names)),
        [min(r, most) for r in ratios],
        color=[style(name)[0] for name in names],
        height=0.72,
    )
    for k, (name, ratio) in enumerate(zip(names, ratios)):
        text = milliseconds(times[name]) + ("" if ratio <= most else f"  ({ratio:.0f} times)")
        inside = ratio > 0.6 * most
        colour = "white" if inside and style(name)[0] in DARK else "black"
        beside = 1 if 0.22 < ratio < 1 else ratio  # not across the line at 1
        panel.text(
            most - 0.06 if ratio > most else ratio - 0.06 if inside else beside + 0.06,
            k,
            text,
            va="center",
            ha="right" if inside else "left",
            fontsize=7,
            color=colour,
        )
    panel.axvline(1, color="black", linewidth=0.7)
    panel.set_yticks(range(len(names)), [NAMES.get(name, name) for name in names], fontsize=7)
    panel.invert_yaxis()
    panel.set_xlim(0, most)
    panel.tick_params(axis="x", labelsize=7)
    panel.tick_params(axis="y", length=0)
    panel.set_xticks(range(5))
    panel.set_title(title, fontsize=8)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def bars(works, folder, name, caption):
    """A panel for each work of key -> column -> milliseconds."""
    if not works:
        return []
    columns = 4
    lines = math.ceil(len(works) / columns)
    height = 0.55 + 0.16 * max(len(times) for times in works.values())
    figure, panels = plt.subplots(
        lines, columns, figsize=(12, height * lines), squeeze=False, layout="constrained"
    )
    for panel, ((_, _, dtype, size, work), times) in zip(panels.flat, works.items()):
        title = work if len(work) < 34 else work[:31] + "..."
        relative_bars(panel, times, f"{title}\n{dtype}, {size_text(size)}")
    for panel in list(panels.flat)[len(works) :]:
        panel.set_axis_off()
    figure.supxlabel("time relative to dsl (at the bars: milliseconds)", fontsize=9)
    save(figure, folder, name)
    return [(name, f"{caption}, shorter is faster; at the bars milliseconds")]


def all_bars(table, device, folder):
    """Those works that most libraries do."""
    works = compared(table, device)
    most = sorted(works, key=lambda key: -len(works[key]))[:16]
    where = "the GPU" if device == "cuda" else "the host"
    return bars(
        {key: works[key] for key in works if key in most},
        folder,
        f"bars-{device}.svg",
        f"Times relative to dsl's on {where}",
    )


def only_bars(name, caption):
    """Bars of all works of a part that have a peer."""
    return lambda table, folder: bars(
        compared(table, "cuda", peers=1), folder, name, f"{caption}: times relative to dsl's"
    )


drawn = only_bars("random.svg", "Random numbers")
solved = only_bars("solvers.svg", "Solvers")
differentiated = only_bars("derivatives.svg", "Derivatives")


def keyed(table, folder):
    """Sums over the number of groups, and bars of all else."""
    # Sizes with few numbers of groups are left out.
    counts = [key[3].split("x")[0] for key in table.rows if key[4] == "sum_by"]
    count = max(counts, key=counts.count, default="")
    sums = {
        int(key[3].split("x")[1]): row
        for key, row in table.rows.items()
        if key[4] == "sum_by" and key[3].startswith(count + "x")
    }
    others = {
        key: times for key, times in compared(table, "cuda", peers=1).items() if key[4] != "sum_by"
    }
    pictures = []
    if len(sums) > 1:
        figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
        used = ["dsl", *columns_of(sums.values())]
        lines_over_sizes(axes, dict(sorted(sums.items())), lambda measured, row: measured.ms, used)
        axes.set_yscale("log")
        axes.set_xlabel("groups")
        axes.set_ylabel("milliseconds")
        axes.xaxis.set_major_locator(FixedLocator(sorted(sums)))
        legend_below(figure, used)
        save(figure, folder, "sum-by.svg")
        pictures.append(
            ("sum-by.svg", f"Sums by key of {size_text(count)} floats over the number of groups")
        )
    return pictures + bars(
        others, folder, "by-key.svg", "By key, selections and sorting: times relative to dsl's"
    )


def several_gpus(table, folder):
    """A loop over the number of elements, what the model makes of it for more GPUs, and how much faster the largest mesh is."""
    rows = {
        key[3:]: {
            tuple(by.split(" ")): measured.ms for by, measured in row.items() if not measured.error
        }
        for key, row in table.rows.items()
    }
    every = [column for row in rows.values() for column in row]
    libraries = sorted({library for library, _ in every}, key=list(STYLE).index)
    devices = sorted({device for _, device in every}, key=gpus_of)
    loops = {elements(size): row for (size, work), row in rows.items() if "RK4 steps" in work}
    faster = {  # work -> library -> times
        (work, size): {
            library: row[library, devices[0]] / row[library, devices[-1]]
            for library in libraries
            if (library, devices[0]) in row and (library, devices[-1]) in row
        }
        for (size, work), row in rows.items()
    }
    faster = {work: times for work, times in faster.items() if "dsl" in times}
    if len(devices) < 2 or not loops:
        return []
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.6), layout="constrained")
    for library in libraries:
        for device, dashes in zip((devices[0], devices[-1]), ("--", "-")):
            points = [
                (size, row[library, device])
                for size, row in sorted(loops.items())
                if (library, device) in row
            ]
            colour, mark = style(library)
            left.plot(
                *zip(*points),
                color=colour,
                marker=mark,
                markersize=4,
                linestyle=dashes,
                linewidth=1.2,
                label=f"{library}, {gpus(device)}",
            )
    left.set(
        xscale="log",
        yscale="log",
        xlabel="elements",
        ylabel="milliseconds",
        title="100 RK4 steps, their sum fed back",
    )
    left.legend(fontsize=7, frameon=False)
    model_panel(middle, table)
    height = 0.8 / len(libraries)
    for k, library in enumerate(libraries):
        places = [
            (place + k * height, times[library])
            for place, times in enumerate(faster.values())
            if library in times
        ]
        right.barh(*zip(*places), height=height, color=style(library)[0], label=library)
    right.set_yticks(
        [place + 0.4 - height / 2 for place in range(len(faster))],
        [
            f"{work if len(work) < 34 else work[:31] + '...'}\n{size_text(size)}"
            for work, size in faster
        ],
        fontsize=6,
    )
    right.invert_yaxis()
    right.axvline(gpus_of(devices[-1]), color="black", linewidth=0.7)
    right.set_title(f"times as fast on {gpus(devices[-1])}")
    right.legend(fontsize=7, frameon=False)
    for panel in (left, middle):
        panel.grid(color="#dddddd", linewidth=0.6)
    save(figure, folder, "gpus.svg")
    return [
        (
            "gpus.svg",
            "Several GPUs: times of a loop, a prediction by the model below, and the speed-up over one GPU",
        )
    ]


def gpus(device):
    count = gpus_of(device)
    return "1 GPU" if count == 1 else f"{count} GPUs"


def model_panel(panel, table):
    """Lines by the model, points that were measured. Nothing where NumPy is missing or there are too few points."""
    try:
        import mesh_model
    except ImportError as missing:
        print(f"No model of several GPUs: {missing}.", file=sys.stderr)
        return panel.set_axis_off()
    points = mesh_model.points_of(table)
    model = mesh_model.fit(points)
    if model is None:
        return panel.set_axis_off()
    for elements_of, dashes, name in (
        (lambda n: 1e7, "-", "$10^7$ elements"),
        (lambda n: 1e7 * n, "--", "$10^7$ a GPU"),
    ):
        panel.plot(
            mesh_model.COUNTS,
            [0.1 * model.step(n, elements_of(n)) for n in mesh_model.COUNTS],
            color="#7f7f7f",
            linestyle=dashes,
            label=name,
        )
        measured = [
            (point.gpus, 0.1 * point.time)
            for point in points
            if abs(point.elements / elements_of(point.gpus) - 1) < 1e-3
        ]
        if measured:
            panel.plot(*zip(*measured), color="black", marker="o", markersize=5, linestyle="")
    panel.set(
        xscale="log",
        yscale="log",
        xlabel="GPUs",
        title="the model; dots were measured",
        ylabel="milliseconds for 100 steps",
    )
    panel.xaxis.set_major_locator(FixedLocator(mesh_model.COUNTS))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_locator(
        FixedLocator([base * 10**power for power in range(-2, 3) for base in (1, 2, 5)])
    )
    panel.yaxis.set_minor_locator(NullLocator())
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:g}"))
    panel.legend(fontsize=7, frameon=False)


def roofline(table, folder):
    """Operations a second over operations a byte, below what a copy and what multiply-adds reach in the same run."""
    rows = {key: row for key, row in table.rows.items() if key[0] == "cuda"}
    peak = max(
        (
            m.counters["TFLOP/s"]
            for key, row in rows.items()
            if key[4] == "multiply-adds"
            for m in row.values()
            if "TFLOP/s" in m.counters
        ),
        default=0,
    )
    copies = {
        elements(key[3]): row for key, row in rows.items() if key[4] == "copy" and key[1] == "map"
    }
    if not peak or not copies:
        return []
    copied = min(
        (m for m in copies[max(copies)].values() if not m.error), key=lambda m: m.ms, default=None
    )
    bandwidth_tb = copied.counters["GB/s"] * 1e-3
    points = {}
    for key, row in rows.items():
        mine, (_, group, dtype, size, work) = row.get("dsl"), key
        if (
            not mine
            or mine.error
            or "bytes" not in mine.counters
            or dtype not in ("float32", "complex64")
            or group in ("latency", "loop")
        ):
            continue
        if "TFLOP/s" in mine.counters:
            operations = mine.counters["TFLOP/s"] * mine.ms * 1e9
        elif work in OPERATIONS:
            operations = OPERATIONS[work] * elements(size)
        else:
            continue
        if work not in points or elements(size) > points[work][0]:
            points[work] = (
                elements(size),
                operations / mine.counters["bytes"],
                operations / mine.ms * 1e-9,
            )
    if not points:
        return []
    figure, axes = plt.subplots(figsize=(8, 4.8), layout="constrained")
    ridge = peak / bandwidth_tb
    ordered = sorted(points.items(), key=lambda item: item[1][1])
    left, right = min(0.05, ordered[0][1][1] / 2), max(4 * ridge, 2 * ordered[-1][1][1])
    axes.plot([left, ridge], [left * bandwidth_tb, peak], color="#7f7f7f", linestyle="--")
    axes.plot([ridge, right], [peak, peak], color="#7f7f7f", linestyle="-")
    handles = [
        Line2D(
            [], [], color="#7f7f7f", linestyle="--", label=f"copy, {1e3 * bandwidth_tb:.0f} GB/s"
        ),
        Line2D([], [], color="#7f7f7f", linestyle="-", label=f"multiply-adds, {peak:.1f} TFLOP/s"),
    ]
    last, further = [0, 0], [0, 0]
    for k, (work, (_, x, y)) in enumerate(ordered, 1):
        axes.plot(x, y, color="black", marker="o", markersize=4, linestyle="")
        # Numbers stand in turn above and below; further off where the one before on that side is near.
        side = k % 2
        further[side] = further[side] + 1 if x < 1.4 * last[side] else 0
        last[side] = x
        off = 9 + 10 * further[side]
        axes.annotate(
            str(k),
            (x, y),
            xytext=(off, -off - 2) if side else (-off, off - 3),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            arrowprops={
                "arrowstyle": "-",
                "color": "#999999",
                "linewidth": 0.5,
                "shrinkA": 0,
                "shrinkB": 2,
            },
        )
        handles.append(
            Line2D(
                [], [], linestyle="", label=f"{k}  {work if len(work) < 40 else work[:37] + '...'}"
            )
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(left, right)
    axes.set_xlabel("operations a byte that must be moved")
    axes.set_ylabel("TFLOP/s")
    axes.grid(color="#dddddd", linewidth=0.6)
    # Beside the axes: the "outside" places of a figure's legend are matplotlib 3.7's, and Debian 12 has 3.6.
    axes.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(1, 1),
        frameon=False,
        fontsize=8,
        handlelength=1.5,
    )
    save(figure, folder, "roofline.svg")
    return [
        (
            "roofline.svg",
            "Operations a second over operations a byte, by dsl; the ceilings are a copy and multiply-adds of the same run",
        )
    ]


def latency(table, folder):
    """Microseconds a call of few elements."""
    works = {
        key: {n: row for n, row in by_size.items() if n <= 1 << 22}
        for key, by_size in swept(table, "cuda", 6).items()
        if key[0] in ("a + b", "sum(a)")
    }
    calls = {key: row for key, row in table.rows.items() if key[:2] == ("cuda", "latency")}
    if not works and not calls:
        return []
    figure, panels = plt.subplots(
        1,
        len(works) + bool(calls),
        figsize=(4.2 * (len(works) + bool(calls)), 4.8),
        squeeze=False,
        layout="constrained",
    )
    panels = list(panels.flat)
    used = ["dsl", *columns_of(row for by_size in works.values() for row in by_size.values())]
    for panel, ((work, dtype), by_size) in zip(panels, works.items()):
        lines_over_sizes(panel, by_size, lambda measured, row: 1e3 * measured.ms, used)
        panel.set_yscale("log")
        panel.set_ylabel("microseconds a call")
        panel.set_title(f"{work}, {dtype}", fontsize=10)
    if calls:
        panel, place, ticks = panels[-1], 0, []
        for (_, _, _, size, work), row in calls.items():
            panel.text(
                0.01,
                place - 0.1,
                f"{work}, {size_text(size)} elements",
                va="center",
                fontsize=8,
                transform=panel.get_yaxis_transform(),
            )
            place += 1
            for heading in ["dsl", *columns_of([row])]:
                measured = best(row, heading)
                if measured and not measured.error:
                    panel.barh(place, 1e3 * measured.ms, color=style(heading)[0], height=0.75)
                    panel.text(
                        1e3 * measured.ms,
                        place,
                        f" {1e3 * measured.ms:.1f}",
                        va="center",
                        fontsize=7,
                    )
                    ticks.append((place, NAMES.get(heading, heading)))
                    place += 1
            place += 0.6
        panel.set_yticks([at for at, _ in ticks], [name for _, name in ticks], fontsize=7)
        panel.set_xscale("log")
        panel.set_ylim(place - 0.5, -0.7)
        panel.tick_params(axis="y", length=0)
        panel.set_xlabel("microseconds a call, wall time of many in a row")
        panel.margins(x=0.2)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    if works:
        legend_below(figure, used)
    save(figure, folder, "latency.svg")
    return [
        (
            "latency.svg",
            "Microseconds a call on the GPU over the number of elements, and wall time of calls in a row",
        )
    ]


# README.md's picture: title, group, work and size on the page; and the columns that it shows, by their names there.
SUMMARY = [
    ("A fused formula", "map", "a * exp(-b * b) + sqrt(abs(c))", "2^27"),
    ("Softmax of rows", "axis", "softmax of rows", "8192 x 8192"),
    ("A time loop: 100 RK4 steps", "loop", "100 RK4 steps, sum(F) fed back", "3162 x 3162"),
]
SUMMARY_PEERS = {
    "hand": "CUDA by hand",
    "CuPy": "CuPy",
    "CuPy fuse": "CuPy, fused",
    "PyTorch": "PyTorch",
    "torch.compile": "PyTorch, compiled",
    "JAX": "JAX",
    "Numba": "Numba",
}


def summary_rows(rows):
    """For each work of SUMMARY its bars, of report.rows_of_page: (column, time relative to dsl's, label), the fastest peer first."""
    for _, group, work, size in SUMMARY:
        times = rows[group, work, size]
        bars = [("dsl", 1.0, f"{milliseconds(times['dsl'])} ms")]
        for name in sorted((name for name in SUMMARY_PEERS if name in times), key=times.get):
            ratio = times[name] / times["dsl"]
            bars.append((name, ratio, f"{ratio:.1f} x" if ratio >= 1.1 else f"{ratio:.2f} x"))
        yield bars


def summary(rows, folder):
    """A panel for each work of SUMMARY, in a file summary.svg."""
    set_up()
    figure, panels = plt.subplots(1, len(SUMMARY), figsize=(11, 2.9), layout="constrained")
    for panel, (title, group, work, size), drawn in zip(panels, SUMMARY, summary_rows(rows)):
        names = [name for name, _, _ in drawn]
        colours = [
            "#0072b2" if name == "dsl" else "#9a9a9a" if name == "hand" else "#d0d0d0"
            for name in names
        ]
        panel.barh(range(len(names)), [ratio for _, ratio, _ in drawn], color=colours, height=0.74)
        for k, (name, ratio, label) in enumerate(drawn):
            panel.text(
                ratio + 0.12,
                k,
                label,
                va="center",
                fontsize=9,
                fontweight="bold" if name == "dsl" else "normal",
            )
        panel.set_yticks(
            range(len(names)), [SUMMARY_PEERS.get(name, name) for name in names], fontsize=9
        )
        panel.get_yticklabels()[0].set_fontweight("bold")
        panel.invert_yaxis()
        panel.set_xlim(0, 1.15 * max(ratio for _, ratio, _ in drawn))
        panel.set_xticks([])
        panel.tick_params(axis="y", length=0)
        panel.set_title(f"{title}\n", fontsize=11, fontweight="bold", loc="left")
        said = {"map": f"{work}, ", "loop": "complex, "}.get(group, "") + re.sub(
            r"(\d+)\^(\d+)", r"$\1^{\2}$", size
        )
        panel.text(0, 1.04, said, fontsize=8, color="#555555", transform=panel.transAxes)
        for side in ("top", "right", "bottom"):
            panel.spines[side].set_visible(False)
    figure.supxlabel("time as a multiple of dsl's: shorter is faster", fontsize=9, color="#555555")
    save(figure, folder, "summary.svg")


def set_up():
    plt.rcParams.update(
        {
            "svg.hashsalt": "dsl",
            "svg.fonttype": "none",
            "font.size": 9,
            "font.family": "DejaVu Sans",
            "figure.facecolor": "white",
            "savefig.facecolor": "white",
        }
    )


def draw(table, folder, part=""):
    """All that one of report.py's PARTS has data for: (file name, what it shows)."""
    set_up()
    if part:
        return {
            "mesh": several_gpus,
            "random": drawn,
            "by key": keyed,
            "solver": solved,
            "derivatives": differentiated,
        }[part](table, folder)
    pictures = []
    for device in ("cuda", "host"):
        pictures += bandwidth(table, device, folder) + all_bars(table, device, folder)
        if device == "cuda":
            pictures += roofline(table, folder) + latency(table, folder)
    return pictures


if __name__ == "__main__":
    import report

    report.draw_summary(sys.argv[1], os.path.splitext(sys.argv[1])[0])
