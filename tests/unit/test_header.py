"""Headers: what a good one says, and one clear sentence for each kind of bad one."""

import pytest
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
BAD_OPTIONS = {
    "raise = 'TypeError'": "[tool.casebook] has an unknown key 'raise'; did you mean 'raises'?",
    "gpu = 'yes'": "[tool.casebook] gpu = 'yes' must be true or false",
    "raises = 1": "raises = 1 must be a string",
    "raises = ''": "raises = '' must be a string that is not empty",
    "timeout = '60'": "timeout = '60' must be a number",
    "timeout = 0": "timeout = 0 must be more than 0 seconds",
    "timeout = inf": "timeout = inf must be more than 0 seconds and finite",
    "timeout = nan": "timeout = nan must be more than 0 seconds and finite",
    "env = {A = 1}": "env = {'A': 1} must be a table of strings",
    "env = {'A=B' = '1'}": "env has 'A=B', which is not the name of a variable",
    "match = 'text'": "match looks into the message of an exception: it needs raises",
    "signal = 'SEGV'": "signal = 'SEGV' is not the name of a signal such as 'SIGSEGV'",
    "gpus = 2": "gpus is the number of GPUs: it needs gpu = true",
    "gpus = 0": "gpus = 0 must be a whole number, 1 or more",
    "gpus = true": "gpus = True must be a whole number",
    "driver = '>=580'": "driver is about the GPU's driver: it needs gpu = true",
    "gpu = true\n# driver = '580'": "driver = '580' is not a version range such as '>=580'",
}
BAD_OUTCOMES = {
    "signal = 'SIGABRT'": "a script ends in one way: raises and signal cannot both be expected",
    "timeout-expected = true": "raises and timeout-expected cannot both be expected",
    "match = '('": "match = '(' is not a regular expression",
    "match = 'x*'": "match = 'x*' matches the empty string, so it would check nothing",
    "match = '^.+$'": "in any text, so it would check nothing",
    "match = '[1-3]'": "matches '1' in any text, so it would check nothing",
}


BAD |= {cell("", line): sentence for line, sentence in BAD_OPTIONS.items()}
BAD |= {cell("", "raises = 'E'", line): sentence for line, sentence in BAD_OUTCOMES.items()}


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
