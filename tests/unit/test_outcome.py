"""Verdicts: how a script must end, how it ended, and the sentence about the difference."""

import pytest
from helpers import cell

from casebook.cells.header import read
from casebook.cells.outcome import Raised, difference, read_report

RAISES = ("raises = 'TypeError'",)
MATCH = ("raises = 'TypeError'", "match = 'first.*last'")
JSON = ("raises = 'JSONDecodeError'",)
ABORT = ("signal = 'SIGABRT'",)
LATE = ("timeout = 0.5", "timeout-expected = true")
TEXT = Raised("TypeError", "the first\nand the last")

# what the header says, status, exception, sentence
VERDICTS = [
    ((), 0, None, ""),
    ((), 0, TEXT, ""),  # an exception at shutdown
    (RAISES, 1, TEXT, ""),
    (MATCH, 1, TEXT, ""),
    (
        ("raises = 'TypeError'", "match = 'shape (2,2)'"),
        1,
        Raised("TypeError", "into shape (2,2)"),
        "match is a regular expression: write \\( for (",
    ),
    (JSON, 1, Raised("json.decoder.JSONDecodeError", ""), ""),
    (
        ("raises = 'json.decoder.JSONDecodeError'",),
        1,
        Raised("json.decoder.JSONDecodeError", ""),
        "",
    ),
    (("raises = 'lib.TypeError'",), 1, Raised("lib.TypeError", ""), ""),
    (ABORT, -6, None, ""),
    (LATE, None, None, ""),
    (RAISES, 0, None, "expected TypeError, but got exit status 0"),
    (ABORT, 0, None, "expected killed by SIGABRT, but got exit status 0"),
    (LATE, 0, None, "expected timed out after 0.5 s, but got exit status 0"),
    ((), 1, Raised("E", "text\n"), "expected exit status 0, but got E: text"),
    (
        MATCH,
        1,
        Raised("TypeError", "the last"),
        "expected TypeError with a message that matches 'first.*last', but got TypeError: the last",
    ),
    (MATCH, 1, Raised("E", TEXT.message), "but got E: the first"),
    (RAISES, 1, Raised("lib.TypeError", ""), "expected TypeError, but got lib.TypeError: "),
    (JSON, 1, Raised("MyJSONDecodeError", ""), "but got MyJSONDecodeError: "),
    (RAISES, 1, None, "but got exit status 1"),
    (RAISES, 3, TEXT, "but got exit status 3"),
    (RAISES, -6, TEXT, "but got killed by SIGABRT"),
    (RAISES, None, None, "but got timed out after 120 s"),
    (ABORT, 134, None, "but got exit status 134"),
    (ABORT, -11, None, "but got killed by SIGSEGV"),
    ((), -35, None, "but got killed by signal 35"),
    (LATE[:1], None, None, "expected exit status 0, but got timed out after 0.5 s"),
]


@pytest.mark.parametrize(("options", "status", "raised", "sentence"), VERDICTS)
def test_a_verdict(options, status, raised, sentence):
    said = difference(read(cell("", *options)).expected, status, raised)
    assert sentence in said and bool(said) == bool(sentence)


def test_a_long_message_is_cut():
    assert len(difference(read(cell("")).expected, 1, Raised("E", "long" * 99))) < 350


def test_a_report_that_is_none(tmp_path):
    report = tmp_path / "report"
    assert read_report(report) is None
    for content in (
        b"",
        b"{",
        b"\\u00",
        b"[1]",
        b"1",
        b'{"type": "E"}',
        b'{"type": 1, "message": ""}',
        b"[" * 9999,
        b"\xff",
    ):
        report.write_bytes(content)
        assert read_report(report) is None, content
    assert read_report(tmp_path) is None
    report.write_text('{"type": "E", "message": "text"}')
    assert read_report(report) == Raised("E", "text")
