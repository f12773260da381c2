"""The kernels that notebooks run in, many of which start in the same second."""

from pathlib import Path

import nbval.kernel


def test_every_kernel_has_files_of_its_own_and_no_port():
    several = [nbval.kernel.KernelManager().get_connection_info() for _ in range(3)]
    assert {found["transport"] for found in several} == {"ipc"}
    assert len({found["ip"] for found in several if Path(found["ip"]).is_absolute()}) == 3


def test_a_kernel_cleans_up_when_its_notebook_ends(tmp_path):
    running = nbval.kernel.RunningKernel("python3")
    message = running.execute_cell_input(
        f"import atexit, pathlib; atexit.register(pathlib.Path({str(tmp_path / 'clean')!r}).touch)"
    )
    running.await_reply(message)
    running.stop()
    assert (tmp_path / "clean").exists()
