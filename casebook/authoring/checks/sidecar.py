"""The file beside a notebook, NN-name.yml: what cannot be seen from the notebook alone, each entry with its reason.

figures:                        # numbers in the prose that no cell shows
  4.8 TB/s: "NVIDIA's data sheet, linked beside it"
varies:                         # cells whose outputs are not compared though they measure nothing
  0f3a9c: "prints the addresses that the allocator chose"
wordings:                       # how the fault reads elsewhere, for Find your error
  - text: "CUDA_ERROR_CONTEXT_IS_DESTROYED"
    link: https://github.com/numba/numba/issues/10188
    if: the driver is 580 or newer          # optional, a condition that the text does not show
versions:                       # what is run over the releases of a library: see casebook/versions/probe.py
  numba-cuda: {cpu: 0355e31b-1}
"""

import yaml


def unreadable(chapter):
    """Why the sidecar cannot be read, or ''."""
    try:
        return (
            ""
            if isinstance(chapter.sidecar, dict)
            else "not a table of figures, varies, wordings and versions"
        )
    except yaml.YAMLError as error:
        return "not YAML: " + " ".join(str(error).split())


def sidecar_problems(chapter):
    yield from (f", {chapter.name}.yml: {problem}" for problem in shape(chapter))


def shape(chapter):
    sidecar = chapter.sidecar
    for key in sidecar.keys() - {"figures", "varies", "wordings", "versions"}:
        yield f"unknown key {key!r}; known are figures, varies, wordings and versions"
    for key in ("figures", "varies"):
        for name, reason in sidecar.get(key, {}).items():
            if not isinstance(name, str) or not isinstance(reason, str) or len(reason.split()) < 2:
                yield f"{key} has {name!r} without a reason in words"
    for cell in sidecar.get("varies", {}).keys() - {cell.node.id for cell in chapter.cells}:
        yield f"varies names a cell {cell!r}, which is not there"
    for number, wording in enumerate(sidecar.get("wordings", []), 1):
        if not isinstance(wording, dict) or set(wording) - {"if"} != {"text", "link"}:
            yield f"wording {number} must have text and link, may have `if`, and nothing else"
        elif not wording["text"].strip() or not wording["link"].startswith("https://"):
            yield f"wording {number} needs a text, and a link that begins with https://"
