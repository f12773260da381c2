"""The real pip, which sees only the empty wheels in a folder, and pretends to be elsewhere.

wheel_names.write("numba_cuda-0.20.1-py3-none-any")    a wheel with this name
wheel_names.pip("numba-cuda", python="3.15")           the release that pip would install there

pip's command turns DistributionNotFound into a message and an exit status, so it is raised again.
"""

import json
import zipfile
from pathlib import Path

from pip._internal.cli.main import main
from pip._internal.exceptions import DistributionNotFound

TOOL = (
    "install --quiet --isolated --no-index --no-cache-dir --find-links wheels --no-color "
    "--disable-pip-version-check --dry-run --target there --only-binary :all: --report report.json"
)
PLATFORMS = {
    "Linux": ("manylinux_2_28_x86_64", "manylinux2014_x86_64"),
    "Windows": ("win_amd64",),
    "macOS": ("macosx_14_0_arm64",),
    "Alpine": ("musllinux_1_2_x86_64",),
}


def write(stem: str) -> None:
    Path("wheels").mkdir(exist_ok=True)
    name, version = stem.split("-")[:2]
    folder = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(f"wheels/{stem}.whl", "w") as archive:
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        archive.writestr(f"{folder}/METADATA", metadata)
        archive.writestr(f"{folder}/WHEEL", "Wheel-Version: 1.0\n")


def pip(wanted: str, python: str, system: str = "Linux") -> str:
    print(f"Python {python}, {system}: pip install {wanted}", flush=True)
    there = ["--python-version", python]
    for platform in PLATFORMS[system]:
        there += ["--platform", platform]
    if main([*TOOL.split(), *there, wanted]):
        raise DistributionNotFound(f"No matching distribution found for {wanted}")
    (found,) = json.loads(Path("report.json").read_text())["install"]
    version = found["metadata"]["version"]
    print("   ", version)
    return version
