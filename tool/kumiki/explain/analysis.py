"""From the records of the ranks to the explanation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from kumiki.explain import advice
from kumiki.explain import traffic as t
from kumiki.explain.maps import Maps
from kumiki.explain.model import Explanation, Lock, Region, SourceLine, Subject
from kumiki.explain.record import Kind, Record, Tallied, Use, read
from kumiki.explain.sources import PROGRAM, Place, Sources
from kumiki.explain.subjects import Named, lines_of, measure
from kumiki.machine.native import Native

FIRST_OPENMP_LOCK = 16
"""Locks from here on guard the words of OpenMP's locks for a moment (src/openmp/ranks/ranks.cpp)."""
BY_INSTRUCTION = {Tallied.ATOMIC: "atomic", Tallied.GATHERED: "gathered"}
"""Tallies whose key is the address of an instruction, and their kinds of Lock."""
OWN_LOCKS = {1: "atomic without an instruction for it", 2: "ordered", 3: "critical without a name"}
"""By OtherRanks::Own and Ranks::ordered_lock (src/openmp/)."""


@dataclass(frozen=True)
class Explained:
    """An explanation, with the traffic behind it for figures."""

    explanation: Explanation
    traffic: t.Traffic | None = None
    written: t.Writes | None = None
    names: dict[int, str] = field(default_factory=dict)
    """The names of arrays, by number."""


def explain(folder: Path, command: Sequence[str], native: Native) -> Explained:
    """Explains the run whose ranks have left their records in this folder."""
    records = read(folder)
    if not records:
        return Explained(Explanation(list(command), 0, False, False, 0, 0, 0, [], [], [], [], [], []))
    first = records[0]
    traffic = t.gather(records)
    traffic = replace(traffic, code=lines_of(records, traffic))
    sources = Sources(native, first.maps)
    named = Named(records, traffic, sources)
    written = measure(named, records, traffic)
    openmp = any(area.use is Use.VARIABLES for area in traffic.areas)
    ended = len(records) == first.size and all(record.finished for record in records)
    explanation = Explanation(
        command=list(command),
        ranks=first.size,
        copies=any(record.copies for record in records),
        openmp=openmp,
        seconds=max(record.seconds for record in records) if ended else 0.0,
        processor_seconds=sum(record.processor_seconds for record in records) if ended else 0.0,
        intervals=max(record.intervals for record in records),
        subjects=sorted(
            (each for each in named.subjects if openmp or _is_of_program(each)),
            key=lambda each: (-each.seconds, -each.transfers),
        ),
        lines=_lines(named, traffic, sources, Maps.load(first.maps)),
        regions=_regions(records, traffic, sources) if openmp else [],
        locks=_locks(records, sources, named, openmp),
        findings=[],
        notes=_notes(records, sources),
    )
    explanation.findings = advice.findings(explanation)
    first_bytes = np.array([area.address for area in traffic.areas], np.int64)
    names = {
        area.number: named.subjects[number].name
        for area, number in zip(traffic.areas, named.at(first_bytes).tolist(), strict=True)
    }
    return Explained(explanation, traffic, written, names)


def _is_of_program(subject: Subject) -> bool:
    """Every job with shared arrays has a heap (kumiki_shared_malloc), which most programs do not use."""
    return subject.use != "heap" or subject.faults > 0 or subject.transfers > 0


def _lines(named: Named, traffic: t.Traffic, sources: Sources, maps: Maps) -> list[SourceLine]:
    """The source lines that fault, the most expensive first."""
    faults = traffic.where(Kind.READ_FAULT, Kind.WRITE_FAULT)
    places = sources.places(np.unique(traffic.code[faults]).tolist())
    numbers = named.at(traffic.address[faults])
    found: dict[tuple[str, int, str], SourceLine] = {}
    subjects: dict[tuple[str, int, str], Counter[str]] = defaultdict(Counter)
    for event, number in zip(faults.tolist(), numbers.tolist(), strict=True):
        code = int(traffic.code[event])
        place = places.get(code, Place(f"{code:#x}" if code else ""))
        if not maps.has(code):
            place = Place("atomic instructions")  # their copies, which the runtime has made, are in no file
        key = (place.file, place.line, "" if place.file else place.function)
        if key not in found:
            found[key] = SourceLine(place.text or "not known", place.file, place.line, place.function, 0, 0, 0.0, [])
        line = found[key]
        line.faults += 1
        line.writes += int(traffic.kind[event] == Kind.WRITE_FAULT)
        line.seconds += int(traffic.value[event]) / 1e9
        subjects[key][named.subjects[number].name] += 1
    for key, line in found.items():
        line.subjects = [name for name, _ in subjects[key].most_common(3)]
    return sorted(found.values(), key=lambda line: -line.seconds)


