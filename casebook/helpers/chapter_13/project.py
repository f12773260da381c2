"""A folder with a few Python files, each run in a new process, to show what a process leaves."""

import os
import pathlib
import subprocess
import sys
import tempfile


class Project:
    """`Project(kernel="…")` writes kernel.py into a new folder.

    The caches of Numba and CuPy are in that folder too.
    """

    def __init__(self, **files):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        for name, text in files.items():
            self.write(f"{name}.py", text)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def run(self, script, **variables):
        """Run a script in the folder, with additional environment variables; return its output.

        Raises CalledProcessError where it fails.
        """
        cache = str(self.folder / "cache")
        environment = {
            **os.environ,
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_CACHE_DIR": cache,
            "CUPY_CACHE_DIR": cache,
            **variables,
        }
        done = subprocess.run(
            [sys.executable, script],
            cwd=str(self.folder),
            env=environment,
            stdout=subprocess.PIPE,
            check=True,
        )
        return done.stdout.decode().strip()
