"""Install lines in the environments that readers have, with an index of a few packages."""

import pytest
from example import write_chapter

from casebook import doctor
from casebook.authoring import installs as trying
from casebook.authoring.installs import Need, tried
from casebook.authoring.releases.resolve import CannotBeInstalled
from casebook.chapters import installs
from casebook.chapters.installs import NOT_NEEDED, Host, lines, requirements

EMPTY = Host("empty", "Nothing", "3.12", date="2026-11-28")
TORCH = Host(
    "torch",
    "PyTorch",
    "3.12",
    requirements=("torch",),
    keep=("torch",),
    pins=("torch==2.15.0", "cuda-bindings==13.5.0", "nvidia-cuda-runtime==13.2.86"),
    date="2026-11-28",
)
# What an installer chooses for some requirements, as it did on 2026-11-28; the rest is left out.
INDEX = {
    "numba-cuda[cu12]": ["numba-cuda==0.30.4", "numpy==2.5.5", "cuda-bindings==12.9.10"],
    "numba-cuda[cu12] numpy<2.5": ["numba-cuda==0.30.4", "numpy==2.4.6"],
    "numba-cuda[cu13] numpy<2.5": ["numba-cuda==0.30.4", "numpy==2.4.6", "cuda-bindings==13.5.0"],
    "cuda-python<13": ["cuda-python==12.9.10", "cuda-bindings==12.9.10"],
    "cupy-cuda12x": ["cupy-cuda12x==14.2.0"],
    "numpy<2.5": ["numpy==2.4.6"],
}


@pytest.fixture(autouse=True)
def index(monkeypatch):
    """Resolves by INDEX; torch 2.15.0 needs cuda-bindings 13."""

    def closure(host, wanted, *options):
        if "--constraints" in options:
            with open(options[-1], encoding="utf8") as file:
                if "cuda-bindings==12" in file.read():
                    raise CannotBeInstalled(
                        "torch==2.15.0 depends on cuda-bindings{sys_platform == 'linux'}>=13 and x"
                    )
            return host.pins
        if " ".join(wanted) not in INDEX:
            raise CannotBeInstalled("nothing fits")
        return tuple(INDEX[" ".join(wanted)])

    monkeypatch.setattr(trying, "closure", closure)


def need(line, *cures, **faulty):
    return Need(line, frozenset(cures), faulty)


def test_the_lines_of_a_text():
    text = (
        'Let pip install it: `pip install -U a`\n```\npip install "b<2"  # old\nuv pip install c\n'
        "pip install --no-deps .\nnew/bin/pip install d\n```"
    )
    found = ["pip install -U a", 'pip install "b<2"', "uv pip install c", "new/bin/pip install d"]
    assert list(lines(text)) == found
    assert [str(one) for line in found for one in requirements(line)] == ["a", "b<2", "c", "d"]


def test_an_unquoted_bound_would_be_a_redirection():
    with pytest.raises(ValueError, match="the shell redirects at `<` or `>`"):
        requirements("pip install numpy<2.5")


def test_a_line_is_right_in_its_form_for_the_host():
    line = 'pip install "numba-cuda[cu12]" "numpy<2.5"'
    assert tried(need(line), EMPTY).run == line
    trial = tried(need(line), TORCH)
    assert trial.run == 'pip install "numba-cuda[cu13]" "numpy<2.5"'
    assert trial.changes == {"numba-cuda": "0.30.4", "numpy": "2.4.6"}


def test_a_line_that_lets_in_a_package_that_breaks_the_library_is_wrong():
    trial = tried(need('pip install "numba-cuda[cu12]"'), EMPTY)
    assert (trial.run, trial.problem) == ("", "it brings the fault 18-numpy-2.5")


def test_a_line_that_breaks_what_the_host_keeps_is_wrong():
    trial = tried(need('pip install "cuda-python<13"'), TORCH)
    assert (trial.run, trial.problem) == ("", "torch 2.15.0 needs cuda-bindings>=13")
    assert trial.changes["cuda-bindings"] == "13.5.0 → 12.9.10"
    assert (
        tried(need('pip install "cuda-python<13"', "42-always-gpu-0"), TORCH).problem == NOT_NEEDED
    )


