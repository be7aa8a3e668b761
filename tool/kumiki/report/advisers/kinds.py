"""The piece of advice itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kumiki.results.row import Row

ALERT = "alert"
"""The kind of advice that decides whether the figures can be used at all: wrong results, an interrupted evaluation."""


@dataclass(frozen=True)
class Advice:
    """One statement and the rows that support it. Commands and settings in the text are between backticks."""

    kind: str
    """The name of the module that produces it, in the singular (`own`, `setting`, ..., `network`), or ALERT."""
    heading: str
    """The subject of the statement: pieces with the same heading belong together."""
    text: str
    rows: list[int] = field(default_factory=list)
    stake: float = 1.0
    """How many times as good one of the compared alternatives is as the other; 1 if nothing is compared."""


def say(kind: str, heading: str, text: str, rows: Iterable[Row | None] = (), stake: float = 1.0) -> Advice:
    """A piece of advice that cites the given rows, each once, in the order given."""
    cited = dict.fromkeys(row.id for row in rows if row is not None)
    return Advice(kind, heading, text, list(cited), stake)
