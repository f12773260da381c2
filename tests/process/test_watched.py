"""What watch says of sixty kernels that were written by somebody who had not seen it."""

import json
import re
import subprocess

import pytest
import test_watch
from watched import WATCHED

from casebook.execution.modules import HELPERS

pytestmark = pytest.mark.timeout(300)
SCHEDULES = ("lockstep", "in_order", "random")
JUDGE = """import importlib.util, json, sys
from pathlib import Path
from watch import watch
found = {{}}
for name, source in json.loads({kernels!r}).items():
    file = Path(f"{{len(found)}}.py")
    file.write_text(source)
    spec = importlib.util.spec_from_file_location(f"kernel_{{len(found)}}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found[name] = {{}}
    for schedule in {schedules!r}:
        with watch(schedule) as seen:
            module.launch()
        found[name][schedule] = seen.problems
print(json.dumps(found))
"""


KINDS = {  # words of a sentence about a fault of each kind
    "race": "^Race on",
    "barrier": "barrier",
    "unset": "before any|nobody|has written",
    "outside": r"but \w+ has",
    "launch": "blocks|threads",
    "shared size": "shared array|shared memory",
}

python = test_watch.python  # the fixture
NOTES = "counts from the end|end before the barrier"  # worth a look, and right on a GPU since Volta


@pytest.fixture(scope="module")
def found(python, tmp_path_factory):
    """{kernel: {schedule: sentences}}."""
    folder = tmp_path_factory.mktemp("kernels")
    kernels = json.dumps({one.name: one.source for one in WATCHED})
    (folder / "judge.py").write_text(JUDGE.format(kernels=kernels, schedules=SCHEDULES))
    env = {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(HELPERS)}
    done = subprocess.run(
        [python, "judge.py"], env=env, cwd=folder, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("one", [one for one in WATCHED if one.fault], ids=lambda one: one.name)
def test_the_fault_is_named_with_its_place_in_each_schedule(found, one):
    lines = [text.strip() for text in one.source.splitlines()]
    for schedule, problems in found[one.name].items():
        said = [text for text in problems if re.search(KINDS[one.fault], text)]
        places = {line for text in said for line in line_numbers(text)}
        named = {lines[number - 1] for number in places}
        assert said, f"{schedule}: {problems}"
        assert one.fault in ("launch", "shared size") or named & {*one.where}, (
            f"{schedule}: {said} names {named}"
        )


@pytest.mark.parametrize("one", [one for one in WATCHED if not one.fault], ids=lambda one: one.name)
def test_no_right_kernel_is_accused(found, one):
    serious = {
        schedule: [text for text in problems if not re.search(NOTES, text)]
        for schedule, problems in found[one.name].items()
    }
    assert not any(serious.values()), serious


def line_numbers(text):
    return [int(number) for number in re.findall(r"lines? (\d+)", text)]
