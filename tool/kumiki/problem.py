"""How the tool says that something went wrong: one sentence and one documented exit code."""

from __future__ import annotations

import sys
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
    INTERRUPTED = 130


class UserError(Exception):
    """Something the user can mend; `main` prints its sentence without a traceback and ends with its code."""

    def __init__(self, sentence: str, code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.code = code


def complain(text: str) -> None:
    """One line on standard error, said by kumiki."""
    print(f"kumiki: {text}", file=sys.stderr, flush=True)
