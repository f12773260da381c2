"""The errors that readers may meet: one clear sentence, never a traceback of ours."""


class CasebookError(Exception):
    """Base of all errors of this package. IPython shows its text alone; a command ends with its
    `status`."""

    status = 1

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class WrongUse(CasebookError):
    """A command cannot do what was asked, for example with a file that is no notebook."""

    status = 2


class HeaderError(CasebookError):
    """The cell's PEP 723 header is missing or wrong."""


class EnvironmentFailure(CasebookError):
    """The environment of a header could not be made, or is not what the header says."""


class DownloadFailure(EnvironmentFailure):
    """A package could not be downloaded: another try may succeed."""


class MissingPython(EnvironmentFailure):
    """This machine has no Python that the header allows, and uv could not download one."""


class UnexpectedOutcome(CasebookError):
    """The script ended in another way than its header promises."""


class GpuRequired(CasebookError):
    """A cell needs a GPU, there is none, and CASEBOOK_REQUIRE_GPU forbids to skip it."""
