"""What a GPU cell shows without a GPU: its sentence, then its stored output in a frame that names the GPU, wherever the file is."""

import base64
import copy
import json

import nbformat
import pytest
from helpers import ROOT, cell
from IPython.core.interactiveshell import InteractiveShell

from casebook.authoring import chapters
from casebook.authoring.chapters import Chapter
from casebook.environments import gpu
from casebook.execution import replay
from casebook.execution.replay import MARK, PRE, framed
from casebook.magics import NO_GPU, load

TITLE = "stored output of an NVIDIA H200, 2026-11-20"
PINNED = "%%pinned\n" + cell("print('<b>')", "gpu = true").rstrip()
KERNEL = "%%gpu\nfor n in range(2):\n    print(n)"
SVG = "<svg xmlns='http://www.w3.org/2000/svg'><text>ÿ</text></svg>"
OUTPUTS = {
    PINNED: [nbformat.v4.new_output("stream", text="<b>\n\nas told: exit status 0\n")],
    KERNEL: [
        nbformat.v4.new_output("stream", text="0\n1\n"),
        nbformat.v4.new_output(
            "execute_result",
            {"text/plain": "a table", "text/html": "<table></table>"},
            execution_count=1,
        ),
        nbformat.v4.new_output("display_data", {"text/plain": "<Figure>", "image/svg+xml": SVG}),
    ],
}


@pytest.fixture
def file(tmp_path):
    """A notebook as it was executed on a GPU, in a folder that is not the working directory."""
    (tmp_path / "elsewhere").mkdir()
    return write(tmp_path / "elsewhere" / "any name.ipynb", OUTPUTS)


