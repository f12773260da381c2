"""The chapters in _toc.yml, each under a caption of its kind."""

from types import SimpleNamespace

from casebook.authoring.contents import KINDS, with_chapters


def chapter(name, kind, *libraries):
    return SimpleNamespace(name=name, facts=SimpleNamespace(kind=[kind], libraries=libraries))


def text(*under):
    """The text of _toc.yml with chapters under some captions."""
    return "parts:\n" + "".join(
        f'  - caption: "{caption}"\n    chapters:\n      - file: notebooks/{name}\n'
        for caption, name in zip(KINDS, under, strict=True)
    )


TOC = text("01", "02", "03", "04", "05", "06")


def test_a_chapter_under_its_kind_stays_where_it_is():
    assert with_chapters([chapter("04", "wrong numbers", "CuPy")], TOC) == TOC
    assert with_chapters([chapter("05", "wrong numbers", "CuPy")], TOC) == TOC


def test_one_that_is_missing_or_elsewhere_comes_last_under_its_kind():
    slow = "06\n      - file: notebooks/07\n"
    assert with_chapters([chapter("07", "slow", "Numba")], TOC).endswith(slow)
    moved = with_chapters([chapter("01", "wrong numbers", "CuPy")], TOC)
    assert "notebooks/04\n      - file: notebooks/01\n" in moved and moved.count("/01") == 1
