#!/usr/bin/env python3
"""Tests report.py with small files: the join, missing rows, errors, the page between its
markers, the pictures."""

import contextlib
import io
import json
import os
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import report


def row(name, ms, **more):
    return {"name": name, "run_type": "iteration", "real_time": ms, "time_unit": "ms", **more}


def measured(name, ms, moved):
    """A row with the same counters as those of bench_cuda."""
    return row(name, ms, **{"bytes": moved, "GB/s": 1e-6 * moved / ms, "percent of copy": 100.4})


CUDA = {
    "context": {
        "date": "2026-01-02T03:04:05+00:00",
        "host_name": "secret",
        "executable": "/home/me/bench_cuda",
        "num_cpus": 8,
        "backend": "cuda",
        "device": "Some GPU",
        "driver": "13.0",
    },
    "benchmarks": [
        row("map/float32/64/cudaMemcpy/copy", 0.5, **{"GB/s": 1000.0}),
        measured("map/float32/64/dsl/a + b", 0.25, 768),
        measured("map/float32/64/hand/a + b", 0.26, 768),
        measured("map/float32/64/hand, one element a thread/a + b", 0.3, 768),
        row("map/float32/64/CUB/a + b", 200, time_unit="us"),
        row("map/float32/64/Thrust/a + b", 0, error_occurred=True, error_message="differs"),
        measured("map/float32/64/dsl/sum of 1 / x / y/iterations:1/manual_time", 0.125, 256),
        row("loop/complex64/4x4/dsl/100 steps", 0.0612345),
        row("loop/complex64/4x4/dsl graph/100 steps", 0.9),
    ],
}
PEERS = {
    "context": {
        "date": "2026-01-02T03:05:00+00:00",
        "executable": "peers.py",
        "num_cpus": 8,
        "backend": "cuda",
        "CuPy": "14.0",
    },
    "benchmarks": [
        row("map/float32/64/CuPy/a + b", 0.5),
        row("map/float32/64/Numba/a + b", 0.75),
        row("map/float32/64/Numba vectorize/a + b", 0.7),
        row("map/float64/64/CuPy/a + b", 1.0),
        row("loop/complex64/4x4/JAX/100 steps", 0.83),
    ],
}
HOST = {
    "context": {
        "date": "2026-01-02T03:06:00+00:00",
        "executable": "bench_host",
        "num_cpus": 8,
        "backend": "host",
        "device": "Some CPU",
    },
    "benchmarks": [
        measured("map/float32/64/dsl/a + b", 2.0, 768),
        row("map/float32/64/NumPy/a + b", 1.0),
    ],
}
# Several GPUs, from a separate run.
MESH = {
    "context": {
        "date": "2026-01-03",
        "executable": "bench_mesh",
        "backend": "cuda",
        "device": "2 x Some GPU",
    },
    "benchmarks": [
        row("mesh/float32/64/dsl cuda:0/a + b", 4.0),
        row("mesh/float32/64/JAX cuda:0-1/a + b", 5.0),
        row("mesh/float32/64/dsl cuda:0-1/a + b", 2.0),
        row("mesh/float32/64/dsl cuda:0/sum(a)", 4.0),
        row("mesh/float32/64/dsl cuda:0-1/sum(a)", 0, error_occurred=True, error_message="no"),
        row("mesh/float32/64/JAX cuda:0/sum(a)", 3.0),
    ],
}
# A work over many sizes, with repetitions and their median.
SWEEP = {
    "context": {"date": "2026-01-02", "executable": "bench_cuda", "backend": "cuda"},
    "benchmarks": [
        measured(f"map/float32/{1 << k}/{by}/exp(a)", 1e-3 * (k + extra), 8 << k)
        for k in range(10, 18)
        for by, extra in (("dsl", 0), ("JAX", 5), ("CuPy", 9))
    ]
    + [measured(f"map/float32/{1 << k}/cudaMemcpy/copy", 1e-3 * k, 8 << k) for k in range(10, 18)]
    + [
        row("map/float32/7/dsl/x", 9.0, run_name="map/float32/7/dsl/x"),
        row(
            "map/float32/7/dsl/x_median",
            3.0,
            run_name="map/float32/7/dsl/x",
            run_type="aggregate",
            aggregate_name="median",
        ),
        row(
            "map/float32/7/dsl/x_mean",
            4.0,
            run_name="map/float32/7/dsl/x",
            run_type="aggregate",
            aggregate_name="mean",
        ),
    ],
}


