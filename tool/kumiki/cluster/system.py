"""Queries and changes the system through ip and tc, and holds interrupts back meanwhile."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from kumiki.errors import ExitCode, UserError

STEP_SECONDS = 30
"""Commands take only milliseconds; this limit prevents a hang if the kernel misbehaves."""
INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Failed(UserError):
    """A failed command, with its error message."""


def run(arguments: Sequence[str], module: str | None = None) -> str:
    """Runs one command to its end and returns what it prints.

    Raises Failed; `module` names the part of the kernel that its sentence then offers as the cause.
    """
    command = shlex.join(arguments)
    mend = f"; it needs the kernel's {module}: modprobe {module}" if module else ""
    try:
        ended = subprocess.run(
            arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=STEP_SECONDS, check=False
        )
    except OSError as error:
        raise Failed(f"'{command}' cannot be run: {error.strerror}", ExitCode.ENVIRONMENT) from error
    except subprocess.TimeoutExpired as error:
        raise Failed(f"'{command}' did not end in {STEP_SECONDS} s{mend}", ExitCode.ENVIRONMENT) from error
    if ended.returncode != 0:
        said = " ".join(ended.stderr.split()) or f"exit code {ended.returncode}"
        raise Failed(f"'{command}' failed: {said.rstrip('.')}{mend}", ExitCode.ENVIRONMENT)
    return ended.stdout


def ask(*arguments: str) -> list[dict[str, Any]]:
    """The JSON output of an iproute2 command. Raises Failed."""
    said = run(arguments).strip()
    try:
        answer = json.loads(said) if said else []
    except ValueError as error:
        mend = "a newer iproute2 is needed"
        raise Failed(f"'{shlex.join(arguments)}' does not print JSON; {mend}", ExitCode.ENVIRONMENT) from error
    return [entry for entry in answer if entry]


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Holds back Ctrl-C and other interrupts, so that commands started inside, and the cleanup, finish undisturbed."""
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def let_interrupt() -> None:
    """A point inside `interrupts_held` at which a pending interrupt takes effect."""
    if signal.sigtimedwait(INTERRUPTS, 0) is not None:
        raise KeyboardInterrupt
