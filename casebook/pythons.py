"""A Python for a shared folder: other users can seldom read the one that uv, pyenv or conda keeps in a home."""
import json
import os
import shutil
import subprocess
from pathlib import Path

from .errors import EnvironmentFailure
from .store import closed_to_some, make_once, open_to_all

ASK = """import json, os, platform, sys, sysconfig as system
folders, series = [system.get_path("stdlib"), system.get_path("include")], "%d.%d" % sys.version_info[:2]
print(json.dumps([os.path.realpath(sys.executable), sys.base_prefix, series, platform.python_version(), folders]))"""
TRY = """import ctypes, ssl, sys, zlib
sys.exit(sys.argv[1] in open("/proc/self/maps").read())"""         # some load their library from where they were built
LEFT_OUT = shutil.ignore_patterns("site-packages", "test", "*.a", "config-*")


def for_all(pythons, store, report):
    """The first of some interpreters that all users can run; where there is none, a copy of the first in the folder `store`."""
    return next((python for python in pythons if not closed_to_some(python)), None) or copy(pythons[0], store, report)


def copy(python, store, report):
    """Interpreter of a copy of an installation. Raises EnvironmentFailure where the copy does not run by itself."""
    python, prefix, series, version, folders = json.loads(subprocess.check_output([python, "-I", "-c", ASK]))

    def fill(half):
        report(f"copying Python {version}, which other users cannot read in {prefix}")
        (half / "bin").mkdir(parents=True)
        shutil.copy2(python, half / "bin" / f"python{series}")
        for folder in filter(os.path.isdir, folders):
            shutil.copytree(folder, half / os.path.relpath(folder, prefix), symlinks=True, ignore=LEFT_OUT)
        for library in Path(prefix, "lib").glob("lib*.so*"):
            shutil.copy2(library, half / "lib", follow_symlinks=False)
        if subprocess.run([half / "bin" / f"python{series}", "-I", "-c", TRY, f"{prefix}/lib/libpython"], capture_output=True).returncode:
            raise EnvironmentFailure(f"other users cannot read {prefix}, and a copy of this Python {version} does not run without it; "
                                     "install one that all can read, such as the system's")
        open_to_all(half)

    return make_once(store / "python" / version, fill, report) / "bin" / f"python{series}"
