"""A drawing is a picture that a page may show, describes itself and refuses the rest."""

import re
from xml.etree import ElementTree

import pytest
from IPython.core.formatters import DisplayFormatter

from casebook import drawing
from casebook.chapters import markup
from casebook.drawing import BAD, BLUE, INK, OCHRE, OK, VIOLET, Drawing

SVG = "{http://www.w3.org/2000/svg}"


def picture():
    d = Drawing('Above a < b & "c";\n below it is right')
    d.title("while a < b & c: a heading that is so long that it needs a second line", BAD)
    d.lanes(
        ["stream 0", "out[0]"],
        [("stream 0", 0, 0.5, 3, BLUE), ("out[0]", 0.5, 1, "−1", BAD, "dashed")],
        [("stream 0", 0.5, "out[0]", 0.6, BAD), ("out[0]", 0.9, "stream 0", 0.8, OK)],
        [(0, "0"), (1, "n")],
    )
    d.cells([None, 5, "?"], [OK, INK, BAD], [(1, "i=0", OK)], outside=[2])
    d.bits([("00", 4, INK), ("40", 4, VIOLET)], [(0, 4, "0", BAD), (0, 8, "2", OK, "dashed")])
    d.files("loader", [("folder", "nothing", INK), ("elsewhere", "a.so", BAD, "outside")])
    d.keyed([("b.py", BAD, "missing"), ("a.py", OK)], "key", "entry", BAD)
    d.ruler(
        [(0, "lowest", OK), (2**64, "2⁶⁴", BAD)], [(0, 2**63, "bar", OCHRE)], [(0, 5, "−1", BAD)]
    )
    d.threads(["thread 0"], range(3), lambda row, column: [BAD, OK, None][column])
    d.layers([("program", INK), ("driver", BAD, "not there", "missing")])
    d.flow(
        [("barrier", BAD), ("body", INK), ("end", OK, "dashed")],
        [(0, 1, "down", INK), (1, 0, "continue", OCHRE), (0, 2, "all the others", BLUE)],
    )
    d.note("A sentence.")
    return d


@pytest.fixture
def root():
    return ElementTree.fromstring(picture()._repr_svg_())


def test_a_cell_shows_it_as_a_picture_of_the_same_bytes():
    shown, again = (DisplayFormatter().format(picture())[0] for _ in range(2))
    assert shown == again
    assert shown["text/plain"] == "<casebook.drawing.Drawing object>"
    assert not list(markup.problems("image/svg+xml", shown["image/svg+xml"]))


def test_it_has_a_size_and_a_description(root):
    assert root.tag == f"{SVG}svg"
    assert root.get("width") == "480" and float(root.get("height")) > 100
    assert root.get("viewBox") == f"0 0 480 {root.get('height')}"
    words = 'Above a < b & "c"; below it is right'
    assert (root.get("role"), root.get("aria-label")) == ("img", words)
    assert root[0].tag == f"{SVG}title" and root[0].text == words


def test_words_are_legible_on_any_background(root):
    texts = list(root.iter(f"{SVG}text"))
    assert len(texts) > 40
    assert {text.get("fill") for text in texts} == drawing.COLOURS
    assert min(float(text.get("font-size")) for text in texts) >= 13


