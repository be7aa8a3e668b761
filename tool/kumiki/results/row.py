"""A row as a program prints it (docs/rows.md) and as results.json keeps it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kumiki.results.statistics import CONVERGED_HALF_WIDTH, Summary, summarise

Parameters = Mapping[str, "int | str"]
METRIC = re.compile(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*")


class MalformedRow(ValueError):
    """A line that begins like a row and is none; the text says what is wrong with it."""


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
    """How exactly anybody wants to know the figure, however small it is; in its unit."""


def parse_row(line: str) -> ProgramRow:
    """Reads one line of a program's standard output that begins with `{`; raises MalformedRow."""
    try:
        fields = json.loads(line)
    except json.JSONDecodeError as error:
        raise MalformedRow(f"it is not JSON ({error.msg} at column {error.colno})") from None
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


def measured(row: ProgramRow, suite: str) -> dict[str, Any]:
    """The row of results.json (without its id) that a program's row becomes."""
    summary = summarise(row.samples)
    entry = {
        "suite": suite,
        "metric": row.metric,
        "implementation": row.implementation,
        "parameters": dict(row.parameters),
        "unit": row.unit,
        "better": row.better,
        "median": summary.median,
        "ci95": [summary.low, summary.high],
        "n": summary.n,
        "converged": _converged(summary, row.resolution),
        "oversubscribed": row.oversubscribed,
        "validated": row.validated,
    }
    if row.resolution:
        entry["resolution"] = row.resolution
    if summary.unsteady:
        entry["unsteady"] = summary.unsteady.value
    return entry if row.note is None else {**entry, "note": row.note}


def identity(row: Mapping[str, Any]) -> tuple[str, str, tuple[tuple[str, int | str], ...]]:
    """What makes two rows the same figure: metric, implementation and parameters."""
    return row["metric"], row["implementation"], tuple(sorted(row["parameters"].items()))


def _converged(summary: Summary, resolution: float) -> bool:
    """Whether the figure is settled, by the rule by which the programs stop (measure/interval.hpp).

    A median so small that the resolution is a large part of it counts as one of which it is a small part.
    """
    return replace(summary, median=max(abs(summary.median), resolution / CONVERGED_HALF_WIDTH)).converged


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
