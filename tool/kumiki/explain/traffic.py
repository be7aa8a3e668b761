"""The events of all ranks as columns, and what follows from them page by page: homes, writers, false sharing."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kumiki.explain.record import Kind, Placement, Record, Use

OPEN = -1
"""The home of a page that nobody has touched."""
Column = Any
"""A one-dimensional array of numpy."""


@dataclass(frozen=True)
class Area:
    """A shared array of all ranks."""

    number: int
    address: int
    bytes: int
    page_bytes: int
    placement: int
    use: Use
    never_faults: bool
    """At the homes of its pages, whose writes nothing tells."""
    callers: tuple[int, ...]
    homes: Column
    """By page: the rank, at the end."""

    @property
    def pages(self) -> int:
        return len(self.homes)


@dataclass(frozen=True)
class Traffic:
    """All events of all ranks, sorted by rank and time."""

    areas: list[Area]
    rank: Column
    kind: Column
    address: Column
    value: Column
    code: Column
    interval: Column
    region: Column
    area: Column
    page: Column
    low: Column
    high: Column

    def where(self, *kinds: Kind) -> Column:
        """The places of the events of these kinds that are in an array."""
        return np.flatnonzero(np.isin(self.kind, [int(kind) for kind in kinds]) & (self.area < len(self.areas)))


@dataclass(frozen=True)
class Writes:
    """Which ranks wrote which pages in which intervals, as far as it shows: a row for each."""

    area: Column
    page: Column
    interval: Column
    rank: Column

    def shared(self) -> Column:
        """Whether another rank wrote the page in the same interval, by row."""
        if not len(self.page):
            return np.zeros(0, bool)
        keys = np.stack([self.area, self.page, self.interval], axis=1)
        _, inverse, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        return counts[inverse.reshape(-1)] > 1


def gather(records: Sequence[Record]) -> Traffic:
    """The traffic of a run. There is at least one record."""
    columns: dict[str, list[Column]] = defaultdict(list)
    for record in records:
        events = record.events
        columns["rank"].append(np.full(len(events), record.rank, np.int32))
        columns["region"].append(_regions(record))
        for name in ("kind", "address", "value", "code", "interval", "array", "low", "high"):
            columns[name].append(events[name].astype(np.int64))
    joined = {name: np.concatenate(parts) for name, parts in columns.items()}
    areas = _areas(records, joined)
    area = joined["array"]
    page = np.zeros(len(area), np.int64)
    for each in areas:
        inside = area == each.number
        page[inside] = (joined["address"][inside] - each.address) // each.page_bytes
    return Traffic(
        areas,
        joined["rank"],
        joined["kind"],
        joined["address"],
        joined["value"],
        joined["code"],
        joined["interval"],
        joined["region"],
        area,
        page,
        joined["low"],
        joined["high"],
    )


def _regions(record: Record) -> Column:
    """The function of each event's parallel region; 0: none."""
    known = np.zeros(max(record.regions, default=0) + 1, np.int64)
    for place, key in record.regions.items():
        known[place] = key
    return known[np.minimum(record.events["region"], len(known) - 1)]


