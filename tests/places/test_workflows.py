"""The workflows: valid YAML, actions pinned, and nothing called that is not there. `actionlint` checks the rest."""

import os
import re
import shlex

import pytest
import yaml
from helpers import ROOT

from casebook.__main__ import arguments

WORKFLOWS = {
    path.name: yaml.safe_load(path.read_text())
    for path in sorted((ROOT / ".github/workflows").glob("*.yml"))
}
STEPS = [
    pytest.param(step, id=f"{name}-{job}-{number}")
    for name, workflow in WORKFLOWS.items()
    for job, content in workflow["jobs"].items()
    for number, step in enumerate(content["steps"], 1)
]
TARGETS = set(re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text()))


def commands(step, pattern):
    """What follows `pattern` on the lines of a step's script, as words."""
    return [
        shlex.split(rest) for rest in re.findall(rf"(?m)^\s*{pattern} (.+)$", step.get("run", ""))
    ]


def test_the_workflows_that_there_are():
    assert list(WORKFLOWS) == ["gpu.yml", "pages.yml", "weekly.yml"]


@pytest.mark.parametrize("step", STEPS)
def test_every_action_has_a_version(step):
    assert ("uses" in step) != ("run" in step)
    assert re.fullmatch(r"[\w./-]+@v\d+(\.\d+\.\d+)?", step.get("uses", "an/action@v1"))


@pytest.mark.parametrize("step", STEPS)
def test_every_make_target_exists(step):
    assert {target for words in commands(step, "make") for target in words} <= TARGETS


@pytest.mark.parametrize("step", STEPS)
def test_every_casebook_command_exists_with_its_options(step):
    for words in commands(step, r"\S*python3? -m casebook"):
        arguments().parse_args(words)


@pytest.mark.parametrize("step", STEPS)
def test_every_script_of_the_repository_exists(step):
    scripts = [
        ROOT / name
        for name in re.findall(r"(?m)^\s*(\.\w[\w/]*)", step.get("run", ""))
        if not name.startswith(".venv/")
    ]
    assert all(os.access(script, os.X_OK) for script in scripts)


def test_the_commands_are_found():
    """The tests above look at something."""
    steps = [parameter.values[0] for parameter in STEPS]
    assert {target for step in steps for words in commands(step, "make") for target in words} == {
        "book",
        "test",
        "environment",
    }
    assert [words for step in steps for words in commands(step, r"\S*python3? -m casebook")] == [
        ["prepare", "--all"],
        ["versions", "--release", "newest", "--as-of-today"],
    ]


def test_the_gpu_job_may_skip_nothing():
    job = WORKFLOWS["gpu.yml"]["jobs"]["test"]
    assert (job["runs-on"], job["env"]) == (["self-hosted", "gpu"], {"CASEBOOK_REQUIRE_GPU": "1"})
    assert {"run": "make test"} in job["steps"]
