"""The reference: what the headers declare in namespace dsl, but for dsl::detail, with the comments (///) that stand before it.

Each header becomes a page, and each comment a section with the declarations that follow it up to an empty line. A class is shown as what
is public in it, comments included.
"""

import os
import pathlib
import re
import subprocess
import textwrap

from clang import cindex
from clang.cindex import CursorKind as kind

FOLDERS = {
    "": "Headers to include",
    "lang": "What one writes: expressions, functions, reductions, loops",
    "mem": "Arrays, views, scalars, devices, streams, files",
    "ode": "Differential equations",
    "python": "Modules for Python",
    "exec": "Plans and policies",
    "ir": "Dtypes and numbers",
}
CLASSES = {kind.CLASS_DECL, kind.STRUCT_DECL, kind.CLASS_TEMPLATE}
FUNCTIONS = {kind.FUNCTION_DECL, kind.FUNCTION_TEMPLATE, kind.CXX_METHOD, kind.CONSTRUCTOR, kind.CONVERSION_FUNCTION}
OTHERS = {kind.ENUM_DECL, kind.CONCEPT_DECL, kind.TYPE_ALIAS_DECL, kind.TYPE_ALIAS_TEMPLATE_DECL, kind.VAR_DECL, kind.FIELD_DECL}
DECLARED = CLASSES | FUNCTIONS | OTHERS | {kind.UNEXPOSED_DECL}


def parsed(include):
    """The headers that are to be included, as one translation unit."""
    names = sorted(header.name for header in include.glob("dsl/*.hpp"))
    # mpi.hpp includes a header that is not everywhere.
    text = "".join(f"#if __has_include(<{name[:-2]}>) || {int(name != 'mpi.hpp')}\n#include <dsl/{name}>\n#endif\n" for name in names)
    system = subprocess.run([os.environ.get("CXX", "g++"), "-xc++", "-std=c++20", "-E", "-v", "-"], input="", capture_output=True, text=True, check=True).stderr
    folders = re.findall(r"^ (/\S+)$", system, re.M)
    arguments = ["-xc++", "-std=c++20", "-nostdinc", f"-I{include}", *(part for folder in folders for part in ("-isystem", folder))]
    unit = cindex.Index.create().parse("all.cpp", arguments, [("all.cpp", text)],
                                       cindex.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES)
    errors = [str(each) for each in unit.diagnostics if each.severity >= cindex.Diagnostic.Error]
    if errors:
        raise SystemExit("the headers cannot be read:\n" + "\n".join(errors[:5]))
    return unit


def signature(text):
    """A function without its body and its members' initialisers."""
    depth = 0
    for at, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if depth == 0 and (c in "{;" or text[at:].startswith((" : ", "\n    : ", "\n      : ")) and text[:at].rstrip().endswith(")")):
            return text[:at].rstrip() + ";"
    return text.rstrip(";") + ";"


