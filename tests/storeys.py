#!/usr/bin/env python3
"""Checks which parts of include/ and lib/ know which others, by their includes and by their names.

usage: storeys.py [--nm NM --objects FILE...] FOLDER...

Includes only go down the storeys: python, ode, linear, fft, sparse -> lang -> exec -> mem -> ir. In lib/, each back end
(cuda, host, opencl, sim) may include exec and below, and no other back end; files outside the
storeys are above all of them. The rooms of exec are ranked too, in include/ and lib/ alike, and
rooms of the same rank may not include each other.

Two kinds of use need no include, and are checked by name:

- A template may call a function that no file below it declares. The compiler then looks the name up
  where the template is instantiated, by the types of the arguments.
- A file may declare a function that another storey or room defines. It then knows that one,
  although it includes none of its files. DEFINED_ABOVE lists the files that may.

The library's object files show the second kind as the linker sees it: a symbol that a storey uses,
and one above it defines. Rooms are not seen there if the library is compiled a folder at a time.

Every header may be included twice, and no file has more than 460 lines.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "mutation"))
import cpp

LEVEL = {
    "ir": 1, "mem": 2, "exec": 3, "lang": 4, "cuda": 4, "host": 4, "opencl": 4, "sim": 4,
    "python": 5, "ode": 5, "linear": 5, "fft": 5, "sparse": 5, "top": 5,
}
RANK = {
    "plan": 1, "team": 2, "access": 3, "stencil": 4, "reduce": 4, "map": 5, "host": 6, "run": 7,
    "explain": 8, "rows": 9, "loop": 9, "scan": 9, "tasks": 9, "by_key": 10, "ensemble": 10, "processes": 10, "statement": 11,
}
MOST_LINES = 460

# Files that declare functions or variables for the storeys or rooms beside them to define. An entry
# that nothing needs is an error.
DEFINED_ABOVE = {
    "mem/lazy.hpp": ["lang"],  # what arrays need of expressions
    "mem/back_end.hpp": ["top"],  # the table of all back ends
    "exec/team/sim_team.hpp": ["sim"],  # a simulated thread
    "exec/host/half_lanes.hpp": ["host"],  # compiled for each set of vector instructions
    # Rooms of exec:
    "exec/plan/plan.hpp": ["exec/run"],
    "exec/plan/text.hpp": ["exec/run"],
    "exec/explain/explanation.hpp": ["exec/statement", "exec/loop", "exec/scan", "exec/by_key"],
    "exec/run/run.hpp": ["exec/statement"],
    "exec/run/executor.hpp": ["exec/loop"],
    "exec/run/grid_executor.hpp": ["exec/loop"],
}


class Place:
    """Where a file lies: its storey, and its room if the storey is exec."""

    def __init__(self, path):
        # dsl/mem/array.hpp, lib/mem/text.hpp, mem/text.hpp: mem; dsl/dsl.hpp, back_ends.cpp: top.
        parts = re.sub(r"^(.*/)?(include/dsl|lib)/|^dsl/", "", path).split("/")
        self.path = "/".join(parts)
        self.storey = parts[0] if len(parts) > 1 else "top"
        self.room = parts[1] if self.storey == "exec" and len(parts) == 3 else ""

    def why_unknown(self, other):
        """Why a file here may not know one at the other place; "" if it may."""
        if LEVEL[other.storey] > LEVEL[self.storey]:
            return "from a storey above"
        if other.storey != self.storey and LEVEL[other.storey] == LEVEL[self.storey] == 4:
            return "from beside its own storey"
        if self.room in RANK and other.room in RANK and self.room != other.room \
                and RANK[other.room] >= RANK[self.room]:
            return f"from a room that {self.room} may not know"
        return ""

    def __str__(self):
        return f"{self.storey}/{self.room}" if self.room else self.storey


class Source:
    def __init__(self, path):
        self.path, self.place = path, Place(path)
        self.text = pathlib.Path(path).read_text()
        self.tokens = cpp.tokens_of(self.text, path)
        self.words = [t.text for t in self.tokens]
        self.entities = cpp.entities_of(self.text, self.tokens) if path.endswith(
            (".hpp", ".cpp", ".cu")) else []

    def line_of(self, k):
        return self.text.count("\n", 0, self.tokens[k].begin) + 1


def check_form(source, complain):
    """Checks a file's place, its length, its guard and its includes."""
    place, lines = source.place, source.text.split("\n")
    if place.storey not in LEVEL:
        complain(source.path, 1, "is in no storey (" + ", ".join(LEVEL) + ")")
        return 0
    if place.storey == "exec" and place.room not in RANK:
        complain(source.path, 1, "is in no room of exec")
    if source.path.endswith(".hpp") and "#pragma once" not in lines:
        complain(source.path, 1, "has no #pragma once")
    if len(lines) - 1 > MOST_LINES:
        complain(source.path, len(lines), f"has more than {MOST_LINES} lines")
    includes = 0
    for number, line in enumerate(lines, 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]*)', line)
        if not found:
            continue
        quoted, path = found[1] == '"', found[2]
        if quoted and "include/dsl/" in source.path:
            complain(source.path, number, "write #include <dsl/...>")
        if not path.startswith("dsl/") and not (quoted and path.endswith(".hpp")):
            continue
        includes += 1
        other = Place(path)
        if other.storey not in LEVEL:
            complain(source.path, number, f"includes {path}, which is in no storey")
        elif why := place.why_unknown(other):
            complain(source.path, number, f"includes {path}, {why}")
    return includes


