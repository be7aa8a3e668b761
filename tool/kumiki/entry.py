"""Where the command `kumiki` begins and ends: whatever happens becomes one sentence and one documented exit code.

Nothing large is imported here before a Ctrl-C is taken care of: loading the command line takes a tenth of a second.
"""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper

from kumiki.errors import ExitCode, UserError, complain


def main() -> None:
    """The entry point of the command."""
    _open_standard_streams()
    sys.exit(_flushed(_run()))


def _run() -> int:
    """Runs the command line; returns its exit code."""
    try:
        if sys.stdout is None:
            raise UserError("standard output is closed; give it a terminal, a file or /dev/null")
        if isinstance(sys.stdout, TextIOWrapper):
            # A file name may hold bytes that are no characters: they are printed as they came.
            sys.stdout.reconfigure(errors="surrogateescape")
        from kumiki.command import app

        app()
        return ExitCode.OK
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else ExitCode.OK
    except UserError as problem:
        complain(problem.sentence)
        return problem.code
    except KeyboardInterrupt:
        complain("interrupted")
        return ExitCode.INTERRUPTED
    except OSError as error:
        return _lost(error)


def _flushed(code: int) -> int:
    """The exit code, once all output has been written."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except OSError as error:
        return _lost(error)


def _lost(error: OSError) -> int:
    """Says that output could not be written; a reader that has left, as `head` does, needs no telling."""
    if not isinstance(error, BrokenPipeError):
        name = error.filename or "standard output"
        complain(f"{name} cannot be used ({error.strerror or error}); make room there, or name another place")
    # The interpreter shall find nothing more to flush into what cannot take it.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return ExitCode.FAILED


def _open_standard_streams() -> None:
    """Fills what is closed of descriptors 0 to 2, so that no file of ours gets its number and is written into."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - it stays open as long as the process
