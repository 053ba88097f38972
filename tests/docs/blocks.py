#!/usr/bin/env python3
"""Checks the pages' code blocks: ```python blocks are valid Python, and those of the pages named
below print the page's ```text blocks; a shell can parse ```sh blocks, and the commands of ./dev in
them exist.

blocks.py REPOSITORY [--real]: numba and cupy are those of stand_ins/; with --real, the installed
ones.
"""

import contextlib
import io
import pathlib
import re
import subprocess
import sys

RUN = ["from-numba.md", "from-cupy.md"]


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def main():
    root = pathlib.Path(sys.argv[1])
    if "--real" not in sys.argv:
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "stand_ins"))
    commands = re.findall(r"^  (\w+)\)$", (root / "dev").read_text(), re.M)
    wrong = count = 0
    for page in [*sorted((root / "docs").glob("*.md")), root / "README.md"]:
        text = page.read_text()
        found = blocks(text, "python")
        count += len(found)
        for block in found:
            compile(block, str(page), "exec")
        for block in blocks(text, "sh"):
            count += 1
            wrong += subprocess.run(["sh", "-n"], input=block, text=True).returncode != 0
            for command, example in re.findall(r"\./dev (\w+)(?: (\w+))?", block):
                if (
                    command not in commands
                    or command == "demo"
                    and example
                    and not (root / "examples" / f"{example}.cpp").exists()
                ):
                    print(f"{page.name}: there is no ./dev {command} {example}", file=sys.stderr)
                    wrong += 1
        if page.name in RUN:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("\n".join(found), str(page), "exec"), {})
            expected = "".join(blocks(text, "text"))
            if printed.getvalue() != expected:
                print(
                    f"{page.name} says that it prints\n{expected}and it "
                    f"prints\n{printed.getvalue()}",
                    file=sys.stderr,
                )
                wrong += 1
    print(f"{count} blocks")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
