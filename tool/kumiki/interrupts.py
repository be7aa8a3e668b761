"""What ends this process early: SIGTERM and a closed terminal do so as Ctrl-C does."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


def heeded(numbers: Iterable[signal.Signals]) -> list[signal.Signals]:
    """These signals without those that this process was started to ignore, as by nohup."""
    return [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """Makes SIGTERM and a closed terminal end a command as Ctrl-C does, so that they leave nothing behind either."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    previous = {number: signal.signal(number, interrupt) for number in heeded((signal.SIGTERM, signal.SIGHUP))}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Lets interrupts wait while a process is started: one in the middle of that would leave it running, unknown."""
    came = False

    def note(number: int, frame: object) -> None:
        nonlocal came
        came = True

    numbers = heeded((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    previous = {number: signal.signal(number, note) for number in numbers}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    if came:
        raise KeyboardInterrupt
