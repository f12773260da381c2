"""Words of the glossary on the pages of lessons."""

import pytest
from helpers import ROOT
from sphinx import addnodes


@pytest.fixture
def links(monkeypatch):
    """links(text, seen): the words that become links, each with the term that it leads to."""
    monkeypatch.syspath_prepend(ROOT / "book/_ext")
    from bookext.terms import GLOSSARY, linked, words

    def links(text, seen=()):
        parts = linked(text, words(ROOT / GLOSSARY), set(seen))
        assert "".join(part.astext() for part in parts) == text
        return {p.astext(): p["reftarget"] for p in parts if isinstance(p, addnodes.pending_xref)}

    return links


def test_the_first_use_of_a_term_is_a_link_and_no_later_one(links):
    assert links("A kernel, two kernels.") == {"kernel": "kernel"}
    assert links("Two Kernels.") == {"Kernels": "kernel"}
    assert not links("A kernel.", {"kernel"})


def test_the_longest_term_counts(links):
    assert links("dynamic shared memory") == {"dynamic shared memory": "dynamic shared memory"}


def test_a_part_of_a_word_and_an_everyday_word_are_no_links(links):
    assert not links("This block hosted the PTXAS program and passes a gridded view.")
