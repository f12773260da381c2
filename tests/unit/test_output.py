"""What is shown of an output: long ones, odd bytes, and what differs between machines."""

import re
from pathlib import Path

import pytest
from helpers import play

from casebook.cells.output import Normalizer, TruncatedOutput
from casebook.environments.store import cache
from casebook.errors import EnvironmentFailure
from casebook.execution.process import lines


def shown(text):
    """Lines that are shown of an output, and whether something was left out."""
    parts = []
    output = TruncatedOutput(parts.append)
    for line in text.splitlines(keepends=True):
        output.add(line)
    left_out = output.finish()
    return "".join(parts).splitlines(), left_out


def test_many_lines():
    found, left_out = shown("".join(f"{n}\n" for n in range(100_000)))
    assert found[:200] == [str(n) for n in range(200)]
    assert found[200] == "… 99,760 lines left out …"
    assert found[201:] == [str(n) for n in range(99_960, 100_000)] and left_out


def test_a_long_line():
    assert shown("x" * 10_000_000 + "\n") == (["x" * 2000 + " … 9,998,000 more characters"], True)


def test_a_line_is_cut_as_it_arrives():
    """200 MB without a newline once took 813 MB of the kernel's memory."""
    pieces = [b"x" * 600_000, b"x" * 600_000, "é\n".encode()[:1], "é\n".encode()[1:], b"end\xff"]
    first, second = lines(pieces)
    assert first == "x" * 1_000_000 + " … 200,001 more characters were not kept"
    assert second == "end\N{REPLACEMENT CHARACTER}"
    assert list(lines([b"a\n", b"", b"\nb"])) == ["a", "", "b"]


@pytest.mark.parametrize("text", ["x" * 2000 + "\n", "".join(f"{n}\n" for n in range(240)), ""])
def test_what_fits_is_all_shown(text):
    assert shown(text) == (text.splitlines(), False)


def test_a_long_output_is_kept_whole(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    last = play("print('x' * 10_000)\n1 / 0", "raises = 'ZeroDivisionError'").output.splitlines()[
        -1
    ]
    said = re.fullmatch(r"… the whole output, 0\.0 MB: ~/(casebook/output/\w+\.txt)", last)
    kept = (tmp_path / said[1]).read_text()
    assert kept.startswith("x" * 10_000 + "\n") and kept.endswith(
        "\nZeroDivisionError: division by zero\n"
    )


def test_what_is_not_utf_8_is_replaced():
    text = b"caf\xe9 \xff\xfe " + "grün".encode() + b"\n\xe2\x82"
    assert list(lines([text])) == ["caf� �� grün", "�"]
    assert list(lines(bytes([byte]) for byte in "€\n".encode())) == ["€"]


def test_what_differs_between_machines_is_normalized():
    body = """import pathlib, sys, tempfile, textwrap
home = pathlib.Path.home()
print(object())
print("$14call_method.5 of $0.1 and 0x7f12345678 but 0xdeadbeef and $5")
print(tempfile.mkdtemp(), home, home / "x", str(home) + "house")
print(pathlib.Path("x").absolute(), pathlib.Path.cwd(), sys.prefix, textwrap.__file__)"""
    assert play(body).output.splitlines() == [
        "<object object at 0x…>",
        "$… of $0.1 and 0x… but 0xdeadbeef and $5",
        f"/tmp/… ~ ~/x {Path.home()}house",
        "x . <environment> textwrap.py",
    ]


@pytest.mark.parametrize(
    ("home", "line", "normalized"),
    [
        ("/root", "/t/tmpab12 /t2 /usr/lib/python3.12/textwrap.py", "/tmp/… /t2 textwrap.py"),
        ("/", "1 / 2 /usr/share", "1 / 2 /usr/share"),
        ("/root", "/usr/lib/libcuda.so.1", "/usr/lib/libcuda.so.1"),  # the system's, not Python's
    ],
)
def test_other_machines(tmp_path, monkeypatch, home, line, normalized):
    monkeypatch.setattr("tempfile.tempdir", "/t")
    monkeypatch.setenv("HOME", home)
    assert Normalizer(tmp_path, tmp_path, tmp_path, {Path("/usr")})(line) == normalized


def test_a_user_without_a_home(tmp_path, monkeypatch):
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    monkeypatch.delenv("HOME")
    assert Normalizer(tmp_path, tmp_path, tmp_path, {tmp_path})("~ is kept") == "~ is kept"
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    with pytest.raises(EnvironmentFailure, match="no home directory found: set HOME or XDG_CACHE"):
        cache()
