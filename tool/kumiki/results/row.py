"""A row: as a program prints it with its samples (docs/rows.md), and as everything from results.json on uses it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kumiki.results.implementation import TITLES
from kumiki.results.statistics import CONVERGED_HALF_WIDTH, Summary, summarise

Parameters = Mapping[str, "int | str"]
METRIC = re.compile(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*")


class MalformedRow(ValueError):
    """A line that begins like a row but is not valid; the text says what is wrong with it."""


@dataclass(frozen=True)
class ProgramRow:
    """One measured figure with its raw samples, as the program printed it."""

    metric: str
    implementation: str
    parameters: Parameters
    unit: str
    better: str
    samples: tuple[float, ...]
    validated: bool | None
    oversubscribed: bool
    note: str | None
    resolution: float = 0.0
    """The precision that is sufficient however small the figure is; in its unit."""

    @property
    def processors(self) -> int:
        """The threads of all ranks."""
        return _count(self.parameters, "ranks") * _count(self.parameters, "threads")


def parse_row(line: str) -> ProgramRow:
    """Reads one line of a program's standard output that begins with `{`; raises MalformedRow."""
    try:
        fields = json.loads(line)
    except json.JSONDecodeError as error:
        raise MalformedRow(f"it is not JSON ({error.msg} at column {error.colno})") from None
    except RecursionError:
        raise MalformedRow("it is nested too deeply") from None
    metric = _text(fields, "metric")
    if not METRIC.fullmatch(metric):
        raise MalformedRow(f"its metric '{metric}' does not have the form thing.figure")
    better = _text(fields, "better")
    if better not in ("higher", "lower"):
        raise MalformedRow(f"'better' is '{better}', not 'higher' or 'lower'")
    return ProgramRow(
        metric=metric,
        implementation=_text(fields, "implementation"),
        parameters=_parameters(fields),
        unit=_text(fields, "unit"),
        better=better,
        samples=_samples(fields),
        validated=_flag(fields, "validated"),
        oversubscribed=bool(_flag(fields, "oversubscribed")),
        note=_text(fields, "note") if fields.get("note") is not None else None,
        resolution=_resolution(fields),
    )