def test_an_old_release_is_wrong_that_the_line_takes_without_a_word(monkeypatch):
    def closure(host, wanted, *options):
        return ("cupy-cuda12x==13.6.0",) if host.pins else ("cupy-cuda12x==14.2.0",)

    monkeypatch.setattr(trying, "closure", closure)
    host = Host("torch", "PyTorch", "3.11", pins=("torch==2.15.0",))
    trial = tried(need("pip install cupy-cuda12x"), host)
    assert trial.problem == "it takes cupy-cuda12x 13.6.0 instead of 14.2.0"


def test_a_second_cupy_is_wrong():
    host = Host("cupy", "CuPy", "3.12", pins=("cupy-cuda11x==13.6.0",))
    assert "two-registered" in tried(need("pip install cupy-cuda12x"), host).problem


def test_a_fault_that_its_reader_has_anyway_is_not_new(monkeypatch):
    old = doctor.Case("90-old", "x", (doctor.Range("cupy", fixed="99.0"),), "y", "90-old")
    monkeypatch.setattr(doctor, "CASES", (old,))
    line = "pip install cupy-cuda12x"
    assert tried(need(line), EMPTY).problem == "it brings the fault 90-old"
    assert tried(need(line, **{"cupy-cuda12x": "14.0.0"}), EMPTY).run == line
    assert tried(need(line, "90-old"), EMPTY).problem == "the fault 90-old stays"


def test_what_check_says(tmp_path, monkeypatch):
    """Of a line without a trial, of an older one, and of one that is neither right nor told."""
    chapter = write_chapter(tmp_path, [])
    line = "pip install numpy"
    monkeypatch.setattr(installs, "hosts", lambda: {"torch": TORCH})
    known = {}
    monkeypatch.setattr(installs, "trials", lambda: known)
    not_tried = [f"`{line}` was not tried in torch; run `casebook installs`"]
    assert list(installs.wrong(chapter)) == not_tried
    good = installs.Trial(line, "torch", installs.key(TORCH), "2026-11-28", line, {})
    for key, run, sentences in (
        ("older", line, not_tried),
        (good.key, line, []),
        (good.key, "", [f"`{line}` is not right in torch (why): change it, or say under "]),
    ):
        known[line, "torch"] = installs.Trial(line, "torch", key, "2026-11-28", run, {}, "why")
        found = list(installs.wrong(chapter))
        assert len(found) == len(sentences) and all(map(str.startswith, found, sentences)), found
    chapter.facts.faults[0].installs["torch"] = "Use another environment."
    assert not [*installs.wrong(chapter)]
    known[line, "torch"] = good
    assert next(installs.wrong(chapter)).startswith("`installs` names torch, where every line")
    known["pip install old", "torch"] = good
    assert installs.leftovers([chapter])[0].startswith(
        "book/installs.json: no page has `pip install old`"
    )


def test_a_run_anew_says_what_changed_and_keeps_what_it_did_not_reach(
    tmp_path, monkeypatch, capsys
):
    chapter = write_chapter(tmp_path, [])
    line = "pip install numpy"
    monkeypatch.setattr(installs, "stored", lambda: tmp_path / "installs.json")
    monkeypatch.setattr(installs, "hosts", lambda: {"empty": EMPTY})
    monkeypatch.setattr(trying, "load", lambda names=(): [chapter])
    monkeypatch.setattr(trying, "tried", lambda need, host: answers.pop())
    monkeypatch.setattr(installs, "general", list)
    trial = installs.Trial(line, "empty", installs.key(EMPTY), "2026-11-28", line, {})
    other = installs.Trial(line, "empty", installs.key(EMPTY), "2026-11-29", "", {}, "why")
    answers = [other, trial]
    assert trying.command([], anew=False) == 0 and installs.trials() == {(line, "empty"): trial}
    assert trying.command([], anew=False) == 0 and len(answers) == 1  # nothing is tried twice
    assert trying.command([], anew=True) == 0 and installs.trials() == {(line, "empty"): other}
    assert f"new: {line} in empty: , before: {line}" in capsys.readouterr().out
