"""Runs one command under a time limit and leaves none of its processes behind."""

from __future__ import annotations

import ctypes
import fcntl
import os
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from kumiki.evaluation.excerpt import Excerpt

PR_SET_CHILD_SUBREAPER = 36
GRACE_SECONDS = 2.0
"""How long processes may take to end before they are killed."""
DRAIN_SECONDS = 1.0
"""How long to wait for output after the program itself has ended."""
LONGEST_SLEEP = 86400.0
"""How long to wait for an event at once: the system's interface takes no more than 24 days."""
TAIL_LINES = 5
MOST_OUTPUT = 64 << 20
"""The bytes of each stream that are kept: the beginning and the end."""
PIPE_BYTES = 1 << 20
"""The bytes that a program may write before it waits for this reader; the most that the system gives any user."""


@dataclass(frozen=True)
class Ended:
    """How a command ended: `code` as subprocess reports it (negative: the signal), None if the time limit ended it."""

    code: int | None
    seconds: float
    """Wall time from its start to its own end, regardless of processes it left behind."""
    last_errors: tuple[str, ...]
    """The last lines of standard error."""
    leftovers: int
    """Other processes that were still running at the command's end and were ended."""


def run(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    limit_seconds: float,
    on_output: Callable[[str], None],
    on_error: Callable[[str], None],
    folder: Path | None = None,
) -> Ended:
    """Runs a command in a folder (None: the current one) to its end, and then passes on the lines that it wrote.

    While the command runs, its output is only collected, so that a program with much output does not wait for its
    processing. The command and everything that it started is ended when the limit is reached, or when an exception such
    as an interrupt passes through here; its lines are also passed on then. Raises OSError if the command cannot be
    started.
    """
    _adopt_orphans()
    before = _descendants()
    start = time.monotonic()
    child: subprocess.Popen[bytes] | None = None
    output, errors = Excerpt(MOST_OUTPUT), Excerpt(MOST_OUTPUT)
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    try:
        child = subprocess.Popen(
            arguments,
            env=dict(environment),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        code, end = _follow(child, start + limit_seconds, output, errors)
    finally:
        with _undisturbed():
            leftovers = _end_all(child, before)
        for line in output.lines():
            on_output(line)
        for line in errors.lines():
            if line.strip():
                tail.append(line)
            on_error(line)
    return Ended(code, end - start, tuple(tail), leftovers)


@contextmanager
def in_the_open(arguments: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """Starts a command whose standard output the caller reads while it runs; its standard error is that of the tool.

    On leaving, the command and everything that it started is ended. Raises OSError if it cannot be started.
    """
    _adopt_orphans()
    before = _descendants()
    child: subprocess.Popen[str] | None = None
    try:
        child = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        yield child
    finally:
        with _undisturbed():
            _end_all(child, before)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Keeps a second Ctrl-C from interrupting the cleanup after the first."""
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def _follow(
    child: subprocess.Popen[bytes], deadline: float, output: Excerpt, errors: Excerpt
) -> tuple[int | None, float]:
    """Reads both streams until they and the child have ended. Returns the child's code, None if the deadline came
    first, and the time of its end.
    """
    assert child.stdout is not None and child.stderr is not None
    end: float | None = None
    with selectors.DefaultSelector() as selector:
        for stream, excerpt in ((child.stdout, output), (child.stderr, errors)):
            os.set_blocking(stream.fileno(), False)
            with suppress(OSError):
                fcntl.fcntl(stream.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            selector.register(stream, selectors.EVENT_READ, excerpt)
        # Waiting on the process, too, avoids polling, which would disturb its measurement.
        ending = os.pidfd_open(child.pid)
        selector.register(ending, selectors.EVENT_READ, None)
        try:
            while selector.get_map() and (left := deadline - time.monotonic()) > 0:
                for key, _ in selector.select(min(left, LONGEST_SLEEP)):
                    if key.data is None:
                        end = time.monotonic()
                        selector.unregister(ending)
                        # A grandchild may hold the streams open, but the child's own output has arrived by now.
                        deadline = min(deadline, end + DRAIN_SECONDS)
                    elif piece := os.read(key.fd, PIPE_BYTES):
                        key.data.add(piece)
                    else:
                        selector.unregister(key.fileobj)
        finally:
            os.close(ending)
    return child.poll(), end or time.monotonic()


def _end_all(child: subprocess.Popen[Any] | None, before: set[psutil.Process]) -> int:
    """Ends the child and all its descendants: SIGTERM first, then SIGKILL. Returns the number of descendants.

    `child` is None if an interrupt came while it was being started: it may run nevertheless.
    """
    if child is not None:
        child.poll()
    alive = _descendants() - before
    started = {process.pid for process in alive}
    for number, patience in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, GRACE_SECONDS)):
        for process in alive:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        deadline = time.monotonic() + patience
        while alive and time.monotonic() < deadline:
            # In short turns: an orphan can be waited for only after its parent has ended and this process adopted it.
            psutil.wait_procs(alive, timeout=0.01)
            alive = _descendants() - before
        started |= {process.pid for process in alive}
    for stream in (child.stdout, child.stderr) if child is not None else ():
        if stream is not None:
            stream.close()
    return len(started - ({child.pid} if child is not None else set()))


def _adopt_orphans() -> None:
    """Makes this process adopt its orphaned descendants: a launcher's ranks remain findable when it has ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _descendants() -> set[psutil.Process]:
    """The descendants of this process that still run or wait to be reaped."""
    return set(psutil.Process().children(recursive=True))
