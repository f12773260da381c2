"""The kernels that notebooks run in, many of which start in the same second."""

from pathlib import Path

import nbval.kernel


def test_every_kernel_has_files_of_its_own_and_no_port():
    places = {nbval.kernel.KernelManager().ip for _ in range(3)}
    assert len(places) == 3 and all(Path(place).is_absolute() for place in places)
