"""What is explained: the costs of each array, variable, source line and parallel region, and what to change."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Subject:
    """An array, a variable, or the blocks of a heap that one line has allocated: what its pages have cost all ranks."""

    name: str
    use: str
    """`array`, `variable`, `heap` or `stack`."""
    bytes: int
    placement: str = ""
    homes: dict[int, int] = field(default_factory=dict)
    """Pages by home; -1: nobody has touched them."""
    read_faults: int = 0
    write_faults: int = 0
    seconds: float = 0.0
    """In faults, the sum over all threads."""
    fetches: int = 0
    fetched_bytes: int = 0
    idle_fetches: int = 0
    """Pages that were fetched although nothing had changed."""
    differences: int = 0
    difference_bytes: int = 0
    dropped: int = 0
    false_shared: int = 0
    """Times that several ranks wrote a page in one interval."""
    false_pages: int = 0
    written: int = 0
    """Times that any rank wrote a page, by interval."""
    elsewhere: int = 0
    """Pages whose home is not the rank that mostly writes them."""
    written_pages: int = 0
    """Pages of which it is known who wrote them; those of a home that nobody fetched are not among them."""
    pages: int = 0
    """All pages that have a home; of variables and the heap only those that were written."""
    again: int = 0
    """Pages of these that other ranks than the home wrote in three intervals or more."""
    fits: str = ""
    """The placement that would give most of these pages to their writers."""
    example: str = ""
    """Which bytes of a falsely shared page which ranks wrote."""
    first_toucher: int | None = None
    """The rank that is the home of nearly all pages."""

    @property
    def faults(self) -> int:
        return self.read_faults + self.write_faults

    @property
    def transfers(self) -> int:
        return self.fetches + self.differences


@dataclass
class SourceLine:
    """A source line at which threads fault."""

    text: str
    file: str
    line: int
    function: str
    faults: int
    writes: int
    seconds: float
    subjects: list[str]


@dataclass
class Region:
    """A parallel region of an OpenMP program, or what rank 0 does between regions (no line)."""

    text: str
    executions: int
    seconds: float
    """From its beginning to its end, at the slowest rank."""
    waiting: float
    """The share of this time that ranks spend at its barriers, where they also send and drop pages; the mean."""
    faulting: float
    """The share of this time in faults."""
    faults: int
    ranks: dict[int, tuple[float, float]]
    """By rank: seconds in it, and seconds at its barriers."""
    uneven: float = 0.0
    """The part of `waiting` that is more than that of the rank that waits least: what others had to do meanwhile."""

    @property
    def scales(self) -> bool:
        return self.waiting + self.faulting < 0.3


@dataclass
class Lock:
    """A lock or an atomic instruction."""

    text: str
    kind: str
    """`lock`, `critical`, `atomic`, or `gathered` (atomic updates that a rank has gathered)."""
    count: int
    seconds: float


@dataclass
class Finding:
    """What costs, and what to change."""

    subject: str
    what: str
    change: str
    weight: float
    """Seconds of all ranks that it costs, for the order."""


@dataclass
class Explanation:
    command: list[str]
    ranks: int
    copies: bool
    openmp: bool
    seconds: float
    """From joining the job to leaving it, at the slowest rank; 0 if one did not leave."""
    processor_seconds: float
    """Of all ranks; 0 if one did not leave."""
    intervals: int
    subjects: list[Subject]
    lines: list[SourceLine]
    regions: list[Region]
    locks: list[Lock]
    findings: list[Finding]
    notes: list[str]
    """What limits the explanation: ranks without a record, events that were not kept, no libdw."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
