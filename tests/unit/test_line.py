"""The first line of a %%pinned cell, and the %%environments cell that it refers to."""

import dataclasses

import pytest
from helpers import cell

from casebook.cells import environments_cell, line
from casebook.cells.header import Header, read
from casebook.errors import HeaderError

ENVIRONMENTS = {
    "numba-0.65.1": Header(">=3.11", ("numba==0.65.1",), cuda_home=True, env={"A": "1", "B": "2"}),
    "python": Header(">=3.11,<3.14", ()),
}


def header(text, script="print(1)\n"):
    return line.header(line.parse(text), script, ENVIRONMENTS)


def test_the_line_says_what_a_header_says():
    said = (
        "numba-0.65.1 --gpus 2 --driver '>=580' --raises TypeError --match 'a \\(b\\) \"c\"' "
        "--timeout 20 --env B=3 --env C=x=y --out six --folder shelf"
    )
    found = header(said)
    assert found == dataclasses.replace(
        ENVIRONMENTS["numba-0.65.1"],
        gpu=True,
        gpus=2,
        driver=">=580",
        raises="TypeError",
        match='a \\(b\\) "c"',
        timeout=20,
        env={"A": "1", "B": "3", "C": "x=y"},
    )
    assert (line.parse(said).out, line.parse(said).folder) == ("six", "shelf")
    assert read(found.block()) == found
    assert header("python --timeout-expected --timeout 0.5").expected.ending == (
        "timed out after 0.5 s"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    {
        "numba-0.65.0": "no environment is called numba-0.65.0; did you mean numba-0.65.1?",
        "cupy": "there are numba-0.65.1, python",
        "python --raise ValueError": "does not know '--raise'; did you mean --raises?",
        "python numba": "does not know 'numba'; it takes one environment and --gpu,",
        "python --raises": "argument --raises: expected one argument",
        "python --raises A --raises B": "--raises is given twice",
        "python --match six": "it needs raises",
        "python --raises A --match x*": "matches the empty string",
        "python --raises A --match [1-3]": "it also matches '1' in unrelated text",
        "python --raises A --match (": "is not a regular expression",
        "python --raises A --signal SIGABRT": "raises and signal cannot both be expected",
        "python --signal SEGV": "is not the name of a signal",
        "python --driver '>=580'": "it needs gpu, too",
        "python --gpu --driver 580": "is not a version range",
        "python --gpus 0": "gpus = 0 must be a whole number",
        "python --gpus two": "invalid int value: 'two'",
        "python --timeout 0": "must be more than 0 seconds",
        "python --timeout nan": "must be more than 0 seconds",
        "python --timeout long": "invalid seconds value: 'long'",
        "python --env A": "write NAME=VALUE",
        "python --env 1A=2": "not the name of a variable",
        "python --out 1x": "--out 1x: not the name of a variable",
        "python --folder ../x": "not the name of a variable",
        "python --raises 'A": "no closing quotation",
        "--gpu": "names no environment",
        "": "the cell has no header",
    }.items(),
)
def test_a_wrong_line_gets_a_sentence(text, sentence):
    with pytest.raises(HeaderError) as caught:
        header(text)
    assert sentence in str(caught.value)


def test_a_cell_has_a_name_or_a_header_and_not_both():
    assert header("--out text", cell("print(1)")) == read(cell("print(1)"))
    with pytest.raises(HeaderError, match="names the environment python and has a header"):
        header("python", cell("print(1)"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    {
        "[a\n": "not valid TOML",
        "[a]\nrequires-python = '>=3.11'\ndependencies = []\n[a]\n": "Cannot declare ('a',) twice",
        "[a]\n": "the environment a needs requires-python",
        "[a]\nrequires-python = '>=3.11'\n": "the environment a needs dependencies",
        "[a]\nrequires-python = '3'\ndependencies = []\n": "is not a version range",
        "[a]\nrequires-python = '>=3'\ndependencies = ['six']\n": "'six' is not pinned",
        "[a]\ndependency = []\n": "the environment a has an unknown key 'dependency'; "
        "did you mean 'dependencies'?",
        "[a]\ngpu = true\n": "unknown key 'gpu'",
        "[numba-0.65.1]\ndependencies = []\n": 'write ["numba-0.…"]',
        "['a b']\ndependencies = []\n": "'a b' is no name",
        "a = 1\n": "a stands in no table",
    }.items(),
)
def test_a_wrong_environment_gets_a_sentence(text, sentence):
    with pytest.raises(HeaderError) as caught:
        environments_cell.read(text)
    assert sentence in str(caught.value)


def test_what_is_written_is_read_back():
    text = environments_cell.written(ENVIRONMENTS)
    assert environments_cell.read(text.partition("\n")[2]) == ENVIRONMENTS


def test_a_cell_with_its_header_stands_alone():
    source = "%%pinned numba-0.65.1 --raises A --match 'a \\d' --out x\nprint(1)\n"
    alone = line.with_header(source, line.header(line.of_source(source), "", ENVIRONMENTS))
    assert alone.startswith("%%pinned --out x\n# /// script\n") and alone.endswith("\nprint(1)\n")
    assert read(alone) == line.header(line.of_source(source), "", ENVIRONMENTS)


def test_the_message_goes_and_the_exception_stays():
    named_cell = "%%pinned python --raises A --match 'a b' --out x\nprint(1)"
    assert line.without_match(named_cell) == "%%pinned python --raises A --out x\nprint(1)"
    assert line.without_match("%%pinned\n" + cell("", "raises = 'A'", "match = 'b'")) == (
        "%%pinned\n" + cell("", "raises = 'A'").replace("# [tool", "# [tool")
    )
