"""run.py BUILD REPOSITORY: tests the library's Python modules.

Makes a wheel of examples/python with pip, and the module of the tests, both with the installed
library. Runs the tests, the example and docs/python.md. Exits with 77, CTest's code for "skipped",
if Python's headers or pip are missing.
"""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

build, repository = (pathlib.Path(x).resolve() for x in sys.argv[1:3])
work = build / "tests" / "python"


def run(*command, quiet=True, **environment):
    done = subprocess.run([str(x) for x in command], cwd=work, env={**os.environ, **environment},
                          stdout=subprocess.PIPE if quiet else None,
                          stderr=subprocess.STDOUT if quiet else None, text=True)
    if done.returncode != 0:
        raise SystemExit(
            (done.stdout or "")
            + f"{' '.join(str(x) for x in command)}: exit status {done.returncode}"
        )


def main():
    if (
        not (pathlib.Path(sysconfig.get_path("include")) / "Python.h").exists()
        or importlib.util.find_spec("pip") is None
    ):
        print(
            f"{sys.executable} has no headers or no pip (Debian's packages python3-dev and "
            "python3-pip): nothing is tested",
            file=sys.stderr,
        )
        raise SystemExit(77)
    for folder in "installed", "site":
        shutil.rmtree(work / folder, ignore_errors=True)
    work.mkdir(parents=True, exist_ok=True)

    run("cmake", "--install", build, "--prefix", work / "installed")
    define = lambda name, value: ("--config-settings", f"cmake.define.{name}={value}")
    run(sys.executable, "-m", "pip", "install", "--root-user-action", "ignore",
        "--disable-pip-version-check", "--no-build-isolation", "--no-deps", "--no-index",
        "--target", work / "site", "--config-settings", f"build-dir={work / 'wheel'}",
        *define("CMAKE_PREFIX_PATH", work / "installed"), *define("USE_CUDA", "OFF"),
        *define("CMAKE_CXX_FLAGS", "-DDSL_BACK_ENDS=host"), repository / "examples" / "python")
    run("cmake", "-G", "Ninja", "-S", repository / "tests" / "python", "-B", work / "formulas",
        "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={work / 'installed'}",
        f"-DPython_EXECUTABLE={sys.executable}", f"-DDSL_PAGES={build / 'pages'}",
        "-DCMAKE_CXX_FLAGS=-DDSL_BACK_ENDS='host|sim'", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG")
    run("cmake", "--build", work / "formulas")

    modules = os.pathsep.join(
        [str(work / "site"), str(work / "formulas"), os.environ.get("PYTHONPATH", "")]
    )
    tests = repository / "tests" / "python"
    run(sys.executable, tests / "test_numpy.py", quiet=False, PYTHONPATH=modules, DSL_DEVICE="host")
    run(sys.executable, tests / "test_numpy.py", "Dtypes", "Results", "Loops", "Ensembles",
        quiet=False, PYTHONPATH=modules, DSL_DEVICE="sim")
    run(sys.executable, repository / "examples" / "python" / "coupled_fields.py", "--size", "64",
        "--steps", "10", quiet=False, PYTHONPATH=modules, DSL_DEVICE="host")
    run(sys.executable, tests / "page.py", repository, quiet=False, PYTHONPATH=modules,
        DSL_DEVICE="host")


if __name__ == "__main__":
    main()
