"""The piece of advice itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kumiki.results.row import Row

ALERT = "alert"
"""The kind of what decides whether the figures may be used at all: wrong results, an evaluation that was cut short."""


@dataclass(frozen=True)
class Advice:
    """One statement and the rows that it rests on. Commands and settings in the text stand between backticks."""

    kind: str
    """The name of the module that says it, in the singular (`own`, `setting`, `trust`, ..., `network`), or ALERT."""
    heading: str
    """What the statement is about: pieces of the same heading belong together."""
    text: str
    rows: list[int] = field(default_factory=list)
    stake: float = 1.0
    """How many times as good the one is as the other of what it weighs against each other; 1 where nothing is."""


def say(kind: str, heading: str, text: str, rows: Iterable[Row | None] = (), stake: float = 1.0) -> Advice:
    """A piece of advice citing the given rows, each once, in the order given."""
    cited = dict.fromkeys(row.id for row in rows if row is not None)
    return Advice(kind, heading, text, list(cited), stake)
