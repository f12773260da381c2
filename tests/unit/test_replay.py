"""What a GPU cell shows without a GPU: its sentence, then its stored output in a frame that names
the GPU, wherever the file is."""

import base64

import nbformat
import pytest
from helpers import cell

from casebook.cells.hashes import of_outputs
from casebook.environments import gpu
from casebook.execution import replay
from casebook.execution.replay import MARK, PRE, as_html, framed, stored
from casebook.magics import NO_GPU

TITLE = "stored output of an NVIDIA H200, 2026-11-20"
PINNED = "%%pinned --out text\n" + cell("print('<b>')", "gpu = true", "driver = '>=580'").rstrip()
KERNEL = "%%gpu\nfor n in range(2):\n    print(n)"
SVG = "<svg xmlns='http://www.w3.org/2000/svg'><text>ÿ</text></svg>"
TABLE = {"text/plain": "a table", "text/html": "<table></table>"}
OUTPUTS = {
    PINNED: [nbformat.v4.new_output("stream", text="<b>\n\nas expected: exit status 0\n")],
    KERNEL: [
        nbformat.v4.new_output("stream", text="0\n1\n"),
        nbformat.v4.new_output("execute_result", TABLE, execution_count=1),
        nbformat.v4.new_output("display_data", {"text/plain": "<Figure>", "image/svg+xml": SVG}),
    ],
}