def test_nothing_leaves_the_canvas_and_words_stay_in_their_boxes(root):
    height = float(root.get("height"))
    for text in root.iter(f"{SVG}text"):
        width = drawing.width_of(
            text.text, float(text.get("font-size")), text.get("font-weight") == "bold"
        )
        shift = {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor")]
        x = float(text.get("x")) - shift * width
        assert x >= 0 and x + width <= 480 and 10 <= float(text.get("y")) <= height - 4, text.text
    for box in root.iter(f"{SVG}rect"):
        x, y, width, tall = (float(box.get(name)) for name in ("x", "y", "width", "height"))
        assert x >= 0 and x + width <= 480 and y >= 0 and y + tall <= height
    for line in root.iter(f"{SVG}path"):
        for x, y in re.findall(r"([\d.]+) ([\d.]+)", line.get("d")):
            assert float(x) <= 480 and float(y) <= height


def test_red_has_a_thick_or_dashed_edge(root):
    red = [node for node in root.iter() if node.get("stroke") == BAD]
    assert len(red) > 12
    assert all(node.get("stroke-width") == "3" or node.get("stroke-dasharray") for node in red)
    assert {node.get("stroke-width") for node in root.iter() if node.get("stroke") == OK} == {"2"}


def test_words_take_the_smallest_size_before_they_are_refused():
    sizes = []
    for count in range(6, 9):
        d = Drawing("one box")
        d.lanes([""], [("", 0, 0.16, "x" * count, OK)])
        sizes += re.findall(r'font-size="(\d+)"', d._repr_svg_())
    assert sizes == ["15", "14", "13"], sizes
    with pytest.raises(ValueError, match=r"'xxxxxxxxx' needs .* units and has"):
        d.lanes([""], [("", 0, 0.16, "x" * 9, OK)])


LONG = "x" * 80
REFUSED = {
    "no lanes": (r"each of them once", lambda d: d.lanes([], [])),
    "a lane twice": (r"each of them once", lambda d: d.lanes(["a", "a"], [])),
    "unknown lane": (r"'b' is not a lane", lambda d: d.lanes(["a"], [("b", 0, 1, "", OK)])),
    "unknown lane of an arrow": (
        r"'b' is not a lane",
        lambda d: d.lanes(["a"], [], [("a", 0, "b", 1, OK)]),
    ),
    "arrow to itself": (r"to itself", lambda d: d.lanes(["a"], [], [("a", 0, "a", 1, OK)])),
    "span behind 1": (r"1.1 is not from 0 to 1", lambda d: d.lanes(["a"], [("a", 0, 1.1, "", OK)])),
    "span before 0": (
        r"-0.1 is not from 0 to 1",
        lambda d: d.lanes(["a"], [("a", -0.1, 1, "", OK)]),
    ),
    "span of nan": (r"nan is not from", lambda d: d.lanes(["a"], [("a", 0, float("nan"), "", OK)])),
    "span without a length": (
        r"ends before it starts",
        lambda d: d.lanes(["a"], [("a", 0.5, 0.5, "", OK)]),
    ),
    "spans overlap": (
        r"on 'a' overlaps",
        lambda d: d.lanes(["a"], [("a", 0, 0.5, "", OK), ("a", 0.4, 1, "", OK)]),
    ),
    "span too short": (r"is not [(]lane, start, end", lambda d: d.lanes(["a"], [("a", 0, OK)])),
    "span of words": (r"'a0123' is not [(]lane", lambda d: d.lanes(["a"], ["a0123"])),
    "tick outside": (r"2 is not from 0 to 1", lambda d: d.lanes(["a"], [], ticks=[(2, "2")])),
    "ticks overlap": (
        r"'word' overlaps",
        lambda d: d.lanes(["a"], [], ticks=[(0.5, "word"), (0.51, "word")]),
    ),
    "name too long": (r"'xxx.* units and has 478", lambda d: d.lanes([LONG], [])),
    "colour": (r"'red'.* has no colour", lambda d: d.lanes(["a"], [("a", 0, 1, "", "red")])),
    "colour of an arrow": (
        r"has no colour",
        lambda d: d.lanes("ab", [], [("a", 0, "b", 1, "red")]),
    ),
    "colour of a title": (r"'red' is no colour", lambda d: d.title("words", "red")),
    "colour of a cell": (r"'red' is no colour", lambda d: d.cells([1], ["red"])),
    "colour of a thread": (
        r"'red' is no colour",
        lambda d: d.threads(["a"], ["b"], lambda *_: "red"),
    ),
    "word too long": (r"'xxx.* units and has 478", lambda d: d.note(LONG)),
    "control character": (r"x1b' has a character", lambda d: d.cells(["\x1b"], [OK])),
    "no cells": (r"0 values and 0 colours", lambda d: d.cells([], [])),
    "colours": (r"2 values and 1 colours", lambda d: d.cells([1, 2], [OK])),
    "box": (r"no box 1 among 1", lambda d: d.cells([1], [OK], [(1, "i", OK)])),
    "outside": (r"no box -1 among 1", lambda d: d.cells([1], [OK], outside=[-1])),
    "no bits": (r"at least one entry", lambda d: d.bits([])),
    "bits of 0": (r"count above 0", lambda d: d.bits([("", 0, OK), ("", 1, OK)])),
    "reading": (r"reads 4 to 9 of 8", lambda d: d.bits([("", 8, OK)], [(4, 9, "", OK)])),
    "no places": (r"at least one entry", lambda d: d.files("loader", [])),
    "place too long": (
        r"'xxx.* units and has 418",
        lambda d: d.files("loader", [("x" * 30, "y" * 30, OK)]),
    ),
    "no key": (
        r"at least one input",
        lambda d: d.keyed([("a", OK, "missing")], "key", "entry", OK),
    ),
    "no points": (r"at least one entry", lambda d: d.ruler([])),
    "one number": (r"two different numbers", lambda d: d.ruler([(1, "", OK)])),
    "range": (r"ends before it starts", lambda d: d.ruler([(0, "", OK)], [(2, 1, "", OK)])),
    "no threads": (r"one row and one column", lambda d: d.threads([], ["a"], lambda *_: OK)),
    "too many columns": (
        r"1 overlaps the words",
        lambda d: d.threads(["a"], range(64), lambda *_: OK),
    ),
    "no layers": (r"at least one entry", lambda d: d.layers([])),
    "remark": (r"needs . lines and has 2", lambda d: d.layers([("a", OK, "word " * 30)])),
    "no boxes": (r"at least one entry", lambda d: d.flow([], [])),
    "no such box": (r"to box 1 of 1", lambda d: d.flow([("a", OK)], [(0, 1, "", OK)])),
    "arrow to its own box": (r"box 0 to box 0", lambda d: d.flow([("a", OK)], [(0, 0, "", OK)])),
    "two straight": (
        r"two arrows straight",
        lambda d: d.flow([("a", OK), ("b", OK)], [(0, 1, "", OK)] * 2),
    ),
    "three that bend": (
        r"more than two that bend",
        lambda d: d.flow([("a", OK), ("b", OK)], [(1, 0, "", OK)] * 3),
    ),
    "words at a bend": (
        r"lines and has 3",
        lambda d: d.flow([("a", OK), ("b", OK)], [(1, 0, "word " * 9, OK)]),
    ),
}


@pytest.mark.parametrize(("message", "draw"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_drawn_is_refused(message, draw):
    with pytest.raises(ValueError, match=message):
        draw(Drawing("a description"))


@pytest.mark.parametrize("description", ["", " \n"])
def test_a_description_is_needed(description):
    with pytest.raises(ValueError, match="needs a description"):
        Drawing(description)