def _areas(records: Sequence[Record], columns: dict[str, Column]) -> list[Area]:
    first = max(records, key=lambda record: len(record.arrays))  # of a rank that was killed some may be missing
    areas = []
    moved = np.flatnonzero(columns["kind"] == Kind.HOME)
    moved = moved[np.argsort(columns["interval"][moved], kind="stable")]
    for number, array in enumerate(first.arrays):
        pages = -(-int(array["bytes"]) // int(array["page_bytes"]))
        homes = _first_homes(int(array["placement"]), pages, first.size)
        for event in moved[columns["array"][moved] == number]:
            begin = (columns["address"][event] - int(array["address"])) // int(array["page_bytes"])
            homes[begin : begin + columns["value"][event]] = columns["rank"][event]
        areas.append(
            Area(
                number,
                int(array["address"]),
                int(array["bytes"]),
                int(array["page_bytes"]),
                int(array["placement"]),
                Use(int(array["use"])),
                bool(array["never_faults"]),
                tuple(int(caller) for caller in array["callers"] if caller),
                homes,
            )
        )
    return areas


def _first_homes(placement: int, pages: int, size: int) -> Column:
    """As src/dsm/homes.hpp has them."""
    if placement == Placement.CYCLIC:
        return np.arange(pages) % size
    if placement == Placement.BLOCK:
        return np.arange(pages) // -(-pages // size)
    return np.full(pages, 0 if placement == Placement.FIRST_RANK else OPEN)


def writes(traffic: Traffic) -> Writes:
    """Who wrote what. A rank that is not the home shows it by a difference; the home of a page by a fault; and the
    home of a page that never faults there by what others find when they fetch the page again."""
    sent = traffic.where(Kind.DIFFERENCE)
    rows = [np.stack([c[sent] for c in (traffic.area, traffic.page, traffic.interval, traffic.rank)], axis=1)]
    faults = traffic.where(Kind.WRITE_FAULT)
    at_home = faults[_homes(traffic, faults) == traffic.rank[faults]]
    rows.append(np.stack([c[at_home] for c in (traffic.area, traffic.page, traffic.interval, traffic.rank)], axis=1))
    rows.append(_found_by_others(traffic))
    all_rows = np.unique(np.concatenate(rows), axis=0)
    return Writes(*(all_rows[:, i] for i in range(4)))


def _homes(traffic: Traffic, events: Column) -> Column:
    homes = np.full(len(events), OPEN, np.int64)
    for area in traffic.areas:
        inside = traffic.area[events] == area.number
        homes[inside] = area.homes[np.minimum(traffic.page[events[inside]], area.pages - 1)]
    return homes


def _found_by_others(traffic: Traffic) -> Column:
    """Writes of homes: a rank fetches a page again and finds bytes that no third rank has sent since."""
    never_faults = np.array([area.never_faults for area in traffic.areas] or [False])
    events = traffic.where(Kind.FETCH, Kind.DIFFERENCE)
    events = events[never_faults[traffic.area[events]]]
    homes = _homes(traffic, events)
    sent: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    last: dict[tuple[int, int, int], int] = {}
    fetched = []
    for event, home in zip(events.tolist(), homes.tolist(), strict=True):
        area, page, rank = int(traffic.area[event]), int(traffic.page[event]), int(traffic.rank[event])
        interval = int(traffic.interval[event])
        before = last.get((area, page, rank))
        last[area, page, rank] = interval
        if traffic.kind[event] == Kind.DIFFERENCE:
            sent[area, page].append((interval, rank))
        elif before is not None and before < interval and traffic.low[event] <= traffic.high[event]:
            fetched.append((area, page, before, interval, rank, home))
    for differences in sent.values():
        differences.sort()
    found = []
    for area, page, before, interval, rank, home in fetched:
        there = sent.get((area, page), [])
        between = there[bisect_left(there, (before, -1)) : bisect_left(there, (interval, -1))]
        if home >= 0 and all(other == rank for _, other in between):
            # Some time since then; most likely while this rank had the page, for in between no region may have run.
            found.append((area, page, before, home))
    return np.array(found, np.int64).reshape(-1, 4)


def main_writers(written: Writes, area: Area) -> tuple[Column, Column]:
    """The pages of an array that have been written, and for each the rank that has written it in most intervals."""
    inside = written.area == area.number
    keys, counts = np.unique(np.stack([written.page[inside], written.rank[inside]], axis=1), axis=0, return_counts=True)
    if not len(keys):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    # The home wins where several have written equally often: another home would not be better.
    is_home = area.homes[keys[:, 0]] == keys[:, 1]
    order = np.lexsort((is_home, counts, keys[:, 0]))
    keys = keys[order]
    ends = np.append(np.flatnonzero(np.diff(keys[:, 0])), len(keys) - 1)
    return keys[ends, 0], keys[ends, 1]
