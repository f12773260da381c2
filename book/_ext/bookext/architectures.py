"""For which GPUs the kernels of GPU cells were compiled, through the directive `architectures`."""

import json
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from .status import table

FILE = "book/architectures.json"
GPUS = {
    "7.5": "T4, RTX 20",
    "8.6": "RTX 30",
    "8.9": "RTX 40, L4",
    "9.0": "H100, H200",
    "10.0": "B200",
    "12.0": "RTX 50",
}
COLUMNS = ("GPU", "Compute capability", "Cells of numba-cuda compiled", "End elsewhere than on 9.0")


class Architectures(SphinxDirective):
    """A row for each capability: how many cells compile for it, and how many end elsewhere."""

    def run(self) -> list[nodes.Node]:
        file = Path(self.env.srcdir, FILE)
        self.env.note_dependency(str(file))
        ends = [row["ends"] for row in json.loads(file.read_text("utf8")).values()]
        rows = []
        for capability, gpus in GPUS.items():
            compiled = sum(bool(one[capability]["kernels"]) for one in ends)
            other = sum(one[capability]["end"] != one["9.0"]["end"] for one in ends)
            rows.append([gpus, capability, str(compiled), str(other or "none")])
        return [table("architectures", COLUMNS, rows)]


def setup(app: Sphinx) -> None:
    app.add_directive("architectures", Architectures)
