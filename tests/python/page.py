"""Runs docs/python.md: its Python blocks run and print the text blocks after them, and the
project on the page is examples/python. Blocks that import packages that are not installed are
skipped."""

import contextlib
import io
import pathlib
import re
import subprocess
import sys

import formulas

OPTIONAL = {"numba", "cupy", "torch", "jax"}


def main():
    root = pathlib.Path(sys.argv[1])
    page = (root / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", page, re.M | re.S)
    for language, file in [("cmake", "CMakeLists.txt"), ("toml", "pyproject.toml")]:
        shown = [text for kind, text in blocks if kind == language]
        if shown != [(root / "examples" / "python" / file).read_text()]:
            raise SystemExit(f"docs/python.md shows another {file} than examples/python has")

    # The page's small module is a part of the tests' module.
    sys.modules["waves"] = formulas
    names, run, passed_over = {}, 0, 0
    for at, (language, text) in enumerate(blocks):
        if language != "python":
            continue
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(text, "docs/python.md", "exec"), names)
        except ModuleNotFoundError as missing:
            if missing.name not in OPTIONAL:
                raise
            passed_over += 1
            continue
        run += 1
        if (
            at + 1 < len(blocks)
            and blocks[at + 1][0] == "text"
            and printed.getvalue() != blocks[at + 1][1]
        ):
            raise SystemExit(
                f"docs/python.md says that it prints\n{blocks[at + 1][1]}and it "
                f"prints\n{printed.getvalue()}"
            )
    if run < 3:
        raise SystemExit(f"only {run} blocks of docs/python.md run")

    file = pathlib.Path("fields.pyi")
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "fields", "-o", file], check=True
    )
    stub = file.read_text()
    if "def rk4(" not in stub or "complex64[:, :]" not in stub:
        raise SystemExit(f"nanobind's stub of the module is\n{stub}")
    print(f"docs/python.md: {run} blocks run, {passed_over} want libraries that are not here")


if __name__ == "__main__":
    main()