def table_of(*contents):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for k, content in enumerate(contents):
            paths.append(os.path.join(folder, f"{k}.json"))
            with open(paths[-1], "w") as file:
                file.write(json.dumps(content) if content else "")
        return report.read(paths)


def printed(table, reasons=()):
    out = io.StringIO()
    report.print_table(table, reasons, out)
    return out.getvalue()


class Join(unittest.TestCase):
    def test_rows_of_all_files_meet_by_device_group_dtype_size_and_work(self):
        table = table_of(CUDA, PEERS, HOST)
        rows = table.rows["cuda", "map", "float32", "64", "a + b"]
        self.assertEqual(
            {by: measured.ms for by, measured in rows.items() if not measured.error},
            {
                "dsl": 0.25,
                "hand": 0.26,
                "hand, one element a thread": 0.3,
                "CUB": 0.2,
                "CuPy": 0.5,
                "Numba": 0.75,
                "Numba vectorize": 0.7,
            },
        )
        self.assertEqual(set(table.rows["host", "map", "float32", "64", "a + b"]), {"dsl", "NumPy"})
        self.assertEqual(set(table.rows["cuda", "map", "float64", "64", "a + b"]), {"CuPy"})

    def test_a_work_may_hold_slashes_and_names_lose_what_google_benchmark_appends(self):
        self.assertIn(("cuda", "map", "float32", "64", "sum of 1 / x / y"), table_of(CUDA).rows)

    def test_of_repetitions_the_median_counts(self):
        self.assertEqual(table_of(SWEEP).rows["cuda", "map", "float32", "7", "x"]["dsl"].ms, 3.0)

    def test_an_empty_file_and_a_name_of_another_form_are_left_out(self):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            table = table_of(None, {"context": {}, "benchmarks": [row("BM_other", 1.0)]})
        self.assertEqual(table.rows, {})
        self.assertIn("'BM_other' is not group/dtype/size/by/work", said.getvalue())


class Lines(unittest.TestCase):
    def line(self, table, *key):
        rows = table.rows[key]
        columns = report.columns_of([rows])
        return dict(
            zip(
                [*report.HEAD, *columns, report.LAST],
                report.line_of(key, rows, columns, "*{}".format),
            )
        )

    def test_the_fastest_is_marked_and_dsl_is_divided_by_the_best_peer(self):
        line = self.line(table_of(CUDA, PEERS), "cuda", "map", "float32", "64", "a + b")
        self.assertEqual(
            line,
            {
                "work": "a + b",
                "dtype": "float32",
                "size": "64",
                "dsl, ms": "0.2500",
                "GB/s": "0",
                "% of copy": "100",
                "hand": "0.2600",
                "CUB": "*0.2000",
                "Thrust": "failed",
                "CuPy": "0.5000",
                "Numba": "0.7000",
                "dsl / best peer": "1.25",
            },
        )

    def test_what_is_missing_is_left_blank(self):
        table = table_of(CUDA, PEERS)
        self.assertEqual(
            self.line(table, "cuda", "map", "float64", "64", "a + b"),
            {
                "work": "a + b",
                "dtype": "float64",
                "size": "64",
                "dsl, ms": "",
                "GB/s": "",
                "% of copy": "",
                "CuPy": "1.000",
                "dsl / best peer": "",
            },
        )
        self.assertEqual(self.line(table, "cuda", "map", "float32", "64", "copy")["GB/s"], "1000")

    def test_dsl_in_a_way_that_was_asked_for_is_a_line_of_its_own_and_no_peer(self):
        table = table_of(CUDA, PEERS)
        key = "cuda", "loop", "complex64", "4x4", "100 steps"
        self.assertEqual(
            self.line(table, *key),
            {
                "work": "100 steps",
                "dtype": "complex64",
                "size": "4 x 4",
                "dsl, ms": "*0.06123",
                "GB/s": "",
                "% of copy": "",
                "JAX": "0.8300",
                "dsl / best peer": "0.07",
            },
        )
        self.assertRegex(printed(table), r"100 steps: graph +complex64 +4 x 4 +0\.9000")

    def test_the_terminal_shows_a_line_for_each_work_and_why_a_row_failed(self):
        text = printed(table_of(CUDA, PEERS, HOST))
        self.assertEqual(len(re.findall(r"^a \+ b ", text, flags=re.M)), 3)
        self.assertIn("failed: Thrust, cuda map float32 64 a + b: differs", text)
        self.assertLess(text.index("cuda: map"), text.index("host: map"))

    def test_of_several_gpus_each_library_and_device_is_a_column(self):
        self.assertEqual(
            report.mesh_lines(table_of(MESH), list(table_of(MESH).rows), "*{}".format),
            [
                [
                    "work",
                    "dtype",
                    "size",
                    "dsl, 1 GPU",
                    "dsl, 2 GPUs",
                    "times as fast",
                    "JAX, 1 GPU",
                    "JAX, 2 GPUs",
                ],
                ["a + b", "float32", "64", "4.000", "*2.000", "2.00", "", "5.000"],
                ["sum(a)", "float32", "64", "4.000", "failed", "", "*3.000", ""],
            ],
        )

    def test_numbers(self):
        self.assertEqual(
            [
                report.milliseconds(ms)
                for ms in (123.456, 12.3456, 0.123456, 0.00123456, 0.0000123, 0)
            ],
            ["123.5", "12.35", "0.1235", "0.001235", "0.0000123", ""],
        )
        self.assertEqual(
            [
                report.size_text(size)
                for size in ("1000", "134217728", "134217729", "513", "10000000", "8192x8192", "8x10000000")
            ],
            ["1000", "2^27", "2^27 + 1", "513", "10^7", "8192 x 8192", "8 x 10^7"],
        )


