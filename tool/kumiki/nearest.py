"""The hint after a name that does not exist."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches


def nearest(name: str, known: Sequence[str]) -> str:
    """Asks whether the known name most like this one was meant; empty when none is like it."""
    matches = get_close_matches(name, known, n=1, cutoff=0.5)
    return f" (did you mean '{matches[0]}'?)" if matches else ""
