"""The words of `kumiki linpack`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import isfinite

from kumiki.errors import UserError

RESULT = re.compile(r"W[RC]\d\S+ +(\d+) +(\d+) +(\d+) +(\d+) +(\d+\.\d+) +(\d\.\d+e[+-]\d+)")
"""A line of results, as HPL prints it: N, NB, P, Q, seconds, GFLOP/s."""
DEVICE_ROOM = re.compile(r"# the matrix lives on the device, which has room for N = (\d+) ")
"""A remark before the result of a run in the resident form (linpack/devices.cpp)."""
RESIDUAL_FAILED = re.compile(r"\|\|Ax-b\|\|_oo/.*\.\.\. FAILED$")


MEASURED = "measured"
SHARE = re.compile(r"\+?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
FORMS = ("auto", "offload", "resident")
"""How a device takes part: it gets products of updates, or the matrix lives on it."""
USUAL = {"device": "none", "form": "none", "mix": "none", "look_ahead": "tiles", "wait": "adaptive", "cores": "alike"}
"""What rows of Linpack are about unless a study changes it."""


@dataclass(frozen=True)
class Setting:
    """How one size is run."""

    size: int
    block: int
    rows: int
    columns: int
    threads: int
    """Threads of each rank."""
    weights: str | None = None
    device: str | None = None
    """That shares the updates, as kumiki-linpack describes it."""
    accelerated: int | None = None
    """The last so many ranks, of one thread each, alone use the device (kumiki.linpack.mix); None: all do."""
    form: str | None = None
    """How the device takes part; None: as kumiki-linpack chooses."""
    hosts: int = 1

    @property
    def ranks(self) -> int:
        return self.rows * self.columns

    @property
    def operations(self) -> float:
        """2/3 N^3 + 3/2 N^2, as HPL counts."""
        return operations(self.size)

    def with_size(self, size: int) -> Setting:
        return replace(self, size=size)

    def with_block(self, block: int) -> Setting:
        return replace(self, block=block)

    def arguments(self) -> list[str]:
        """The options of kumiki-linpack."""
        words = ["-N", str(self.size), "--block", str(self.block), "--grid", f"{self.rows}x{self.columns}"]
        words += ["--weights", self.weights] if self.weights else []
        words += ["--device", self.device] if self.device else []
        words += ["--form", self.form] if self.form else []
        return words + (["--device-processes", str(self.accelerated)] if self.accelerated is not None else [])


@dataclass(frozen=True)
class Result:
    """What a run gave."""

    size: int
    block: int
    seconds: float
    rate: float
    """GFLOP/s."""
    failed: bool = False
    """The residual was not below the threshold; not where it was not checked."""
    device_room: int | None = None
    """The largest N, in such blocks, that has room on the device on which the matrix lives; None: it lives on no
    device."""


def operations(size: int) -> float:
    return 2 / 3 * size**3 + 3 / 2 * size**2


def results(lines: Iterable[str]) -> list[Result]:
    """The results among lines of output; remarks come before the line of a result, and that of a residual after it."""
    found: list[Result] = []
    room: int | None = None
    for line in lines:
        if remark := DEVICE_ROOM.match(line):
            room = int(remark[1])
        elif result := RESULT.match(line):
            size, block, seconds, rate = int(result[1]), int(result[2]), float(result[5]), float(result[6])
            found.append(Result(size, block, seconds, rate, device_room=room))
            room = None
        elif found and RESIDUAL_FAILED.match(line):
            found[-1] = replace(found[-1], failed=True)
    return found


def grid_of(text: str) -> tuple[int, int]:
    """Reads a grid such as 2x3. Raises UserError if it is none."""
    found = re.fullmatch(r"([1-9]\d{0,5})x([1-9]\d{0,5})", text)
    if not found:
        raise UserError(f"--grid {text} is not a grid of process rows x columns such as 2x3")
    return int(found[1]), int(found[2])


def shares_of(text: str) -> str:
    """Shares of the process columns, as --weights takes them: `measured`, or numbers, which get their shortest form and
    lose the blanks between them. Raises ValueError with a sentence if they are none."""
    if text == MEASURED:
        return text
    shares = [_share(word.strip()) for word in text.split(",")]
    if not any(shares):
        raise ValueError("all are 0, so that nobody would have any columns; give one that is larger")
    return ",".join(repr(share).removesuffix(".0") for share in shares)


def _share(word: str) -> float:
    if not SHARE.fullmatch(word) or not isfinite(float(word)):
        raise ValueError(f"'{word}' is no share; give numbers such as 2,1, or '{MEASURED}'")
    return float(word)


def has_settings(parameters: Mapping[str, int | str], settings: Mapping[str, str] = USUAL) -> bool:
    """Whether a row was measured with these settings; one of an older evaluation, without them, has the usual ones."""
    return all(parameters.get(name, USUAL[name]) == value for name, value in settings.items())


def near_square(ranks: int) -> tuple[int, int]:
    """The grid whose rows and columns are nearest to each other, with no more rows than columns."""
    rows = max(rows for rows in range(1, int(ranks**0.5) + 1) if ranks % rows == 0)
    return rows, ranks // rows
