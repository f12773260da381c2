"""`python -m casebook COMMAND`: the tooling of the book. `--help` lists the commands."""
import argparse
import dataclasses
import sys
import time
from pathlib import Path

from packaging.utils import canonicalize_name

from . import chapters, doctor, environment, gpu, header, lab
from .address import move
from .build import build
from .checks import problems
from .errors import CasebookError
from .export import export
from .new import new
from .workshop import FOLDER, write


def prepare(names, every=False):
    """Make every environment that the chapters need on this machine (or on any), so that running them later needs no network."""
    books = chapters.load(names)
    here = every or bool(gpu.find())
    wanted = chapters.distinct(h for book in books for h in book.headers(gpu=here))
    left_out = len(chapters.distinct(h for book in books for h in book.headers(gpu=True))) - len(wanted)
    failed = [h for number, h in enumerate(wanted, 1) if not prepare_one(h, f"[{number}/{len(wanted)}]")]
    if left_out:
        print(f"{left_out} more are for GPU cells alone: not made, this machine has no NVIDIA GPU")
    return bool(failed)


def prepare_one(head, place):
    """Make one environment with a line of progress; False where it failed."""
    start = time.monotonic()
    label = f"{place} {', '.join(head.dependencies[:2]) or 'the standard library'}{' …' if len(head.dependencies) > 2 else ''}"
    builds = head.build and (gpu.find() or not head.gpu)
    if builds:
        label += f", builds {head.build}/ in mode {'cuda' if head.gpu else 'host'}"

    def report(line):
        if sys.stdout.isatty():
            print(f"\r{label}: {line[:50]:50} {time.monotonic() - start:4.0f} s", end="", flush=True)

    try:
        made = environment.make(head, report)
        if builds:
            build(head, made, report)
    except CasebookError as error:
        print(f"\r{label}: {error}")
        return False
    print(f"\r{label}: ready, {time.monotonic() - start:.1f} s{'':50}".rstrip())
    return True


def pin(path):
    """Print a cell or script with the dependencies of its header completed: every package that they need, with its version."""
    text = sys.stdin.read() if path == "-" else Path(path).read_text()
    head = header.read(text)
    installed = environment.sync(head, lambda line: print(line, file=sys.stderr)).installed()
    written = {canonicalize_name(r.name) for r in head.requirements}
    complete = head.dependencies + tuple(f"{name}=={version}" for name, version in sorted(installed.items()) if name not in written)
    block = header.BLOCK.search(text)
    _, tool, options = block[0].partition("# [tool")
    ours = dataclasses.replace(head, dependencies=complete).script_block().removesuffix("# ///\n")
    print(text[:block.start()] + ours + (tool + options or "# ///") + text[block.end():], end="")
    return 0


def export_cell(name, number):
    (book,) = chapters.load([name])
    print(export(book, number), end="")
    return 0


def execute_chapters(names):
    from .execute import execute

    for book in chapters.load(names):
        execute(book)
        print(f"{book.name}: stored, {len(book.cells)} cells")
    return 0


def check(names):
    """Print what is wrong with the chapters as they are stored."""
    books = chapters.load(names)
    found = [problem for book in books for problem in problems(book)]
    print("\n".join(found) or f"{len(books)} chapters, {sum(len(b.cells) for b in books)} cells: outputs and receipts fit")
    return bool(found)


def make_workshop(folder):
    copies = write(chapters.load(), folder)
    print(f"{len(copies)} chapters without solutions and outputs: {folder}")
    return 0


def begin(name):
    path = new(name)
    print(f"{path}\nFill it, then: python -m casebook pin, prepare, execute, check.")
    return 0


def copies_for_lab():
    """Bring the reader's copies up to date and print their folder, for JupyterLab; what was written is said beside."""
    folder = lab.folder()
    for path, what in lab.copy(chapters.load(), folder).items():
        print(f"{path}: {what}", file=sys.stderr)
    print(folder)
    return 0


def change_address(url):
    changed = move(url)
    print(f"{len(changed)} files changed: {', '.join(changed)}")
    return 0


def arguments():
    parser = argparse.ArgumentParser(prog="python -m casebook", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name, action, text, *options):
        sub = commands.add_parser(name, help=text, description=text)
        for option, settings in options:
            sub.add_argument(option, **settings)
        sub.set_defaults(action=action)

    some = ("names", {"nargs": "*", "metavar": "CHAPTER", "help": "all chapters when none is named"})
    command("prepare", prepare, "make the environments of the chapters", some,
            ("--all", {"action": "store_true", "dest": "every", "help": "those of GPU cells too, on a machine without a GPU"}))
    command("execute", execute_chapters, "run chapters on this machine's GPU and store outputs and receipts", some)
    command("check", check, "compare stored outputs with their receipts; runs nothing", some)
    command("new", begin, "write the skeleton of a short case",
            ("name", {"metavar": "NN-NAME", "help": "its number, from 10 on, and a few words"}))
    command("pin", pin, "complete the dependencies of a header",
            ("path", {"metavar": "FILE", "help": "a script or cell; - reads it from standard input"}))
    command("export", export_cell, "print a %%%%pinned cell as one file for `uv run`", ("name", {"metavar": "CHAPTER"}),
            ("number", {"metavar": "CELL", "type": int, "help": "the number in the brackets beside the cell"}))
    command("workshop", make_workshop, "copy the chapters without solutions and outputs",
            ("folder", {"nargs": "?", "metavar": "FOLDER", "default": FOLDER, "type": Path, "help": "_build/workshop when none is named"}))
    command("lab", copies_for_lab, "copy the chapters into the reader's own folder (CASEBOOK_LAB) and print its path")
    command("doctor", doctor.examine, doctor.__doc__.splitlines()[0], *doctor.OPTIONS)
    command("address", change_address, "write another repository address everywhere", ("url", {"metavar": "URL"}))
    return parser


def main():
    options = vars(arguments().parse_args())
    del options["command"]
    try:
        return int(options.pop("action")(**options))
    except CasebookError as error:
        print(f"casebook: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
