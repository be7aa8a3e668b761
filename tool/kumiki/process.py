"""Running one command under a time limit, so that nothing of it is left when this returns."""

from __future__ import annotations

import ctypes
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
from typing import IO

PR_SET_CHILD_SUBREAPER = 36
GRACE_SECONDS = 2.0
"""How long processes that were asked to end may take before they are killed."""
DRAIN_SECONDS = 1.0
"""How long output is waited for after the program itself has ended."""
TAIL_LINES = 5


@dataclass(frozen=True)
class Ended:
    """How a command ended: `code` as subprocess reports it (negative: the signal), None when the time limit struck."""

    code: int | None
    seconds: float
    """Wall time from its start to its own end, whatever it left behind."""
    last_errors: tuple[str, ...]
    """The last lines of standard error."""
    leftovers: int
    """Processes beside the command's own that were still there at its end, and were ended."""


def run(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    limit_seconds: float,
    on_output: Callable[[str], None],
    on_error: Callable[[str], None],
) -> Ended:
    """Runs a command to its end and hands on its lines as they come.

    The command and everything that it started is ended when the limit is reached or when any exception (an interrupt,
    one from a callback) passes through here. Raises OSError when the command cannot be started.
    """
    _adopt_orphans()
    before = set(_descendants())
    start = time.monotonic()
    child = subprocess.Popen(
        arguments,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    tail: deque[str] = deque(maxlen=TAIL_LINES)

    def keep(line: str) -> None:
        if line.strip():
            tail.append(line)
        on_error(line)

    try:
        code, end = _follow(child, start + limit_seconds, on_output, keep)
    finally:
        with _undisturbed():
            leftovers = _end_all(child, before)
    return Ended(code, end - start, tuple(tail), leftovers)


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """Lets SIGTERM and a closed terminal end a command as Ctrl-C does, so that they leave nothing behind either."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    previous = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Keeps a second Ctrl-C from cutting short the clearing up after the first."""
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def _follow(
    child: subprocess.Popen[bytes], deadline: float, on_output: Callable[[str], None], on_error: Callable[[str], None]
) -> tuple[int | None, float]:
    """Reads both streams until they and the child have ended: its code, None when the deadline came first, and when."""
    assert child.stdout is not None and child.stderr is not None
    end: float | None = None
    with selectors.DefaultSelector() as selector:
        for stream, receive in ((child.stdout, on_output), (child.stderr, on_error)):
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ, _Lines(stream, receive))
        # Waiting on the process itself, too, costs no polling that would disturb what it measures.
        ending = os.pidfd_open(child.pid)
        selector.register(ending, selectors.EVENT_READ, None)
        try:
            while selector.get_map() and (left := deadline - time.monotonic()) > 0:
                for key, _ in selector.select(left):
                    if key.data is None:
                        end = time.monotonic()
                        selector.unregister(ending)
                        # A grandchild may hold the streams open for ever; what the child wrote is there already.
                        deadline = min(deadline, end + DRAIN_SECONDS)
                    elif not key.data.read():
                        selector.unregister(key.fileobj)
        finally:
            os.close(ending)
    return child.poll(), end or time.monotonic()


class _Lines:
    """Cuts what a stream brings into lines."""

    def __init__(self, stream: IO[bytes], receive: Callable[[str], None]) -> None:
        self._stream = stream
        self._receive = receive
        self._begun = b""

    def read(self) -> bool:
        """Takes what is there; False at the stream's end."""
        piece = os.read(self._stream.fileno(), 1 << 16)
        *lines, self._begun = (self._begun + piece).split(b"\n")
        if not piece and self._begun:
            lines, self._begun = [self._begun], b""
        for line in lines:
            self._receive(line.decode(errors="replace").rstrip("\r"))
        return bool(piece)


def _end_all(child: subprocess.Popen[bytes], before: set[int]) -> int:
    """Ends the child and all that it started: asks first, then kills. Returns how many there were beside the child."""
    started = set(_descendants()) - before
    for number, patience in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, GRACE_SECONDS)):
        alive = started if child.poll() is None else started - {child.pid}
        if not alive:
            break
        for process in alive:
            _send(process, number)
        deadline = time.monotonic() + patience
        while alive and time.monotonic() < deadline:
            time.sleep(0.01)
            child.poll()
            _reap(alive - {child.pid})
            alive = set(_descendants()) - before
        started |= alive
    for stream in (child.stdout, child.stderr):
        if stream is not None:
            stream.close()
    return len(started - {child.pid})


def _send(process: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)


def _reap(adopted: set[int]) -> None:
    for process in adopted:
        with suppress(ChildProcessError):
            os.waitpid(process, os.WNOHANG)


def _adopt_orphans() -> None:
    """Makes this process the parent of its descendants' orphans: a launcher's ranks stay findable when it is gone."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _descendants() -> list[int]:
    """The processes below this one that still run or wait to be reaped."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # The name in parentheses may hold spaces and parentheses itself; the parent is the second word behind it.
            parent = int((folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        children.setdefault(parent, []).append(int(folder.name))
    found: list[int] = []
    level = [os.getpid()]
    while level:
        level = [child for parent in level for child in children.get(parent, [])]
        found += level
    return found
