"""Comparing two results: which figures improved or got worse, and whether the change is more than chance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kumiki.comparison.subject import subject_differences
from kumiki.machine import environment
from kumiki.results import files
from kumiki.results.row import Row
from kumiki.results.statistics import Contrast, contrast


@dataclass(frozen=True)
class Side:
    """One of the two results."""

    content: Mapping[str, Any]
    samples: Mapping[str, Any]
    """Raw samples by row id, for computations that draw from them; empty without samples.json."""

    @staticmethod
    def load(path: Path) -> Side:
        return Side(files.load(path), files.load_samples(path) or {})

    def rows(self) -> dict[object, Row]:
        """The measured rows by their identity."""
        rows = map(Row.parse, self.content["rows"])
        return {row.identity: row for row in rows if row.measured}


@dataclass(frozen=True)
class Change:
    """One figure in both results."""

    before: Row
    after: Row

    @cached_property
    def contrast(self) -> Contrast:
        """Median after divided by median before."""
        return contrast(self.before.summary, self.after.summary)

    @property
    def ratio(self) -> float:
        """Median after divided by median before; 1 if both are zero."""
        return self.contrast.ratio

    @property
    def has_ratio(self) -> bool:
        """Whether both medians are above 0; differences of measurements can be zero or negative."""
        return min(self.before.value, self.after.value) > 0

    @property
    def difference(self) -> float:
        """Median after minus median before."""
        return self.after.value - self.before.value

    @property
    def worsening(self) -> float:
        """The factor by which the figure got worse: above 1 worse, below 1 better, for metrics of either direction.

        Where the medians have no ratio, any change for the worse is more than every factor.
        """
        lower = self.before.better == "lower"
        if self.has_ratio:
            return self.ratio if lower else 1 / self.ratio
        if self.difference == 0:
            return 1.0
        return math.inf if (self.difference > 0) is lower else 0.0

    @property
    def significant(self) -> bool:
        """More than chance."""
        return self.contrast.differ

    @property
    def verdict(self) -> str:
        """One word: `worse`, `better`, `equal`, or `open` if the samples do not decide."""
        if self.significant:
            return "worse" if self.worsening > 1 else "better"
        return "equal" if self.contrast.equal else "open"

    def regression(self, percent: float) -> bool:
        """Whether the figure became significantly worse by more than this."""
        return self.significant and self.worsening > 1 + percent / 100


@dataclass(frozen=True)
class Comparison:
    """The comparison of two results; `changes` has the worst first."""

    changes: tuple[Change, ...]
    only_before: tuple[Row, ...]
    only_after: tuple[Row, ...]
    subject_differences: tuple[str, ...]
    """Sentences that say why the two sides measure different things."""
    machine_differences: tuple[str, ...]
    build_differences: tuple[str, ...]


def compare(before: Side, after: Side) -> Comparison:
    """Matches the rows of two results by suite, metric, implementation and parameters."""
    first, second = before.rows(), after.rows()
    environments = before.content["environment"], after.content["environment"]
    changes = [Change(first[name], second[name]) for name in first if name in second]
    return Comparison(
        changes=tuple(sorted(changes, key=lambda change: (not change.significant, -change.worsening))),
        only_before=tuple(row for name, row in first.items() if name not in second),
        only_after=tuple(row for name, row in second.items() if name not in first),
        subject_differences=tuple(subject_differences(before.content, after.content)),
        machine_differences=tuple(environment.machine_differences(*environments)),
        build_differences=tuple(environment.build_differences(*environments)),
    )