# ---- names

# Words before a name and a parenthesis that make no declaration of the two.
NO_TYPE = frozenset("""
    return else do case throw new delete co_return co_yield co_await and or not typename template
    operator goto sizeof if while for switch constexpr""".split())


def is_type_end(word):
    """Whether a declared name may follow: `T name`, `T& name`, `T<U> name`, `T... name`."""
    return (cpp.is_word(word) and word not in NO_TYPE) or word in ("&", "*", ">", "...", "&&")


def local_names(words):
    """The names that functions declare inside: parameters, variables, structured bindings."""
    names = set()
    for k in range(1, len(words) - 1):
        if cpp.is_word(words[k]) and words[k + 1] in ("=", "{", ";", ",", ")", "[", ":") \
                and is_type_end(words[k - 1]):
            names.add(words[k])
        elif cpp.is_word(words[k]) and words[k + 1] == "(" and is_type_end(words[k - 1]) \
                and words[k - 1] not in ("&", "*", "&&"):
            names.add(words[k])
        elif words[k] == "[" and words[k - 1] in ("auto", "&", "&&"):
            while words[k] != "]":
                k += 1
                names.add(words[k])
    return names


def calls(words):
    """The positions of names called without an object: f(...), f<...>(...), detail::f(...)."""
    for k, word in enumerate(words):
        if not cpp.is_word(word) or word[0].isdigit() or k + 1 == len(words):
            continue
        before = words[k - 1] if k > 0 else ""
        if before == ">" or (cpp.is_word(before) and before not in NO_TYPE):
            continue  # a declaration
        if before in (".", "->") or (
                before == "::" and (k < 2 or words[k - 2] not in ("dsl", "detail"))):
            continue
        q = k + 1
        if words[q] == "<":
            depth = 0
            while q < len(words):
                depth += (words[q] == "<") - (words[q] == ">")
                q += 1
                if depth == 0 or words[q - 1] in (";", "{"):
                    break
            if depth != 0 or q == len(words):
                continue
        if words[q] == "(":
            yield k


def is_namespace(part):
    return part in ("dsl", "detail", "math", "kernels", "ops", "std", "ode", "random")


def check_names(sources, complain):
    """Finds calls of functions that only files declare which the caller's file may not know."""
    at_namespace = collections.defaultdict(set)  # name -> indices of sources
    anywhere = collections.defaultdict(set)
    for i, source in enumerate(sources):
        for entity in source.entities:
            anywhere[entity.name[-1]].add(i)
            is_macro = source.words[entity.first] == "#"
            if not is_macro and all(is_namespace(part) for part in entity.name[:-1]):
                at_namespace[entity.name[-1]].add(i)
    for source in sources:
        local = local_names(source.words)
        for k in calls(source.words):
            name = source.words[k]
            if name not in at_namespace or name in local:
                continue
            if any(not source.place.why_unknown(sources[i].place) for i in anywhere[name]):
                continue
            where = sorted(sources[i].path for i in at_namespace[name])
            complain(source.path, source.line_of(k), f"calls {name}, of {where[0]}, "
                     + source.place.why_unknown(Place(where[0])))


