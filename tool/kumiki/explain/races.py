"""The races between ranks that KUMIKI_SHARED_CHECK has found, in sentences (src/dsm/races.hpp)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kumiki.explain import traffic as t
from kumiki.explain.record import Record, Use, read
from kumiki.explain.sources import PROGRAM, Place, Sources
from kumiki.explain.subjects import OTHER_HEAP, OTHER_VARIABLES, Named
from kumiki.machine.native import Native

VARIABLE = "KUMIKI_SHARED_CHECK"
FILE = "races.json"
MOST = 20
"""So many races are told; the others are counted."""


def asked(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the run looks for races."""
    return environment.get(VARIABLE, "") in ("1", "yes", "fail")


def fails(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a race shall make the run fail."""
    return environment.get(VARIABLE, "") == "fail"


@dataclass(frozen=True)
class Side:
    """How one of the two ranks came to write."""

    place: Place
    code: int
    faulted: bool
    """Whether `place` wrote; else it is the parallel region in which the rank did."""
    exact: bool
    """Whether it wrote one of the bytes that the other rank wrote, too; else it wrote first to the same page."""

    @property
    def text(self) -> str:
        if not self.code:
            return "wrote it in a place that is not known"
        known = bool(self.place.file) or not self.place.function.startswith("0x")
        where = self.place.text if known else ""
        where = where if where.startswith("in ") else f"at {where or hex(self.code)}"
        if not self.faulted:
            return f"wrote it in the parallel region {where}"
        return f"wrote it {where}" if self.exact else f"first wrote to this page {where}"


@dataclass
class Race:
    """Bytes that ranks wrote without order, by the same lines."""

    name: str
    use: Use
    begin: int
    end: int
    """The first of the bytes, and the one behind the last, from the beginning of what has the name."""
    intervals: int
    barriers: int
    """So many intervals between barriers, and the barriers before the first of them."""
    sides: tuple[Side, Side]
    pairs: set[tuple[int, int]] = field(default_factory=set)
    """The rank of each side; several pairs if their lines are the same."""

    def add(self, other: Race) -> None:
        """Takes over another race by the same lines."""
        self.begin, self.end = min(self.begin, other.begin), max(self.end, other.end)
        self.intervals = max(self.intervals, other.intervals)
        self.barriers = min(self.barriers, other.barriers)
        one, two = (
            replace(own, exact=own.exact or others.exact) for own, others in zip(self.sides, other.sides, strict=True)
        )
        self.sides = (one, two)
        self.pairs |= other.pairs

    @property
    def ranks(self) -> list[int]:
        return sorted({rank for pair in self.pairs for rank in pair})


@dataclass(frozen=True)
class Found:
    """What a run has found."""

    races: list[Race]
    others: int
    """Races for which the ranks had no room."""
    notes: list[str]


def load(folder: Path, native: Native) -> Found | None:
    """The races of the run whose ranks have left their records in this folder; None: no check has taken place."""
    path, records = folder / FILE, read(folder)
    if not path.exists() or not records:
        return None
    said = json.loads(path.read_text())
    named = Named(records, t.gather(records), Sources(native, records[0].maps)) if said["races"] else None
    places = _places(said["races"], records, native)
    races: dict[tuple[Any, ...], Race] = {}
    for each in said["races"]:
        assert named is not None
        race = _race(each, named, places)
        key = (race.name, *((side.place, side.faulted) for side in race.sides))
        if key in races:
            races[key].add(race)
        else:
            races[key] = race
    notes = []
    if races and not Sources(native, records[0].maps).available:
        notes.append(
            f"{PROGRAM} is not installed, so addresses stand for source lines and variables: install libdw-dev "
            "(elfutils) and build Kumiki again."
        )
    if not said["complete"]:
        notes.append(
            "The ranks had no room for all writes between two barriers, so some have not been compared: use a smaller "
            "problem, or fewer locks between barriers."
        )
    if not all(record.finished for record in records) or len(records) < records[0].size:
        notes.append("The job ended early: what ranks wrote after their last common barrier has not been compared.")
    return Found(list(races.values()), said["others"], notes)


def _places(races: Sequence[dict[str, Any]], records: Sequence[Record], native: Native) -> dict[tuple[int, int], Place]:
    """By rank and instruction, which has other addresses in other ranks."""
    found = {}
    for record in records:
        sides = (side for race in races for side in zip(race["ranks"], race["code"], strict=True))
        codes = {code for rank, code in sides if rank == record.rank}
        for code, place in Sources(native, record.maps).places(codes).items():
            found[record.rank, code] = place
    return found


def _race(said: dict[str, Any], named: Named, places: Mapping[tuple[int, int], Place]) -> Race:
    address = said["array"] + said["begin"]
    part = named.part(address)
    subject = named.subjects[part.subject] if part else None
    name = subject.name if subject else f"memory at {said['array']:#x}"
    uses = {"array": Use.ARRAY, "variable": Use.VARIABLES, "heap": Use.HEAP, "stack": Use.STACKS}
    nameless = subject is None or name in (OTHER_HEAP, OTHER_VARIABLES) or subject.use == "stack"
    begin = said["begin"] if part is None or nameless else address - part.begin
    sides = [
        Side(places.get((rank, code), Place()), code, faulted, exact)
        for rank, code, faulted, exact in zip(said["ranks"], said["code"], said["faulted"], said["exact"], strict=True)
    ]
    order = sorted((0, 1), key=lambda side: (sides[side].place.file, sides[side].place.line, said["ranks"][side]))
    return Race(
        name,
        uses[subject.use] if subject else Use.ARRAY,
        begin,
        begin + said["end"] - said["begin"],
        said["intervals"],
        said["barriers"],
        (sides[order[0]], sides[order[1]]),
        {(said["ranks"][order[0]], said["ranks"][order[1]])},
    )


def sentences(found: Found) -> Iterator[str]:
    """The result in words."""
    if not found.races:
        yield (
            "No races between ranks: no two ranks wrote the same byte without a barrier or a shared lock between, as "
            "far as its value changed."
        )
    for race in found.races[:MOST]:
        yield f"{_what(race)}. {_change(race)}"
    more = len(found.races) - MOST + found.others if len(found.races) > MOST else found.others
    if more > 0:
        yield f"{more} more are not listed."
    yield from found.notes


def _what(race: Race) -> str:
    count = race.end - race.begin
    where = f"byte {race.begin}" if count == 1 else f"bytes {race.begin} to {race.end - 1}"
    one, other = race.sides
    if len(race.pairs) > 1:
        ranks = ", ".join(map(str, race.ranks[:-1])) + f" and {race.ranks[-1]}"
        who = f"ranks {ranks}: one {one.text}"
        who += ", others there, too" if one.text == other.text else f", another {other.text}"
    else:
        ((first, second),) = race.pairs
        who = f"rank {first} {one.text}, and rank {second} "
        who += "there, too" if one.text == other.text else other.text
    times = "in 1 interval" if race.intervals == 1 else f"in {race.intervals} intervals"
    return (
        f"{race.name}, {where}: {who}, with no barrier and no shared lock between ({times}, first after "
        f"{race.barriers} {'barrier' if race.barriers == 1 else 'barriers'})"
    )


def _change(race: Race) -> str:
    if race.use is not Use.ARRAY:
        return (
            "Change: make it private or a reduction, guard both writes with critical or atomic, or put a barrier "
            "between them."
        )
    return (
        "Change: let one rank write it, hold the same lock at both writes (shared_lock), combine the ranks' values "
        "(reduce), or call shared_barrier between."
    )
