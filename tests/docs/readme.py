#!/usr/bin/env python3
"""Checks that README.md and README.zh.md agree, and that README.md's times are those of
docs/performance.md.

readme.py REPOSITORY
"""

import pathlib
import re
import sys


def parts(text):
    """Levels of the headings, code blocks, links and pictures, and the numbers in each table's
    rows."""
    code = re.findall(r"^```.*?^```", text, re.M | re.S)
    rest = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    rows = [re.findall(r"\d[\d.]*", row) for row in re.findall(r"^\|.*", rest, re.M)]
    links = re.findall(r"\]\(([^)]*)\)", rest)
    return {
        "headings": re.findall(r"^#+(?= )", rest, re.M),
        "code blocks": code,
        "tables": rows,
        "links": links,
        "paragraphs": len(re.findall(r"\n\n(?=\S)", rest)),
    }


def main():
    root = pathlib.Path(sys.argv[1])
    english = (root / "README.md").read_text()
    wrong = []
    languages = {"README.md": "README.zh.md", "README.zh.md": "README.md"}
    of, chinese = parts(english), parts((root / "README.zh.md").read_text())
    of["links"] = [languages.get(link, link) for link in of["links"]]
    for what in of:
        if of[what] != chinese[what]:
            wrong.append(f"README.md and README.zh.md differ in their {what}")

    performance = (root / "docs/performance.md").read_text()
    found = re.search(r"^## The last run$.*?(?=^## )", performance, re.M | re.S)
    performance = found[0].splitlines()
    for row in re.findall(r"^\|(.*)\|$", english[english.index("## Speed"):], re.M)[2:]:
        work, size, *times = (cell.strip() for cell in row.split("|"))
        lines = [line for line in performance if line.startswith(f"| {work} |")]
        # Some works have their sizes as columns.
        lines = [line for line in lines if f"| {size} |" in line] or lines
        there = set(re.findall(r"\d[\d.]*", " ".join(lines)))
        missing = [time for time in times if time and time not in there]
        if missing:
            wrong.append(
                f"README.md: {work} has the times {', '.join(missing)}, which "
                "docs/performance.md does not have"
            )
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
