"""Kernels of one expression against Python, by the harness of chapter 6, on the GPU."""

from differential import op, outcome

RIGHT = {"op": lambda *entry: "right"}
ASKED = {"op": lambda *entry: outcome(op(*entry))}
UNABLE = ()


def seen(value, names):
    return value


def difference(right, got):
    return "" if got.startswith(right) else got.partition(" ")[0].rstrip(":")
