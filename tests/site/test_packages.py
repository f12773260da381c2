"""A pasted list of packages: in each form, and judged as the doctor judges. Needs Chromium."""

import pytest
import yaml
from helpers import ROOT

from casebook import doctor

EDGES = yaml.safe_load((ROOT / "tests/unit/edges.yml").read_text("utf8"))
# Environments of the doctor's tests, each once, and some as people have them.
ENVIRONMENTS = {pins for edges in EDGES.values() for pins in edges if pins and "driver" not in pins}
ENVIRONMENTS |= {
    "numba==0.61.2 llvmlite==0.44.0 numpy==2.2.6",
    "numba==0.59.0 numpy==1.26.4 cupy-cuda12x==13.4.0",
    "cupy-cuda13x==14.0.1 numpy==2.4.6 cuda-pathfinder==1.9.0",
    "cupy==13.6.0 numpy==2.3.0 nanobind==2.1.0 cuda-core==0.3.2 cuda-bindings==12.9.1",
    "numba-cuda==0.0.1 numba==0.61.0 numpy==2.1.0",
}
LISTS = yaml.safe_load((ROOT / "tests/site/pastes/packages.yml").read_text("utf8"))
OTHERS = [
    "TypeError: Signature mismatch: 1 argument types given, but function takes 2 arguments",
    "I use numba 0.61.2 with numpy 2.2.6\nand my kernel returns zeros",
    "requests 2.32.0\nflask 3.0.0",  # no library of the book
    "",
]


@pytest.fixture(scope="module")
def engine(browser):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "book/_ext")
        from bookext.errors.packages import data
    page = browser.new_page()
    page.add_script_tag(path=ROOT / "book/_static/packages.js")
    page.evaluate("data => { window.BOOK = { doctor: data } }", data())
    yield page.evaluate
    page.close()


def statuses(engine, packages):
    found = "packages => [...diagnose(packages)].map(([fault, status]) => [fault.name, status])"
    return dict(engine(found, packages))


@pytest.mark.parametrize("pins", sorted(ENVIRONMENTS))
def test_the_page_judges_as_the_doctor_does(engine, pins):
    packages = dict(pin.split("==") for pin in pins.split())
    machine = doctor.Machine("python", "3.12.1", packages)
    parts = machine.parts()
    assert statuses(engine, packages) == {
        case.name: case.examine(parts).status for case in doctor.CASES
    }


def test_forty_environments_and_every_status_are_compared(engine):
    assert len(ENVIRONMENTS) >= 40
    seen = {
        status
        for pins in ENVIRONMENTS
        for status in statuses(engine, dict(pin.split("==") for pin in pins.split())).values()
    }
    assert seen == {*doctor.WORST_FIRST}


@pytest.mark.parametrize("text", LISTS.values(), ids=LISTS)
def test_a_list_is_read_in_each_form(engine, text):
    found = engine("packagesOf", text)
    assert {name: found[name] for name in ("numba-cuda", "numpy")} == {
        "numba-cuda": "0.7.0",
        "numpy": "2.2.6",
    }


@pytest.mark.parametrize("text", OTHERS)
def test_other_texts_are_no_list(engine, text):
    assert engine("packagesOf", text) is None


CERTAIN = """packages => {
  const found = [...diagnose(packages)].filter(([, status]) => status === AFFECTED);
  return Object.keys(packages).map(name => [name, found.length,
    better(packages, name, found.map(([fault]) => fault))?.join(" ") ?? null]);
}"""


def certain(packages):
    found = doctor.diagnose(doctor.Machine("python", "3.12.1", packages))
    return {one.name for one in found if one.status == doctor.AFFECTED}


@pytest.mark.parametrize(
    "packages",
    [
        {"numba-cuda": "0.7.0", "numba": "0.61.2", "numpy": "2.2.6"},
        {"cupy-cuda12x": "14.0.1", "numpy": "2.2.6"},  # a downgrade would be without any
        {"cupy-cuda13x": "13.6.0", "numpy": "2.2.6"},
        {"numba": "99.0", "numpy": "2.2.6"},
    ],
)
def test_a_better_release_is_newer_and_has_fewer_certain_faults(engine, packages):
    for name, count, take in engine(CERTAIN, packages):
        before = certain(packages)
        assert count == len(before)
        if take:
            version, left = take.split()
            after = certain(packages | {name: version}) & before
            assert len(after) == int(left) < count
            assert doctor.release(version) >= doctor.release(packages[name])


def test_what_is_newer_than_the_book_is_named(engine):
    packages = {"numba-cuda": "99.1.0", "numba": "0.61.2", "requests": "99.0"}
    assert engine("newerThanKnown", packages) == [["numba-cuda", "99.1.0"]]


@pytest.mark.parametrize(
    ("text", "command", "left"),
    [
        ("numba-cuda 0.7.0\nnumba 0.61.2", 'pip install "numba-cuda==0.30.4" "numpy<2.5"', 0),
        (
            "cupy-cuda13x 14.0.1\ntorch 2.15.0",
            'pip install "cupy-cuda13x==14.2.0" "torch==2.15.0"',
            1,
        ),
        ("cupy 14.0.1", 'pip install "cupy==14.2.0"', 1),
        ("numba-cuda 0.30.4\nnumpy 2.5.5", 'pip install "numpy<2.5"', 0),
        (
            "# Name  Version  Build  Channel\nnumba-cuda 0.7.0 h_0 conda-forge",
            'conda install -c conda-forge "numba-cuda=0.30.4" "numpy<2.5"',
            0,
        ),
        ("numba-cuda 0.30.4\nnumpy 2.4.6", None, 0),
    ],
)
def test_one_command_names_what_the_list_names_and_keeps_the_rest(engine, text, command, left):
    """No other package of CuPy, and PyTorch as it is."""
    found = engine(CURE, text)
    assert (found and found["command"]) == command
    assert not found or found["left"] == left


CURE = """text => {
  const found = [...diagnose(packagesOf(text))].filter(([, status]) => status === AFFECTED);
  return cure(text, found.map(([fault]) => fault));
}"""


def test_an_nvjitlink_of_an_earlier_cuda_is_found(engine):
    beside = "nvidia-cuda-runtime-cu12 12.6.77\nnvidia-nvjitlink-cu12"
    lists = [f"{beside} {version}" for version in ("12.4.127", "12.6.85", "12.8.93")]
    found = engine("texts => texts.map(text => olderLink(text))", lists)
    assert found == [["12.4.127", "nvidia-cuda-runtime-cu12", "12.6.77"], None, None]
