"""The sheet that every plot is drawn on, and the picture that it becomes.

No pyplot and no global state: each plot owns its Figure. The SVG keeps its text as text and takes fonts and colours
from the page.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from kumiki.report.figures import svg
from kumiki.report.palette import Look, colour
from kumiki.report.quantity import amount, tolerance
from kumiki.results.row import Row

WIDTH, HEIGHT, TALL = 5.3, 3.5, 4.0
WIDE = 2 * WIDTH + 0.4
"""Inches at which the text has the same size in half and in full columns of the page."""

HOLLOW = "Hollow points are oversubscribed: more threads than cores."

_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "kumiki",
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.edgecolor": colour("muted"),
    "axes.labelcolor": colour("ink"),
    "axes.labelsize": 8.5,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": colour("grid"),
    "grid.linewidth": 0.6,
    "text.color": colour("ink"),
    "xtick.color": colour("muted"),
    "ytick.color": colour("muted"),
    "xtick.labelcolor": colour("ink"),
    "ytick.labelcolor": colour("ink"),
    "xtick.major.size": 3,
    "ytick.major.size": 0,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "lines.solid_capstyle": "round",
}


_STEPS = (
    (0.5, (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)),
    (0.9, (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)),
    (2.2, (1.0, 2.0, 5.0)),
    (3.2, (1.0, 3.0)),
)
"""Widths of a logarithmic axis in decades, with the ticks within a decade that fit."""


@dataclass(frozen=True)
class Key:
    """One entry of a legend, drawn by the page."""

    text: str
    role: str
    marker: str = ""
    dash: str = "solid"
    filled: bool = True


@dataclass(frozen=True)
class Picture:
    """A drawing, with the notes on what it actually shows."""

    name: str
    svg: str
    legend: tuple[Key, ...] = ()
    notes: tuple[str, ...] = ()
    """A sentence for each drawn element that no legend entry explains: the ideal, a bound, hollow points, shading."""


@dataclass
class Sheet:
    """A figure being drawn, and the legend and the notes that grow with it.

    Code that draws a thing says here what it is, so that the page never explains what a figure does not show.
    """

    figure: Figure
    axes: Axes
    legend: list[Key] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    cited: dict[int, Row] = field(default_factory=dict)

    def point(self, x: float, row: Row, look: Look, y: float | None = None, size: float | None = None) -> None:
        """One measured point, linked to its row; hollow when it was oversubscribed."""
        self.cited[row.id] = row
        if row.oversubscribed:
            self.note(HOLLOW)
        self.axes.plot(
            [x],
            [row.value if y is None else y],
            marker=look.marker,
            linestyle="none",
            color=look.colour,
            markersize=size or (7.5 if look.marker == "*" else 5),
            markerfacecolor=colour("surface") if row.oversubscribed else look.colour,
            markeredgewidth=1.2,
            zorder=4,
            url=f"#row-{row.id}",
        )

    def curve(self, xs: Sequence[float], ys: Sequence[float], look: Look, width: float = 1.6) -> None:
        self.axes.plot(xs, ys, color=look.colour, linestyle=look.dash, linewidth=width, zorder=3)

    def key(self, text: str, look: Look, marker: bool = True) -> None:
        """Adds an entry to the legend, unless it is there already."""
        entry = Key(text, look.role, look.marker if marker else "", look.dash)
        if entry not in self.legend:
            self.legend.append(entry)

    def note(self, sentence: str) -> None:
        """Adds a sentence on a drawn element, unless it is there already."""
        if sentence not in self.notes:
            self.notes.append(sentence)


def draw(
    name: str, description: str, paint: Callable[[Sheet], None], width: float = WIDTH, height: float = HEIGHT
) -> Picture:
    """Run `paint` on a fresh sheet. `name` differs between the plots of a page; `description` is for screen readers."""
    with rc_context(_STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        sheet = Sheet(figure, figure.add_subplot())
        paint(sheet)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    tooltips = {number: describe(row) for number, row in sheet.cited.items()}
    drawn = svg.inline(buffer.getvalue(), name, description, tooltips)
    return Picture(name, drawn, tuple(sheet.legend), tuple(sheet.notes))


def log_axis(axis: Any, ticks: Sequence[float], text: Callable[[float], str]) -> None:
    """Fixed, worded ticks on a logarithmic axis and no minor ones."""
    axis.set_major_locator(FixedLocator(list(ticks)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axis.set_minor_locator(NullLocator())


def spaced(counts: Sequence[int]) -> list[int]:
    """Ticks for counts on a logarithmic axis, without those whose labels would overlap a larger neighbour's."""
    kept: list[int] = []
    for count in sorted(counts, reverse=True):
        if not kept or kept[-1] / count >= 1.25:
            kept.append(count)
    return sorted(kept)


def decades(low: float, high: float) -> list[float]:
    """Ticks for a logarithmic axis from `low` to `high`: fine steps in a narrow range, whole decades in a wide one."""
    span = math.log10(high / low)
    steps = next((steps for limit, steps in _STEPS if span < limit), (1.0,))
    exponents = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    ticks = [step * 10.0**exponent for exponent in exponents for step in steps]
    return [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001]


def describe(row: Row) -> str:
    """A row in one line, for tooltips."""
    places = ", ".join(f"{name} {value}" for name, value in row.parameters.items())
    crowded = ", oversubscribed" if row.oversubscribed else ""
    return f"{row.metric}, {row.title}, {places}: {amount(row)} {tolerance(row)}{crowded}"


def unlinked(picture: Picture) -> Picture:
    """The same picture for a page without the rows of its points; the points keep their tooltips."""
    return replace(picture, svg=svg.unlinked(picture.svg))


def again(picture: Picture, name: str) -> Picture:
    """The same drawing for a second position on its page, with other ids, because ids on a page are unique."""
    return replace(picture, name=name, svg=svg.renamed(picture.svg, picture.name, name))
