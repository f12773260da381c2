"""A Python for a shared folder: other users can seldom read the one that uv, pyenv or conda keeps in a home."""
import json
import shutil
import subprocess
from pathlib import Path

from .errors import EnvironmentFailure
from .store import closed_to_some, make_once, open_to_all

ASK = "import json, sys; print(json.dumps([sys.base_prefix, '%d.%d' % sys.version_info[:2], sys.version.split()[0]]))"
TRY = "import ctypes, ssl, zlib"
LEFT_OUT = shutil.ignore_patterns("site-packages", "test", "*.a", "config-*")


def for_all(python, store, report):
    """Interpreter that all users can run: this one, or that of a copy of its installation in the folder `store`."""
    if not closed_to_some(python):
        return python
    prefix, series, version = json.loads(subprocess.check_output([python, "-I", "-c", ASK]))
    prefix = Path(prefix)

    def fill(half):
        report(f"copying Python {version}, which other users cannot read in {prefix}")
        (half / "bin").mkdir(parents=True)
        shutil.copy2(python.resolve(), half / "bin" / f"python{series}")
        shutil.copytree(prefix / f"lib/python{series}", half / f"lib/python{series}", symlinks=True, ignore=LEFT_OUT)
        shutil.copytree(prefix / f"include/python{series}", half / f"include/python{series}")
        for library in (prefix / "lib").glob("lib*.so*"):
            shutil.copy2(library, half / "lib", follow_symlinks=False)
        if subprocess.run([half / "bin" / f"python{series}", "-I", "-c", TRY], capture_output=True).returncode:
            raise EnvironmentFailure(f"other users cannot read {prefix}, and a copy of this Python {version} does not run; "
                                     "install one that all can read, such as the system's")
        open_to_all(half)

    return make_once(store / "python" / version, fill, report) / "bin" / f"python{series}"
