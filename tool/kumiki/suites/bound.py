"""What bounds a program that moves memory: its bytes moved by as many threads, and nothing computed."""

from __future__ import annotations

from dataclasses import dataclass

from kumiki.suites.model import Program

PROGRAM = Program("streams")
FORM = "bound"
SECONDS, QUICK_SECONDS = 0.4, 0.2
LEAST_SAMPLE_SECONDS = 0.01
"""The program makes its samples so long (kernels/streams/task.hpp)."""
MOVED_BYTES_PER_SECOND = 10e9
FILLED_BYTES_PER_SECOND = 2e9
"""By one core, for the estimate."""


@dataclass(frozen=True)
class Traffic:
    """What a program must move for a part of its work, as its problem's size says, each number once.

    What caches would save it is no part of this: the bytes are moved through memory of the problem's size, and what of
    it fits in a cache comes from there. So nothing that keeps to the program's walks over its data is faster.
    """

    work: float
    """In units of the program's rate: with the unit Mcell/s, millions of cells."""
    unit: str
    """Of its rate."""
    read: int = 0
    """Bytes that are read and left as they are."""
    update: int = 0
    """Bytes that are read and written where they lie."""

    @property
    def options(self) -> tuple[str, ...]:
        """What tells the measuring program of it."""
        bytes_moved = ("--read", str(self.read), "--update", str(self.update))
        return (*bytes_moved, "--work", f"{self.work:.9g}", "--unit", self.unit)

    def sample_seconds(self, threads: int) -> float:
        return max(LEAST_SAMPLE_SECONDS, (self.read + self.update) / MOVED_BYTES_PER_SECOND / threads)

    @property
    def setup_seconds(self) -> float:
        return (self.read + self.update) / FILLED_BYTES_PER_SECOND
