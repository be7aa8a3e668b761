"""How the tool reports errors: one sentence and one documented exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of every command (docs/tool.md)."""

    OK = 0
    FAILED = 1
    """A measurement or a validation failed."""
    USAGE = 2
    ENVIRONMENT = 3
    """The environment is not usable."""
    REGRESSION = 4
    RACES = 66
    """Races were found, and shall make the run fail; ThreadSanitizer uses this code, too."""
    INTERRUPTED = 130


class UserError(Exception):
    """An error that the user can fix; `main` prints its sentence without a traceback and exits with its code."""

    def __init__(self, sentence: str, code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.code = code


def complain(text: str) -> None:
    """Prints one line on standard error, with the prefix `kumiki:`."""
    print(f"kumiki: {text}", file=sys.stderr, flush=True)


def nearest(name: str, known: Sequence[str]) -> str:
    """A question whether the most similar known name was meant; empty if none is similar."""
    matches = get_close_matches(name, known, n=1, cutoff=0.5)
    return f" (did you mean '{matches[0]}'?)" if matches else ""
