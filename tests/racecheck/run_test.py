#!/usr/bin/env python3
"""Tests, without a GPU, how run.py reads racecheck's output and its list."""

from run import HERE, hazards_of, rules_of

TEXT = """========= COMPUTE-SANITIZER
========= Error: Potential RAW hazard detected at __shared__ 0x40 in block (3,0,0) :
=========     Write Thread (5,0,0) at void dsl::detail::device_memory::store<dsl::detail::by_key_table<int, (int)16>::whole>(T1 *, const T1 &) const+0x5310 in cuda_memory.hpp:24
=========     Read Thread (37,0,0) at dsl::detail::by_key_table<int, (int)16>::place(unsigned int) const+0x52d0 in cuda_memory.hpp:23
=========     Current Value : 7
=========
========= Error: Potential RAW hazard detected at __shared__ 0x41 in block (3,0,0) :
=========     Write Thread (5,0,0) at void dsl::detail::device_memory::store<dsl::detail::by_key_table<int, (int)16>::whole>(T1 *, const T1 &) const+0x5310 in cuda_memory.hpp:24
=========     Read Thread (37,0,0) at dsl::detail::by_key_table<int, (int)16>::place(unsigned int) const+0x52d0 in cuda_memory.hpp:23
=========     Current Value : 7
=========
========= Error: Potential WAW hazard detected at __shared__ 0x0 in block (0,0,0) :
=========     Write Thread (0,0,0) at other()+0x2f0 in other.cu:20
=========     Write Thread (1,0,0) at other()+0x2f0 in other.cu:20
=========     Current Value : 1, Incoming Value : 2
=========
========= RACECHECK SUMMARY: {} hazards displayed (3 errors, 0 warnings)
"""


def fails(text: str) -> bool:
    try:
        hazards_of(text)
    except ValueError:
        return True
    return False


found = hazards_of(TEXT.format(3))
assert sorted((h.kind, h.threads, n) for h, n in found.items()) == [
    ("RAW", "other-warp", 2),
    ("WAW", "same-warp", 1),
], found
rules = rules_of((HERE / "unseen.txt").read_text())
listed = [h.kind for h in found if any(r.covers(h) for r in rules)]
assert listed == ["RAW"], listed
assert not any(
    r.covers(h._replace(threads="same-warp")) or r.covers(h._replace(kind="WAW"))
    for r in rules
    for h in found
)
assert fails(TEXT.format(4)) and fails("") and fails(TEXT[:400])
