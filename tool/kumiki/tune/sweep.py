"""The measurement: long messages in fragments of every length, in shuffled rounds."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kumiki.errors import ExitCode, UserError
from kumiki.evaluation.measure import measure
from kumiki.hosts import Hosts
from kumiki.machine.native import Native
from kumiki.results.statistics import summarise
from kumiki.suites import fragments
from kumiki.suites.fragments import FEW_LENGTHS, METRIC, OWN_RULE, PAPER
from kumiki.suites.model import Point

LENGTHS = (*PAPER, *(2**power for power in range(10, 20)))
QUICK_ROUNDS, ROUNDS = 6, 8
"""From six rounds on, the interval covers the median with 95 % probability."""
SECONDS = 0.05
"""The budget of one start, which is one sample."""


@dataclass(frozen=True)
class Sweep:
    """What is measured: the link, and the precision."""

    hosts: Hosts | None
    """The two hosts to measure between; None: two ranks of this host."""
    quick: bool = False

    @property
    def link(self) -> str:
        """The name of the link in the file of lengths."""
        if self.hosts is None:
            return "memory"
        return f"network:{self.hosts.interface}" if self.hosts.interface else "network"

    @property
    def message_bytes(self) -> int:
        return fragments.message_bytes(self.hosts is not None, self.quick)

    @property
    def lengths(self) -> list[int]:
        """All lengths that are compared, the library's own rule first."""
        return [OWN_RULE, *fragments.within(FEW_LENGTHS if self.quick else LENGTHS, self.hosts is not None)]

    @property
    def rounds(self) -> int:
        return QUICK_ROUNDS if self.quick else ROUNDS

    def order(self, seed: int) -> Iterator[int]:
        """Every length once in each round, in random order: a slow drift of the machine affects all of them alike."""
        chance = random.Random(seed)
        for _ in range(self.rounds):
            yield from chance.sample(self.lengths, len(self.lengths))

    def point(self, length: int) -> Point:
        """One start with a fixed length."""
        hosts = self.hosts.for_ranks(2) if self.hosts else None
        return fragments.point("tune", length, self.message_bytes, hosts, SECONDS)

    def run(self, native: Native, cores: int, seed: int, told: Callable[[dict[int, list[float]]], None]) -> None:
        """Measures all rounds and reports the results after each start. Raises UserError if a start fails."""
        bandwidths: dict[int, list[float]] = {length: [] for length in self.lengths}
        for length in self.order(seed):
            point = self.point(length)
            outcome = measure(point, native, cores, point.limit_seconds, lambda text: None)
            rows = [row for row in outcome.rows if row.metric == METRIC]
            if outcome.failed or len(rows) != 1 or rows[0].validated is False:
                said = outcome.failed or "did not print one row with correct data"
                raise UserError(f"fragments of {length} bytes could not be measured: {said}", ExitCode.FAILED)
            bandwidths[length].append(summarise(rows[0].samples).median)
            told(bandwidths)
