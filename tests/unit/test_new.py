"""What a new case begins with."""

import shutil

import pytest

from casebook.authoring import new
from casebook.chapters import Chapter
from casebook.errors import WrongUse


def test_a_new_case_runs_in_the_environment_that_most_chapters_share(tmp_path):
    path = shutil.copy(new.TEMPLATE, tmp_path / "97-name.ipynb")
    chapter = Chapter(path)
    new.put_in(new.shared_environment("cupy"), chapter)
    ((name, header),) = chapter.environments().items()
    assert name.startswith("cupy-14") and header.dependencies[0].startswith("cupy-cuda12x==14")
    assert {cell.header.dependencies for cell in chapter.cells if cell.header} == {
        header.dependencies
    }


def test_a_library_that_no_chapter_has_is_refused_with_those_that_are_there():
    with pytest.raises(WrongUse, match=r"no chapter has 'cpy': name one of .*\bcupy\b"):
        new.shared_environment("cpy")
