"""The choice of everything that the user leaves open, and its reasons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kumiki.linpack.memory import bytes_of_rank, largest_size
from kumiki.linpack.mix import Mix
from kumiki.linpack.model import Result, Setting, near_square, operations

RUN_SECONDS = 90.0
"""How long the run itself should take: with the trials, less than two minutes."""
TRIAL_SECONDS = 3.0
FIRST_TRIAL, LARGEST_TRIAL = 1000, 8000
BLOCKS = (128, 192, 256, 384)
USUAL_BLOCK = 256
MEMORY_SHARE = 0.8
"""The share of the free memory that the matrix may take."""

Trial = Callable[[Setting, Sequence[int]], list[Result]]
"""Runs a setting with several blocks."""


@dataclass(frozen=True)
class Wishes:
    """What the user has decided."""

    size: int | None = None
    block: int | None = None
    grid: tuple[int, int] | None = None
    weights: str | None = None
    ranks: int | None = None
    threads: int | None = None
    device: str | None = None
    form: str | None = None
    """How the device takes part (kumiki.linpack.model.FORMS)."""
    mix: Mix | None = None
    """The processes of each host, all with equal shares."""


@dataclass(frozen=True)
class Room:
    """What there is to use."""

    hosts: int
    cores: int
    """Of all hosts together."""
    memories: int
    """Memory nodes of all hosts together."""
    free_bytes: int
    """Of all hosts together."""


@dataclass(frozen=True)
class Choice:
    """The setting, the time that it will take, and a sentence for each thing that was chosen."""

    setting: Setting
    seconds: float
    reasons: tuple[str, ...]

    def facts(self) -> list[str]:
        """Memory and time."""
        return [
            memory_of(self.setting),
            f"time: about {self.seconds:.0f} s for {self.setting.operations / 1e9:.0f} x 10^9 operations",
        ]


def memory_of(setting: Setting) -> str:
    """What a run needs, as a sentence."""
    bytes_each = bytes_of_rank(setting)
    return f"memory: {_gib(bytes_each)} for each rank, {_gib(bytes_each * setting.ranks)} together"


def choose(wishes: Wishes, room: Room, trial: Trial) -> Choice:
    """Chooses ranks, threads and grid by the hardware, the block by trials, and the size by memory and time."""
    reasons: list[str] = []
    setting = _shape(wishes, room, reasons)
    blocks = [wishes.block] if wishes.block else list(BLOCKS)
    # The widest block needs most memory of a device, so the others have room where it has.
    first = trial(setting.with_size(FIRST_TRIAL), [max(blocks) if wishes.device else setting.block])[0]
    size = min(_size_for(first.rate, TRIAL_SECONDS), LARGEST_TRIAL)
    for most in (wishes.size, first.device_room):
        size = size if most is None else min(size, most)
    tried = trial(setting.with_size(max(size, 1)), blocks)
    best = max(tried, key=lambda result: result.rate)
    setting = setting.with_block(best.block)
    if wishes.block is None:
        rates = ", ".join(f"{each.block}: {each.rate:.3g}" for each in tried)
        reasons.append(f"block: {best.block}, the fastest in trials with N = {best.size} (GFLOP/s by block: {rates})")
    setting = _sized(setting, wishes, room, best, reasons)
    return Choice(setting, setting.operations / 1e9 / best.rate, tuple(reasons))


def _shape(wishes: Wishes, room: Room, reasons: list[str]) -> Setting:
    if wishes.mix is not None:
        ranks = wishes.mix.ranks * room.hosts
    elif wishes.grid is not None:
        ranks = wishes.grid[0] * wishes.grid[1]
    elif wishes.ranks is not None:
        ranks = wishes.ranks
    else:
        ranks = max(room.memories, room.hosts)
        reasons.append(f"ranks: {ranks}, one for each memory node")
    threads = wishes.mix.threads if wishes.mix else wishes.threads or max(1, room.cores // ranks)
    if wishes.threads is None and wishes.mix is None:
        reasons.append(f"threads: {threads} for each rank, as there are {room.cores} cores")
    rows, columns = wishes.grid or near_square(ranks)
    if wishes.grid is None:
        reasons.append(f"grid: {rows} x {columns}, as square as the ranks allow, and wide rather than tall")
    weights = wishes.weights or ("measured" if columns > 1 and wishes.mix is None else None)
    block, device = wishes.block or USUAL_BLOCK, wishes.device
    accelerated = wishes.mix.accelerated if wishes.mix and device else None
    return Setting(0, block, rows, columns, threads, weights, device, accelerated, wishes.form, room.hosts)


def _sized(setting: Setting, wishes: Wishes, room: Room, tried: Result, reasons: list[str]) -> Setting:
    if wishes.size is not None:
        return setting.with_size(wishes.size)
    by_memory = largest_size(setting, int(MEMORY_SHARE * room.free_bytes))
    by_time = _size_for(tried.rate, RUN_SECONDS) // setting.block * setting.block
    by_device = by_memory if tried.device_room is None else tried.device_room
    size = max(min(by_memory, by_time, by_device), setting.block)
    if by_time <= min(by_memory, by_device):
        rate = f"at {tried.rate:.3g} GFLOP/s"
        why = f"which takes about {RUN_SECONDS:.0f} s {rate} (the free memory has room for {by_memory})"
    elif by_device < by_memory:
        why = "the largest for which the device, on which the matrix lives, has room"
    else:
        why = f"which needs {100 * MEMORY_SHARE:.0f} % of the {_gib(room.free_bytes)} that are free"
    reasons.append(f"N: {size}, {why}")
    return setting.with_size(size)


def _size_for(rate: float, seconds: float) -> int:
    """The size whose operations take so long."""
    size = int((1.5e9 * rate * seconds) ** (1 / 3))
    while size > 1 and operations(size) > rate * seconds * 1e9:
        size -= 1
    return size


def _gib(count: float) -> str:
    return f"{count / 2**30:.2f} GiB"