class header:
    """A header's lines, and its sections."""

    def __init__(self, path):
        self.path = path
        self.text = path.read_bytes().decode()
        self.lines = self.text.split("\n")
        self.bytes = self.text.encode()
        self.sections = []  # of [first line, last line, comment, declarations]

    def about(self):
        about = []
        for line in self.lines:
            if not line.startswith("//"):
                break
            about.append(line.strip("/ "))
        return " ".join(about)

    def source(self, cursor):
        return self.bytes[cursor.extent.start.offset : cursor.extent.end.offset].decode()

    def comment_before(self, line):
        """The lines of the comment that ends above a line (which counts from 1)."""
        first = line - 1
        while first > 0 and self.lines[first - 1].lstrip().startswith("///"):
            first -= 1
        return [re.sub(r"^ *///? ?/?", "", each) for each in self.lines[first : line - 1]]

    def add(self, cursor):
        first, last = cursor.extent.start.line, cursor.extent.end.line
        text = self.declaration(cursor)
        if not text:
            return
        comment = self.comment_before(first)
        space = cursor.semantic_parent.spelling
        name = cursor.spelling if space == "dsl" else f"{space}::{cursor.spelling}"
        if comment:
            self.sections.append([first, last, comment, [(name, text)]])
        elif self.sections and not any(not line.strip() for line in self.lines[self.sections[-1][1] : first - 1]):
            section = self.sections[-1]
            section[1] = last
            if (name, text) not in section[3]:
                section[3].append((name, text))

    def declaration(self, cursor, inside=False):
        """As it is written, without bodies; "" if there is nothing to show."""
        if cursor.kind not in DECLARED or not cursor.spelling or "deduction guide" in cursor.spelling:
            return ""
        if cursor.spelling == "refused" or "refused" in cursor.result_type.spelling:  # what only says what is wrong with a call
            return ""
        if self.source(cursor).startswith("DSL_"):  # a macro's: what it is called with
            if cursor.kind not in FUNCTIONS:
                return ""
            names = [each.spelling for each in cursor.get_children() if each.kind == kind.PARM_DECL]
            return f"{cursor.spelling}({', '.join(name or '...' for name in names)});" if all(names) else ""
        indent = " " * (cursor.extent.start.column - 1)
        text = textwrap.dedent(indent + self.source(cursor))
        if cursor.kind in FUNCTIONS or cursor.kind == kind.UNEXPOSED_DECL and "(" in text:
            return signature(text)
        if cursor.kind in CLASSES or cursor.kind == kind.UNEXPOSED_DECL:
            if "{" not in text:
                return text + ";" if inside or self.comment_before(cursor.extent.start.line) else ""
            head, members = text[: text.index("{")], self.members(cursor)
            if not members:
                return head + "{};"
            return head + "{\n" + (" public:\n" if re.search(r"^class ", head, re.M) else "") + members + "};"
        if cursor.kind == kind.VAR_DECL and "\n" in text:
            return re.split(r" = |\{", text, maxsplit=1)[0] + ";"
        return text + ";"

    def members(self, cursor):
        """What is public in a class."""
        shown, last, skipped = [], 0, False
        for member in cursor.get_children():
            if member.access_specifier != cindex.AccessSpecifier.PUBLIC or member.spelling.startswith("~"):
                continue
            text = self.declaration(member, inside=True)
            if not text:
                continue
            first = member.extent.start.line
            comment = ["/// " + line if line else "///" for line in self.comment_before(first)]
            stands_apart = comment or any(not line.strip() for line in self.lines[last : first - 1])
            last = member.extent.end.line
            if stands_apart:
                skipped = bool(comment) and comment[0].startswith("/// Do not compile")
            if skipped:
                continue
            if shown and stands_apart:
                shown.append("")
            shown += comment + text.split("\n")
            behind = self.lines[member.extent.end.line - 1].partition("///<")[2] or self.lines[member.extent.end.line - 1].partition("; //")[2]
            if behind and "\n" not in text:
                shown[-1] += "  // " + behind.strip("/ ")
        return "".join(f"  {line}".rstrip() + "\n" for line in shown)

    def macros(self):
        """Public macros, which have a comment."""
        for match in re.finditer(r"((?:^///.*\n)+)# *define (DSL_\w+(?:\([^)]*\))?)", self.text, re.M):
            line = self.text.count("\n", 0, match.end()) + 1
            comment = [re.sub(r"^///? ?/?", "", each) for each in match.group(1).splitlines()]
            self.sections.append([line, line, comment, [(match.group(2).partition("(")[0], "#define " + match.group(2))]])

    def page(self, name):
        text = f"# {name}\n\n{escaped(self.about())}\n\n```text\n#include <{name}>\n```\n"
        for _, _, comment, declarations in sorted(self.sections):
            names = list(dict.fromkeys(each for each, _ in declarations))
            text += f"\n## {escaped(', '.join(names))}\n\n" + "```cpp\n" + "\n".join(each for _, each in declarations) + "\n```\n\n"
            text += markdown(comment) + "\n"
        return text

    def names(self):
        return list(dict.fromkeys(name for section in sorted(self.sections) for name, _ in section[3]))


def escaped(line):
    """Text in which only `code` means something to Markdown."""
    parts = line.split("`")
    return "`".join(part if number % 2 else re.sub(r"([\\*_<>\[\]$|#~])", r"\\\1", part) for number, part in enumerate(parts))


def markdown(comment):
    lines, code = [], False
    for line in comment:
        if line.startswith("```"):
            code = not code
        lines.append(line if code or line.startswith("```") else escaped(line))
    return "\n".join(lines) + "\n"


def walk(cursor, include, headers):
    for each in cursor.get_children():
        file = each.extent.start.file
        path = pathlib.Path(file.name).resolve() if file else None
        if not path or not path.is_relative_to(include):
            continue
        if each.kind == kind.NAMESPACE:
            if each.spelling != "detail":
                walk(each, include, headers)
        elif each.semantic_parent.kind == kind.NAMESPACE:
            headers.setdefault(path, header(path)).add(each)


def write(include, folder):
    """Writes a page for each header that declares something to `folder`, and index.md."""
    include = include.resolve()
    headers = {}
    walk(parsed(include).cursor, include, headers)
    for path in sorted(include.rglob("*.hpp")):
        headers.setdefault(path, header(path)).macros()
    headers = {path: each for path, each in headers.items() if each.sections}
    folder.mkdir(parents=True, exist_ok=True)
    index = "# Reference\n\nThe declarations of namespace `dsl` with their comments, one page for each header. `#include <dsl/dsl.hpp>` has all of " \
            "them except those with a header of their own. Functions of elements, `exp` to `ldexp`, are in [a table](../functions.md).\n"
    pages = []
    for part, title in FOLDERS.items():
        here = [path for path in sorted(headers) if path.parent.name == (part or "dsl")]
        if not here:
            continue
        index += f"\n## {title}\n\n| header | declares |\n| --- | --- |\n"
        for path in here:
            name = path.relative_to(include).as_posix()
            page = name.replace("/", "-").removesuffix(".hpp") + ".md"
            (folder / page).write_text(headers[path].page(name))
            index += f"| [{escaped(name)}]({page}) | {' '.join(f'`{each}`' for each in headers[path].names())} |\n"
            pages.append(f"{name.removeprefix('dsl/')} <{page.removesuffix('.md')}>")
    (folder / "index.md").write_text(index + "\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n")
