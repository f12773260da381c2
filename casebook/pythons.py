"""A Python for a shared folder: other users can seldom read the one that uv, pyenv or conda keeps in a home."""
import json
import os
import shutil
import subprocess
from pathlib import Path

from .errors import EnvironmentFailure
from .store import closed_to_some, make_once, open_to_all

ASK = """import json, platform, sys, sysconfig as system
folders = system.get_path("stdlib"), system.get_path("include")
print(json.dumps([sys.base_prefix, "%d.%d" % sys.version_info[:2], platform.python_version(), *folders]))"""
TRY = "import ctypes, ssl, zlib"
LEFT_OUT = shutil.ignore_patterns("site-packages", "test", "*.a", "config-*")


def for_all(python, store, report):
    """Interpreter that all users can run: this one, or that of a copy of its installation in the folder `store`."""
    if not closed_to_some(python):
        return python
    prefix, series, version, *folders = json.loads(subprocess.check_output([python, "-I", "-c", ASK]))

    def fill(half):
        report(f"copying Python {version}, which other users cannot read in {prefix}")
        (half / "bin").mkdir(parents=True)
        shutil.copy2(python.resolve(), half / "bin" / f"python{series}")
        for folder in filter(os.path.isdir, folders):
            shutil.copytree(folder, half / os.path.relpath(folder, prefix), symlinks=True, ignore=LEFT_OUT)
        for library in Path(prefix, "lib").glob("lib*.so*"):
            shutil.copy2(library, half / "lib", follow_symlinks=False)
        if subprocess.run([half / "bin" / f"python{series}", "-I", "-c", TRY], capture_output=True).returncode:
            raise EnvironmentFailure(f"other users cannot read {prefix}, and a copy of this Python {version} does not run; "
                                     "install one that all can read, such as the system's")
        open_to_all(half)

    return make_once(store / "python" / version, fill, report) / "bin" / f"python{series}"