@dataclass(frozen=True)
class Row:
    """One figure as results.json has it: what was measured, by which implementation, with which parameters, and its
    median with a 95 % interval; or the sentence why there is none.
    """

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
    """`drift`, `modes` or `start`: the defect of the samples; empty if none was found."""
    note: str = ""
    absent: str = ""
    failed: str = ""
    resolution: float = 0.0
    title: str = ""
    """The title of its implementation, for a reader of results; empty while the results are being taken."""

    @staticmethod
    def measured_by(program: ProgramRow, suite: str, number: int) -> Row:
        """The row made from a program's row."""
        summary = summarise(program.samples)
        return Row(
            id=number,
            suite=suite,
            metric=program.metric,
            implementation=program.implementation,
            parameters=dict(program.parameters),
            unit=program.unit,
            better=program.better,
            median=summary.median,
            low=summary.low,
            high=summary.high,
            n=summary.n,
            converged=_converged(summary, program.resolution),
            oversubscribed=program.oversubscribed,
            validated=program.validated,
            unsteady=summary.unsteady.value if summary.unsteady else "",
            note=program.note or "",
            resolution=program.resolution,
        )

    @staticmethod
    def parse(raw: Mapping[str, Any], position: int = 0, titles: Mapping[str, str] = TITLES) -> Row:
        """Reads a row of results.json; its position is its id if it has none, and missing values are unknown.

        `titles`: those of implementations.
        """
        interval = raw.get("ci95") or (None, None)
        implementation = str(raw.get("implementation", ""))
        return Row(
            id=int(raw.get("id", position)),
            suite=str(raw.get("suite", "")),
            metric=str(raw.get("metric", "")),
            implementation=implementation,
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
            resolution=_number(raw.get("resolution")) or 0.0,
            title=titles.get(implementation, implementation),
        )

    def as_dict(self) -> dict[str, Any]:
        """The row for results.json."""
        further = {name: getattr(self, name) for name in ("resolution", "unsteady", "note", "absent", "failed")}
        return {
            "id": self.id,
            "suite": self.suite,
            "metric": self.metric,
            "implementation": self.implementation,
            "parameters": dict(self.parameters),
            "unit": self.unit,
            "better": self.better,
            "median": self.median,
            "ci95": [self.low, self.high] if self.measured else None,
            "n": self.n,
            "converged": self.converged,
            "oversubscribed": self.oversubscribed,
            "validated": self.validated,
            **{name: value for name, value in further.items() if value},
        }

    @property
    def figure(self) -> tuple[str, str, tuple[tuple[str, int | str], ...]]:
        """What was measured: metric, implementation and parameters. Several suites may measure the same."""
        return self.metric, self.implementation, tuple(sorted(self.parameters.items()))

    @property
    def identity(self) -> object:
        """The identity of the row in its results: its suite, and what was measured."""
        return self.suite, self.figure

    @property
    def summary(self) -> Summary:
        """The summary; a row without an interval is treated as one with too few samples."""
        n = self.n if self.low is not None else 0
        return Summary(self.value, *self.interval, n, resolution=self.resolution)

    @property
    def measured(self) -> bool:
        return self.median is not None

    @property
    def trusted(self) -> bool:
        """Measured, and not known to be wrong."""
        return self.measured and self.validated is not False

    @property
    def usable(self) -> bool:
        """Trusted and positive, as ratios and logarithmic axes require; plots and advice use only such rows.
        Differences of measurements (such as the visible part of a barrier) can be zero or negative.
        """
        return self.trusted and self.value > 0

    @property
    def value(self) -> float:
        """The median of a measured row; calling this on an absent row is a programming error."""
        if self.median is None:
            raise ValueError(f"row {self.id} ({self.metric}) has no median")
        return self.median

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval, or the median twice if there are too few samples for one."""
        if self.low is None or self.high is None:
            return self.value, self.value
        return self.low, self.high

    def count(self, name: str, default: int = 1) -> int:
        return _count(self.parameters, name, default)

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
        """The threads of all ranks; in an oversubscribed row these threads share fewer processors."""
        return self.ranks * self.threads

    @property
    def working(self) -> int:
        """The threads of each rank that computed: programs leave threads idle if there are too few cores."""
        return self.count("working", self.threads)


def _converged(summary: Summary, resolution: float) -> bool:
    """Whether the figure has settled, by the rule that the programs use to stop (measure/interval.hpp).

    If the resolution is more than 5 % of the median, it takes the place of these 5 %.
    """
    return replace(summary, median=max(abs(summary.median), resolution / CONVERGED_HALF_WIDTH)).converged


def _count(parameters: Parameters, name: str, default: int = 1) -> int:
    value = parameters.get(name, default)
    return value if isinstance(value, int) else default


def _field(fields: Mapping[str, Any], name: str) -> Any:
    if name not in fields:
        raise MalformedRow(f"it has no '{name}'")
    return fields[name]


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = _field(fields, name)
    if not isinstance(value, str) or not value:
        raise MalformedRow(f"its '{name}' is not text")
    return value


def _flag(fields: Mapping[str, Any], name: str) -> bool | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, bool):
        raise MalformedRow(f"its '{name}' is neither true, false nor null")
    return value


def _parameters(fields: Mapping[str, Any]) -> Parameters:
    value = _field(fields, "parameters")
    if not isinstance(value, dict):
        raise MalformedRow("its 'parameters' is not an object")
    for name, held in value.items():
        if isinstance(held, bool) or not isinstance(held, (int, str)):
            raise MalformedRow(f"its parameter '{name}' is neither a whole number nor text")
    return value


def _samples(fields: Mapping[str, Any]) -> tuple[float, ...]:
    value = _field(fields, "samples")
    if not isinstance(value, list) or not value:
        raise MalformedRow("its 'samples' is not a list of at least one number")
    for sample in value:
        if isinstance(sample, bool) or not isinstance(sample, (int, float)) or not math.isfinite(sample):
            raise MalformedRow(f"its sample {sample!r} is not a finite number")
    return tuple(float(sample) for sample in value)


def _resolution(fields: Mapping[str, Any]) -> float:
    value = fields.get("resolution", 0)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
        raise MalformedRow("its 'resolution' is not a number of 0 or more")
    return float(value)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