def write(path, outputs=OUTPUTS, **receipt):
    """A notebook as it was executed on a GPU."""
    path.parent.mkdir(exist_ok=True, parents=True)
    cells = [
        nbformat.v4.new_code_cell(source, outputs=below, id=f"cell-{number}")
        for number, (source, below) in enumerate(outputs.items())
    ]
    hashes = {node.id: f"0 {of_outputs(node.outputs)}" for node in cells}
    facts = {"gpu": "NVIDIA H200", "date": "2026-11-20", "cells": hashes} | receipt
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"casebook": facts}), path)
    return path


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """An empty working directory, and a book without chapters."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.setattr(replay, "ROOT", tmp_path / "book")


def test_a_cell_that_is_skipped_shows_it(ipython, no_gpu, tmp_path, monkeypatch, capsys):
    shown = []
    monkeypatch.setattr(replay, "display", lambda data, raw: shown.append(data))
    for source in OUTPUTS:
        ipython.run_cell(source).raise_error()
    assert not shown
    write(tmp_path / "work" / "a.ipynb")
    for source in OUTPUTS:
        ipython.run_cell(source).raise_error()
    assert capsys.readouterr().out == f"{NO_GPU}\n" * 4
    with monkeypatch.context() as patch:
        patch.setattr(gpu, "find", lambda: gpu.Gpu("NVIDIA T4", "7.5", "535.1"))
        ipython.run_cell(PINNED).raise_error()
    assert "what happens on drivers >=580; this machine's is 535.1." in capsys.readouterr().out
    assert shown == [stored(source, {}) for source in (PINNED, KERNEL, PINNED)]


@pytest.mark.parametrize("place", ["elsewhere", "work", "book/notebooks"])
def test_the_file_is_found(tmp_path, monkeypatch, place):
    file = str(write(tmp_path / place / "any name.ipynb"))
    assert (stored(KERNEL, {}) is None) == (place == "elsewhere")
    assert stored(KERNEL, {"__vsc_ipynb_file__": file})
    monkeypatch.setenv("JPY_SESSION_NAME", file)
    assert TITLE in stored(KERNEL, {})["text/plain"]


def test_the_text_has_a_line_beside_it(tmp_path):
    file = write(tmp_path / "a.ipynb")
    assert framed(file, PINNED)["text/plain"] == f"{TITLE}:\n│ <b>\n│\n│ as expected: exit status 0"
    assert framed(file, KERNEL)["text/plain"] == f"{TITLE}:\n│ 0\n│ 1\n│ a table\n│ <Figure>"
    two = framed(write(tmp_path / "a.ipynb", gpus=2), PINNED)
    assert two["text/plain"].startswith("stored output of 2 × NVIDIA H200, 2026-11-20:\n")


def test_the_html_has_every_part_in_a_frame(tmp_path):
    file = write(tmp_path / "a.ipynb")
    escaped = f"<pre {PRE}>&lt;b&gt;\n\nas expected: exit status 0\n</pre>"
    assert escaped in framed(file, PINNED)["text/html"]
    page = framed(file, KERNEL)["text/html"]
    picture = f"base64,{base64.b64encode(SVG.encode()).decode()}"
    parts = [TITLE, f"<pre {PRE}>0\n1\n</pre>", "<table></table>", picture]
    assert MARK in page and [page.count(part) for part in parts] == [1, 1, 1, 1]
    assert sorted(parts, key=page.index) == parts


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ({"image/png": "iVBO\nRw0K"}, 'src="data:image/png;base64,iVBORw0K"'),
        ({"text/markdown": "*a* < b"}, f"<pre {PRE}>*a* &lt; b</pre>"),
        ({"text/latex": "$x$"}, f"<pre {PRE}>(a picture)</pre>"),
        ({"application/json": {"a": 1}, "text/plain": "json"}, f"<pre {PRE}>json</pre>"),
    ],
)
def test_other_kinds(data, shown):
    assert shown in as_html({"data": data})


def test_spaces_at_line_ends_do_not_matter_and_other_code_does(tmp_path):
    file = write(tmp_path / "a.ipynb", {KERNEL.replace(":\n", ":  \n"): OUTPUTS[KERNEL]})
    assert framed(file, KERNEL) and framed(file, f"{KERNEL}  \n\n") == framed(file, KERNEL)
    assert framed(file, KERNEL.replace("2", "3")) is None


def test_what_was_saved_without_a_gpu_is_shown_again(tmp_path):
    """JupyterLab stores the sentence and the frame, in a file that has no such receipt."""
    file = write(tmp_path / "work" / "a.ipynb")
    before = {source: stored(source, {}) for source in OUTPUTS}
    sentence = nbformat.v4.new_output("stream", text=NO_GPU + "\n")
    saved = {
        source: [sentence, nbformat.v4.new_output("display_data", bundle)]
        for source, bundle in before.items()
    }
    write(file, saved, cells={})
    assert {source: stored(source, {}) for source in OUTPUTS} == before


@pytest.mark.parametrize("below", [[], [nbformat.v4.new_output("stream", text=NO_GPU + "\n")]])
def test_a_copy_without_outputs_leads_to_the_book_s_own(tmp_path, below):
    write(tmp_path / "work" / "a.ipynb", dict.fromkeys(OUTPUTS, below), cells={})
    assert stored(KERNEL, {}) is None
    write(tmp_path / "book" / "notebooks" / "09-example.ipynb")
    assert stored(KERNEL, {})


def test_what_the_receipt_does_not_vouch_for_is_not_shown_under_its_name(tmp_path):
    file = write(tmp_path / "a.ipynb")
    good = file.read_text()
    for old, new in (
        ("<b>", "of my own GPU"),
        ('"casebook"', '"none"'),
        ('"cell-0"', '"other"'),
        ('"id": "cell-0",', ""),
    ):
        assert framed(file, PINNED) and old in good
        file.write_text(good.replace(old, new, 1 if old == '"cell-0"' else -1))
        assert framed(file, PINNED) is None, new
        file.write_text(good)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"cells": [{"cell_type": "code"}]}', '{"cells": 1, "metadata": {}}'],
)
def test_files_that_are_no_notebooks_do_no_harm(tmp_path, text):
    (tmp_path / "work" / "0.ipynb").write_text(text)
    (tmp_path / "work" / "1.ipynb").mkdir()
    write(tmp_path / "work" / "2.ipynb")
    assert stored(KERNEL, {})
