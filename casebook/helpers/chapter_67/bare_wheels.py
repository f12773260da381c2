"""A small package index: wheels that contain only metadata, and pip and uv that see nothing else.

bare_wheels.copy("numba-cuda")                    the metadata of an installed package
bare_wheels.write("torch", "2.15.0", "numpy")     a package with these requirements
bare_wheels.pip('torch "numba-cuda[cu12]"')       prints and returns what pip would install
bare_wheels.uv('torch "numba-cuda[cu12]"')
"""

import os
import re
import shlex
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

WHEELS = Path("wheels")
SHOWN = ("torch", "numba-cuda", "cupy-cuda", "cuda-toolkit")
SAID = re.compile("provide the extra|have an extra|No solution found|ResolutionImpossible")
WHEEL = "Wheel-Version: 1.0\nGenerator: bare_wheels\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def pack(name: str, version: str, metadata: str) -> None:
    WHEELS.mkdir(exist_ok=True)
    stem = f"{name.replace('-', '_')}-{version}"
    with zipfile.ZipFile(WHEELS / f"{stem}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{stem}.dist-info/METADATA", metadata)
        archive.writestr(f"{stem}.dist-info/WHEEL", WHEEL)
        archive.writestr(f"{stem}.dist-info/RECORD", "")


def copy(name: str) -> None:
    """Write a wheel with the metadata of an installed package, and none of its files."""
    found = distribution(name)
    pack(name, found.version, found.read_text("METADATA") or "")


def write(name: str, version: str, *requires: str, extras: tuple[str, ...] = ()) -> None:
    """Write a wheel with these requirements and without files."""
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Provides-Extra: {extra}" for extra in extras]
    lines += [f"Requires-Dist: {line}" for line in requires]
    pack(name, version, "\n".join(lines) + "\n")


def pip(wanted: str) -> dict[str, str]:
    """Say what pip would install."""
    print(f"$ pip install {wanted}")
    tool = "-m pip install --dry-run --ignore-installed --no-index --disable-pip-version-check"
    return show([*tool.split(), "--no-cache-dir", "--find-links", str(WHEELS)], wanted)


def uv(wanted: str) -> dict[str, str]:
    """Say what uv would install."""
    print(f"$ uv pip install {wanted}")
    Path("empty").mkdir(exist_ok=True)
    tool = "-m uv pip install --dry-run --no-index --no-cache --no-config --target empty"
    return show([*tool.split(), "--find-links", str(WHEELS)], wanted)


def show(tool: list[str], wanted: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PIP_", "UV_"))}
    ended = subprocess.run(
        [sys.executable, *tool, *shlex.split(wanted)],
        env=kept | {"PIP_CONFIG_FILE": os.devnull, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
    )
    said = ended.stdout + ended.stderr
    for line in said.splitlines():
        if SAID.search(line):
            print(line.strip())
    last = re.search("(?m)^Would install (.*,? ?.*)$", said)
    pairs = re.findall(r"(?m)^ \+ (\S+)==(\S+)$", said)
    if not pairs and last:
        pairs = [item.rsplit("-", 1) for item in last[1].split()]
    found = {name.lower().replace("_", "-"): version for name, version in pairs}
    for name in sorted(found):
        if name.startswith(SHOWN):
            print("   ", name, found[name])
    return found
