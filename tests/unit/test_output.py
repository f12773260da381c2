"""What is shown of an output: long ones, odd bytes, and what differs between machines."""

import os
import subprocess
from pathlib import Path

import pytest
from helpers import play

from casebook.environments import create

KEPT = "… the whole output, {} MB: "


def kept_file(output):
    return Path(output.splitlines()[-1].rpartition(" MB: ")[2]).expanduser()


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    """What these tests keep of long outputs goes to a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("UV_CACHE_DIR", raising=False)
        patch.setattr(create, "_made", {})
        yield


def test_ten_megabytes_in_many_lines():
    outcome = play("for n in range(100_000): print(f'{n:99}')")
    lines = outcome.output.splitlines()
    assert outcome.status == 0
    assert [line.strip() for line in lines[:200]] == [str(n) for n in range(200)]
    assert lines[200] == "… 99,760 lines left out …"
    assert [line.strip() for line in lines[201:241]] == [str(n) for n in range(99_960, 100_000)]
    assert lines[241].startswith(KEPT.format("10.0"))
    assert len(lines) == 242
    assert kept_file(outcome.output).read_text() == "".join(f"{n:99}\n" for n in range(100_000))


def test_ten_megabytes_in_one_line():
    outcome = play("print('x' * 10_000_000)")
    first, last = outcome.output.splitlines()
    assert first == "x" * 2000 + " … 9,998,000 more characters"
    assert last.startswith(KEPT.format("10.0"))
    assert kept_file(outcome.output).read_text() == "x" * 10_000_000 + "\n"


def test_one_line_in_a_million_pieces():
    body = "import os\nfor n in range(100_000): os.write(1, b'0123456789')"
    assert "998,000 more characters" in play(body).output


def test_a_line_of_exactly_the_limit_is_whole():
    assert play("print('x' * 2000)").output == "x" * 2000 + "\n"


def test_as_many_lines_as_fit_are_all_shown():
    assert play("for n in range(240): print(n)").output == "".join(f"{n}\n" for n in range(240))


def test_a_long_output_that_ends_badly_is_kept_too():
    output = play("for n in range(300): print(n)\nraise ValueError", "raises = 'ValueError'").output
    assert "ValueError\n" in output
    assert kept_file(output).read_text().endswith("ValueError\n")


def test_what_is_not_utf_8_is_replaced():
    body = r"import os; os.write(1, b'caf\xe9 \xff\xfe ' + 'grün'.encode() + b'\n'); os.write(1, '€'.encode()[:2])"
    assert play(body).output == "caf� �� grün\n�\n"


def test_a_character_in_two_pieces_is_one():
    body = "import os, time\nfor byte in '€\\n'.encode():\n    os.write(1, bytes([byte]))\n    time.sleep(0.1)"
    assert play(body).output == "€\n"


def test_utf_8_whatever_the_machine_speaks(monkeypatch):
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    assert play("print('grün €')").output == "grün €\n"


def test_what_differs_between_machines_is_masked():
    body = """import pathlib, sys, tempfile, textwrap
print(object())
print("$14call_method.5 of $0.1 and 0x7f12345678 but 0xdeadbeef and $5")
print(tempfile.mkdtemp(), pathlib.Path.home(), pathlib.Path.home() / "x", str(pathlib.Path.home()) + "house")
print(pathlib.Path("x").absolute(), pathlib.Path.cwd(), sys.prefix, textwrap.__file__)"""
    shown = play(body).output.splitlines()
    assert shown[0] == "<object object at 0x…>"
    assert shown[1] == "$… of $0.1 and 0x… but 0xdeadbeef and $5"
    assert shown[2] == f"/tmp/… ~ ~/x {Path.home()}house"
    assert shown[3] == "x . <environment> textwrap.py"


def test_a_folder_for_temporary_files_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    assert play("import tempfile; print(tempfile.mkdtemp())").output == "/tmp/…\n"


def test_a_home_that_is_the_root_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/")
    assert play("print('1 / 2 /usr/share', __file__)").output == "1 / 2 /usr/share cell.py\n"


def test_other_libraries_of_the_system_keep_their_paths():
    """A system Python lies below /usr, but not everything below /usr/lib is Python's."""
    assert (
        play("print('/usr/lib/x86_64-linux-gnu/libcuda.so.1')").output
        == "/usr/lib/x86_64-linux-gnu/libcuda.so.1\n"
    )


def test_a_system_python():
    if not os.access("/usr/bin/python3", os.X_OK):
        pytest.skip("needs /usr/bin/python3")
    version = subprocess.check_output(
        ["/usr/bin/python3", "-c", "import platform; print(platform.python_version())"], text=True
    ).strip()
    body = "import textwrap; print(textwrap.__file__, '/usr/lib/x86_64-linux-gnu/libcuda.so.1')"
    assert (
        play(body, python=f"=={version}").output
        == "textwrap.py /usr/lib/x86_64-linux-gnu/libcuda.so.1\n"
    )
