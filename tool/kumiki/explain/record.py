"""What the ranks of a run have left: the files of src/explain/layout.hpp."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np

MAGIC = int.from_bytes(b"EXPLAIN", "little")
VERSION = 2
KEY_BITS = 56


class Kind(IntEnum):
    """What an event says."""

    READ_FAULT = 1
    WRITE_FAULT = 2
    FETCH = 3
    DIFFERENCE = 4
    DROPPED = 5
    HOME = 6
    BLOCK = 7


class Use(IntEnum):
    """What a shared array is to the program."""

    ARRAY = 0
    VARIABLES = 1
    HEAP = 2
    STACKS = 3


class Tallied(IntEnum):
    REGION = 1
    REGION_WAIT = 2
    LOCK = 3
    ATOMIC = 4
    ARRAY_BARRIER = 5
    GATHERED = 6


class Placement(IntEnum):
    """src/dsm/homes.hpp."""

    BLOCK = 0
    CYCLIC = 1
    FIRST_RANK = 2
    FIRST = 3
    RELOCATED = 4
    MANAGED = 5


COUNTS = (
    "read_faults",
    "write_faults",
    "fault_ns",
    "fetches",
    "fetched_bytes",
    "idle_fetches",
    "differences",
    "difference_bytes",
    "dropped",
)

_HEADER = np.dtype(
    [
        ("magic", "<u8"),
        *((name, "<u4") for name in ("version", "rank", "size", "copies", "finished", "arrays", "interval", "region")),
        *(
            (name, "<u8")
            for name in ("events", "began", "ended", "processor_ns", "most_arrays", "most_tallies", "most_events")
        ),
        ("host", "S256"),
    ]
)
_ARRAY = np.dtype(
    [
        ("address", "<u8"),
        ("bytes", "<u8"),
        ("page_bytes", "<u4"),
        ("born", "<u4"),
        ("ended", "<u4"),
        ("placement", "u1"),
        ("use", "u1"),
        ("never_faults", "u1"),
        ("spare", "u1"),
        ("callers", "<u8", 8),
        ("counts", "<u8", len(COUNTS)),
    ]
)
_TALLY = np.dtype([("id", "<u8"), ("count", "<u8"), ("ns", "<u8")])
_EVENT = np.dtype(
    [
        ("code", "<u8"),
        ("address", "<u8"),
        ("value", "<u8"),
        ("interval", "<u4"),
        ("region", "<u2"),
        ("array", "<u2"),
        ("low", "<u2"),
        ("high", "<u2"),
        ("kind", "u1"),
        ("spare", "u1", 3),
    ]
)

Events = Any
"""An array of numpy with the fields of an event."""


@dataclass(frozen=True)
class Record:
    """What one rank has left."""

    rank: int
    size: int
    copies: bool
    finished: bool
    """Whether it has left the job as it should."""
    intervals: int
    seconds: float
    """From joining to leaving; 0 if it did not leave."""
    processor_seconds: float
    """Of all its threads, in the same time; 0 if it did not leave."""
    host: str
    maps: Path
    arrays: Any
    tallies: dict[tuple[int, int], tuple[int, int]]
    """By (what, key): how often, and how many ns in all. A region of an event is the place of its tally + 1."""
    regions: dict[int, int]
    events: Events
    lost: int
    """Events for which there was no room."""

    def of(self, what: Tallied) -> dict[int, tuple[int, int]]:
        """The tallies of this kind, by key."""
        return {key: numbers for (kind, key), numbers in self.tallies.items() if kind == what}


def read(folder: Path) -> list[Record]:
    """The records of a folder, by rank; those of ranks that have left none are missing."""
    found = [record for path in folder.glob("rank-*.record") if (record := _read(path)) is not None]
    return sorted(found, key=lambda record: record.rank)


def _read(path: Path) -> Record | None:
    if path.stat().st_size < _HEADER.itemsize:
        return None
    data = np.memmap(path, mode="r", dtype=np.uint8)
    header = np.frombuffer(data, _HEADER, 1)[0]
    if header["magic"] != MAGIC or header["version"] != VERSION:
        return None
    at = _HEADER.itemsize
    arrays = np.frombuffer(data, _ARRAY, int(header["arrays"]), at)
    at += int(header["most_arrays"]) * _ARRAY.itemsize
    tallies = np.frombuffer(data, _TALLY, int(header["most_tallies"]), at)
    at += int(header["most_tallies"]) * _TALLY.itemsize
    kept = min(int(header["events"]), int(header["most_events"]))
    events = np.frombuffer(data, _EVENT, kept, at)
    named: dict[tuple[int, int], tuple[int, int]] = {}
    regions: dict[int, int] = {}
    for place in np.flatnonzero(tallies["id"]):
        tally = tallies[place]
        what, key = int(tally["id"]) >> KEY_BITS, int(tally["id"]) & ((1 << KEY_BITS) - 1)
        named[what, key] = (int(tally["count"]), int(tally["ns"]))
        if what == Tallied.REGION:
            regions[int(place) + 1] = key
    return Record(
        rank=int(header["rank"]),
        size=int(header["size"]),
        copies=bool(header["copies"]),
        finished=bool(header["finished"]),
        intervals=int(header["interval"]) + 1,
        seconds=max(0, int(header["ended"]) - int(header["began"])) / 1e9 if header["finished"] else 0.0,
        processor_seconds=int(header["processor_ns"]) / 1e9,
        host=bytes(header["host"]).split(b"\0")[0].decode(errors="replace"),
        maps=path.with_suffix(".maps"),
        arrays=arrays,
        tallies=named,
        regions=regions,
        events=events[events["kind"] != 0],
        lost=int(header["events"]) - kept,
    )
