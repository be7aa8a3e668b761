"""Rows of the suite linpack: what processes they are about, and what a rate of theirs is for the model."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kumiki.results.row import Row

Samples = Mapping[int, Sequence[float]]
"""The samples of rows, by their ids."""


@dataclass(frozen=True)
class Place:
    """What must be alike for rows to describe the same kind of processes."""

    ranks: int
    threads: int
    block: int
    grid: str
    hosts: int

    @staticmethod
    def of(row: Row) -> Place:
        return Place(row.ranks, row.threads, row.count("block"), row.text("grid"), row.count("hosts"))

    @property
    def name(self) -> str:
        over = f" over {self.hosts} hosts" if self.hosts > 1 else ""
        return f"{self.grid} ranks x {self.threads}, block {self.block}{over}"


def place_of(row: Row) -> str:
    """The name of the kind of processes that a row is about."""
    return Place.of(row).name


def mean_rate(row: Row, samples: Samples) -> float:
    """The rate of the mean time, because a run is a sum of many such times: delays that are rare count in it, too."""
    taken = samples.get(row.id, ())
    return statistics.harmonic_mean(taken) if taken else row.value
