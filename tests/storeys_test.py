#!/usr/bin/env python3
"""Tests of storeys.py, on folders of a few lines."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class Storeys(unittest.TestCase):
    def said(self, files, objects=()):
        """What the check says of these files, without the line that counts them."""
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                guard = "#pragma once\n" if path.endswith(".hpp") else ""
                file.write_text(f"{guard}#include <dsl/ir/op.hpp>\nnamespace dsl {{\n{text}\n}}\n")
            made = []
            for path in objects:
                object = pathlib.Path(folder, "dsl.dir", path + ".o")
                object.parent.mkdir(parents=True, exist_ok=True)
                source = pathlib.Path(folder, path).read_text().split("\n", 1)[1]
                subprocess.run(["g++", "-xc++", "-c", "-", "-o", object], input=source, text=True,
                               check=True)
                made.append(object)
            run = subprocess.run(
                [sys.executable, HERE / "storeys.py", "include", "lib", "--objects", *made],
                cwd=folder, stdout=subprocess.PIPE, text=True)
            *said, count = run.stdout.splitlines()
            self.assertEqual(run.returncode, bool(said))
            self.assertTrue(count.startswith(f"{len(files)} files, "))
            return [line.replace(folder + "/", "") for line in said]

    lang = "include/dsl/lang/assign.hpp"
    mem = "include/dsl/mem/array.hpp"

    def test_calls_by_the_types_of_arguments(self):
        lang = {self.lang: "template <class T> void assign(T& to) {}"}
        for call in ("assign(*this);", "dsl::assign(*this);", "assign<T>(*this);",
                     "return assign(*this);"):
            of_mem = f"template <class T> struct array {{ void set() {{ {call} }} }};"
            self.assertEqual(self.said(lang | {self.mem: of_mem}),
                             [f"{self.mem}:4: calls assign, of {self.lang}, from a storey above"])

    def test_names_that_are_a_files_own(self):
        lang = {self.lang: "template <class T> void assign(T& to) {}"}
        for own in ("template <class T> void f(T& x) { x.assign(1); x->assign(1); }",
                    "template <class F> void f(const F& assign) { assign(1); }",
                    "void f() { const auto assign = [] {}; assign(); }",
                    "struct array { void assign(); void f() { assign(); } };",
                    "void f() { std::vector<int> assign(2); }",
                    "void f() { other::assign(2); }"):
            self.assertEqual(self.said(lang | {self.mem: own}), [], own)

    def test_what_lies_below_may_be_called(self):
        self.assertEqual(self.said({self.mem: "template <class T> void copy(T& to) {}",
                                    self.lang: "template <class T> void f(T& x) { copy(x); }"}), [])

    def test_rooms_of_exec(self):
        below, above = "include/dsl/exec/team/team.hpp", "include/dsl/exec/rows/rows.hpp"
        f = "template <class T> void row(T& to) {}"
        calls_f = "template <class T> void g(T t) { row(t); }"
        self.assertEqual(self.said({below: f, above: calls_f}), [])
        self.assertEqual(self.said({above: f, below: calls_f}),
                         [f"{below}:4: calls row, of {above}, from a room that team may not know"])

    def test_what_is_declared_below_and_defined_above(self):
        for what, body in (("void print(int n);", "void print(int n) {}"),
                           ("extern int count;", "int count = 0;"),
                           ("struct x { void f(); };", "void x::f() {}")):
            name = {"v": "print", "e": "count", "s": "x::f"}[what[0]]
            said = self.said({self.mem: what, "lib/exec/run/run.cpp": body})
            self.assertEqual(said, [f"{self.mem}:4: declares dsl::{name}, which "
                                    "lib/exec/run/run.cpp defines, from a storey above"])
        self.assertEqual(self.said({self.mem: "struct row;", "include/dsl/exec/rows/rows.hpp":
                                    "struct row {};"}), [])

    def test_a_declaration_that_is_allowed(self):
        hook = "include/dsl/mem/lazy.hpp"
        declared = {hook: "template <class T> auto evaluate(T& to);",
                    self.mem: "template <class T> void f(T& x) { evaluate(x); }"}
        defined = {self.lang: "template <class T> auto evaluate(T&) {}"}
        self.assertEqual(self.said(declared | defined), [])
        self.assertEqual(self.said(declared),
                         [f"{hook}: declares nothing that lang defines: see DEFINED_ABOVE"])

    @unittest.skipUnless(shutil.which("g++") and shutil.which("nm"), "no g++ or nm")
    def test_symbols_of_object_files(self):
        below, above = "lib/mem/text.cpp", "lib/exec/run/run.cpp"
        files = {below: "void run(int); void f() { run(1); }", above: "void run(int) {}"}
        declares = f"{below}:3: declares dsl::run, which {above} defines, from a storey above"
        uses = (f"dsl.dir/{below}.o: uses dsl::run(int), of lib/exec/run, from a storey above")
        self.assertEqual(self.said(files, objects=files), [declares, uses])

    def test_includes(self):
        self.assertEqual(self.said({self.mem: "#include <dsl/lang/assign.hpp>"}),
                         [f"{self.mem}:4: includes dsl/lang/assign.hpp, from a storey above"])


unittest.main()
