"""The skeleton of a short case: it is a short case that runs, and it stands in the table of contents."""
import pytest

from casebook import run
from casebook.chapters import ROOT, Chapter, load
from casebook.checks import problems
from casebook.errors import CasebookError
from casebook.new import new


@pytest.fixture
def house(tmp_path):
    """A folder with an empty notebooks/ and the book's own table of contents."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "_toc.yml").write_text((ROOT / "_toc.yml").read_text())
    return tmp_path


def test_nothing_is_wrong_with_it_but_that_it_was_never_run(house):
    chapter = Chapter(new("98-example", house))
    left = [p for p in problems(chapter) if "never executed" not in p and "no receipt" not in p]
    assert left == []
    assert [c.source for c in chapter.cells if "setup" in c.tags] == [load(["01"])[0].cells[0].source]
    assert len(chapter.cells) <= 12


def test_each_cell_ends_as_its_header_says(house):
    chapter = Chapter(new("98-example", house))
    pinned = [cell for cell in chapter.cells if cell.header]
    assert [cell.header.raises for cell in pinned] == ["OverflowError", None, None, None]
    for cell in pinned:
        outcome = run.run(cell.source.split("\n", 1)[1], cell.header, lambda text: None)
        assert (outcome.error or {}).get("type") == cell.header.raises
        assert bool(outcome.status) == bool(cell.header.raises)


def test_its_line_stands_among_the_short_cases_in_order(house):
    new("98-example", house)
    new("97-example", house)
    lines = (house / "_toc.yml").read_text().splitlines()
    place = lines.index("      - file: notebooks/98-example")
    assert lines[place - 1] == "      - file: notebooks/97-example"
    assert lines[place + 1].startswith("  - caption")
    assert len(lines) == len((ROOT / "_toc.yml").read_text().splitlines()) + 2


@pytest.mark.parametrize("name", ["example", "05-example", "98", "98-Example", "98_example", "../98-example"])
def test_what_is_no_name_is_refused(name, house):
    before = (house / "_toc.yml").read_text()
    with pytest.raises(CasebookError, match="is no name of a short case"):
        new(name, house)
    assert (house / "_toc.yml").read_text() == before and not list((house / "notebooks").iterdir())


def test_a_number_is_given_once(house):
    path = new("98-example", house)
    text = path.read_text()
    with pytest.raises(CasebookError, match="98 is taken by 98-example"):
        new("98-another", house)
    assert path.read_text() == text
