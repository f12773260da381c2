"""The errors that readers may meet: one clear sentence, never a traceback of ours."""


class CasebookError(Exception):
    """Base of all errors of this package. IPython shows its text alone."""

    def _render_traceback_(self):
        return [f"{type(self).__name__}: {self}"]


class HeaderError(CasebookError):
    """The cell's PEP 723 header is missing or wrong."""


class EnvironmentFailure(CasebookError):
    """The environment that a header describes could not be made, or is not what the header says."""


class UnexpectedOutcome(CasebookError):
    """The script ended otherwise than its header promises."""


class GpuRequired(CasebookError):
    """A cell needs a GPU, there is none, and CASEBOOK_REQUIRE_GPU forbids to skip it."""
