"""intel.py PROGRAM ARGUMENT...: runs a program on Intel's OpenCL runtime for processors, in place of
the drivers that are installed. cmake/with_python.sh installs the runtime from intel.txt.

The program takes the runtime's TBB, which is newer than those of Debian: a process has one."""

import importlib.metadata
import os
import sys


def library(package, name):
    for file in importlib.metadata.files(package):
        if file.name == name:
            return os.path.realpath(file.locate())
    sys.exit(f"{package} has no {name}")


runtime = library("intel-opencl-rt", "libintelocl.so")
os.environ["DSL_OPENCL_LIBRARY"] = runtime
os.environ["OCL_ICD_VENDORS"] = runtime
os.environ["LD_PRELOAD"] = library("tbb", "libtbb.so.12")
os.execv(sys.argv[1], sys.argv[1:])
