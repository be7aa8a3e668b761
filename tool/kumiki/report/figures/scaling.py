"""Time, rate or speed-up of a program over the processors used (after Figures 6 to 12 of the COMPaS paper)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.ticker import PercentFormatter

from kumiki.report.analysis.beyond import beyond
from kumiki.report.analysis.bound import reached
from kumiki.report.analysis.compare import speed
from kumiki.report.analysis.select import Problem, Setting
from kumiki.report.analysis.uncertainty import speedup_ends
from kumiki.report.figures.canvas import Picture, Sheet, decades, draw, log_axis, spaced
from kumiki.report.palette import TINTS, Look, colour, looks, rank_looks
from kumiki.report.quantity import tick
from kumiki.results.row import Row

Figure = Literal["time", "rate", "speedup", "efficiency"]

LAW_STEPS = 40
"""The number of segments in the curve of a law."""
_AXIS = {
    "time": "execution time",
    "rate": "rate",
    "speedup": "speed-up over the base case",
    "efficiency": "efficiency",
}


@dataclass(frozen=True)
class Law:
    """A speed-up that a law predicts, drawn beside the measurements."""

    text: str
    speedup: Callable[[float], float]


@dataclass(frozen=True)
class Series:
    """One line: the rows by number of processors."""

    text: str
    look: Look
    rows: list[tuple[int, Row]]


@dataclass(frozen=True)
class Drawn:
    """The drawing of a row: the row to cite, its value in the figure, and the ends of its interval."""

    row: Row
    middle: float
    low: float
    high: float


@dataclass(frozen=True)
class Curve:
    """One line as it is drawn: by number of processors."""

    text: str
    look: Look
    points: list[tuple[int, Drawn]]


def series_of(problem: Problem) -> list[Series]:
    """Hybrid by number of ranks, then the peers: plain MPI, OpenMP, libraries, and the sequential form as a point."""
    found = []
    by_rank: dict[int, dict[Setting, Row]] = {}
    for setting, row in problem.hybrid.items():
        by_rank.setdefault(setting[0], {})[setting] = row
    known = looks(row.implementation for row in problem.results.rows)
    if len(by_rank) > 1 and all(len(rows) == 1 for rows in by_rank.values()):
        found.append(Series(problem.series_name(None), known["kumiki"], _points(problem.hybrid)))
        by_rank = {}
    by_rank = _drawn_counts(by_rank)
    tints = rank_looks(by_rank)
    for ranks, rows in by_rank.items():
        found.append(Series(problem.series_name(ranks), tints[ranks], _points(rows)))
    for name, rows in problem.mpi.items():
        found.append(Series(f"all-MPI, {problem.results.title(name)}", _dashed(known[name]), _points(rows)))
    if problem.openmp:
        found.append(Series("OpenMP", _dashed(known["openmp"]), _points(problem.openmp)))
    for name in sorted({row.implementation for row in problem.library}):
        rows = {(r.ranks, r.threads): r for r in problem.library if r.implementation == name}
        found.append(Series(f"library, {problem.results.title(name)}", _dashed(known[name]), _points(rows)))
    if problem.sequential:
        found.append(Series("sequential", known["sequential"], [(1, problem.sequential)]))
    return found


def _drawn_counts(by_rank: dict[int, dict[Setting, Row]]) -> dict[int, dict[Setting, Row]]:
    """At most as many counts of ranks as there are tints: those with the most settings, and the largest."""
    order = sorted(by_rank, key=lambda ranks: (ranks != max(by_rank), -len(by_rank[ranks]), ranks))
    kept = set(order[:TINTS])
    return {ranks: rows for ranks, rows in by_rank.items() if ranks in kept}


def scaling(name: str, problem: Problem, figure: Figure, cores: int | None, laws: Sequence[Law] = ()) -> Picture | None:
    """The plot, or None if there is nothing to draw (no base case for a speed-up, no rate)."""
    lines = [curve_of(problem, figure, series) for series in series_of(problem)]
    rates = (problem.rate(row) for series in series_of(problem) for _, row in series.rows) if figure == "rate" else ()
    unit = next((rate.unit for rate in rates if rate), "")

    def refer(sheet: Sheet, counts: list[int]) -> None:
        if sum(line.look.role.startswith("ranks-") for line in lines) > 1:
            sheet.note(
                "There is one line for each number of ranks: where the lines of more ranks are better, ranks gain "
                "more than threads."
            )
        if figure in ("speedup", "efficiency"):
            for sentence in beyond(problem, (point.row for line in lines for _, point in line.points)):
                sheet.note(sentence)
        _reference(sheet, problem, figure, counts, cores)
        for law in laws:
            _law(sheet, law, figure, counts[-1])

    return over_processors(name, problem.title, figure, lines, refer, unit)


def curve_of(problem: Problem, figure: Figure, series: Series) -> Curve:
    """A line of a problem as a figure draws it, without the points for which it has no value."""
    value = _VALUES[figure]
    points = [(count, point) for count, row in series.rows if (point := value(problem, row))]
    return Curve(series.text, series.look, points)


def over_processors(
    name: str,
    heading: str,
    figure: Figure,
    curves: Sequence[Curve],
    refer: Callable[[Sheet, list[int]], None],
    unit: str = "",
) -> Picture | None:
    """Curves over processors, and the elements that `refer` adds; None without a point."""
    lines = [curve for curve in curves if curve.points]
    if not lines:
        return None

    def paint(sheet: Sheet) -> None:
        for index, line in enumerate(lines):
            # Curves are slightly offset so that points with the same number of processors do not hide each other.
            _line(sheet, line, 1.0 + (index - (len(lines) - 1) / 2.0) * 0.022)
        counts = sorted({count for line in lines for count, _ in line.points})
        refer(sheet, counts)
        _frame(sheet, figure, counts, unit)

    return draw(name, f"{heading}: {_AXIS[figure]} over total processors (ranks times threads)", paint)


def _line(sheet: Sheet, line: Curve, shift: float) -> None:
    xs, ys = [], []
    for count, point in line.points:
        sheet.axes.plot([count * shift] * 2, [point.low, point.high], color=line.look.colour, linewidth=1.1, zorder=3)
        sheet.point(count * shift, point.row, line.look, point.middle)
        xs.append(count * shift)
        ys.append(point.middle)
    if len(xs) > 1:
        sheet.curve(xs, ys, line.look, 1.2)
    sheet.key(line.text, line.look if len(xs) > 1 else line.look.point)


def ideal(sheet: Sheet, figure: Figure, last: int, usable: int) -> None:
    """The ideal speed-up or efficiency, which ends at the number of cores."""
    corner = [1, usable, last] if last > usable else [1, usable]
    look = Look("muted", dash="dashed")
    sheet.curve(corner, [min(x, usable) / (x if figure == "efficiency" else 1) for x in corner], look, 1.0)
    sheet.key("ideal", look, marker=False)
    sheet.note(_ends("The dashed line is the ideal", last, usable))


def _reference(sheet: Sheet, problem: Problem, figure: Figure, counts: list[int], cores: int | None) -> None:
    """The ideal that ends at the number of cores, the bound, and shading where there are more threads than cores."""
    last = counts[-1]
    usable = min(cores or last, last)
    if figure != "efficiency":
        _bound(sheet, problem, figure)
    if figure in ("speedup", "efficiency"):
        ideal(sheet, figure, last, usable)
    elif figure == "time" and problem.base is not None:
        corner = [1, usable, last] if last > usable else [1, usable]
        look = Look("muted", dash="dashed")
        sheet.curve(corner, [problem.base.value / min(x, usable) for x in corner], look, 1.0)
        sheet.key("ideal (base case ÷ processors)", look, marker=False)
        sheet.note(_ends("The dashed line is the base case divided by the processors", last, usable))
    crowded = [count for count in counts if count > usable]
    if crowded:
        sheet.axes.axvspan((usable * crowded[0]) ** 0.5, last * 1.6, color=colour("crowd"), linewidth=0, zorder=0)
        sheet.note("In the shaded area there are more threads than cores.")


def _ends(sentence: str, last: int, usable: int) -> str:
    return f"{sentence}; it ends at the number of cores." if last > usable else f"{sentence}."


def _law(sheet: Sheet, law: Law, figure: Figure, last: int) -> None:
    look = Look("synchronisation", dash="dashdot")
    xs = [last ** (step / LAW_STEPS) for step in range(LAW_STEPS + 1)]
    sheet.curve(xs, [law.speedup(x) / (x if figure == "efficiency" else 1) for x in xs], look, 1.1)
    sheet.key(law.text, look, marker=False)


def _bound(sheet: Sheet, problem: Problem, figure: Figure) -> None:
    """The bound of the program if it was measured: as a rate, or as the speed-up or time that it implies."""
    rate = problem.rate(problem.base) if problem.base else None
    unit = 1.0 if figure == "rate" else 1.0 / rate.value if rate else None
    points = [(threads, row, row.value * unit) for threads, row in problem.bounds.items() if unit]
    if figure == "time" and problem.base:
        points = [(threads, row, problem.base.value / gain) for threads, row, gain in points]
    if not points:
        return
    look = Look("bound", "_", "dashed")
    for threads, row, value in points:
        sheet.point(threads, row, look, value, size=12)
    sheet.curve([threads for threads, _, _ in points], [value for _, _, value in points], look, 1.1)
    sheet.key(f"bound: {problem.program.bound.name}", look)
    sheet.note(f"The grey marks are the bound: {problem.program.bound.what}. {reached(problem)}".rstrip())


def _frame(sheet: Sheet, figure: Figure, counts: list[int], unit: str) -> None:
    axes = sheet.axes
    axes.set_xscale("log", base=2)
    log_axis(axes.xaxis, spaced(counts), lambda count: f"{count:.0f}")
    axes.set_xlim(counts[0] / 1.25, max(counts[-1], 2) * 1.25)
    axes.set_xlabel("total processors (ranks × threads)")
    axes.grid(axis="x", visible=False)
    if figure == "efficiency":
        axes.set_ylabel(_AXIS[figure])
        axes.set_ylim(0, max(1.05, axes.get_ylim()[1]))
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
        return
    axes.set_yscale("log", base=2 if figure == "speedup" else 10)
    low, high = axes.get_ylim()
    if high / low < 4:  # a narrow range of values would leave an axis without ticks
        middle = (low * high) ** 0.5
        low, high = min(low, middle / 2), max(high, middle * 2)
        axes.set_ylim(low, high)
    if figure == "speedup":
        fine = (1.0, 1.5) if high / low < 8 else (1.0,)
        ticks = [step * 2.0**e for e in range(-8, 14) for step in fine if low <= step * 2.0**e <= high]
        log_axis(axes.yaxis, ticks, lambda v: f"{v:g}×")
    elif figure == "time":
        log_axis(axes.yaxis, decades(low, high), lambda v: tick(v, "s"))
    else:
        log_axis(axes.yaxis, decades(low, high), lambda v: f"{v:g}")
    axes.set_ylabel(_AXIS[figure] + (f" [{unit}]" if figure == "rate" else ""))


def _time(_: Problem, row: Row) -> Drawn | None:
    return Drawn(row, row.value, *row.interval)


def _rate(problem: Problem, row: Row) -> Drawn | None:
    rate = problem.rate(row)
    return Drawn(rate, rate.value, *rate.interval) if rate else None


def _speedup(problem: Problem, row: Row) -> Drawn | None:
    gain, ends = problem.speedup(row), speedup_ends(problem, row)
    return Drawn(row, gain, *ends) if gain is not None and ends else None


def _efficiency(problem: Problem, row: Row) -> Drawn | None:
    gain, count = _speedup(problem, row), row.processors
    return gain and Drawn(row, gain.middle / count, gain.low / count, gain.high / count)


_VALUES: dict[str, Callable[[Problem, Row], Drawn | None]] = {
    "time": _time,
    "rate": _rate,
    "speedup": _speedup,
    "efficiency": _efficiency,
}


def _dashed(look: Look) -> Look:
    return Look(look.role, look.marker, "dotted")


def _points(rows: dict[Setting, Row]) -> list[tuple[int, Row]]:
    """By processors; of two settings with the same number (plain MPI with threads does not occur) the better one."""
    points: dict[int, Row] = {}
    for (ranks, threads), row in rows.items():
        count = ranks * threads
        if count not in points or speed(row) > speed(points[count]):
            points[count] = row
    return sorted(points.items())
