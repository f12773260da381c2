"""Headers: what a good one says, and one clear sentence for each kind of bad one."""

import pytest
from helpers import cell

from casebook.cells.header import read
from casebook.errors import HeaderError


def with_option(line):
    return cell("", line)


def with_top(*lines):
    return "\n".join(["# /// script", *(f"# {line}" for line in lines), "# ///", ""])


PYTHON = 'requires-python = ">=3.11"'

BAD = {
    "no header": (
        "print(1)\n",
        "the cell has no header: it must begin with a '# /// script' block (PEP 723)",
    ),
    "not closed": (f"# /// script\n# {PYTHON}\nprint(1)\n", "the header is not closed"),
    "line without #": (f"# /// script\n# {PYTHON}\n\n# ///\n", "the header is not closed"),
    "no space after #": (f"# /// script\n#{PYTHON}\n# ///\n", "every line starts with '# '"),
    "two blocks": (cell("") + cell(""), "the cell has 2 '# /// script' blocks, but one is allowed"),
    "not TOML": (
        with_top("requires-python = >=3.11"),
        "the header is not valid TOML: Invalid value",
    ),
    "key twice": (
        with_top(PYTHON, PYTHON),
        "the header is not valid TOML: Cannot overwrite a value",
    ),
    "unknown key": (
        with_top(PYTHON, "dependancies = []"),
        "the header has an unknown key 'dependancies'; did you mean 'dependencies'?",
    ),
    "unknown key, nothing near": (
        with_top(PYTHON, "x = 1"),
        "unknown key 'x'; known are dependencies, requires-python, tool",
    ),
    "other tool": (
        with_top(PYTHON, "dependencies = []", "[tool.uv]"),
        "[tool] of the header has an unknown key 'uv'",
    ),
    "tool is no table": (
        with_top(PYTHON, "dependencies = []", "tool = 3"),
        "[tool] of the header must be a table",
    ),
    "casebook is no table": (
        with_top(PYTHON, "dependencies = []", "[tool]", "casebook = 3"),
        "[tool.casebook] must be a table",
    ),
    "no requires-python": (with_top("dependencies = []"), "the header needs requires-python"),
    "requires-python empty": (cell("", python=""), "the header needs requires-python"),
    "requires-python wrong": (
        cell("", python="3.12"),
        "requires-python = '3.12' is not a version range",
    ),
    "no dependencies": (with_top(PYTHON), "the header needs dependencies, a list of strings"),
    "dependencies no list": (
        with_top(PYTHON, 'dependencies = "six==1.17.0"'),
        "the header needs dependencies, a list of strings",
    ),
    "dependencies of numbers": (
        cell("", dependencies=[1]),
        "the header needs dependencies, a list of strings",
    ),
    "not a requirement": (
        cell("", dependencies=["six=1.17"]),
        "dependency 'six=1.17' is not a requirement such as",
    ),
    "unpinned": (
        cell("", dependencies=["six"]),
        "dependency 'six' is not pinned: write six==VERSION",
    ),
    "a range": (cell("", dependencies=["six>=1"]), "dependency 'six>=1' is not pinned"),
    "a wildcard": (cell("", dependencies=["six==1.*"]), "dependency 'six==1.*' is not pinned"),
    "an address": (
        cell("", dependencies=["six @ https://example.org/six.whl"]),
        "is not pinned: write six==VERSION",
    ),
    "listed twice": (
        cell("", dependencies=["six==1.17.0", "Six==1.16.0"]),
        "dependency 'Six' is listed twice",
    ),
    "unknown option": (
        with_option("raise = 'TypeError'"),
        "[tool.casebook] has an unknown key 'raise'; did you mean 'raises'?",
    ),
    "a bool as text": (
        with_option("gpu = 'yes'"),
        "[tool.casebook] gpu = 'yes' must be true or false",
    ),
    "a text as number": (with_option("raises = 1"), "[tool.casebook] raises = 1 must be a string"),
    "an empty text": (
        with_option("raises = ''"),
        "[tool.casebook] raises = '' must be a string that is not empty",
    ),
    "a number as text": (
        with_option("timeout = '60'"),
        "[tool.casebook] timeout = '60' must be a number",
    ),
    "env of numbers": (
        with_option("env = {A = 1}"),
        "[tool.casebook] env = {'A': 1} must be a table of strings",
    ),
    "env without a name": (
        with_option("env = {'A=B' = '1'}"),
        "env has 'A=B', which is not the name of a variable",
    ),
    "two outcomes": (
        cell("", "raises = 'E'", "signal = 'SIGABRT'"),
        "a script ends in one way: raises and signal cannot both be expected",
    ),
    "outcome and time-out": (
        cell("", "raises = 'E'", "timeout-expected = true"),
        "raises and timeout-expected cannot both be expected",
    ),
    "match alone": (
        with_option("match = 'text'"),
        "match looks into the message of an exception: it needs raises",
    ),
    "unknown signal": (
        with_option("signal = 'SEGV'"),
        "signal = 'SEGV' is not the name of a signal such as 'SIGSEGV'",
    ),
    "bad pattern": (
        cell("", "raises = 'E'", "match = '('"),
        "match = '(' is not a regular expression",
    ),
    "idle pattern": (
        cell("", "raises = 'E'", "match = 'x*'"),
        "match = 'x*' matches the empty string, so it would check nothing",
    ),
    "pattern of anything": (
        cell("", "raises = 'E'", "match = '.'"),
        "match = '.' matches 'T' in any text, so it would check nothing",
    ),
    "pattern of any line": (
        cell("", "raises = 'E'", "match = '^.+$'"),
        "in any text, so it would check nothing",
    ),
    "pattern of any letter": (
        cell("", "raises = 'E'", "match = 'e'"),
        "match = 'e' matches 'e' in any text, so it would check nothing",
    ),
    "pattern of any number": (
        cell("", "raises = 'E'", "match = '[1-3]'"),
        "matches '1' in any text, so it would check nothing",
    ),
    "no time": (with_option("timeout = 0"), "timeout = 0 must be more than 0 seconds"),
    "endless time": (
        with_option("timeout = inf"),
        "timeout = inf must be more than 0 seconds and finite",
    ),
    "no number of seconds": (
        with_option("timeout = nan"),
        "timeout = nan must be more than 0 seconds and finite",
    ),
    "gpus without gpu": (
        with_option("gpus = 2"),
        "gpus is the number of GPUs: it needs gpu = true",
    ),
    "no gpus": (cell("", "gpu = true", "gpus = 0"), "gpus = 0 must be a whole number, 1 or more"),
    "half a GPU": (cell("", "gpu = true", "gpus = 1.5"), "gpus = 1.5 must be a whole number"),
    "gpus as a word": (cell("", "gpu = true", "gpus = true"), "gpus = True must be a whole number"),
    "driver without gpu": (
        with_option("driver = '>=580'"),
        "driver is about the GPU's driver: it needs gpu = true",
    ),
    "driver is no range": (
        cell("", "gpu = true", "driver = '580'"),
        "driver = '580' is not a version range such as '>=580'",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_header_gets_a_sentence(name):
    source, sentence = BAD[name]
    with pytest.raises(HeaderError) as caught:
        read(source)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_key_is_read():
    header = read(
        cell(
            "",
            "gpu = true",
            "gpus = 2",
            "driver = '>=580'",
            "cuda-home = true",
            "env = {A = 'b'}",
            "build = 'native'",
            "raises = 'E'",
            "match = 'text'",
            "timeout = 60",
            dependencies=["six==1.17.0", "numpy==2.0.0 ; python_version < '3.13'"],
        )
    )
    assert (header.requires_python, header.dependencies[0]) == (">=3.11", "six==1.17.0")
    assert header.gpu and header.gpus == 2 and header.cuda_home and not header.timeout_expected
    assert (header.driver, header.env, header.build, header.timeout) == (
        ">=580",
        {"A": "b"},
        "native",
        60,
    )
    assert str(header.expected) == "E with a message that matches 'text'"


def test_expectations_in_words():
    assert str(read(cell("")).expected) == "exit status 0"
    assert str(read(with_option("signal = 'SIGABRT'")).expected) == "killed by SIGABRT"
    assert (
        str(read(cell("", "timeout = 2.5", "timeout-expected = true")).expected)
        == "timed out after 2.5 s"
    )


def test_the_header_may_stand_below_comments_and_may_hold_empty_lines():
    source = "# A comment first.\n" + with_top(PYTHON, "dependencies = []").replace(
        "# ///\n", "#\n# ///\n"
    )
    assert read(source).dependencies == ()


def test_one_environment_for_the_same_pins_in_any_order_and_spelling():
    def key(*dependencies, python=">=3.11"):
        return read(cell("", dependencies=dependencies, python=python)).environment_key

    assert key("six==1.17.0", "Typing_Extensions==4.1.1") == key(
        "typing-extensions==4.1.1", "six==1.17.0"
    )
    others = [
        key(),
        key("six==1.17.0"),
        key("six==1.16.0"),
        key("six[x]==1.17.0"),
        key("six==1.17.0", python=">=3.12"),
        key("six==1.17.0 ; python_version < '4'"),
    ]
    assert len(set(others)) == len(others)


def test_the_part_for_uv_is_a_header_itself():
    header = read(
        cell(
            "", "gpu = true", dependencies=["six==1.17.0", "numpy==2.0.0 ; python_version < '3.13'"]
        )
    )
    again = read(header.script_block())
    assert again.dependencies == header.dependencies
    assert again.environment_key == header.environment_key
    assert not again.gpu