def limited(name, percent, ms=1.0, **more):
    return row(name, ms, **{"GB/s": 1.0, "percent of copy": percent, **more})


# Rows at several percentages of their limit.
LIMITS = {
    "context": {"date": "2026-01-02", "executable": "bench_cuda", "backend": "cuda"},
    "benchmarks": [
        limited("axis/float32/1000x3/dsl/sum of rows", 41.4, 2.0),
        limited("axis/float32/1000x3/JAX/sum of rows", 82.0, 1.0),
        limited("axis/float32/10007x9001/dsl/sum of rows", 84.9),
        limited("axis/float32/8192x8192/dsl/sum of rows", 85.0),
        limited("axis/float64/1000x3/dsl/sum of columns", 60.0),
        limited("pairs/float32/65537/dsl/n-body", 0.1, **{"TFLOP/s": 30.0}),
        limited("pairs/float32/64/dsl/n-body", 90.0, **{"TFLOP/s": 3.0}),
        row("ode/float32/9/hand/multiply-adds", 1.0, **{"TFLOP/s": 60.0}),
        limited("loop/complex64/4x4/dsl graph/100 steps", 10.0),
        row("latency/float32/1000/dsl/a + b", 0.003, **{"GB/s": 4.0}),
        row("map/float32/64/dsl/a + b", 0, error_occurred=True, error_message="no"),
        limited("random/float32/64/dsl/normal", 53.0),
    ],
}


def reasons_in(*lines):
    table = ["| where | work | dtype | size | why |", "| --- | --- | --- | --- | --- |", *lines]
    begin, end = report.REASONS
    return "\n".join(["before", "| no | reason |", begin, "", *table, "", end, "after"])


