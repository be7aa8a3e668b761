"""The piece of advice itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kumiki.report.model import Row


@dataclass(frozen=True)
class Advice:
    """One statement and the rows that it rests on. Commands and settings in the text stand between backticks."""

    kind: str
    """The name of the module that says it, in the singular: `own`, `setting`, `trust`, `program`, ..., `network`."""
    heading: str
    """What the statement is about: pieces of the same heading belong together."""
    text: str
    rows: list[int] = field(default_factory=list)


def say(kind: str, heading: str, text: str, rows: Iterable[Row | None] = ()) -> Advice:
    """A piece of advice citing the given rows, each once, in the order given."""
    cited = dict.fromkeys(row.id for row in rows if row is not None)
    return Advice(kind, heading, text, list(cited))
