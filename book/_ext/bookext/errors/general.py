"""The general errors: words that many faults end in, and how to find the fault behind them. And
the answers: messages that no case is about, each with its cause and what to do.
"""

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


@dataclass(frozen=True)
class Answer:
    """One entry of answers.yml.

    seen   a pattern for what is pasted, without regard to case
    known  `read`, or `run, ` and on what
    """

    id: str
    title: str
    seen: str
    do: str
    command: str
    cause: str
    link: str
    known: str


@functools.cache
def answers() -> list[Answer]:
    """All of them."""
    text = Path(__file__).with_name("answers.yml").read_text("utf8")
    return [Answer(**entry) for entry in yaml.safe_load(text)]


@functools.cache
def general() -> list[General]:
    """All of them."""
    text = Path(__file__).with_name("general.yml").read_text("utf8")
    return [General(**entry) for entry in yaml.safe_load(text)]