class Behind(unittest.TestCase):
    def rows(self, *reasons):
        late = report.behind(table_of(LIMITS), report.reasons_of(reasons_in(*reasons)))
        return [(line[0], line[1], line[3]) for line in late]

    def test_rows_below_their_limit_are_behind_the_lowest_first(self):
        self.assertEqual(
            report.behind(table_of(LIMITS), []),
            [
                ["GPU: axis", "sum of rows", "float32", "1000 x 3", "2.000", "41.4", "copy", "2.00"],
                ["GPU: pairs", "n-body", "float32", "2^16 + 1", "1.000", "50.0", "multiply-adds", ""],
                ["GPU: random", "normal", "float32", "64", "1.000", "53.0", "copy", ""],
                ["GPU: axis", "sum of columns", "float64", "1000 x 3", "1.000", "60.0", "copy", ""],
                ["GPU: axis", "sum of rows", "float32", "10007 x 9001", "1.000", "84.9", "copy", ""],
            ],
        )

    def test_a_row_with_a_reason_is_not(self):
        of_rows = ("GPU: axis", "sum of rows", "1000 x 3")
        self.assertIn(of_rows, self.rows())
        for reason in (
            "| GPU: axis | sum of rows | float32 | 1000 x 3 | short |",
            "| GPU: axis | `sum of rows` | | | short |",
            "| | | | 4 x 4, 1000 x 3 | short |",
            "| | sum of... | | | short |",
        ):
            self.assertNotIn(of_rows, self.rows(reason))
        for other in (
            "| Host: axis | sum of rows | | | short |",
            "| GPU: axis | sum of row | | | short |",
            "| GPU: axis | sum of rows | float64 | | short |",
            "| GPU: axis | sum of rows | | 1000 | short |",
            "| GPU: axis | ...rows | | | short |",
        ):
            self.assertIn(of_rows, self.rows(other))
        self.assertEqual(len(self.rows("| GPU: axis | sum of rows | | | short |")), 3)
        self.assertEqual(self.rows("| | | | | all |"), [])

    def test_a_reason_that_no_row_needs_is_named(self):
        reasons = report.reasons_of(
            reasons_in(
                "| GPU: axis | sum of rows | | 1000 x 3 | short |",
                "| GPU: axis | sum of rows | | 8192 x 8192 | was slow |",
                "| GPU: scan | | | | not in this run |",
            )
        )
        self.assertEqual(report.unneeded(table_of(LIMITS), reasons), reasons[1:2])

    def test_a_table_of_another_form_is_refused(self):
        for page in ("", report.REASONS[0], reasons_in("| GPU: axis | sum | | |"), reasons_in("| | | | | |")):
            with self.assertRaises(ValueError):
                report.reasons_of(page)

    def test_they_are_printed_and_stand_first_on_the_page(self):
        table = table_of(LIMITS)
        self.assertRegex(printed(table), r"(?m)^GPU: axis +sum of rows +float32 +1000 x 3 +2\.000 +41.4 +copy +2\.00$")
        part = report.page_part(table.part(""), [])
        self.assertLess(part.index("Behind, that is below 85 %"), part.index("### GPU: axis"))
        self.assertIn("| GPU: axis | sum of rows | float32 | 1000 x 3 | 2.000 | 41.4 | copy | 2.00 |", part)
        self.assertNotIn("GPU: random", part)
        self.assertIn("| GPU: random | normal |", report.page_part(table.part("random"), []))
        reasons = report.reasons_of(reasons_in("| | | | | all |"))
        self.assertIn("No row is behind", report.page_part(table.part(""), [], None, reasons))
        self.assertNotIn("behind", printed(table, reasons))
        self.assertNotIn("ehind", report.page_part(table_of(MESH).part("mesh"), []))

    def test_the_page_of_this_repository_has_reasons(self):
        with open(
            os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "performance.md")
        ) as file:
            page = file.read()
        parts = {f"GPU: {name}" for name in report.PARTS if name}
        titles = set(re.findall(r"(?m)^### (.*)", page)) | parts | {""}
        reasons = report.reasons_of(page)
        self.assertGreater(len(reasons), 5)
        self.assertEqual([r.where for r in reasons if r.where not in titles], [])


