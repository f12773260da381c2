"""native/: a cell's build reads its sources as one file, `pip install ./native` each alone; so each must name all it needs."""
import shutil
import subprocess

import pytest
from helpers import ROOT

from casebook import chapters, environment
from casebook.errors import EnvironmentFailure


@pytest.mark.parametrize("source", ["bindings", "experiments"])
def test_a_source_compiles_alone(source):
    header = next(head for head in chapters.load(["05"])[0].headers(gpu=False) if head.build)
    if not shutil.which("c++"):
        pytest.skip("needs a C++ compiler")
    try:
        made = environment.make(header)
    except EnvironmentFailure as failure:
        pytest.skip(str(failure))
    ask = [made.python, "-c", "import sysconfig; print(sysconfig.get_path('include'))"]
    include = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    folders = f"-I{include}", f"-I{made.site / 'nanobind/include'}"
    command = ["c++", "-std=c++17", "-fsyntax-only", *folders, ROOT / f"native/src/{source}.cpp"]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
