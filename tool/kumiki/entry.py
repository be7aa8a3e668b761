"""The entry point of the command `kumiki`: every failure becomes one sentence and one documented exit code.

Nothing large is imported here before Ctrl-C is handled, because loading the command line takes a tenth of a second.
"""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Until `_run` handles Ctrl-C it ends this process as it ends any other program: without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import codecs
import os
import sys
from io import TextIOWrapper

from kumiki.errors import ExitCode, UserError, complain
from kumiki.interrupts import termination_interrupts


def main() -> None:
    """The entry point of the command."""
    _open_standard_streams()
    sys.exit(_flushed(_run()))


def _run() -> int:
    """Runs the command line; returns its exit code, however it ends."""
    try:
        with termination_interrupts():
            return _run_command_line()
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


def _run_command_line() -> int:
    """Runs the command line; returns its exit code if it does not raise."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.stdout is None:
        raise UserError("standard output is closed; give it a terminal, a file or /dev/null")
    if isinstance(sys.stdout, TextIOWrapper):
        # A file name may contain bytes that are not characters; they are printed unchanged. An encoding that does not
        # have all characters prints a question mark instead of those that it lacks.
        whole = codecs.lookup(sys.stdout.encoding).name == "utf-8"
        sys.stdout.reconfigure(errors="surrogateescape" if whole else "replace")
    from kumiki.command import app

    app()
    return ExitCode.OK


def _flushed(code: int) -> int:
    """The exit code, once all output has been written."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except OSError as error:
        return _lost(error)


def _lost(error: OSError) -> int:
    """Reports that output could not be written, unless the reader has closed the pipe, as `head` does."""
    if not isinstance(error, BrokenPipeError):
        name = error.filename or "standard output"
        complain(f"{name} cannot be used ({error.strerror or error}); free space there, or choose another place")
    # The interpreter must not try to flush the rest into a stream that cannot be written.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return ExitCode.FAILED


def _open_standard_streams() -> None:
    """Opens closed descriptors among 0 to 2, so that no other file gets such a number and receives output."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - it stays open as long as the process lives
