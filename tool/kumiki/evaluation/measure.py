"""Measures one point: runs its program and reads its rows; every failure becomes a sentence."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from kumiki.errors import ExitCode
from kumiki.evaluation import process
from kumiki.evaluation.excerpt import Excerpt
from kumiki.evaluation.reader import Reader
from kumiki.machine.native import Native
from kumiki.results.row import ProgramRow
from kumiki.suites.model import Point

MOST_LOGGED = 256 << 10
"""The bytes of a run's remarks that the log keeps: the beginning and the end."""
SHOWN_OF_LAST_WORDS = 300


@dataclass(frozen=True)
class Outcome:
    """The outcome of a point: its rows, and the reason for any failure."""

    point: Point
    rows: tuple[ProgramRow, ...] = ()
    seconds: float = 0.0
    absent: str | None = None
    """Why the point cannot be measured on this machine."""
    failed: str | None = None
    """What went wrong during the measurement."""
    hung: bool = False
    """Whether it had to be ended at its time limit."""

    @property
    def state(self) -> str:
        """One word for the point, as results.json has it."""
        return "absent" if self.absent else "failed" if self.failed else "measured"


def measure(point: Point, native: Native, cores: int, limit_seconds: float, log: Callable[[str], None]) -> Outcome:
    """Runs the point's program; the log receives the command, its remarks and its standard error."""
    if sentence := point.absence(native):
        log(f"# {point.key}\n{sentence}\n")
        return Outcome(point, absent=sentence)
    command = point.command(native, cores)
    log(f"# {point.key}\n$ {command}\n")
    reader = point.reader(cores)
    said = Excerpt(MOST_LOGGED)
    remarks: deque[str] = deque(maxlen=process.TAIL_LINES)

    def read(line: str) -> None:
        if not reader.take(line):
            said.add(f"{line}\n".encode())
            if line.strip():
                remarks.append(line)

    def read_error(line: str) -> None:
        said.add(f"stderr: {line}\n".encode())
        reader.take_error(line)

    try:
        ended = process.run(command.arguments, {**os.environ, **command.variables}, limit_seconds, read, read_error)
    except OSError as error:
        return Outcome(point, failed=f"{point.program} cannot be started ({error.strerror or error}); {point.mend}")
    finally:
        log("".join(f"{line}\n" for line in said.lines()))
    left = f"; {ended.leftovers} processes that were still running were ended" if ended.leftovers else ""
    log(f"ended with {ended.code} after {ended.seconds:.1f} s{left}\n\n")
    rows = reader.rows(ended)
    if sentence := point.absence_told_by(rows, ended.last_errors):
        return Outcome(point, seconds=ended.seconds, absent=sentence)
    complaint = _complaint(ended, limit_seconds, rows, reader)
    kept = () if point.warm_up else rows
    failed = None if complaint is None else f"{point.key}: {complaint}{_told(ended.last_errors or tuple(remarks))}"
    return Outcome(point, kept, ended.seconds, failed=failed, hung=ended.code is None)


def _complaint(ended: process.Ended, limit_seconds: float, rows: tuple[ProgramRow, ...], reader: Reader) -> str | None:
    """What went wrong, by the first cause; None if nothing did."""
    if reader.malformed:
        return reader.malformed
    if ended.code is None:
        return f"was still running after {limit_seconds:g} s and was ended"
    if ended.code == ExitCode.FAILED and any(row.validated is False for row in rows):
        return None  # the row records this itself
    if ended.code < 0:
        return f"was ended by signal {-ended.code} ({signal.Signals(-ended.code).name})"
    if ended.code > 0:
        return f"ended with exit code {ended.code}"
    return None if rows else reader.silence


def _told(last_words: tuple[str, ...]) -> str:
    shown = (word[:SHOWN_OF_LAST_WORDS] for word in last_words)
    return f"; its last words: {' | '.join(shown)}" if last_words else ""
