"""An entry as an issue, in the form of the project's own template (looked up on 2026-11-24)."""

from casebook.reports.entry import Entry, Run

# The headings of each project's template, and what goes below them.
NVIDIA = (
    ("**Describe the bug**", "about"),
    ("**Steps/Code to reproduce bug**", "steps"),
    ("**Expected behavior**", "expected"),
    ("**Environment details**", "environment"),
    ("**Additional context**", "context"),
)
TEMPLATES = {
    "cupy": (
        ("### Description", "about expected"),
        ("### To Reproduce", "steps"),
        ("### Installation", "wheel"),
        ("### Environment", "environment"),
        ("### Additional Information", "context"),
    ),
    "numba-cuda": NVIDIA,
    "numba-cuda-mlir": NVIDIA,
    "numba": (("## Reporting a bug", "boxes about steps expected environment context"),),
    "cuda-python": (
        ("### Is this a duplicate?", "duplicate"),
        ("### Type of Bug", "type"),
        ("### Component", "component"),
        ("### Describe the bug", "about"),
        ("### How to Reproduce", "steps"),
        ("### Expected behavior", "expected"),
        ("### Operating System", "system"),
        ("### nvidia-smi output", "gpu"),
        ("### Additional context", "context"),
    ),
    "nvrtc": NVIDIA,  # NVIDIA's portal has no template
}
TITLES = {"cupy": "{}", "numba": "{}", "cuda-python": "[BUG]: {}"}
TYPES = {"numbers": "Silent Failure", "memory": "Silent Failure", "speed": "Performance"}
BOXES = """\
- [x] I have tried using the latest released version of Numba (most recent is visible in the \
change log (https://github.com/numba/numba/blob/main/CHANGE_LOG).
- [x] I have included a self contained code sample to reproduce the problem. i.e. it's possible \
to run as 'python bug.py'."""
DUPLICATE = """\
- [ ] I confirmed there appear to be no [duplicate issues](https://github.com/NVIDIA/cuda-python/\
issues) for this bug and that I agree to the [Code of Conduct](CODE_OF_CONDUCT.md)"""


def issue(entry: Entry, run: Run | None) -> str:
    """The title, an empty line, and the body in Markdown. `run` tells where it was seen."""
    parts = texts(entry, run)
    body = [
        "\n\n".join([heading, *filter(None, (parts[key] for key in keys.split()))])
        for heading, keys in TEMPLATES[entry.project]
    ]
    title = TITLES.get(entry.project, "[BUG] {}").format(entry.title)
    return "\n\n".join([title, *body]) + "\n"


def texts(entry: Entry, run: Run | None) -> dict[str, str]:
    """What goes below the headings, by the names that TEMPLATES uses."""
    pins = entry.program.partition("\n")[0].removeprefix("# ")
    place = f"Linux x86-64, {run.gpu}" if run and run.gpu else "Linux x86-64, no GPU needed"
    printed = f"It prints:\n\n```\n{entry.prints}```"
    context = [
        entry.cause and f"Suspected cause: {entry.cause}",
        f"Affected: {entry.versions}.",
        entry.workaround and f"Workaround: {entry.workaround}",
        f"Related: {entry.known}",
    ]
    return {
        "about": entry.about,
        "steps": f"```python\n{entry.program}```\n\n{printed}",
        "expected": f"{entry.expected} The program would print:\n\n```\n{entry.right}```",
        "environment": f"{place}. {pins}",
        "context": "\n\n".join(filter(None, context)),
        "wheel": "Wheel (`pip install cupy-***`)",
        "boxes": BOXES,
        "duplicate": DUPLICATE,
        "type": TYPES.get(entry.harm, "Runtime Error"),
        "component": component(entry),
        "system": "Linux x86-64",
        "gpu": run.gpu if run and run.gpu else "not needed",
    }


def component(entry: Entry) -> str:
    """The component of cuda-python that an entry is about, as the template offers it."""
    named = (
        name for name in ("pathfinder", "bindings", "core") if f"cuda-{name}" in entry.versions
    )
    return next((f"cuda.{name}" for name in named), "Not sure")
