"""The rows of an evaluation as typed objects, read tolerantly: a partial result is still a result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SCHEMA_VERSION = 1


class ResultsError(Exception):
    """results.json is missing, unreadable or of a schema that this version does not know."""


@dataclass(frozen=True)
class Row:
    """One measured figure: what was measured, by whom, with which parameters, and its median with a 95 % interval."""

    id: int
    suite: str
    metric: str
    implementation: str
    parameters: Mapping[str, int | str]
    unit: str
    better: str
    median: float | None
    low: float | None
    high: float | None
    n: int
    converged: bool
    oversubscribed: bool
    validated: bool | None
    unsteady: str = ""
    """`drift`, `modes` or `start`: what is wrong with the samples; empty where nothing shows."""
    note: str = ""
    absent: str = ""
    failed: str = ""

    @staticmethod
    def parse(raw: Mapping[str, Any], position: int) -> Row:
        interval = raw.get("ci95") or (None, None)
        return Row(
            id=int(raw.get("id", position)),
            suite=str(raw.get("suite", "")),
            metric=str(raw.get("metric", "")),
            implementation=str(raw.get("implementation", "")),
            parameters=dict(raw.get("parameters") or {}),
            unit=str(raw.get("unit", "")),
            better=str(raw.get("better", "lower")),
            median=_number(raw.get("median")),
            low=_number(interval[0]),
            high=_number(interval[1]),
            n=int(raw.get("n") or 0),
            converged=bool(raw.get("converged", True)),
            oversubscribed=bool(raw.get("oversubscribed", False)),
            validated=raw.get("validated"),
            unsteady=str(raw.get("unsteady") or ""),
            note=str(raw.get("note") or ""),
            absent=str(raw.get("absent") or ""),
            failed=str(raw.get("failed") or ""),
        )

    @property
    def measured(self) -> bool:
        return self.median is not None

    @property
    def trusted(self) -> bool:
        """Measured, and not known to be wrong."""
        return self.measured and self.validated is not False

    @property
    def usable(self) -> bool:
        """Trusted and positive, as ratios and logarithmic axes need it: the only rows that plots and advice rest on.

        Differences of measurements (what remains visible of a barrier) can come out as nothing or less.
        """
        return self.trusted and self.value > 0

    @property
    def value(self) -> float:
        """The median of a measured row; asking an absent row for it is a programming error."""
        if self.median is None:
            raise ValueError(f"row {self.id} ({self.metric}) has no median")
        return self.median

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval, or the median twice when there are too few samples for one."""
        if self.low is None or self.high is None:
            return self.value, self.value
        return self.low, self.high

    def count(self, name: str, default: int = 1) -> int:
        value = self.parameters.get(name, default)
        return value if isinstance(value, int) else default

    def text(self, name: str) -> str:
        return str(self.parameters.get(name, ""))

    @property
    def ranks(self) -> int:
        return self.count("ranks")

    @property
    def threads(self) -> int:
        return self.count("threads")

    @property
    def processors(self) -> int:
        """Threads of all ranks: of an oversubscribed row no processors, but threads that share fewer of them."""
        return self.ranks * self.threads

    @property
    def working(self) -> int:
        """Threads of each rank that computed: programs leave threads idle where there are too few cores."""
        return self.count("working", self.threads)


@dataclass(frozen=True)
class Results:
    """All that one evaluation left behind."""

    rows: tuple[Row, ...]
    environment: Mapping[str, Any] = field(default_factory=dict)
    samples: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    complete: bool = True
    arguments: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None

    @staticmethod
    def parse(raw: Mapping[str, Any], samples: Mapping[str, Any] | None = None) -> Results:
        version = raw.get("schema_version", SCHEMA_VERSION)
        if version != SCHEMA_VERSION:
            raise ResultsError(
                f"the results are of schema version {version}, this Kumiki reads version {SCHEMA_VERSION}: "
                "make the report with the Kumiki that measured, or measure again with `kumiki evaluate`"
            )
        rows = raw.get("rows", [])
        if not isinstance(rows, list):
            raise ResultsError("the results hold no list of rows: make them again with `kumiki evaluate`")
        return Results(
            rows=tuple(Row.parse(row, position) for position, row in enumerate(rows)),
            environment=dict(raw.get("environment") or {}),
            samples={int(key): tuple(float(v) for v in values) for key, values in (samples or {}).items()},
            complete=bool(raw.get("complete", True)),
            arguments=dict(raw.get("arguments") or {}),
            seed=raw.get("seed"),
        )

    @staticmethod
    def load(directory: Path) -> Results:
        samples = directory / "samples.json"
        return Results.parse(_read(directory / "results.json"), _read(samples) if samples.exists() else None)

    def where(self, metric: str, implementation: str | None = None, **parameters: int | str) -> list[Row]:
        """The measured rows of a metric whose parameters have the given values."""
        return [
            row
            for row in self.rows
            if row.metric == metric
            and row.measured
            and (implementation is None or row.implementation == implementation)
            and all(row.parameters.get(name) == value for name, value in parameters.items())
        ]

    def suite(self, name: str) -> list[Row]:
        return [row for row in self.rows if row.suite == name]


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ResultsError(
            f"{path} does not exist: measure first with `kumiki evaluate --output {path.parent}`"
        ) from None
    except (OSError, ValueError) as error:
        raise ResultsError(f"{path} cannot be read ({error}): measure again with `kumiki evaluate`") from error
    if not isinstance(content, dict):
        raise ResultsError(f"{path} is not a result of `kumiki evaluate`: measure again")
    return content
