"""A table of the report on a terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from kumiki import report
from kumiki.report.tables import Cell


def grid(table: report.Table) -> Table:
    """A table of the report for a terminal; notes (the half width of the interval) follow their figures."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    made.add_column(table.corner)
    for column in table.columns:
        made.add_column(f"{column.title}\n{column.unit}" if column.unit else column.title, justify="right")
    for line in table.lines:
        style = "bold" if "best" in line.role else "dim" if line.crowded else ""
        cells = [Text(_words(cell), style="bold" if cell.best else "") for cell in line.cells]
        made.add_row(f"{line.head}{'*' if line.crowded else ''}", *cells, style=style)
    return made


def _words(cell: Cell) -> str:
    """A figure followed by its note: its tolerance, or another remark."""
    between = "" if not cell.note else " " if cell.note.startswith("±") else ", "
    return f"{cell.text}{between}{cell.note}"