def check_definitions(sources, used, complain):
    """Finds functions and variables that a file declares, and that others define which it may not
    know.

    A class that is declared and not defined is no such case: nothing of it is used but its name.

    Gives the names that are declared so, by DEFINED_ABOVE, and adds the entries needed to `used`.
    """
    declared, defined = collections.defaultdict(list), collections.defaultdict(list)
    for source in sources:
        for entity in source.entities:
            words = source.words[entity.first:entity.last]
            is_name = words[-3:-2] and words[-3] in ("class", "struct", "union", "enum")
            if words[0] not in ("#", "using", "typedef", "friend", "concept") and not is_name:
                has_body = words[-1] == "}" or words[-2:] == ["}", ";"] or (
                    "=" in words and "(" not in words[:words.index("=")])
                (defined if has_body else declared)[entity.name].append((source, entity))
    allowed = set()
    for name, found in declared.items():
        for source, entity in found:
            above = DEFINED_ABOVE.get(source.place.path, [])
            if above:
                allowed.add("::".join(name))
            why = [source.place.why_unknown(by.place) for by, _ in defined[name]]
            if not why or not all(why):
                continue
            by = next((str(by.place) for by, _ in defined[name] if str(by.place) in above), "")
            if by:
                used.add((source.place.path, by))
            else:
                complain(source.path, source.line_of(entity.first),
                         f"declares {'::'.join(name)}, which {defined[name][0][0].path} defines, "
                         + why[0])
    return allowed


# ---- object files

def place_of_object(path):
    """dsl.dir/Unity/unity_exec_cxx.cxx.o: exec; dsl.dir/lib/exec/run/copy.cpp.o: exec/run."""
    unity = re.search(r"/Unity/unity_(\w+?)_c\w+\.", path)
    return Place(f"lib/{unity[1]}/x" if unity else "lib/" + path.rsplit("/lib/", 1)[-1])


def check_objects(nm, paths, allowed, complain):
    """Finds symbols of a storey or room above; `allowed` are those that a file below declares."""
    defined, undefined = {}, []
    for path in paths:
        listed = subprocess.run([nm, "-P", path], stdout=subprocess.PIPE, text=True, check=True)
        for line in listed.stdout.splitlines():
            symbol, kind = line.split()[:2]
            if kind == "U":
                undefined.append((path, symbol))
            elif kind in "TDBR":
                defined[symbol] = path
    found = []
    for path, symbol in undefined:
        if symbol not in defined:
            continue
        by = place_of_object(defined[symbol])
        if why := place_of_object(path).why_unknown(by):
            found.append((path, symbol, by, why))
    spelled = subprocess.run(["c++filt"], input="\n".join(symbol for _, symbol, _, _ in found),
                             stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    for (path, _, by, why), name in zip(found, spelled):
        if re.sub(r"[(\[].*", "", name) not in allowed:
            complain(path, 0, f"uses {name}, of lib/{by}, {why}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--objects", nargs="*", default=[])
    parser.add_argument("folders", nargs="+")
    given = parser.parse_args()
    complaints = []

    def complain(path, line, what):
        complaints.append(f"{path}:{line}: {what}" if line else f"{path}: {what}")

    paths = sorted(str(p) for f in given.folders for p in pathlib.Path(f).rglob("*")
                   if p.is_file() and p.suffix not in (".py", ".pyc"))
    sources = [Source(p) for p in paths]
    includes = sum(check_form(source, complain) for source in sources)
    known = [s for s in sources if s.place.storey in LEVEL]
    check_names(known, complain)
    used = set()
    allowed = check_definitions(known, used, complain)
    check_objects(given.nm, given.objects, allowed, complain)
    for path, above in DEFINED_ABOVE.items():
        for place in above:
            file = next((s.path for s in known if s.place.path == path), "")
            if file and (path, place) not in used:
                complain(file, 0, f"declares nothing that {place} defines: see DEFINED_ABOVE")
    print(*complaints, f"{len(sources)} files, {includes} includes among them", sep="\n")
    sys.exit(bool(complaints) or not sources or not includes)


if __name__ == "__main__":
    main()
