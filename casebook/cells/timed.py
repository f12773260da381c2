"""Which cells measure a time, and so need a machine that nobody else uses."""

import re

_TIMES = re.compile(r"\b(?:timing|perf_counter|time_ns|get_elapsed_time)\b|\.claim\(")


def is_timed(source: str) -> bool:
    """Whether the code of a cell measures a time."""
    return bool(_TIMES.search(source))
