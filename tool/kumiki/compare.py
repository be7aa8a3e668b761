"""Comparing two results: which figures became better or worse, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kumiki import environment, results
from kumiki.row import identity
from kumiki.statistics import rank_test

SIGNIFICANCE_LEVEL = 0.05


@dataclass(frozen=True)
class Side:
    """One of the two results."""

    content: Mapping[str, Any]
    samples: Mapping[str, Sequence[float]]
    """Raw samples by row id; empty when samples.json is not there."""

    @staticmethod
    def load(path: Path) -> Side:
        return Side(results.load(path), results.load_samples(path) or {})

    def rows(self) -> dict[object, Mapping[str, Any]]:
        """The measured rows by what they are figures of."""
        return {identity(row): row for row in self.content["rows"] if row["median"] is not None}

    def samples_of(self, row: Mapping[str, Any]) -> Sequence[float]:
        return self.samples.get(str(row["id"]), ())


@dataclass(frozen=True)
class Change:
    """One figure in both results."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    p: float | None
    """Of the Mann-Whitney test; None without raw samples on both sides."""

    @property
    def ratio(self) -> float:
        """Median after by median before; 1 when both are zero."""
        first, second = self.before["median"], self.after["median"]
        return second / first if first else 1.0 if second == first else float("inf")

    @property
    def worsening(self) -> float:
        """How many times as bad the figure became: above 1 worse, below 1 better, whatever the metric's direction."""
        if self.before["better"] == "lower":
            return self.ratio
        return 1 / self.ratio if self.ratio else float("inf")

    @property
    def significant(self) -> bool:
        """More than chance: by the rank test, or without raw samples by confidence intervals that do not meet."""
        if self.p is not None:
            return self.p < SIGNIFICANCE_LEVEL
        (low, high), (other_low, other_high) = self.before["ci95"], self.after["ci95"]
        return bool(high < other_low or other_high < low)

    def regression(self, percent: float) -> bool:
        """Whether the figure became significantly worse by more than this."""
        return self.significant and self.worsening > 1 + percent / 100


@dataclass(frozen=True)
class Comparison:
    """All that two results say about each other; `changes` has the worst first."""

    changes: tuple[Change, ...]
    only_before: tuple[Mapping[str, Any], ...]
    only_after: tuple[Mapping[str, Any], ...]
    machine_differences: tuple[str, ...]
    build_differences: tuple[str, ...]
    without_samples: bool
    """Whether some of the figures had to be compared by their intervals."""


def compare(before: Side, after: Side) -> Comparison:
    """Matches the rows of two results by metric, implementation and parameters."""
    first, second = before.rows(), after.rows()
    environments = before.content["environment"], after.content["environment"]
    changes = [_change(before, after, first[name], second[name]) for name in first if name in second]
    return Comparison(
        changes=tuple(sorted(changes, key=lambda change: (not change.significant, -change.worsening))),
        only_before=tuple(row for name, row in first.items() if name not in second),
        only_after=tuple(row for name, row in second.items() if name not in first),
        machine_differences=tuple(environment.machine_differences(*environments)),
        build_differences=tuple(environment.build_differences(*environments)),
        without_samples=any(change.p is None for change in changes),
    )


def _change(before: Side, after: Side, first: Mapping[str, Any], second: Mapping[str, Any]) -> Change:
    samples = before.samples_of(first), after.samples_of(second)
    return Change(first, second, rank_test(*samples) if all(samples) else None)
