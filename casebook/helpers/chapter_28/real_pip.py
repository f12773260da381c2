"""The real pip, in virtual environments of its own, without a network.

    real_pip.pack("numpy")                 writes wheels/numpy-….whl from what is installed here
    run = real_pip.environment("two")      creates the folder two; `inside` uses it again
    run("pip install numpy")               prints the command and its answer, and returns the answer
    run("python -c 'import numpy'")

Of an error of Python the last line is shown, of pip neither progress nor what was there already,
and of CuPy's warning not its steps.
"""

import csv
import os
import re
import shlex
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path

WHEELS = Path("wheels")
SETTINGS = {
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_FIND_LINKS": str(WHEELS),
    "PIP_NO_CACHE_DIR": "1",
    "PIP_NO_COMPILE": "1",
    "PIP_NO_INDEX": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
# what an installer added to the files of a wheel
ADDED = re.compile(r"^\.\.|\.pyc,|\.dist-info/(INSTALLER|REQUESTED),")
PROGRESS = re.compile(r"(Looking in links:|Processing |Requirement already|Installing coll).*|")
STEPS = re.compile(r"(?s)\S+: (UserWarning:) *\n-+\n\n(.*?)\n  Follow these steps.*?warn\(f\'\'\'")


def pack(*names):
    """Write the wheels of installed packages: the same files, in an archive again."""
    WHEELS.mkdir(exist_ok=True)
    for name in names:
        found = distribution(name)
        wheel = f"{found.metadata['Name'].replace('-', '_')}-{found.version}"
        tag = re.search(r"(?m)^Tag: (\S+)", found.read_text("WHEEL"))[1]
        rows = [row for row in found.read_text("RECORD").splitlines() if not ADDED.search(row)]
        with zipfile.ZipFile(WHEELS / f"{wheel}-{tag}.whl", "w") as archive:
            for file, *_ in csv.reader(rows):
                if not file.endswith("/RECORD"):
                    archive.write(found.locate_file(file), file)
            archive.writestr(f"{wheel}.dist-info/RECORD", "\n".join(rows))
        print("packed", wheel)


def files(wheel):
    """The files of a wheel in wheels/, such as "numpy-2.2.6", without its metadata."""
    (path,) = WHEELS.glob(f"{wheel}-*.whl")
    with zipfile.ZipFile(path) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def environment(folder):
    """A new virtual environment; returns the function that runs pip or python in it."""
    venv.create(folder, symlinks=True, clear=True)
    return inside(folder)


def inside(folder):
    """The function that runs pip or python in a virtual environment."""
    python = Path(folder, "bin", "python").absolute()
    tools = {"python": [python], "pip": [sys.executable, "-m", "pip", "--python", python]}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    def run(command):
        tool, *arguments = shlex.split(command)
        ended = subprocess.run(
            [*tools[tool], *arguments], env=kept | SETTINGS, capture_output=True, text=True
        )
        lines = STEPS.sub(r"\1\n\2", ended.stdout + ended.stderr).splitlines()
        if tool == "python" and ended.returncode:
            lines = lines[-1:]
        answer = "\n".join(line for line in lines if not PROGRESS.fullmatch(line))
        print(f"$ {command}\n{answer}" if answer else f"$ {command}", flush=True)
        return answer

    return run
