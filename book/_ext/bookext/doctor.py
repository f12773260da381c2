"""What the doctor says of an environment, as text on a page."""

import os
from unittest import mock

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from casebook import doctor


class Doctor(SphinxDirective):
    """The doctor's words on a machine without a GPU, with these packages.

    ```{doctor} numba==0.59.0 numpy==1.26.4
    ```
    """

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        packages = dict(pin.split("==") for pin in self.arguments[0].split())
        machine = doctor.Machine("python", "3.12.1", packages)
        with mock.patch.dict(os.environ, COLUMNS="80"):
            text = doctor.report(machine, doctor.diagnose(machine), everything=False)
        return [nodes.literal_block(text, text, language="text")]


def setup(app: Sphinx) -> None:
    app.add_directive("doctor", Doctor)
