"""The list of faults, faults.txt, and the places in the sources where they lie."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import cpp


class Wrong(Exception):
    """The list cannot be read; the message says why."""


class Stale(Exception):
    """A fault no longer fits the sources; the message says why."""


@dataclass(frozen=True)
class Test:
    kind: str     # "files", "target" or "ctest"
    what: tuple   # test files; a target; a test of CTest and the targets that it needs
    filter: str   # GoogleTest's

    def binary(self):
        if self.kind != "files":
            return self.what[0]
        return re.sub(r"\W+", "_", "_".join(self.what)).removesuffix("_cpp")

    def targets(self):
        return self.what[1:] if self.kind == "ctest" else (self.binary(),)

    def __str__(self):
        if self.kind == "files":
            return " ".join(self.what)
        return self.what[0] if self.kind == "target" else "ctest " + self.what[0]


@dataclass
class Fault:
    name: str
    number: int
    entity: str = ""             # the function, or other named entity, in which it lies
    file: str = ""               # how the path of its file ends, where the entity does not tell
    breaks: str = ""
    before: str = ""
    after: str = ""
    needs: str = ""              # "gpu", "toolkit" or nothing
    compiles: bool = True        # where not, building the tests finds it
    keeps_library: bool = False  # of a header: only the tests' own files are compiled again
    missed: str = ""             # why no quick test finds it, and what does
    tests: list = field(default_factory=list)


def read_faults(path):
    """The faults, in their order. The comment above faults.txt's first one describes the format."""
    faults, before, after = [], [], []
    texts = {"in": "entity", "file": "file", "breaks": "breaks", "needs": "needs",
             "missed": "missed"}

    def close():
        if not faults:
            return
        fault = faults[-1]
        fault.before, fault.after = "\n".join(before), "\n".join(after)
        has_place = fault.entity or fault.file
        if not (has_place and fault.breaks and fault.before.strip() and after and fault.tests):
            raise Wrong(f"{path}: {fault.name} lacks a place, a sentence, a text or a test")
        before.clear(), after.clear()

    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        key, _, value = line.partition(" ")
        if not line.strip() or key == "#":
            continue
        if key == "==":
            close()
            if any(f.name == value for f in faults):
                raise Wrong(f"{path}:{number}: {value} stands there twice")
            faults.append(Fault(value, len(faults) + 1))
        elif not faults:
            raise Wrong(f"{path}:{number}: text before the first fault")
        elif key == "-":
            before.append(value)
        elif key == "+":
            after.append(value)
        elif key == "test":
            what, _, chosen = value.partition(" : ")
            words = what.split()
            kind = words[0] if words[0] in ("target", "ctest") else "files"
            what = tuple(words if kind == "files" else words[1:])
            faults[-1].tests.append(Test(kind, what, chosen.strip() or "*"))
        elif key in texts:
            setattr(faults[-1], texts[key], value)
        elif line == "compiles not":
            faults[-1].compiles = False
        elif line == "keeps library":
            faults[-1].keeps_library = True
        else:
            raise Wrong(f"{path}:{number}: not understood: {line}")
    close()
    return faults


@dataclass(frozen=True)
class Place:
    """Tokens first to last of a file, last not among them."""
    path: str  # below the sources' folder
    line: int
    first: int
    last: int


def named(entity, name):
    """Whether this is an entity's full name, or its end from a `::` on."""
    return ("::" + "::".join(entity.name)).endswith("::" + name)


class Sources:
    """The files of a checkout. Each is read once, when it may have what is looked for."""

    LIBRARY = ("include", "lib")  # where entities are looked for

    def __init__(self, root):
        self.root = Path(root)
        self.texts, self.read = {}, {}
        self.library = self.files_in(self.LIBRARY)

    def files_in(self, folders):
        return sorted(p.relative_to(self.root).as_posix()
                      for folder in folders for p in (self.root / folder).rglob("*")
                      if p.is_file() and "__pycache__" not in p.parts)

    def all_files(self):
        top = sorted(p for p in self.root.iterdir() if p.name != "build" and p.name[0] != ".")
        return (self.files_in(p.name for p in top if p.is_dir())
                + [p.name for p in top if p.is_file()])

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = (self.root / path).read_bytes().decode(errors="replace")
        return self.texts[path]

    def parts(self, path):
        """A file's tokens, their words, and its entities."""
        if path not in self.read:
            text = self.text(path)
            tokens, entities = cpp.tokens_of(text, path), []
            if cpp.is_cpp(path):
                try:
                    entities = cpp.entities_of(text, tokens)
                except ValueError as why:
                    raise Wrong(f"{path}: {why}") from why
            self.read[path] = tokens, [t.text for t in tokens], entities
        return self.read[path]

    def find(self, fault):
        """Where the fault lies. Stale where there is no such place, or several."""
        paths = self.library if fault.entity else self.all_files()
        if fault.file:
            paths = [p for p in paths if ("/" + p).endswith("/" + fault.file)]
            if not paths:
                raise Stale(f"there is no file {fault.file}")
        places = {place for path in paths for place in self.find_in(path, fault)}
        if len(places) == 1:
            return places.pop()
        if places:
            lines = ", ".join(sorted(f"{p.path}:{p.line}" for p in places))
            raise Stale(f"the text before is there more than once: {lines}")
        if fault.entity:
            paths = [p for p in paths if any(named(e, fault.entity) for e in self.parts(p)[2])]
            if not paths:
                raise Stale(f"nothing is called {fault.entity}")
        raise Stale(f"the text before is not there: {', '.join(paths)}")

    def find_in(self, path, fault):
        text = self.text(path)
        # Tokens are slow to find: only in files that have the function's name and the text.
        if fault.entity and re.findall(r"\w+", fault.entity)[-1] not in text:
            return
        wanted, pattern = cpp.words_and_pattern(fault.before, cpp.is_cpp(path))
        if not all(w in text or w == "..." for w in wanted) or not pattern.search(text):
            return
        tokens, words, entities = self.parts(path)
        ranges = [(0, len(tokens))]
        if fault.entity:
            ranges = [(e.first, e.last) for e in entities if named(e, fault.entity)]
        for first, last in ranges:
            for at in range(first, last):
                end = words[at] == wanted[0] and cpp.end_of_match(words, at, last, wanted)
                if end:
                    yield Place(path, text.count("\n", 0, tokens[at].begin) + 1, at, end)

    def with_fault(self, fault, place):
        """The text of the place's file with the fault in it."""
        text, tokens = self.text(place.path), self.parts(place.path)[0]
        return cpp.replaced(text, tokens, place.first, place.last, fault.after.strip())
