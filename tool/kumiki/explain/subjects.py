"""The subjects of an explanation: to which array, variable or block of the heap each event belongs."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kumiki.explain import traffic as t
from kumiki.explain.maps import Maps
from kumiki.explain.model import Subject
from kumiki.explain.record import COUNTS, Kind, Placement, Record, Use
from kumiki.explain.sources import Place, Sources, is_users, with_preposition

OTHER_HEAP = "short blocks of the heap"
OTHER_VARIABLES = "other variables"
AGAIN = 3
"""A page that another rank than its home wrote in so many intervals was not only initialised there."""
PLACEMENTS = {
    Placement.BLOCK: "block",
    Placement.CYCLIC: "cyclic",
    Placement.FIRST_RANK: "rank 0",
    Placement.FIRST: "first touch",
    Placement.RELOCATED: "relocated",
    Placement.MANAGED: "managed",
}


@dataclass(frozen=True)
class Part:
    """A piece of memory that belongs to a subject."""

    begin: int
    end: int
    subject: int


class Named:
    """All subjects, and the memory of each."""

    def __init__(self, records: Sequence[Record], traffic: t.Traffic, sources: Sources) -> None:
        self.subjects: list[Subject] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._traffic, self._records, self._sources = traffic, records, sources
        parts: list[Part] = []
        for area in traffic.areas:
            parts.extend(self._parts(area))
        parts = _without_overlaps(parts)
        self._begins = np.array([part.begin for part in parts] or [0], np.int64)
        self._ends = np.array([part.end for part in parts] or [0], np.int64)
        self._subject = np.array([part.subject for part in parts] or [-1], np.int64)

    def at(self, addresses: t.Column) -> t.Column:
        """The number of the subject at each address, or of the next one on its page; -1: none."""
        addresses = np.asarray(addresses, np.int64)
        place = np.searchsorted(self._begins, addresses, side="right") - 1
        found = np.where(
            (place >= 0) & (addresses < self._ends[np.maximum(place, 0)]), self._subject[np.maximum(place, 0)], -1
        )
        following = np.minimum(place + 1, len(self._begins) - 1)
        near = (found < 0) & (self._begins[following] >= addresses) & (self._begins[following] < (addresses | 4095) + 1)
        return np.where(near, self._subject[following], found)

    def part(self, address: int) -> Part | None:
        """The piece of memory that has a name and contains the address."""
        place = int(np.searchsorted(self._begins, address, side="right")) - 1
        if place < 0 or address >= self._ends[place] or self._subject[place] < 0:
            return None
        return Part(int(self._begins[place]), int(self._ends[place]), int(self._subject[place]))

    def _number(self, name: str, use: str, placement: str, bytes_: int, separate: bool = False) -> int:
        key = (name, use)
        if separate or key not in self._numbers:
            taken = sum(1 for known in self._numbers if known[1] == use and known[0].split(" #")[0] == name)
            if separate and taken:
                name = f"{name} #{taken + 1}"
                key = (name, use)
            self._numbers[key] = len(self.subjects)
            self.subjects.append(Subject(name, use, 0, placement))
        number = self._numbers[key]
        self.subjects[number].bytes += bytes_
        return number

    def _parts(self, area: t.Area) -> list[Part]:
        placement = PLACEMENTS.get(Placement(area.placement), "") if area.placement in list(Placement) else ""
        end = area.address + area.bytes
        if area.use is Use.ARRAY:
            name = self._line_of(area.callers)
            name = f"array of {name}" if name else f"array at {area.address:#x}"
            return [Part(area.address, end, self._number(name, "array", placement, area.bytes, separate=True))]
        if area.use is Use.STACKS:
            each = area.bytes // max(1, self._records[0].size)
            return [
                Part(
                    area.address + rank * each,
                    area.address + (rank + 1) * each,
                    self._number(f"stacks of rank {rank}", "stack", f"rank {rank}", each),
                )
                for rank in range(self._records[0].size)
            ]
        if area.use is Use.VARIABLES:
            return self._variables(area, placement)
        return self._blocks(area)

    def _line_of(self, callers: Sequence[int]) -> str:
        places = self._sources.places(callers)
        chosen: Place | None = next((places[c] for c in callers if is_users(places[c])), None)
        return chosen.text if chosen else next((places[c].text for c in callers if places[c].text), "")

    def _variables(self, area: t.Area, placement: str) -> list[Part]:
        end = area.address + area.bytes
        rest = self._number(OTHER_VARIABLES, "variable", placement, 0)
        found = [Part(area.address, end, rest)]
        for variable in self._sources.variables(area.address):
            if area.address <= variable.begin < end:
                number = self._number(variable.name, "variable", placement, variable.bytes, separate=True)
                found.append(Part(variable.begin, variable.begin + variable.bytes, number))
        return found

    def _blocks(self, area: t.Area) -> list[Part]:
        found = [Part(area.address, area.address + area.bytes, self._number(OTHER_HEAP, "heap", "", 0))]
        traffic = self._traffic
        blocks = np.flatnonzero(traffic.kind == Kind.BLOCK)
        lines = self._sources.places(traffic.code[blocks].tolist())
        for event in blocks.tolist():
            begin, size = int(traffic.address[event]), int(traffic.value[event])
            place = lines.get(int(traffic.code[event]), Place())
            name = (
                f"memory {with_preposition('of', place.text)}"
                if place.text
                else f"memory allocated at {int(traffic.code[event]):#x}"
            )
            number = self._number(name, "heap", f"rank {int(traffic.rank[event])}", size)
            found.append(Part(begin, begin + size, number))
        return found


def _without_overlaps(parts: list[Part]) -> list[Part]:
    """The parts by address, none of which overlaps another: what comes later in the list lies over what came before."""
    flat: list[Part] = []
    points = sorted({point for part in parts for point in (part.begin, part.end)})
    order = sorted(range(len(parts)), key=lambda i: parts[i].begin)
    alive: list[tuple[int, int]] = []
    following = 0
    for begin, end in pairwise(points):
        while following < len(order) and parts[order[following]].begin <= begin:
            heapq.heappush(alive, (-order[following], parts[order[following]].end))
            following += 1
        while alive and alive[0][1] <= begin:
            heapq.heappop(alive)
        if alive:
            subject = parts[-alive[0][0]].subject
            if flat and flat[-1].end == begin and flat[-1].subject == subject:
                flat[-1] = Part(flat[-1].begin, end, subject)
            else:
                flat.append(Part(begin, end, subject))
    return flat


def measure(named: Named, records: Sequence[Record], traffic: t.Traffic) -> t.Writes:
    """Fills in what each subject has cost."""
    written = t.writes(traffic)
    by_event(named, traffic)
    _exact(named, records, traffic)
    _pages(named, traffic, written)
    return written


def by_event(named: Named, traffic: t.Traffic) -> None:
    faults = traffic.where(Kind.READ_FAULT, Kind.WRITE_FAULT)
    for event, number in zip(faults.tolist(), named.at(traffic.address[faults]).tolist(), strict=True):
        subject = named.subjects[number]
        if traffic.kind[event] == Kind.WRITE_FAULT:
            subject.write_faults += 1
        else:
            subject.read_faults += 1
        subject.seconds += int(traffic.value[event]) / 1e9
    fetches = traffic.where(Kind.FETCH)
    had: set[tuple[int, int, int]] = set()
    for event, number in zip(fetches.tolist(), _faulted(named, traffic, fetches, faults), strict=True):
        subject = named.subjects[number]
        subject.fetches += 1
        subject.fetched_bytes += int(traffic.value[event])
        page = (int(traffic.rank[event]), int(traffic.area[event]), int(traffic.page[event]))
        subject.idle_fetches += page in had and bool(traffic.low[event] > traffic.high[event])
        had.add(page)
    sent = traffic.where(Kind.DIFFERENCE)
    first = named.at(traffic.address[sent] + traffic.low[sent])
    for event, number in zip(sent.tolist(), first.tolist(), strict=True):
        named.subjects[number].differences += 1
        named.subjects[number].difference_bytes += int(traffic.value[event])
    dropped = traffic.where(Kind.DROPPED)
    for number, count in Counter(named.at(traffic.address[dropped]).tolist()).items():
        named.subjects[number].dropped += count


def _faulted(named: Named, traffic: t.Traffic, fetches: t.Column, faults: t.Column) -> list[int]:
    """For each fetch the subject whose access caused it; a page that was fetched ahead counts for what begins there."""
    causes: dict[tuple[int, int, int, int], int] = {}
    for event in faults.tolist()[::-1]:  # the first one wins
        key = tuple(int(c[event]) for c in (traffic.rank, traffic.area, traffic.page, traffic.interval))
        causes[key] = int(traffic.address[event])  # type: ignore[index]
    addresses = [
        causes.get(
            (int(traffic.rank[e]), int(traffic.area[e]), int(traffic.page[e]), int(traffic.interval[e])),
            int(traffic.address[e]),
        )
        for e in fetches.tolist()
    ]
    return [int(number) for number in named.at(np.array(addresses, np.int64)).tolist()]


def _exact(named: Named, records: Sequence[Record], traffic: t.Traffic) -> None:
    """The counts of arrays, which are also there where events were lost."""
    for area in traffic.areas:
        if area.use is not Use.ARRAY:
            continue
        subject = named.subjects[int(named.at(np.array([area.address]))[0])]
        sums = dict.fromkeys(COUNTS, 0)
        for record in records:
            if area.number < len(record.arrays):
                for place, name in enumerate(COUNTS):
                    sums[name] += int(record.arrays[area.number]["counts"][place])
        subject.seconds = sums.pop("fault_ns") / 1e9
        del sums["idle_fetches"]  # the first fetch of a page by a rank is among them
        for name, count in sums.items():
            setattr(subject, name, count)


def _pages(named: Named, traffic: t.Traffic, written: t.Writes) -> None:
    """Homes, main writers and false sharing."""
    shared = written.shared()
    for area in traffic.areas:
        pages, writers = t.main_writers(written, area)
        owners = _owners(named, traffic, area)
        away = written.area == area.number
        away &= area.homes[np.minimum(np.where(away, written.page, 0), area.pages - 1)] != written.rank
        often = Counter(written.page[away].tolist())
        per_subject: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for page, writer in zip(pages.tolist(), writers.tolist(), strict=True):
            for number in owners.get(page, ()):
                per_subject[number].append((page, writer))
        for number, written_pages in per_subject.items():
            _place(named.subjects[number], area, written_pages, often, named_size=len({*traffic.rank.tolist()}))
        rows = np.flatnonzero(written.area == area.number)
        for row in rows.tolist():
            for number in owners.get(int(written.page[row]), ()):
                named.subjects[number].written += 1
        _share(named, traffic, area, written, rows[shared[rows]], owners)
        if area.use is Use.ARRAY:
            subject = named.subjects[int(named.at(np.array([area.address]))[0])]
            subject.pages = int((area.homes >= 0).sum())
            subject.homes = {int(home): int(count) for home, count in Counter(area.homes.tolist()).items()}
        else:
            _homes_of(named, traffic, area)


def _owners(named: Named, traffic: t.Traffic, area: t.Area) -> dict[int, set[int]]:
    """By page that was written: the subjects whose bytes were."""
    owners: dict[int, set[int]] = defaultdict(set)
    events = traffic.where(Kind.DIFFERENCE, Kind.WRITE_FAULT)
    events = events[traffic.area[events] == area.number]
    is_difference = traffic.kind[events] == Kind.DIFFERENCE
    ends = (traffic.low, traffic.high)
    for end in ends:
        numbers = named.at(traffic.address[events] + np.where(is_difference, end[events], 0))
        for page, number in zip(traffic.page[events].tolist(), numbers.tolist(), strict=True):
            if number >= 0:
                owners[page].add(number)
    return owners


def _homes_of(named: Named, traffic: t.Traffic, area: t.Area) -> None:
    """The homes of the pages of variables and blocks on which there was any traffic."""
    events = traffic.where(Kind.READ_FAULT, Kind.WRITE_FAULT)
    events = events[traffic.area[events] == area.number]
    numbers = named.at(traffic.address[events])
    for number, page in set(zip(numbers.tolist(), traffic.page[events].tolist(), strict=True)):
        homes = named.subjects[number].homes
        home = int(area.homes[page])
        homes[home] = homes.get(home, 0) + 1


def _place(
    subject: Subject, area: t.Area, written: list[tuple[int, int]], often: Counter[int], named_size: int
) -> None:
    subject.written_pages += len(written)
    subject.pages += len(written)
    subject.elsewhere += sum(int(area.homes[page]) != writer for page, writer in written)
    subject.again += sum(int(area.homes[page]) != writer and often[page] >= AGAIN for page, writer in written)
    if not subject.again:
        return
    size = max(named_size, 1)
    whole = area.use is Use.ARRAY
    first, last = (0, area.pages - 1) if whole else (min(written)[0], max(written)[0])
    each = -(-(last - first + 1) // size)
    block = sum((page - first) // each == writer for page, writer in written)
    cyclic = sum(page % size == writer for page, writer in written)
    enough = 0.8 * len(written)
    subject.fits = "block" if block >= enough else "cyclic" if cyclic >= enough else ""
    homes = Counter(int(area.homes[page]) for page, _ in written)
    home, count = homes.most_common(1)[0]
    subject.first_toucher = home if count >= 0.9 * len(written) else None


def _share(
    named: Named,
    traffic: t.Traffic,
    area: t.Area,
    written: t.Writes,
    rows: t.Column,
    owners: dict[int, set[int]],
) -> None:
    """False sharing: the pages that several ranks wrote in one interval."""
    times: Counter[int] = Counter()
    pages: dict[int, Counter[int]] = defaultdict(Counter)
    seen = {(int(written.page[row]), int(written.interval[row])) for row in rows.tolist()}
    for page, _ in seen:
        for number in owners.get(page, ()):
            times[number] += 1
            pages[number][page] += 1
    for number, count in times.items():
        subject = named.subjects[number]
        subject.false_shared += count
        subject.false_pages += len(pages[number])
        worst = pages[number].most_common(1)[0][0]
        subject.example = _example(traffic, area, worst)


def _example(traffic: t.Traffic, area: t.Area, page: int) -> str:
    """Which bytes which ranks sent of one page, and its home."""
    events = traffic.where(Kind.DIFFERENCE)
    events = events[(traffic.area[events] == area.number) & (traffic.page[events] == page)]
    words = []
    for rank in sorted(set(traffic.rank[events].tolist())):
        own = events[traffic.rank[events] == rank]
        words.append(f"rank {rank} bytes {int(traffic.low[own].min())} to {int(traffic.high[own].max())}")
    return f"page {page} (home: rank {int(area.homes[page])}): " + ", ".join(words)


def lines_of(records: Sequence[Record], traffic: t.Traffic) -> t.Column:
    """The instruction of each event at its address in the first rank that left a record."""
    maps = {record.rank: Maps.load(record.maps) for record in records}
    first = maps[records[0].rank]
    code = traffic.code.copy()
    for record in records[1:]:
        own = np.flatnonzero((traffic.rank == record.rank) & (traffic.code != 0))
        for address in np.unique(traffic.code[own]).tolist():
            code[own[traffic.code[own] == address]] = maps[record.rank].in_other(int(address), first)
    return code
