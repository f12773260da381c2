"""Headers: what a good one says, and one clear sentence for each kind of bad one."""

from pathlib import Path

import pytest
import yaml
from helpers import cell

from casebook.cells.header import Header, read
from casebook.errors import HeaderError


def with_top(*lines):
    return "\n".join(["# /// script", *(f"# {line}" for line in lines), "# ///", ""])


PYTHON = 'requires-python = ">=3.11"'

BAD = {
    "print(1)\n": "it must begin with a '# /// script' block (PEP 723)",
    f"# /// script\n# {PYTHON}\nprint(1)\n": "the header is not closed",
    f"# /// script\n#{PYTHON}\n# ///\n": "every line starts with '# '",
    cell("") + cell(""): "the cell has 2 '# /// script' blocks, but one is allowed",
    with_top("requires-python = >=3.11"): "the header is not valid TOML: Invalid value",
    with_top(PYTHON, "dependancies = []"): "key 'dependancies'; did you mean 'dependencies'?",
    with_top("x = 1"): "unknown key 'x'; known are dependencies, requires-python, tool",
    with_top("[tool.uv]"): "[tool] of the header has an unknown key 'uv'",
    with_top("tool = 3"): "[tool] of the header must be a table",
    with_top("dependencies = []"): "the header needs requires-python",
    cell("", python="3.12"): "requires-python = '3.12' is not a version range",
    with_top(PYTHON): "the header needs dependencies, a list of strings",
    cell("", dependencies=[1]): "the header needs dependencies, a list of strings",
    cell("", dependencies=["six=1.17"]): "'six=1.17' is not a requirement such as",
    cell("", dependencies=["six"]): "dependency 'six' is not pinned: write six==VERSION",
    cell("", dependencies=["six>=1"]): "dependency 'six>=1' is not pinned",
    cell("", dependencies=["six==1.*"]): "dependency 'six==1.*' is not pinned",
    cell("", dependencies=["six @ https://example.org/six.whl"]): "write six==VERSION",
    cell("", dependencies=["six==1.17.0", "Six==1.16.0"]): "'Six' is listed twice",
    with_top(PYTHON, "dependencies = []", "tool.casebook = 3"): "[tool.casebook] must be a table",
}
LINES = yaml.safe_load(Path(__file__).with_name("headers.yml").read_text("utf8"))
BAD |= {cell("", line): sentence for line, sentence in LINES["options"].items()}
BAD |= {cell("", "raises = 'E'", line): words for line, words in LINES["outcomes"].items()}


@pytest.mark.parametrize(("source", "sentence"), BAD.items(), ids=BAD.values())
def test_a_bad_header_gets_a_sentence(source, sentence):
    with pytest.raises(HeaderError) as caught:
        read(source)
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


def test_every_key_is_read():
    pins = "six==1.17.0", "numpy==2.0.0 ; python_version < '3.13'"
    lines = """gpu = true
gpus = 2
driver = '>=580'
cuda-home = true
env = {A = 'b'}
build = 'native'
raises = 'E'
match = 'text'
timeout = 60"""
    assert read(cell("", *lines.splitlines(), dependencies=pins)) == Header(
        ">=3.11",
        pins,
        gpu=True,
        gpus=2,
        driver=">=580",
        cuda_home=True,
        env={"A": "b"},
        build="native",
        raises="E",
        match="text",
        timeout=60,
    )


def test_the_header_may_stand_below_comments_and_may_hold_empty_lines():
    source = with_top(PYTHON, "dependencies = []").replace("# ///\n", "#\n# ///\n")
    assert read(f"# A comment first.\n{source}").dependencies == ()


def test_one_environment_for_the_same_pins_in_any_order_and_spelling():
    def key(*dependencies, python=">=3.11"):
        return read(cell("", dependencies=dependencies, python=python)).environment_key

    pins = "six==1.17.0", "Typing_Extensions==4.1.1"
    assert key(*pins) == key("typing-extensions==4.1.1", "six==1.17.0")
    others = {
        key(),
        key("six==1.17.0"),
        key("six==1.16.0"),
        key("six[x]==1.17.0"),
        key("six==1.17.0", python=">=3.12"),
        key("six==1.17.0 ; python_version < '4'"),
    }
    assert len(others) == 6


def test_the_part_for_uv_is_a_header_itself():
    pins = "six==1.17.0", "numpy==2.0.0 ; python_version < '3.13'"
    header = read(cell("", "gpu = true", dependencies=pins))
    again = read(header.script_block())
    assert again.environment_key == header.environment_key
    assert again.dependencies == pins and not again.gpu