def _regions(records: Sequence[Record], traffic: t.Traffic, sources: Sources) -> list[Region]:
    tallies = {record.rank: record.of(Tallied.REGION) for record in records}
    waits = {record.rank: record.of(Tallied.REGION_WAIT) for record in records}
    keys = sorted({key for known in tallies.values() for key in known})
    places = sources.places(keys)
    faults = traffic.where(Kind.READ_FAULT, Kind.WRITE_FAULT)
    found = []
    for key in keys:
        own = faults[traffic.region[faults] == key]
        ranks: dict[int, tuple[float, float]] = {}
        for rank, known in tallies.items():
            if key in known and (key != 0 or rank == records[0].rank):
                ranks[rank] = (known[key][1] / 1e9, waits[rank].get(key, (0, 0))[1] / 1e9)
        if not ranks:
            continue
        slowest = max(seconds for seconds, _ in ranks.values())
        if key == 0:
            own = own[traffic.rank[own] == records[0].rank]
        in_faults = sum(
            min(float(traffic.value[own[traffic.rank[own] == rank]].sum()) / 1e9, max(0.0, seconds - waiting))
            for rank, (seconds, waiting) in ranks.items()
        )
        total = max(sum(seconds for seconds, _ in ranks.values()), 1e-12)
        found.append(
            Region(
                _region_text(places[key]) if key else "between parallel regions (rank 0 alone)",
                max(known[key][0] for known in tallies.values() if key in known),
                slowest,
                min(1.0, sum(waiting for _, waiting in ranks.values()) / total) if key else 0.0,
                min(1.0, in_faults / total),
                len(own),
                ranks,
                _uneven(ranks) if key else 0.0,
            )
        )
    return sorted(found, key=lambda region: -region.seconds)


def _uneven(ranks: dict[int, tuple[float, float]]) -> float:
    shares = [waiting / seconds for seconds, waiting in ranks.values() if seconds > 0]
    return min(1.0, sum(shares) / len(shares)) - min(1.0, min(shares)) if shares else 0.0


def _region_text(place: Place) -> str:
    function = place.function.split("._omp_fn")[0].split(".omp_outlined")[0]
    return f"{place.text} ({function})" if place.file and function else place.text


def _locks(records: Sequence[Record], sources: Sources, named: Named, openmp: bool) -> list[Lock]:
    sums: dict[tuple[Tallied, int], list[int]] = defaultdict(lambda: [0, 0])
    for record in records:
        for what in (Tallied.LOCK, *BY_INSTRUCTION):
            for key, (count, ns) in record.of(what).items():
                sums[what, key][0] += count
                sums[what, key][1] += ns
    places = sources.places(key for what, key in sums if what in BY_INSTRUCTION)
    found: dict[tuple[str, str], Lock] = {}
    for (what, key), (count, ns) in sums.items():
        if what in BY_INSTRUCTION:
            text, kind = places.get(key, Place()).text or f"{key:#x}", BY_INSTRUCTION[what]
        elif not openmp:
            text, kind = f"lock {key}", "lock"
        elif key in OWN_LOCKS:
            text, kind = OWN_LOCKS[key], "critical"
        elif key >= 1 << 20:
            number = int(named.at(np.array([key]))[0])
            text, kind = named.subjects[number].name if number >= 0 else f"at {key:#x}", "lock"
        else:
            continue
        lock = found.setdefault((text, kind), Lock(text, kind, 0, 0.0))
        lock.count += count
        lock.seconds += ns / 1e9
    return sorted(found.values(), key=lambda lock: -lock.seconds)


def _notes(records: Sequence[Record], sources: Sources) -> list[str]:
    notes = []
    size = records[0].size
    if missing := sorted(set(range(size)) - {record.rank for record in records}):
        ranks = ", ".join(map(str, missing[:8])) + (", ..." if len(missing) > 8 else "")
        notes.append(
            f"Rank {ranks} left no record here: it did not join the job, or its host does not share this folder."
        )
    if died := [record.rank for record in records if not record.finished]:
        ranks = ", ".join(map(str, died[:8])) + (", ..." if len(died) > 8 else "")
        notes.append(
            f"Rank {ranks} did not leave the job as it should: the job ended early, so what is said ends there, and "
            "shares of the whole time are not known."
        )
    if lost := sum(record.lost for record in records):
        notes.append(
            f"{lost} events found no room: lines, pages and variables are those of the beginning of the run; the "
            "counts of arrays and locks are exact."
        )
    if not sources.available:
        notes.append(
            f"{PROGRAM} is not installed, so addresses stand for source lines and variables: install libdw-dev "
            "(elfutils) and build Kumiki again."
        )
    return notes
