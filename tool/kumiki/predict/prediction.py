"""The output of a model: curves, published figures beside predicted ones, and the parameters behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kumiki.predict.parameters import Parameter

Axis = Literal["bytes", "count"]


@dataclass(frozen=True)
class Curve:
    """A line of a chart; `points` are (x, y) in ascending order of x."""

    name: str
    points: tuple[tuple[float, float], ...]
    beside: bool = False
    """Whether it is the reference for the others, and drawn dashed."""


@dataclass(frozen=True)
class Chart:
    """A figure of the prediction."""

    name: str
    """A short lower-case name of the figure on the page and in JSON."""
    title: str
    shows: str
    reading: str
    x: str
    x_kind: Axis
    y: str
    unit: str
    """`MB/s`, `GFLOP/s`, `s`, `us` or `%`."""
    curves: tuple[Curve, ...]
    figure: str = ""
    """The corresponding figure in the paper; empty if there is none."""


@dataclass(frozen=True)
class Check:
    """A published figure beside the predicted one."""

    what: str
    published: float
    predicted: float
    unit: str
    chosen: str = ""
    """The parameter that was chosen to reproduce this figure; empty: none was, and the figure tests the model."""

    @property
    def deviation(self) -> float:
        """The deviation of the prediction, as a share of the published figure."""
        return self.predicted / self.published - 1


@dataclass(frozen=True)
class Prediction:
    """The output of one run of a model."""

    title: str
    source: str
    """The paper, as part of a sentence: `the Maestro paper`."""
    intro: str
    parameters: tuple[Parameter, ...]
    checks: tuple[Check, ...]
    charts: tuple[Chart, ...]

    def as_dict(self) -> dict[str, Any]:
        """The prediction for JSON."""
        return {
            "title": self.title,
            "source": self.source,
            "parameters": {
                each.name: {"value": each.value, "unit": each.unit, "origin": each.origin} for each in self.parameters
            },
            "checks": [
                {
                    "what": each.what,
                    "published": each.published,
                    "predicted": each.predicted,
                    "unit": each.unit,
                    "deviation": each.deviation,
                    "chosen": each.chosen or None,
                }
                for each in self.checks
            ],
            "charts": {
                chart.name: {
                    "title": chart.title,
                    "x": chart.x,
                    "y": chart.y,
                    "unit": chart.unit,
                    "curves": {curve.name: [list(point) for point in curve.points] for curve in chart.curves},
                }
                for chart in self.charts
            },
        }


@dataclass(frozen=True)
class Model:
    """A model: how its machine is read, and the function that makes a prediction from a machine."""

    name: str
    sentence: str
    machine: Callable[[Path | None, list[str]], Any]
    """The machine that a file describes, by default the paper's, with the settings NAME=VALUE. Raises UserError."""
    predict: Callable[[Any], Prediction]
