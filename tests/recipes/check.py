#!/usr/bin/env python3
"""Follows the recipes of docs/how-to-add.md: applies each one's edits to a copy of the sources,
builds the library, and compiles and runs each one's program.

usage: check.py [--list] BUILD_FOLDER [RECIPE...]

A recipe is two files of this folder. NAME.cpp is its program, which returns 0 if what was added
works. NAME.txt has its edits:

    section HEADING        of docs/how-to-add.md, which must list every file that is edited
    after FILE ENTITY      inserts the lines behind the function, class or row of a table
    in FILE ENTITY         replaces tokens of it
    - tokens
    + line

An entity is found by its name, as tests/mutation/check.py finds it, so that a recipe stays valid if
files are formatted or changed beside it. --list only applies the edits.

The back end of tests/back_ends/printing/ is built and run by a test of its own. Here the page must
list the library's headers that it includes.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
sys.path.insert(0, str(root / "tests" / "mutation"))
import cpp


def section_of(heading):
    """A section of the page."""
    page = (root / "docs" / "how-to-add.md").read_text()
    return re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", page, re.M | re.S)[1]


class Edit:
    def __init__(self, verb, file, entity):
        self.verb, self.file, self.entity = verb, file, entity
        self.old, self.new = [], []

    def apply(self, folder):
        path = folder / self.file
        text = path.read_text()
        tokens = cpp.tokens_of(text, self.file)
        wanted = tuple(self.entity.split("::"))
        found = [e for e in cpp.entities_of(text, tokens) if e.name[-len(wanted):] == wanted]
        new = "\n".join(self.new)
        if self.verb == "after":
            if not found:
                raise SystemExit(f"{self.file} has no {self.entity}")
            end = text.find("\n", tokens[found[-1].last - 1].end) + 1
            path.write_text(text[:end] + new + "\n" + text[end:])
            return
        words = [t.text for t in tokens]
        old = cpp.words_and_pattern("\n".join(self.old))[0]
        places = {(k, end) for e in found for k in range(e.first, e.last)
                  if (end := cpp.end_of_match(words, k, e.last, old))}
        if len(places) != 1:
            raise SystemExit(f"{self.file}, {self.entity}: {len(places)} places have\n" +
                             "\n".join(self.old))
        first, last = places.pop()
        path.write_text(cpp.replaced(text, tokens, first, last, new))


class Recipe:
    def __init__(self, path):
        self.name, self.program = path.stem, path.with_suffix(".cpp")
        self.section, self.edits = "", []
        for line in path.read_text().splitlines():
            verb, _, rest = line.partition(" ")
            if verb == "section":
                self.section = rest
            elif verb in ("after", "in"):
                self.edits.append(Edit(verb, *rest.split(" ")))
            elif verb in ("-", "+"):
                (self.edits[-1].old if verb == "-" else self.edits[-1].new).append(rest)
            elif line:
                raise SystemExit(f"{path}: {line}")

    def unlisted(self):
        """The edited files that the page's section does not list."""
        section = section_of(self.section)
        return sorted({e.file for e in self.edits
                       if f"`{e.file.removeprefix('include/dsl/')}`" not in section})


def unlisted_includes():
    """The library's headers that the back end that prints includes and the page does not list."""
    folder = root / "tests" / "back_ends" / "printing"
    included = {name for file in folder.glob("printing.*")
                for name in re.findall(r'^#include "(.*/.*)"', file.read_text(), re.M)}
    return sorted(name for name in included if f"`lib/{name}`" not in section_of("A back end"))


def copy_sources(folder):
    """A copy of the files that the library is built from, with their times."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("include", "lib", "cmake"):
        shutil.copytree(root / name, folder / name)
    shutil.copy2(root / "CMakeLists.txt", folder)


def run(*command):
    print(*command, flush=True)
    subprocess.run(command, check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("recipes", nargs="*")
    given = parser.parse_args()
    recipes = [Recipe(p) for p in sorted(here.glob("*.txt"))
               if not given.recipes or p.stem in given.recipes]
    sources, build = given.folder / "sources", given.folder / "build"
    copy_sources(sources)
    if missing := unlisted_includes():
        raise SystemExit("docs/how-to-add.md, A back end, does not list " + ", ".join(missing))
    for recipe in recipes:
        if recipe.unlisted():
            raise SystemExit(f"{recipe.name}: docs/how-to-add.md, {recipe.section}, does not list "
                             + ", ".join(recipe.unlisted()))
        for edit in recipe.edits:
            edit.apply(sources)
        print(f"{recipe.name}: {len(recipe.edits)} edits", flush=True)
    if given.list:
        return
    programs = "".join(f"dsl_executable({r.name} SOURCES {r.program})\n" for r in recipes)
    project = given.folder / "project"
    project.mkdir(exist_ok=True)
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(recipes LANGUAGES CXX)\n"
        f"add_subdirectory({sources} dsl)\n{programs}")
    run("cmake", "-S", project, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        "-DDSL_CUDA=OFF", f"-DCMAKE_CXX_COMPILER={given.compiler}", "-DCMAKE_CXX_FLAGS_RELEASE=-O1")
    run("cmake", "--build", build, "--target", *(r.name for r in recipes))
    for recipe in recipes:
        run(build / recipe.name)


main()
