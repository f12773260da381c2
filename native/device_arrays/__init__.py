"""GPU arrays returned to Python through nanobind, rightly and wrongly labelled: the extension of chapter 5.

Right: full, add, add_into, rms_norm, to_host, and add_explicit and add_labelled, which return bare nb::ndarrays. Wrong on purpose:
src/experiments.cpp, and add_template_only when it is built with nanobind 2.1.0. `mode` is "cuda" or "host".
"""
from ._ext import *  # noqa: F403

DeviceError.__module__ = __name__       # noqa: F405  (what a traceback prints)
