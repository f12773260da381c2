"""What the tests of places share."""

import subprocess

import pytest
from helpers import ROOT


@pytest.fixture(scope="session")
def repository(tmp_path_factory):
    """A git repository whose one commit holds the files of this working tree."""
    folder = tmp_path_factory.mktemp("git") / "gpu-python-casebook"
    author = ["-c", "user.name=A test", "-c", "user.email=test@example.org"]
    git = ["git", f"--git-dir={folder}/.git", f"--work-tree={ROOT}", *author]
    for command in (
        ["git", "init", "--quiet", "--initial-branch=main", folder],
        # without what a developer keeps out of git, such as 1.3 GB of wheels
        [*git, "-c", f"core.excludesFile={ROOT}/.git/info/exclude", "add", "--all"],
        [*git, "commit", "--quiet", "--message=The working tree"],
    ):
        subprocess.run(command, cwd=ROOT, check=True)
    return folder
