"""What a model says: curves, figures that were published beside those predicted, and the parameters behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from kumiki.predict.parameters import Parameter

Axis = Literal["bytes", "count"]


@dataclass(frozen=True)
class Curve:
    """A line of a chart; `points` are (x, y) in ascending order of x."""

    name: str
    points: tuple[tuple[float, float], ...]
    beside: bool = False
    """Whether it is what others are compared with, and drawn dashed."""


@dataclass(frozen=True)
class Chart:
    """A figure of the prediction."""

    name: str
    """Short, of small letters: names the figure in the page and in JSON."""
    title: str
    shows: str
    reading: str
    x: str
    x_kind: Axis
    y: str
    unit: str
    """`MB/s`, `us` or `%`."""
    curves: tuple[Curve, ...]
    figure: str = ""
    """The paper's figure that it stands for; empty where the paper has none."""


@dataclass(frozen=True)
class Check:
    """A published figure beside the predicted one."""

    what: str
    published: float
    predicted: float
    unit: str
    chosen: str = ""
    """The parameter that was chosen so that this comes out; empty: nothing was, and the figure tests the model."""

    @property
    def deviation(self) -> float:
        """How far the prediction is off, as a share of what was published."""
        return self.predicted / self.published - 1


@dataclass(frozen=True)
class Prediction:
    """All that one run of a model says."""

    title: str
    source: str
    """The paper, within a sentence: `the Maestro paper`."""
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
    """Something that can be predicted: its usual machine, and what is made of a machine."""

    name: str
    sentence: str
    machine: Any
    """A frozen dataclass of `parameter`s."""
    predict: Callable[[Any], Prediction]
