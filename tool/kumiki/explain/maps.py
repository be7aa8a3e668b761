"""What a process had mapped (proc(5)): the same instruction has other addresses in other ranks."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path

_LINE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ (\d+)\s+(/.*)")


@dataclass(frozen=True)
class Mapping:
    begin: int
    end: int
    offset: int
    path: str


@dataclass(frozen=True)
class Maps:
    """The files that a process has mapped, by address."""

    mappings: tuple[Mapping, ...]

    @staticmethod
    def load(path: Path) -> Maps:
        text = path.read_text(errors="replace") if path.exists() else ""
        found = [
            Mapping(int(match[1], 16), int(match[2], 16), int(match[3], 16), match[5])
            for line in text.splitlines()
            if (match := _LINE.match(line))
        ]
        return Maps(tuple(sorted(found, key=lambda each: each.begin)))

    def has(self, address: int) -> bool:
        """Whether a file is mapped there; also where nothing is known about the process."""
        place = bisect_right(self.mappings, address, key=lambda each: each.begin) - 1
        return not self.mappings or (place >= 0 and address < self.mappings[place].end)

    def in_other(self, address: int, other: Maps) -> int:
        """The address in another process of what is at `address` in this one; the same if it is not there."""
        place = bisect_right(self.mappings, address, key=lambda each: each.begin) - 1
        if place < 0 or address >= self.mappings[place].end:
            return address
        here = self.mappings[place]
        offset = here.offset + address - here.begin
        for there in other.mappings:
            if there.path == here.path and there.offset <= offset < there.offset + there.end - there.begin:
                return there.begin + offset - there.offset
        return address
