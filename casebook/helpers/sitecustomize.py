"""Loaded by every Python that a %%pinned script starts, the script's own children included.

An uncaught exception is shown short: the frames of the script's own files and the final exception, each run of library
frames folded into one line. Its type and message go to a report, so that nobody has to read them back from text.
Runs on every Python from 3.6 on, with the standard library alone.
"""

import os
import sys

REPEATED = 3  # times that the frame of a recursion is shown


def name_of(kind):
    return (
        kind.__qualname__
        if kind.__module__ in ("builtins", "__main__")
        else kind.__module__ + "." + kind.__qualname__
    )


def text_of(value):
    try:
        return str(value)
    except Exception:
        return "<no message: its __str__ failed>"


def package_of(path):
    if "site-packages/" in path:
        return path.split("site-packages/")[-1].split("/")[0]
    if "/" in path and not path.startswith(
        ("/", "<")
    ):  # Cython: the path in the package's own source tree
        return path.split("/")[0]
    return "the standard library"


def frames(trace, own):
    """Lines of a traceback: own frames as Python writes them, library frames and the depths of a recursion as one line a run."""
    import itertools
    import traceback

    steps = [(frame.f_code, number) for frame, number in traceback.walk_tb(trace)]
    lines = []
    for mine, run in itertools.groupby(
        steps, lambda step: os.path.dirname(os.path.abspath(step[0].co_filename)) == own
    ):
        if not mine:
            lines.append(folded([code.co_filename for code, _ in run]))
            continue
        for step, same in itertools.groupby(run):
            count = len(list(same))
            lines += min(count, REPEATED) * shown(*step)
            if count > REPEATED:
                lines.append(f"  … {count - REPEATED} more of them")
    return lines


def folded(paths):
    packages = list(dict.fromkeys(map(package_of, paths)))
    named = [p for p in packages if p != "the standard library"] or packages
    return "  … {} {} in {}".format(
        len(paths), "frame" if len(paths) == 1 else "frames", ", ".join(named)
    )


def shown(code, number):
    import linecache

    source = linecache.getline(code.co_filename, number).strip()
    return [f'  File "{code.co_filename}", line {number}, in {code.co_name}'] + [
        "    " + source
    ] * bool(source)


def earlier(value):
    """The exceptions that led to this one, oldest first."""
    chain = []
    while True:
        value = value.__cause__ or (None if value.__suppress_context__ else value.__context__)
        if value is None or any(value is known for known in chain):
            return chain[::-1]
        chain.append(value)


def show(kind, value, trace):
    import json
    import traceback

    for before in earlier(value):
        first = text_of(before).strip().split("\n")[0]
        sys.stderr.write(
            name_of(type(before)) + (": " + first if first else "") + "\n… which led to:\n"
        )
    if trace is not None:
        lines = [
            "Traceback (most recent call last):",
            *frames(trace, os.environ["CASEBOOK_FOLDER"]),
        ]
        sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.write("".join(traceback.format_exception_only(kind, value)))
    sys.stderr.flush()
    with open(
        os.path.join(os.environ["CASEBOOK_REPORTS"], str(os.getpid())), "w", encoding="utf-8"
    ) as file:
        json.dump({"type": name_of(kind), "message": text_of(value)}, file)


if "CASEBOOK_REPORTS" in os.environ:
    sys.excepthook = show
