"""What the doctor finds: one fact, whether it is a trouble, and the command that mends it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any


class State(str, Enum):
    """How a fact bears on measuring."""

    GOOD = "good"
    MISSING = "missing"
    """Needed, and not there: nothing can be measured."""
    OPTIONAL = "optional"
    """Not there, and only a part of the evaluation is lost."""
    DISTURBS = "disturbs"
    """Figures are worse or less certain for it."""
    FIXED = "fixed"
    """Disturbs too, but is not this machine's user's to change."""


@dataclass(frozen=True)
class Finding:
    """One fact in a sentence; `mend` is a command for a shell, or None."""

    subject: str
    state: State
    sentence: str
    mend: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "state": self.state.value}
