"""What the tests of places share."""

import subprocess

import pytest
from helpers import ROOT


@pytest.fixture(scope="session")
def repository(tmp_path_factory):
    """A git repository whose one commit holds the files of this working tree."""
    folder = tmp_path_factory.mktemp("git") / "gpu-python-casebook"
    options = ["-c", "user.name=A test", "-c", "user.email=test@example.org"]
    # what a developer keeps out of git, such as 1.3 GB of wheels
    options += ["-c", f"core.excludesFile={ROOT}/.git/info/exclude"]
    git = ["git", f"--git-dir={folder}/.git", f"--work-tree={ROOT}", *options]
    for command in (
        ["git", "init", "--quiet", "--initial-branch=main", folder],
        [*git, "add", "--all"],
        [*git, "commit", "--quiet", "--message=The working tree"],
    ):
        subprocess.run(command, cwd=ROOT, check=True)
    return folder
