"""The doctor among broken metadata: no crash, and no "not affected" where nanobind 2.1.0 may be."""

import contextlib
import io
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casebook import doctor

GOOD = b"Metadata-Version: 2.1\nName: nanobind\nVersion: 2.1.0\n\nText\n"
CHANGES = {
    b"Text": b"\xff\xfe\xe9",
    b"Version: 2.1.0\n": b"",
    b"Name: nanobind\n": b"",
    b"\n": b"\r\n",
    b"2.1.0": b"2.1.0 beta",
    b"Name: ": b"NAME:",
    b"Metadata-Version": b"\xef\xbb\xbfMetadata-Version",
    b"Metadata": b"\nMetadata",
}
DAMAGED = st.sampled_from(
    [GOOD[:n] for n in range(0, len(GOOD), 5)]
    + [GOOD.replace(*change) for change in CHANGES.items()]
    + [GOOD.decode().encode("utf-16"), b"\x00" * 200]
)


def lay(site, entry, shape, content):
    """One piece of metadata in a folder of packages."""
    place = site / entry
    if place.exists() or place.is_symlink():
        return
    if shape == "file":
        place.write_bytes(content)
    elif shape == "link":
        place.symlink_to("nowhere")
    else:
        place.mkdir()
        if shape == "folder":
            (place / "METADATA").mkdir()
        elif shape != "none":
            (place / shape).write_bytes(content)


def examine(*folders):
    """Exit status of the doctor and its answer, for a Python that imports from these folders."""
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as shown:
        patch.setattr(
            doctor, "ask_python", lambda python: ("3.12.1", [str(folder) for folder in folders])
        )
        patch.setattr(doctor, "ask_driver", dict)
        status = doctor.examine("/usr/bin/env", as_json=True)
    return status, json.loads(shown.getvalue() or "{}")


def nanobind(said):
    return next(
        finding["status"] for finding in said["findings"] if finding["name"] == "05-device-arrays"
    )


@pytest.fixture
def site(tmp_path):
    """Makes an empty folder of packages, another one at each call."""
    return lambda: Path(tempfile.mkdtemp(dir=tmp_path))


# No deadline: on a busy machine all examples are slow. `site` makes a folder for each example.
@settings(
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    st.sampled_from(["nanobind-2.1.0.dist-info", "nanobind.egg-info"]),
    st.sampled_from(["METADATA", "PKG-INFO", "none", "folder"]),
    DAMAGED,
)
def test_damaged_metadata_are_not_an_absent_package(site, entry, shape, content):
    folder = site()
    lay(folder, entry, shape, content)
    status, said = examine(folder)
    assert status in (1, 3) and nanobind(said) in (doctor.AFFECTED, doctor.CANNOT_TELL)
    assert (status == 1) == (said["packages"]["nanobind"] == "2.1.0")


def test_the_first_folder_on_the_path_counts(site):
    first, second = site(), site()
    lay(first, "nanobind-3.1.0.dist-info", "METADATA", GOOD.replace(b"2.1.0", b"3.1.0"))
    lay(second, "nanobind-2.1.0.dist-info", "METADATA", GOOD)
    assert [
        examine(*order)[0] for order in ((first, second), (second, first), (first / "none", first))
    ] == [0, 1, 0]


def test_a_leftover_of_pip_does_not_count_and_is_named(site):
    folder = site()
    lay(folder, "~anobind-2.1.0.dist-info", "METADATA", GOOD)
    lay(folder, "nanobind-3.1.0.dist-info", "METADATA", GOOD.replace(b"2.1.0", b"3.1.0"))
    status, said = examine(folder)
    assert (status, said["packages"], nanobind(said)) == (
        0,
        {"nanobind": "3.1.0"},
        doctor.NOT_AFFECTED,
    )
    assert said["remarks"] == [
        "~anobind-2.1.0.dist-info was left behind by a pip that was interrupted, and does not count"
    ]


def test_a_folder_that_cannot_be_read_is_no_empty_one(site, monkeypatch):
    folder = site()
    monkeypatch.setattr(
        doctor.os,
        "listdir",
        lambda path: (_ for _ in ()).throw(PermissionError(13, "Permission denied", path)),
    )
    status, said = examine(folder)
    assert status == 3 and str(folder) in said["unread"][0]


def test_what_conda_installed_is_seen(tmp_path):
    site = tmp_path / "lib/python3.12/site-packages"
    site.mkdir(parents=True)
    (tmp_path / "conda-meta").mkdir()
    for record in (
        "cupy-13.4.0-py312h_0.json",
        "cupy-core-13.4.0-py312h_0.json",
        "cuda-nvrtc-12.9.86-h_0.json",
        "numpy-1.26.4-py312_0.json",
        "nanobind-2.1.0-0.json",
        "history",
        "odd.json",
    ):
        (tmp_path / "conda-meta" / record).write_text("not read")
    lay(
        site,
        "numpy-2.2.6.dist-info",
        "METADATA",
        GOOD.replace(b"nanobind", b"numpy").replace(b"2.1.0", b"2.2.6"),
    )
    status, said = examine(tmp_path / "lib/python3.12", site)
    assert said["packages"] == {
        "cuda-nvrtc": "12.9.86",
        "cupy": "13.4.0",
        "nanobind": "2.1.0",
        "numpy": "2.2.6",
    }
    assert (status, nanobind(said), said["unread"]) == (1, doctor.AFFECTED, [])
