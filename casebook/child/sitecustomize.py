"""Loaded by every Python that a %%pinned script starts, the script's own children included.

An uncaught exception is shown short: the frames of the script's own files and the final exception, each run of library
frames folded into one line. Its type and message go to a report, so that nobody has to read them back from text.
Runs on every Python from 3.6 on, with the standard library alone.
"""
import os
import sys


def name_of(kind):
    return kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else kind.__module__ + "." + kind.__qualname__


def package_of(path):
    if "site-packages/" in path:
        return path.split("site-packages/")[-1].split("/")[0]
    return "the standard library"


def frames(trace, own):
    """Lines of a traceback: own frames as Python writes them, library frames as one line a run."""
    import linecache
    import traceback

    packages, count, lines = [], 0, []

    def fold():
        if count:
            named = [p for p in packages if p != "the standard library"] or packages
            lines.append(f"  … {count} {'frame' if count == 1 else 'frames'} in {', '.join(named)}")

    for frame, number in traceback.walk_tb(trace):
        path = frame.f_code.co_filename
        if os.path.dirname(os.path.abspath(path)) == own and not path.startswith("<"):
            fold()
            packages, count = [], 0
            lines.append(f'  File "{path}", line {number}, in {frame.f_code.co_name}')
            source = linecache.getline(path, number).strip()
            if source:
                lines.append("    " + source)
        else:
            count += 1
            if package_of(path) not in packages:
                packages.append(package_of(path))
    fold()
    return lines


def earlier(value):
    """The exceptions that led to this one, oldest first."""
    chain = []
    while True:
        value = value.__cause__ or (None if value.__suppress_context__ else value.__context__)
        if value is None or value in chain:
            return chain[::-1]
        chain.append(value)


def show(kind, value, trace):
    import json
    import traceback

    for before in earlier(value):
        first = str(before).strip().split("\n")[0]
        sys.stderr.write(name_of(type(before)) + (": " + first if first else "") + "\n… which led to:\n")
    if trace is not None and not isinstance(value, SyntaxError):
        lines = ["Traceback (most recent call last):", *frames(trace, os.environ["CASEBOOK_FOLDER"])]
        sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.write("".join(traceback.format_exception_only(kind, value)))
    sys.stderr.flush()
    with open(os.path.join(os.environ["CASEBOOK_REPORTS"], str(os.getpid())), "w", encoding="utf-8") as file:
        json.dump({"type": name_of(kind), "message": str(value)}, file)


if "CASEBOOK_REPORTS" in os.environ:
    sys.excepthook = show