class Page(unittest.TestCase):
    def test_only_what_is_between_the_markers_is_replaced(self):
        (begin, end), (begin_mesh, end_mesh) = report.markers(""), report.markers("mesh")
        page = f"before\n{begin}\nold\n{end}\nafter\n{begin_mesh}\nold\n{end_mesh}\n"
        once = report.between_markers(page, "new")
        self.assertEqual(
            once, f"before\n{begin}\n\nnew\n\n{end}\nafter\n{begin_mesh}\nold\n{end_mesh}\n"
        )
        self.assertEqual(report.between_markers(once, "new"), once)
        self.assertEqual(report.between_markers(once, "other", "mesh").count("old"), 0)

    def test_a_page_without_both_markers_in_order_is_refused(self):
        begin, end = report.markers("")
        for page in ("", begin, f"{end}\n{begin}", f"{begin}{begin}{end}"):
            with self.assertRaises(ValueError):
                report.between_markers(page, "new")

    def test_the_page_of_this_repository_has_them(self):
        with open(
            os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "performance.md")
        ) as file:
            page = file.read()
        for part in report.PARTS:
            self.assertIn("new", report.between_markers(page, "new", part))

    def test_readings_by_hand_stay_when_the_tables_are_renewed(self):
        table, kept = table_of(CUDA, HOST), {"GPU: map": "Bound by memory.\n\nTwice.", "GPU: gone": "No rows."}
        with contextlib.redirect_stderr(io.StringIO()) as said:
            part = report.page_part(table, [], kept)
        self.assertEqual(report.readings(part), {"GPU: map": kept["GPU: map"]})
        self.assertIn("The reading of 'GPU: gone' is left out", said.getvalue())
        self.assertEqual(report.page_part(table, [], report.readings(part)), part)

    def test_tables_of_a_device_without_rows_stay(self):
        both = report.page_part(table_of(CUDA, HOST), [], {"Host: map": "In the cache."})
        for part in (report.page_part(table_of(CUDA), []), report.page_part(table_of(HOST), [], report.readings(both))):
            joined = report.with_other_devices(part, both)
            self.assertEqual(joined.split(), both.split())
            self.assertEqual(report.with_other_devices(joined, both), joined)

    def test_rows_that_are_behind_stay_with_their_device(self):
        none, some = "No row is behind.", "Behind:\n\n| where |\n| --- |\n"
        for fresh, gpu in ((none, ""), (some + "| GPU: map |", "| GPU: map |\n")):
            part = f"GPU: 2026-02-02.\n\n{fresh}\n\n### GPU: map\n\nnew"
            old = f"GPU: 2026-01-01.\n\nHost: 2026-01-01.\n\n{some}| GPU: gone |\n| Host: map |\n\n### GPU: map\n\nold\n\n### Host: map\n\nkept"
            self.assertEqual(
                report.with_other_devices(part, old),
                f"GPU: 2026-02-02.\n\nHost: 2026-01-01.\n\n{some}{gpu}| Host: map |\n\n### GPU: map\n\nnew\n\n### Host: map\n\nkept",
            )

    def test_pictures_stand_below_their_group_or_the_last_of_their_device(self):
        pictures = [(f"performance/{name}.svg", name) for name in ("bandwidth-cuda", "bars-cuda", "bars-host")]
        part = report.page_part(table_of(CUDA, HOST), pictures)
        places = [part.index(text) for text in ("GPU: map", "![bandwidth-cuda]", "GPU: loop", "![bars-cuda]", "Host: map", "![bars-host]")]
        self.assertEqual(places, sorted(places))

    def test_the_page_is_read_as_it_was_written(self):
        begin, end = report.markers("")
        table = table_of(CUDA, PEERS, SWEEP)
        rows = report.rows_of_page(f"{begin}\n{report.page_part(table, [])}\n{end}")
        self.assertEqual(rows["loop", "100 steps", "4 x 4"], {"dsl": 0.06123, "dsl graph": 0.9, "JAX": 0.83})
        self.assertEqual(rows["map", "exp(a)", "2^10"], {"dsl": 0.01, "JAX": 0.015, "CuPy": 0.019})
        self.assertEqual(rows["map", "a + b", "64"], {"dsl": 0.25, "hand": 0.26, "CUB": 0.2, "CuPy": 0.5, "Numba": 0.7})

    def test_the_picture_of_readme_has_the_figures_of_the_page(self):
        try:
            import pictures
        except ImportError as missing:
            self.skipTest(str(missing))
        docs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs")
        with open(os.path.join(docs, "performance.md")) as file:
            rows = report.rows_of_page(file.read())
        with open(os.path.join(docs, "performance", "summary.svg")) as file:
            shown = re.findall(r">(\d[\d.]* (?:ms|x))<", file.read())
        self.assertEqual(shown, [label for row in pictures.summary_rows(rows) for _, _, label in row])

    def test_a_part_has_the_rows_of_its_groups_and_says_what_they_were_measured_with(self):
        table = table_of(CUDA, MESH)
        self.assertEqual({key[1] for key in table.part("mesh").rows}, {"mesh"})
        self.assertEqual({key[1] for key in table.part("").rows}, {"map", "loop"})
        self.assertEqual(table.part("random").rows, {})
        part = report.page_part(table.part("mesh"), [])
        self.assertIn("GPU: 2026-01-03, 2 x Some GPU.", part)
        self.assertIn("| `a + b` | float32 | 64 | 4.000 | **2.000** | 2.00 |", part)
        self.assertNotIn("###", part)

    def test_it_says_what_was_measured_with_but_not_where(self):
        part = report.page_part(table_of(CUDA, PEERS, HOST), [("performance/bars.svg", "Bars")])
        for text in (
            "GPU: 2026-01-02, Some GPU, cores 8, driver 13.0, CuPy 14.0.",
            "Host: 2026-01-02, Some CPU, cores 8.",
            "![Bars](performance/bars.svg)",
            "### GPU: map",
            "### Host: map",
            "| `a + b` | float32 | 0.2500 |",
        ):
            self.assertIn(text, part)
        self.assertNotIn("secret", part)
        self.assertNotIn("/home", part)

    def test_many_sizes_are_columns_and_one_of_them_stands_with_the_others(self):
        part = report.page_part(table_of(SWEEP), [])
        self.assertRegex(part, r"\| work \| dtype \| by \| 2\^10 \| .*\| 2\^17 \|")
        self.assertIn("| `exp(a)` | float32 | dsl | **10.00** | **11.00** |", part)
        self.assertIn("| `exp(a)` | float32 | JAX | 15.00 | 16.00 |", part)
        self.assertEqual(part.count("| `exp(a)` | 2^17 |"), 1)


