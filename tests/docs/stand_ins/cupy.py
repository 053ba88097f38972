"""As much of CuPy as the pages' examples use: NumPy."""

from numpy import *  # noqa: F403
from numpy import array as asnumpy  # noqa: F401
from numpy import max, min, sum  # noqa: F401


def fuse():
    return lambda function: function
