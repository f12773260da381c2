"""Loaded by every Python that a %%pinned script starts, including the script's own children.

Shortens the report of an uncaught exception: the frames of the script's own files and the final
exception; consecutive library frames become one line. Type and message are also written to a
report file, so that they need not be parsed from text. Supports Python 3.6 and later, with the
standard library only.
"""

import atexit
import gc
import os
import sys
from types import CodeType, TracebackType

REPEATED = 3  # how often the frame of a recursion is shown


def name_of(kind: type) -> str:
    return (
        kind.__qualname__
        if kind.__module__ in ("builtins", "__main__")
        else kind.__module__ + "." + kind.__qualname__
    )


def text_of(value: BaseException) -> str:
    try:
        return str(value)
    except Exception:
        return "<no message: its __str__ failed>"


def package_of(path: str) -> str:
    if "site-packages/" in path:
        return path.split("site-packages/")[-1].split("/")[0]
    if "/" in path and not path.startswith(("/", "<")):
        return path.split("/")[0]  # Cython: a path in the package's own source tree
    return "the standard library"


def frames(trace: TracebackType, own: str) -> "list[str]":
    """Lines of a traceback; `own` is the folder of the script's own files.

    Own frames are shown as Python shows them; consecutive library frames, and the frames of a
    deep recursion, are counted in one line.
    """
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


def folded(paths: "list[str]") -> str:
    packages = list(dict.fromkeys(map(package_of, paths)))
    named = [p for p in packages if p != "the standard library"] or packages
    return "  … {} {} in {}".format(
        len(paths), "frame" if len(paths) == 1 else "frames", ", ".join(named)
    )


def shown(code: CodeType, number: int) -> "list[str]":
    import linecache

    source = linecache.getline(code.co_filename, number).strip()
    return [f'  File "{code.co_filename}", line {number}, in {code.co_name}'] + [
        "    " + source
    ] * bool(source)


def earlier(value: BaseException) -> "list[BaseException]":
    """The exceptions that led to this one, oldest first."""
    chain = []  # type: list[BaseException]
    while True:
        before = value.__cause__ or (None if value.__suppress_context__ else value.__context__)
        if before is None or any(before is known for known in chain):
            return chain[::-1]
        chain.append(before)
        value = before


def show(kind: type, value: BaseException, trace: "TracebackType | None") -> None:
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
if "CASEBOOK_SKIP_LAST_COLLECTION" in os.environ and hasattr(gc, "freeze"):
    # The garbage collection at exit: 0.4 s after Numba's compiler, and nothing shows its result.
    atexit.register(gc.freeze)
