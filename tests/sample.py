"""The site that its tests look at: the book, with one more chapter that has a cell of each kind. The build executes nothing."""
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from helpers import ROOT
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, writes

SAMPLE = "notebooks/98-sample"
CARD = """# Something breaks

One sentence.

| | |
|---|---|
| **Libraries** | numpy |
| **Kind** | crash · slow |
| **Affected** | 2.4.6 |
| **Fixed in** | never |
| **You see** | `ZeroDivisionError: division by zero` |
| **Upstream** | [a thread](https://example.org/1) |
| **Needs** | no GPU |
"""
HEADER = """%%pinned
# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["numpy==2.4.6", "llvmlite==0.47.0", "numba==0.65.1"]
# [tool.casebook]
"""
FAILING = HEADER + "# gpu = true\n# raises = 'ZeroDivisionError'\n# ///\nimport numpy\n\nfor n in range(3):\n    print(n / 0)"
PRINTED = """Traceback (most recent call last):
  File "cell.py", line 12, in <module>
    print(n / 0)
ZeroDivisionError: division by zero
as told: ZeroDivisionError
"""
FIXED = HEADER + "# timeout = 60\n# ///\ndef half(n):\n    return n / 2"
KERNEL = "%%gpu\nfrom numba import cuda\nwhile True:\n    break"


def sample():
    """A chapter with a cell of each kind."""
    cells = [new_markdown_cell(CARD), new_code_cell(FAILING, outputs=[new_output("stream", text=PRINTED)]),
             new_code_cell(FIXED), new_code_cell(KERNEL, outputs=[new_output("stream", text="a line\n" * 50)]),
             new_code_cell("answer = 42", metadata={"tags": ["solution"]}), new_code_cell("figure()", metadata={"tags": ["hide-input"]})]
    return new_notebook(cells=cells, metadata={"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                                               "language_info": {"name": "python"}})


def copy(folder):
    """The sources of the site, with one more chapter."""
    shutil.copytree(ROOT / "book", folder / "book", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns(".*"))
    shutil.copy(ROOT / "_config.yml", folder)
    (folder / f"{SAMPLE}.ipynb").write_text(writes(sample()))
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    toc["parts"][0]["chapters"].append({"file": SAMPLE})
    (folder / "_toc.yml").write_text(yaml.safe_dump(toc))
    return folder


def build(folder):
    command = [Path(sys.executable).with_name("jupyter-book"), "build", ".", "-W", "--keep-going", "-n"]
    return subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


# What people paste that is no case of this book.
UNRELATED = (
    """Traceback (most recent call last):
  File "train.py", line 12, in <module>
    batch["labels"]
KeyError: 'labels'""",
    """Traceback (most recent call last):
  File "/srv/app/main.py", line 40, in load
    return settings.keys()
AttributeError: 'NoneType' object has no attribute 'keys'""",
    """Traceback (most recent call last):
  File "fit.py", line 8, in <module>
    total(a, b)
  File "/opt/venv/lib/python3.12/site-packages/numba/core/dispatcher.py", line 423, in _compile_for_args
    error_rewrite(e, 'typing')
numba.core.errors.TypingError: Failed in nopython mode pipeline (step: nopython frontend)
No implementation of function Function(<built-in function add>) found for signature:
 >>> add(unicode_type, int64)""",
    """Traceback (most recent call last):
  File "base.py", line 3, in forward
    raise NotImplementedError
NotImplementedError""",
    """Traceback (most recent call last):
  File "big.py", line 5, in <module>
    cp.zeros((1 << 20, 1 << 20))
  File "/opt/venv/lib/python3.12/site-packages/cupy/_creation/basic.py", line 248, in zeros
    a = cupy.ndarray(shape, dtype, order=order)
cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,796,093,022,208 bytes (allocated so far: 0 bytes).""",
    "Segmentation fault (core dumped)",
    """Traceback (most recent call last):
  File "scale.py", line 14, in <module>
    scale[1, 32](x)
  File "/opt/venv/lib/python3.12/site-packages/numba/cuda/dispatcher.py", line 541, in __call__
    return self.dispatcher.call(args, self.griddim, self.blockdim)
TypeError: missing a required argument: 'factor'""",
    """Traceback (most recent call last):
  File "upload.py", line 9, in <module>
    check(size)
  File "/opt/venv/lib/python3.12/site-packages/PIL/Image.py", line 3402, in _decompression_bomb_check
    raise ValueError(msg)
ValueError: Image size (200000000 pixels) exceeds the limit""",
)
