"""A finding of the doctor: one fact, whether it is a problem, and the command that fixes it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any


class State(str, Enum):
    """How a fact affects measurements."""

    GOOD = "good"
    MISSING = "missing"
    """Required and missing: nothing can be measured."""
    OPTIONAL = "optional"
    """Optional and missing: only part of the evaluation is lost."""
    DISTURBS = "disturbs"
    """Makes figures worse or less certain."""
    FIXED = "fixed"
    """Disturbs too, but the user of this machine cannot change it."""


@dataclass(frozen=True)
class Finding:
    """One fact in a sentence; `mend` is a command for a shell, or None."""

    subject: str
    state: State
    sentence: str
    mend: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "state": self.state.value}
