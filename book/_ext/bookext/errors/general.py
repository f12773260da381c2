"""The general errors: words that many faults end in, and how to find the fault behind them."""

import functools
from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class General:
    """One entry of general.yml.

    words  a pattern for messages that say this and no more, without regard to case
    seen   a pattern for what is pasted, where it is another one
    """

    id: str
    title: str
    words: str
    do: str
    command: str
    cause: str
    seen: str = ""


@functools.cache
def general() -> list[General]:
    """All of them."""
    text = Path(__file__).with_name("general.yml").read_text("utf8")
    return [General(**entry) for entry in yaml.safe_load(text)]
