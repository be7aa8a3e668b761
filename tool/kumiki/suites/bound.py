"""The bound of a program that moves memory: its bytes moved by as many threads, without any computation."""

from __future__ import annotations

from dataclasses import dataclass

from kumiki.suites.model import Program

PROGRAM = Program("streams")
FORM = "bound"
SECONDS, QUICK_SECONDS = 0.4, 0.2
LEAST_SAMPLE_SECONDS = 0.01
"""The duration of the program's samples (kernels/streams/task.hpp)."""
MOVED_BYTES_PER_SECOND = 10e9
FILLED_BYTES_PER_SECOND = 2e9
"""By one core, for the estimate."""


@dataclass(frozen=True)
class Traffic:
    """The bytes that a program must move for part of its work, according to the problem size, each number once.

    Savings by caches are not deducted: the bytes are moved through memory of the problem's size, and the part of it
    that fits into a cache comes from there. So no code that makes the program's passes over its data is faster.
    """

    work: float
    """In units of the program's rate: with the unit Mcell/s, millions of cells."""
    unit: str
    """The unit of its rate."""
    read: int = 0
    """Bytes that are only read."""
    update: int = 0
    """Bytes that are read and written in place."""

    @property
    def options(self) -> tuple[str, ...]:
        """The options of the measurement program."""
        bytes_moved = ("--read", str(self.read), "--update", str(self.update))
        return (*bytes_moved, "--work", f"{self.work:.9g}", "--unit", self.unit)

    def sample_seconds(self, threads: int) -> float:
        return max(LEAST_SAMPLE_SECONDS, (self.read + self.update) / MOVED_BYTES_PER_SECOND / threads)

    @property
    def setup_seconds(self) -> float:
        return (self.read + self.update) / FILLED_BYTES_PER_SECOND
