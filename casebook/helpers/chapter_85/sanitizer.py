"""Run a file under compute-sanitizer, and print the lines of its report that say where.

    from sanitizer import check
    check("wrong.py")                            # also check("race.py", tool="racecheck")

Addresses, offsets, counts of hazards and repeated lines are left out, and a kernel's name ends
where its types begin. `locations` of the answer are (what, kernel, file, line), the line 0 where
none is named.
"""

import pathlib
import re
import subprocess
import sys
import sysconfig
import types

PROGRAM = pathlib.Path(sysconfig.get_path("purelib"), "nvidia/cu13/bin/compute-sanitizer")
# "at put(float *)+0x90 in wrong.py:7"; older releases write "at 0x90 in …" or "put():0x90"
PLACE = re.compile(r"\bat (?P<name>[\w$:].*?)[+:]0x[0-9a-f]+(?: in (?P<file>\S+?):(?P<line>\d+))?")
KEPT = re.compile(
    r"Invalid |at \S|by thread|and is |Address |(and )?(Read|Write) access|(Error|Warning): Race"
)


def check(path, tool="memcheck"):
    """Errors found (None where the tool did not start), locations, and the exit code."""
    options = ["--report-api-errors", "no"] if tool == "memcheck" else []
    command = [PROGRAM, "--tool", tool, *options, "--error-exitcode", "9", sys.executable, path]
    done = subprocess.run(command, capture_output=True, text=True)
    lines, locations, errors = read(done.stdout)
    if tool == "racecheck":
        lines.sort()  # which access comes first depends on the run
    print(*lines, sep="\n", end="\n" * bool(lines))
    if errors is None:
        print((done.stdout + done.stderr)[-3000:])
    found = {None: "did not start", 0: "nothing found"}.get(errors, "errors found")
    print(f"{tool} {path}: {found}, exit code {done.returncode}")
    return types.SimpleNamespace(errors=errors, locations=locations, code=done.returncode)


def read(text):
    """The lines that matter, without what varies, the places in them, and the number of errors."""
    lines, locations = {}, []
    for line in text.splitlines():
        if not line.startswith("========="):
            continue
        line = line.removeprefix("=========").strip()
        if not KEPT.match(line):
            continue
        what = [*lines][-1] if lines else ""
        if place := PLACE.search(line):
            access = re.search("(Read|Write) access", line)
            name = re.split(r"[\[(<]", place["name"])[0].rpartition("::")[2]
            where = pathlib.Path(place["file"] or "").name
            where = re.sub(r"^[0-9a-f]{20,}[\w.]*\.cu$", "(source)", where)
            locations.append((access[0] if access else what, name, where, int(place["line"] or 0)))
            line = f"{access[0] + ' ' if access else ''}at {name}"
            line += f" in {where}, line {place['line']}" if where else ""
        lines[re.sub(r"0x[0-9a-f]+", "0x…", line)] = None
    summary = re.search(r"SUMMARY: (\d+) (?:errors?|hazards?)", text)
    return list(lines), locations, int(summary[1]) if summary else None
