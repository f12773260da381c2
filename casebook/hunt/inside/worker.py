"""Runs programs in a library's environment, and says where its answer is not the right one.

    python worker.py views          answers each program on standard input with a line of JSON

A program is text: statements, and in the last line the expression that counts. The module named
runs it twice, with the names in `RIGHT` and with those in `ASKED`, and brings what comes of it into
a form that `difference` compares. Where a side raises one of `UNABLE`, nothing can be said.
`WAIT`, where there is one, is called after each, so that an error of the GPU is of its program.
`REPAIRED` has repairs of faults that are known, by name: what differs without one alone is its.
"""

import importlib
import json
import os
import sys
import warnings


def value_of(program, names):
    """The value of the last line."""
    *lines, last = program.splitlines()
    names = dict(names)
    exec("\n".join(lines), names)
    return eval(last, names), names


def outcome(program, names, side):
    """(None, what is seen of the value), or (name of the exception, its message)."""
    try:
        try:
            return None, side.seen(*value_of(program, names))
        finally:
            getattr(side, "WAIT", int)()
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        return type(error).__name__, lines[0][:200]


def judge(side, program):
    """{"kind": "", …} if both sides agree, else the kind of the difference and both answers."""
    raised, right = outcome(program, side.RIGHT, side)
    failed, got = outcome(program, side.ASKED, side)
    if failed in side.UNABLE or raised in side.UNABLE:
        kind = "unable"
    elif raised or failed:
        alike = raised and failed and "CUDA" not in failed
        kind = "" if alike else f"raises {failed}" if failed else f"no {raised}"
    else:
        kind = side.difference(right, got)
    for name, repaired in getattr(side, "REPAIRED", {}).items():
        if kind not in ("", "unable"):
            with repaired():
                failed, again = outcome(program, side.ASKED, side)
            if not raised and not failed and not side.difference(right, again):
                kind = name
    told = [
        f"{name}: {said}" if name else str(said) for name, said in ((raised, right), (failed, got))
    ]
    return {"kind": kind, "right": told[0], "got": told[1]}


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    warnings.simplefilter("ignore")
    side = importlib.import_module(sys.argv[1])
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(judge(side, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
