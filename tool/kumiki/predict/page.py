"""The page of a prediction: its checks, figures and parameters, in the style of all pages."""

from __future__ import annotations

from kumiki.predict.prediction import Chart, Prediction
from kumiki.report.figures.canvas import Picture, Sheet, decades, draw, log_axis
from kumiki.report.page.exhibit import Exhibit, Section, numbered
from kumiki.report.page.html import page
from kumiki.report.palette import Look
from kumiki.report.quantity import size_text, tick
from kumiki.report.tables import Cell, Column, Line, Table
from kumiki.terminal.quantity import figure

ROLES = ("kumiki", "openmpi", "openmp", "mpich", "ucx")
"""Colours of the curves, in their order."""
MARKERS = "osD^v"
MOST_TICKS = 8


def render(prediction: Prediction) -> str:
    """The page as one string of HTML."""
    return page("prediction.html.j2", prediction=prediction, sections=numbered(_sections(prediction)))


def _sections(prediction: Prediction) -> list[Section]:
    checks = Exhibit(
        "Table",
        "Known and predicted",
        f"Each figure that {prediction.source} states, and the model's prediction.",
        "A figure for which a parameter was chosen does not test the model; the others do.",
        table=_checks(prediction),
        wide=True,
    )
    figures = [
        Exhibit(
            "Figure",
            chart.title,
            chart.shows,
            chart.reading,
            chart.figure,
            picture=_draw(chart),
            source=prediction.source,
        )
        for chart in prediction.charts
    ]
    parameters = Exhibit(
        "Table",
        "Parameters",
        "The parameters of the model, with the source of each.",
        "Change them with --set NAME=VALUE, or describe a machine in a file (--machine FILE).",
        table=_parameters(prediction),
        wide=True,
    )
    return [
        Section("prediction", "Results", prediction.intro, [checks, *figures]),
        Section("parameters", "Parameters", "The parameters of the model.", [parameters]),
    ]


def _checks(prediction: Prediction) -> Table:
    columns = [Column(name) for name in ("known", "predicted", "deviation", "meaning")]
    lines = [
        Line(
            each.what,
            [
                Cell(f"{each.published:g} {each.unit}"),
                Cell(f"{figure(each.predicted)} {each.unit}"),
                Cell(f"{100 * each.deviation:+.1f} %"),
                Cell(f"{each.chosen} was chosen for it" if each.chosen else "tests the model"),
            ],
        )
        for each in prediction.checks
    ]
    return Table("figure", columns, lines)


def _parameters(prediction: Prediction) -> Table:
    columns = [Column(name) for name in ("value", "unit", "meaning", "source")]
    lines = [
        Line(each.name, [Cell(f"{each.value:g}"), Cell(each.unit), Cell(each.meaning), Cell(each.origin)])
        for each in prediction.parameters
    ]
    return Table("parameter", columns, lines)


def _draw(chart: Chart) -> Picture:
    def paint(sheet: Sheet) -> None:
        for place, curve in enumerate(chart.curves):
            look = Look(ROLES[place % len(ROLES)], MARKERS[place % len(MARKERS)], "dashed" if curve.beside else "solid")
            xs, ys = zip(*curve.points, strict=True)
            sheet.curve(xs, ys, look)
            sheet.axes.plot(xs, ys, look.marker, color=look.colour, markersize=4, zorder=4)
            sheet.key(curve.name, look)
        _frame(sheet, chart)

    return draw(f"prediction-{chart.name}", f"{chart.title}: {chart.y} over {chart.x}", paint)


def _frame(sheet: Sheet, chart: Chart) -> None:
    axes = sheet.axes
    xs = sorted({x for curve in chart.curves for x, _ in curve.points})
    axes.set_xscale("log", base=2)
    if chart.x_kind == "bytes":
        powers = [4.0**power for power in range(1, 16) if xs[0] <= 4**power <= xs[-1] * 1.01]
        log_axis(axes.xaxis, powers, lambda size: size_text(int(size)))
    else:
        log_axis(axes.xaxis, xs[:: 1 + len(xs) // MOST_TICKS], lambda count: f"{count:g}")
    axes.set_xlabel(chart.x)
    axes.set_ylabel(f"{chart.y} [{chart.unit}]")
    if chart.unit == "us":
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        log_axis(axes.yaxis, decades(low, high), lambda value: tick(value, "us"))
        axes.set_ylabel(chart.y)
    else:
        axes.set_ylim(bottom=0)
