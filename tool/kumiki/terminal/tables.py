"""Tables of rows for a terminal: peers side by side, one table for each unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from kumiki.results.row import Row
from kumiki.terminal.quantity import binary, figure

ORDER = ("class", "size", "keys", "iterations", "bytes", "ranks", "threads")
"""The order of parameters in a table; others come before them, by name."""
COLUMN_PARAMETERS = ("form",)
"""Parameters that distinguish peers and therefore belong to the columns."""
UNSHOWN = ("working",)
"""Parameters that only some peers of a line have; the note of their rows contains the same."""
IMPLIED = {"ranks": 1, "threads": 1}
"""Parameters that a row may leave out."""
FIRST_AND_LAST = {"kumiki": 0, "bound": 2}
METRIC = "metric"
BINARY = frozenset({"bytes", "keys"})
MARKS = {
    "*": "more ranks x threads than cores",
    "~": "not converged: fewer than six samples, or half the 95 % interval over 5 % of the median",
    "!": "the result was checked and is wrong",
}

Column = tuple[str, ...]
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Sheet:
    """The rows of one unit as a matrix: a line for each set of parameters, a column for each peer."""

    caption: str
    heads: tuple[str, ...]
    """The names of the parts of a line's key."""
    columns: tuple[Column, ...]
    cells: Mapping[Key, Mapping[Column, Row]]

    @property
    def area(self) -> int:
        """The number of cells, used or not."""
        return len(self.cells) * len(self.columns)


def sheets(rows: Sequence[Row], metrics: Sequence[str]) -> Iterator[Sheet]:
    """The rows of these metrics, one sheet for each unit.

    Of two arrangements the one with fewer cells: metrics beside each other (the same sizes of put and get), or metrics
    below each other (latencies that have different parameters).
    """
    shown = [row for row in rows if row.metric in metrics]
    for unit, better in dict.fromkeys((row.unit, row.better) for row in shown):
        group = [row for row in shown if (row.unit, row.better) == (unit, better)]
        beside = _sheet(group, metrics, metrics_in_lines=False)
        below = _sheet(group, metrics, metrics_in_lines=True)
        yield below if below.area < beside.area else beside


def render(sheet: Sheet) -> Table:
    """The matrix as a table, without its caption."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in sheet.heads:
        table.add_column(name, justify="left" if name == METRIC else "right", vertical="bottom")
    for column in sheet.columns:
        table.add_column(_label(column, sheet.columns), justify="right", vertical="bottom")
    for key, line in sheet.cells.items():
        names = [_parameter(name, value) for name, value in zip(sheet.heads, key, strict=True)]
        table.add_row(*names, *(_cell(line.get(column)) for column in sheet.columns))
    return table


def legend(rows: Sequence[Row]) -> str:
    """The meaning of the marks of these rows; empty if there are none."""
    used = "".join(_marks(row) for row in rows)
    return "; ".join(f"{mark} {meaning}" for mark, meaning in MARKS.items() if mark in used)


def _sheet(rows: Sequence[Row], metrics: Sequence[str], metrics_in_lines: bool) -> Sheet:
    constant = _constant(rows)
    names = {name for row in rows for name in row.parameters} - set(COLUMN_PARAMETERS + UNSHOWN) - constant.keys()
    varying = sorted(names, key=_rank)
    heads = (METRIC, *varying) if metrics_in_lines else tuple(varying)

    def key(row: Row) -> Key:
        values = tuple(row.parameters.get(name, IMPLIED.get(name)) for name in varying)
        return (row.metric, *values) if metrics_in_lines else values

    def column(row: Row) -> Column:
        forms = (str(row.parameters.get(name, "")) for name in COLUMN_PARAMETERS)
        return "" if metrics_in_lines else row.metric, row.implementation, *forms

    def position(row: Row) -> list[object]:
        values = [_sortable(row.parameters.get(name, IMPLIED.get(name))) for name in varying]
        return [metrics.index(row.metric) if metrics_in_lines else 0, *values]

    cells: dict[Key, dict[Column, Row]] = {}
    for row in sorted(rows, key=position):
        cells.setdefault(key(row), {})[column(row)] = row
    columns = sorted({column(row) for row in rows}, key=lambda held: _column_rank(held, metrics))
    found = list(dict.fromkeys(row.metric for row in rows))
    fixed = ", ".join(f"{name} {_parameter(name, constant[name])}" for name in sorted(constant, key=_rank))
    caption = f"{found[0] if len(found) == 1 else 'median'} [{rows[0].unit}], {rows[0].better} is better"
    return Sheet(f"{caption} ({fixed})" if fixed else caption, heads, tuple(columns), cells)


def _constant(rows: Sequence[Row]) -> dict[str, Any]:
    """The parameters with a single value in all rows that have them; they move to the caption."""
    values: dict[str, list[Any]] = {}
    for row in rows:
        for name in row.parameters.keys() - set(COLUMN_PARAMETERS + UNSHOWN):
            values.setdefault(name, []).append(row.parameters[name])
    return {
        name: held[0]
        for name, held in values.items()
        if len(set(held)) == 1 and (len(held) == len(rows) or not _tells(rows, name, held[0]))
    }


def _tells(rows: Sequence[Row], name: str, value: Any) -> bool:
    """Whether a row without this parameter would be mistaken for one that has it, if it were not shown."""
    if name in IMPLIED:
        return bool(value != IMPLIED[name])
    with_it = {_without(row, name) for row in rows if name in row.parameters}
    return any(_without(row, name) in with_it for row in rows if name not in row.parameters)


def _without(row: Row, name: str) -> tuple[Any, ...]:
    others = ((other, value) for other, value in row.parameters.items() if other != name)
    return row.metric, row.implementation, *sorted(others)


def _column_rank(column: Column, metrics: Sequence[str]) -> tuple[int, int, Column]:
    """Kumiki's own figures first, bounds last."""
    metric, implementation, *_ = column
    order = FIRST_AND_LAST.get(implementation, 1)
    return metrics.index(metric) if metric else 0, order, column


def _label(column: Column, columns: Sequence[Column]) -> str:
    """The parts that distinguish a column from the others, one below the other."""
    telling = [part for position, part in enumerate(column) if len({other[position] for other in columns}) > 1]
    return "\n".join(dict.fromkeys(filter(None, telling))) or column[1]


def _cell(row: Row | None) -> Text:
    if row is None:
        return Text("")
    if row.median is None:
        return Text("failed", style="red") if row.failed else Text("absent", style="dim")
    marks = _marks(row)
    return Text(f"{figure(row.median)}{marks}", style="red" if "!" in marks else "dim" if "*" in marks else "")


def _marks(row: Row) -> str:
    if row.median is None:
        return ""
    signs = {"*": row.oversubscribed, "~": not row.converged, "!": row.validated is False}
    return "".join(mark for mark, set_ in signs.items() if set_)


def _parameter(name: str, value: Any) -> str:
    if value is None:
        return ""
    return binary(value) if name in BINARY and isinstance(value, int) else str(value)


def _rank(name: str) -> tuple[int, str]:
    return (ORDER.index(name), name) if name in ORDER else (-1, name)


def _sortable(value: Any) -> tuple[bool, int, str]:
    return (value is None, value, "") if isinstance(value, int) else (value is None, 0, str(value))