def write(path, outputs):
    cells = [
        nbformat.v4.new_code_cell(source, outputs=copy.deepcopy(below))
        for source, below in outputs.items()
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    book = Chapter(path)
    book.notebook.metadata["casebook"] = {
        "gpu": "NVIDIA H200",
        "date": "2026-11-20",
        "cells": {c.node.id: c.stamp() for c in book.cells},
    }
    nbformat.write(book.notebook, path)
    return path


@pytest.fixture
def shell(no_gpu, tmp_path, monkeypatch):
    """A kernel's shell in an empty folder: a function that runs a cell and returns what it displays, text and bundles."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.setattr(replay, "ROOT", tmp_path / "no book")
    shown = []
    monkeypatch.setattr(replay, "display", lambda data, raw: shown.append(data))
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    load(shell)

    def play(source):
        shown.clear()
        shell.run_cell(source).raise_error()
        return shown[:]

    play.names = shell.user_ns
    yield play
    InteractiveShell.clear_instance()


def is_shown(bundles):
    return len(bundles) == 1 and TITLE in bundles[0]["text/plain"]


@pytest.mark.parametrize("source", OUTPUTS)
def test_without_its_file_the_sentence_alone(shell, capsys, source):
    assert shell(source) == []
    assert capsys.readouterr().out == NO_GPU + "\n"


@pytest.mark.parametrize("source", OUTPUTS)
@pytest.mark.parametrize("client", ["JupyterLab", "VS Code", "working directory", "the book's own"])
def test_the_file_is_found(shell, file, tmp_path, monkeypatch, capsys, client, source):
    if client == "JupyterLab":
        monkeypatch.setenv("JPY_SESSION_NAME", str(file))
    elif client == "VS Code":
        shell.names["__vsc_ipynb_file__"] = str(file)
    elif client == "working directory":
        file.rename(tmp_path / "work" / "renamed.ipynb")
    else:
        (tmp_path / "no book" / "notebooks").mkdir(parents=True)
        file.rename(tmp_path / "no book" / "notebooks" / "09-example.ipynb")
    assert is_shown(shell(source))
    assert capsys.readouterr().out == NO_GPU + "\n"


def test_a_cell_for_other_drivers_shows_it_too(shell, tmp_path, monkeypatch, capsys):
    source = "%%pinned --out text\n" + cell("pass", "gpu = true", "driver = '>=580'")
    write(tmp_path / "work" / "a.ipynb", {source: OUTPUTS[PINNED]})
    with monkeypatch.context() as patch:
        patch.setattr(gpu, "find", lambda: gpu.Gpu("NVIDIA T4", "7.5", "535.1"))
        assert is_shown(shell(source))
    assert capsys.readouterr().out.startswith(
        "Skipped: this cell shows what happens on drivers >=580"
    )


def test_the_text_has_a_line_beside_it(file):
    assert framed(file, PINNED)["text/plain"] == f"{TITLE}:\n│ <b>\n│\n│ as expected: exit status 0"
    assert framed(file, KERNEL)["text/plain"] == f"{TITLE}:\n│ 0\n│ 1\n│ a table\n│ <Figure>"


def test_two_gpus_are_named_as_two(file):
    notebook = nbformat.read(file, 4)
    notebook.metadata["casebook"]["gpus"] = 2
    nbformat.write(notebook, file)
    assert framed(file, PINNED)["text/plain"].startswith(
        "stored output of 2 × NVIDIA H200, 2026-11-20:\n"
    )


def test_the_html_has_every_part_in_a_frame(file):
    assert (
        f"<pre {PRE}>&lt;b&gt;\n\nas expected: exit status 0\n</pre>"
        in framed(file, PINNED)["text/html"]
    )
    page = framed(file, KERNEL)["text/html"]
    parts = (
        TITLE,
        f"<pre {PRE}>0\n1\n</pre>",
        "<table></table>",
        f"base64,{base64.b64encode(SVG.encode()).decode()}",
    )
    assert MARK in page
    assert [page.count(part) for part in parts] == [1, 1, 1, 1]
    assert sorted(parts, key=page.index) == list(parts)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ({"image/png": "iVBO\nRw0K"}, 'src="data:image/png;base64,iVBORw0K"'),
        ({"text/markdown": "*a* < b"}, f"<pre {PRE}>*a* &lt; b</pre>"),
        ({"text/latex": "$x$"}, f"<pre {PRE}>(a picture)</pre>"),
        ({"application/json": {"a": 1}, "text/plain": "json"}, f"<pre {PRE}>json</pre>"),
    ],
)
def test_other_kinds(tmp_path, data, shown):
    file = write(tmp_path / "a.ipynb", {KERNEL: [nbformat.v4.new_output("display_data", data)]})
    assert shown in framed(file, KERNEL)["text/html"]


def test_spaces_at_line_ends_do_not_matter_and_other_code_does(file):
    text = file.read_text()
    file.write_text(text.replace("in range(2):", "in range(2):  "))
    assert TITLE in framed(file, KERNEL)["text/plain"]
    file.write_text(text)
    assert framed(file, KERNEL.replace("\n", "  \n") + "\n\n") == framed(file, KERNEL)
    assert framed(file, KERNEL.replace("2", "3")) is None


def run_and_save(shell, file):
    """Run all cells without a GPU and store what they show, as JupyterLab does."""
    notebook = nbformat.read(file, 4)
    for node in notebook.cells:
        bundles = shell(node.source)
        node.outputs = [
            nbformat.v4.new_output("stream", text=NO_GPU + "\n"),
            *(nbformat.v4.new_output("display_data", b) for b in bundles),
        ]
    nbformat.write(notebook, file)


def test_after_saving_the_same_is_shown_again(shell, file, monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", str(file))
    before = [shell(source) for source in OUTPUTS]
    for _ in range(2):
        run_and_save(shell, file)
        assert [shell(source) for source in OUTPUTS] == before


def test_a_copy_without_outputs_leads_to_the_book_s_own(shell, file, tmp_path, monkeypatch):
    (tmp_path / "no book" / "notebooks").mkdir(parents=True)
    write(tmp_path / "no book" / "notebooks" / "09-example.ipynb", OUTPUTS)
    monkeypatch.setenv("JPY_SESSION_NAME", str(file))
    for below in ([], [nbformat.v4.new_output("stream", text=NO_GPU + "\n")]):
        notebook = nbformat.read(file, 4)
        for node in notebook.cells:
            node.outputs = below
        nbformat.write(notebook, file)
        assert all(is_shown(shell(source)) for source in OUTPUTS)


@pytest.mark.parametrize(
    "breakage", ["edited output", "no receipt", "other receipt", "no cell ids"]
)
def test_what_the_receipt_does_not_vouch_for_is_not_shown_under_its_name(
    shell, file, monkeypatch, breakage
):
    monkeypatch.setenv("JPY_SESSION_NAME", str(file))
    notebook = json.loads(file.read_text())
    if breakage == "edited output":
        for node in notebook["cells"]:
            node["outputs"][0]["text"] = ["of my own GPU\n"]
    elif breakage == "no receipt":
        del notebook["metadata"]["casebook"]
    elif breakage == "other receipt":
        notebook["metadata"]["casebook"]["cells"] = {"other": "0 0"}
    else:
        for node in notebook["cells"]:
            del node["id"]
    file.write_text(json.dumps(notebook))
    assert [shell(source) for source in OUTPUTS] == [[], []]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"cells": [{"cell_type": "code"}]}', '{"cells": 1, "metadata": {}}'],
)
def test_files_that_are_no_notebooks_do_no_harm(shell, tmp_path, text):
    (tmp_path / "work" / "0.ipynb").write_text(text)
    (tmp_path / "work" / "1.ipynb").mkdir()
    assert shell(KERNEL) == []
    write(tmp_path / "work" / "2.ipynb", OUTPUTS)
    assert is_shown(shell(KERNEL))


def test_every_gpu_cell_of_the_book_that_its_receipt_vouches_for_can_be_shown():
    shown = 0
    for book in chapters.load():
        stamps = book.receipt["cells"] if book.receipt else {}
        for own in book.cells:
            if own.needs_gpu and own.node.outputs and stamps.get(own.node.id) == own.stamp():
                assert framed(book.path, own.source), (book.name, own.number)
                shown += 1
    assert shown
    assert replay.ROOT == ROOT
