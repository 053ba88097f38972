#!/usr/bin/env python3
"""Runs programs under compute-sanitizer's racecheck, and fails for hazards that are not on the list
of those that racecheck reports wrongly.

  run.py TURNS BY_KEY   the programs compiled from turns.cpp and by_key.cpp of this folder
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
SKIPPED = 77


class Hazard(NamedTuple):
    # RAW, WAR or WAW.
    kind: str
    # same-warp or other-warp.
    threads: str
    # Kernel and line of both accesses.
    first: str
    second: str


class Rule(NamedTuple):
    kind: str
    threads: str
    place: re.Pattern

    def covers(self, h: Hazard) -> bool:
        return (self.kind == h.kind and self.threads in ("any", h.threads)
                and bool(self.place.search(h.first)) and bool(self.place.search(h.second)))


def rules_of(text: str) -> list[Rule]:
    rules = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            kind, threads, place = line.split(maxsplit=2)
            rules.append(Rule(kind, threads, re.compile(place)))
    return rules


HAZARD = re.compile(r"Potential (RAW|WAR|WAW) hazard detected at __shared__ .*\n"
                    r"=+\s+(?:Read|Write) Thread \((\d+),\s*(\d+),\s*(\d+)\) at (.*)\n"
                    r"=+\s+(?:Read|Write) Thread \((\d+),\s*(\d+),\s*(\d+)\) at (.*)\n")
SUMMARY = re.compile(r"RACECHECK SUMMARY: (\d+) hazards? displayed")


def hazards_of(text: str) -> Counter[Hazard]:
    """All hazards of an output, each with its bytes. ValueError for output that is not
    understood."""
    found: Counter[Hazard] = Counter()
    for kind, x, y, z, first, other_x, other_y, other_z, second in HAZARD.findall(text):
        # These blocks have one dimension.
        if {y, z, other_y, other_z} != {"0"}:
            raise ValueError("a block of more than one dimension")
        threads = "same-warp" if int(x) // 32 == int(other_x) // 32 else "other-warp"
        found[Hazard(kind, threads, first, second)] += 1
    summary = SUMMARY.search(text)
    if summary is None:
        raise ValueError("there is no summary of racecheck's")
    if int(summary[1]) != found.total():
        raise ValueError(f"racecheck displayed {summary[1]} hazards, {found.total()} were read")
    return found


def run(program: list[str], sanitizer: str, only: str = "") -> Counter[Hazard]:
    """The hazards of a program's kernels, or of those whose names contain a text."""
    command = [
        sanitizer, "--tool", "racecheck", "--racecheck-report", "hazard", "--show-backtrace", "no",
        "--print-limit", "1000000", *(["--kernel-name", f"kns={only}"] if only else []), *program
    ]
    ran = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "DSL_DEVICE": "cuda"}
    )
    output = ran.stdout + ran.stderr
    if "Device not supported" in output:
        print("skipped: compute-sanitizer does not support this device")
        sys.exit(SKIPPED)
    try:
        if ran.returncode != 0:
            raise ValueError(f"it ended with {ran.returncode}")
        return hazards_of(output)
    except ValueError as e:
        sys.exit(f"{output}\n{' '.join(program)}: {e}")


def main() -> int:
    turns, by_key = sys.argv[1:]
    sanitizer = shutil.which("compute-sanitizer") or shutil.which(
        "/usr/local/cuda/bin/compute-sanitizer"
    )
    if sanitizer is None:
        print("skipped: no compute-sanitizer")
        return SKIPPED
    rules = rules_of((HERE / "unseen.txt").read_text())

    failed = False
    # Elements and groups for each way of using a table; the first two give each warp of a GPU with
    # 132 multiprocessors two batches.
    reductions = [
        [by_key, *sizes.split()]
        for sizes in ("1100003 10", "1100003 1000", "20003 5000", "10003 50000")
    ]
    # The last program has a race, which must be found and must not be on the list.
    for program in (
        [turns, "meet", "2"], [turns, "aligned"], [turns, "arrive", "2"], [turns, "arrive"],
        *reductions, [turns, "none"]
    ):
        started = time.monotonic()
        # Without CUB's kernels.
        found = run(program, sanitizer, "by_key" if program[0] == by_key else "")
        unlisted = {h: n for h, n in found.items() if not any(r.covers(h) for r in rules)}
        print(
            f"{' '.join([Path(program[0]).name, *program[1:]])}: {found.total()} hazards, "
            f"{sum(unlisted.values())} of them not on the list"
            f" ({time.monotonic() - started:.1f} s)"
        )
        is_race = program[1:] == ["none"]
        for h, n in found.items() if not is_race else ():
            print(
                f"  {'listed' if h not in unlisted else 'NOT LISTED'}: {n} x {h.kind}, "
                f"{h.threads}\n    {h.first}\n    {h.second}"
            )
        if bool(unlisted) != is_race:
            print("  FAILED: " + ("a race was not found" if is_race else "see above"))
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
