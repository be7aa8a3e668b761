"""A prediction for a terminal: published and predicted figures, the curves, the parameters."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kumiki.predict.prediction import Chart, Prediction
from kumiki.terminal.quantity import figure


def print_prediction(prediction: Prediction, out: Console) -> None:
    out.print(Text(prediction.title, style="bold underline"))
    out.print(Text(prediction.intro, style="dim"))
    out.print()
    out.print(Text(f"Figures of {prediction.source}, and the predictions", style="bold"))
    out.print(_checks(prediction))
    for chart in prediction.charts:
        counterpart = f" ({chart.figure})" if chart.figure else ""
        out.print(Text(f"{chart.title}{counterpart}", style="bold"))
        out.print(_curves(chart))
    out.print(Text("Parameters (--set NAME=VALUE, or --machine FILE)", style="bold"))
    out.print(_parameters(prediction))


def _checks(prediction: Prediction) -> Table:
    table = _table("figure", "known", "predicted", "deviation", "")
    for each in prediction.checks:
        table.add_row(
            each.what,
            f"{each.published:g} {each.unit}",
            f"{figure(each.predicted)} {each.unit}",
            f"{100 * each.deviation:+.1f} %",
            f"{each.chosen} was chosen for it" if each.chosen else "a test of the model",
        )
    return table


def _curves(chart: Chart) -> Table:
    table = _table(chart.x, *(f"{curve.name}\n{chart.unit}" for curve in chart.curves))
    columns = [dict(curve.points) for curve in chart.curves]
    for x in sorted({x for column in columns for x in column}):
        table.add_row(f"{x:g}", *(figure(column[x]) if x in column else "" for column in columns))
    return table


def _parameters(prediction: Prediction) -> Table:
    table = _table("parameter", "value", "unit", "meaning", "source")
    for each in prediction.parameters:
        table.add_row(each.name, f"{each.value:g}", each.unit, each.meaning, each.origin)
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first)
    for name in others:
        words = name in ("", "unit", "meaning", "source")
        table.add_column(name, justify="left" if words else "right")
    return table