def measured_loops():
    """Rows from a model without errors: 1 us, 5 ps for each element on the chip, which holds 2
    million, 8 ps for others, 0.5 us for an exchange."""
    rows = []
    for side in (512, 1024, 2048, 3162):
        for device, gpus in (("cuda:0", 1), ("cuda:0-1", 2)):
            each = side * side / gpus
            step = 1 + 5e-6 * min(each, 2e6) + 8e-6 * max(0, each - 2e6) + 0.5 * (gpus - 1)
            rows.append(
                row(
                    f"mesh/complex64/{side}x{side}/dsl {device}/100 RK4 steps, sum(F) fed back",
                    0.1 * step,
                )
            )
    return {"context": {"executable": "bench_mesh", "backend": "cuda"}, "benchmarks": rows}


class Model(unittest.TestCase):
    def test_it_finds_what_the_steps_were_made_of(self):
        try:
            import mesh_model
        except ImportError as missing:
            self.skipTest(str(missing))
        model = mesh_model.fit(mesh_model.points_of(table_of(measured_loops())))
        found = (
            model.start,
            1e6 * model.arithmetic,
            1e6 * model.memory,
            model.exchange,
            1e-6 * model.chip,
        )
        for got, right in zip(found, (1, 5, 8, 0.5, 2)):
            self.assertAlmostEqual(got, right, delta=0.02)
        self.assertAlmostEqual(model.step(4, 4e6), 1 + 5 + 0.5, delta=0.02)
        self.assertEqual(mesh_model.lines_of(mesh_model.points_of(table_of(MESH))), [])


class Pictures(unittest.TestCase):
    def test_the_same_numbers_make_the_same_files(self):
        try:
            import pictures
        except ImportError as missing:
            self.skipTest(str(missing))
        small = {
            "context": {"executable": "bench_cuda", "backend": "cuda"},
            "benchmarks": [
                measured("latency/float32/1000/dsl/a + b", 0.0032, 12000),
                measured("latency/float32/1000/CuPy/a + b", 0.01, 12000),
                row("ode/float32/9/hand/multiply-adds", 1.0, **{"TFLOP/s": 65.0}),
            ],
        }
        table = table_of(SWEEP, CUDA, PEERS, HOST, small)
        contents = []
        for _ in range(2):
            with tempfile.TemporaryDirectory() as folder:
                contents.append({})
                for name, _ in pictures.draw(table, folder):
                    with open(os.path.join(folder, name)) as file:
                        contents[-1][name] = file.read()
        self.assertEqual(contents[0], contents[1])
        with tempfile.TemporaryDirectory() as folder:
            keyed = [
                row(f"by key/float32/9x{k}/{by}/sum_by", 1.0 * k)
                for k in (1, 10)
                for by in ("dsl", "CuPy")
            ]
            keyed += [row(f"by key/float32/9/{by}/sort(a)", 1.0) for by in ("dsl", "CuPy")]
            drawn = [row(f"random/float32/9/{by}/uniform", 1.0) for by in ("dsl", "cuRAND")]
            every = table_of(
                measured_loops(), {"context": {"backend": "cuda"}, "benchmarks": keyed + drawn}
            )
            found = [
                name
                for part in report.PARTS
                for name, _ in pictures.draw(every.part(part), folder, part)
            ]
        self.assertEqual(found, ["gpus.svg", "random.svg", "sum-by.svg", "by-key.svg"])
        labels = {
            "bandwidth-cuda.svg": ["GB/s", "elements", "exp(a), float32"],
            "bars-cuda.svg": ["time relative to dsl", "0.2500"],
            "roofline.svg": ["TFLOP/s", "operations a byte", "multiply-adds, 65.0"],
            "latency.svg": ["microseconds a call", "a + b, 1000 elements"],
        }
        self.assertEqual(set(contents[0]), set(labels))
        for name, texts in labels.items():
            self.assertLess(len(contents[0][name]), 100_000)
            for text in texts:
                self.assertIn(text, contents[0][name])


if __name__ == "__main__":
    unittest.main()
