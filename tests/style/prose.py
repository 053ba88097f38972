#!/usr/bin/env python3
"""Lints the prose of README.md and docs/*.md: proselint's checks, and this project's own rules below. A finding is an error.

prose.py REPOSITORY: needs the packages of prose.txt (cmake/with_python.sh installs them).

Code, tables, headings and HTML are not prose. Links count as their text; a piece of `code` and a number as one word.
"""

import pathlib
import re
import sys

# proselint's checks that are off: typography wants curly quotes, dates read numbers as years and hours, and the last one takes
# "multiply-adds" for an adverb.
OFF = ("typography", "dates_times", "misc.phrasal_adjectives.ly")
LONGEST = 900  # characters of a paragraph, as written
WIDEST = 88  # columns of a line of code that a page shows at 1280 pixels without scrolling
FIRST = 40  # lines of a page's first screen

# Own rules: name, what to search for in a paragraph, what to write instead.
SENTENCE = r"(?:^|(?<=[.!?] )|(?<=: ))"
RULES = [
    ("of-first", SENTENCE + r"Of (?!course\b)", "begin with the subject: 'Two of the rows ...', not 'Of the rows two ...'"),
    ("what-first", SENTENCE + r"What (?![^.!?]*\?)", "name the thing: 'The result is ...', not 'What comes out is ...'"),
    ("asked", r"\b[Aa]sked (?!for\b|to\b)", "leave it out: a reader knows no brief"),
    ("so-many", r"\bso (?:many|much) (?!(?:as|that)\b)", "say which number: 'n bytes', not 'so many bytes'"),
    ("lie-as", r"\blies? as (?:one|they)\b", "say how they are stored: 'contiguous'"),
    ("by-way-of", r"\bby way of\b", "by, through"),
    ("comes-to", r"\bcomes? to (?:that|this)\b|\bwhat .{1,30} comes to\b", "say the value: 'the sum', not 'what it comes to'"),
]


def prose_of(text):
    """The page's lines, blank where they are not prose, without markup."""
    lines, fenced, count = [], False, 0

    def word(_):
        nonlocal count
        count += 1
        letters = "".join(chr(ord("a") + count // 26**k % 26) for k in (2, 1, 0))
        return f"code{letters}"  # each another, so that two are no repeated word

    for line in text.splitlines():
        fence = line.startswith("```")
        if fence or fenced or line.startswith(("|", "<", "![", "    ")):
            fenced = fenced != fence
            lines.append("")
            continue
        line = re.sub(r"`[^`]*`", word, line)
        line = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", line)
        line = re.sub(r"<[^>]*>|\*+", "", line)
        lines.append(re.sub(r"(?<!\w)\d[\d.,^]*\d|(?<!\w)\d(?!\.)", word, line))
    return lines


def paragraphs_of(text):
    """(line number, characters as written, text without markup) of each paragraph and list item. Headings are left out."""
    paragraphs, written = [], text.splitlines()
    begun = False
    for number, line in enumerate(prose_of(text), 1):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            begun = False
            continue
        item = re.match(r"(?:[-*]|\d+\.) +", bare)
        if item or not begun:
            paragraphs.append([number, 0, ""])
        begun = True
        paragraphs[-1][1] += len(written[number - 1]) + 1
        paragraphs[-1][2] += (" " if paragraphs[-1][2] else "") + bare[item.end() if item else 0 :]
    return [(number, size - 1, said) for number, size, said in paragraphs]


def own_findings(text):
    """(line of the paragraph, rule, message) for each finding of this project's own rules."""
    found = []
    for number, size, said in paragraphs_of(text):
        if size > LONGEST:
            found.append((number, "long-paragraph", f"{size} characters; more than {LONGEST} are two paragraphs, a list or a table"))
        for name, pattern, instead in RULES:
            for match in re.finditer(pattern, said):
                shown = re.sub(r"code[a-z]{3}", "`...`", said[match.start() : match.start() + 40])
                found.append((number, name, f"'{shown}...': {instead}"))
    fenced = False
    for number, line in enumerate(text.splitlines()[:FIRST], 1):
        if line.startswith("```"):
            fenced = not fenced
        elif fenced and len(line) > WIDEST:
            found.append((number, "wide-code", f"{len(line)} columns; the page's first screen shows {WIDEST} without scrolling"))
    return found


def proselint_findings(name, text):
    """The same by proselint."""
    from proselint.checks import __register__
    from proselint.registry import CheckRegistry
    from proselint.tools import LintFile

    registry = CheckRegistry()
    if not registry.checks:
        registry.register_many(__register__)
    return [
        (number, result.check_result.check_path, result.check_result.message)
        for number, _, said in paragraphs_of(text)
        for result in LintFile(name, said).lint()
        if not result.check_result.check_path.startswith(OFF)
    ]


def main():
    root = pathlib.Path(sys.argv[1])
    errors = 0
    pages = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    for page in pages:
        name, text = str(page.relative_to(root)), page.read_text()
        found = sorted(proselint_findings(name, text) + own_findings(text))
        errors += len(found)
        for number, rule, message in found:
            print(f"{name}:{number}: {rule}: {message}", file=sys.stderr)
    print(f"{len(pages)} pages, {errors} findings")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
