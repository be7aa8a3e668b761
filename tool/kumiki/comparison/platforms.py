"""Several results side by side: the output of the command, and its page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from kumiki import page_file, report
from kumiki.comparison.compare import Comparison, Side
from kumiki.results.files import results_file
from kumiki.terminal.grid import grid

COMMAND = "kumiki compare"
"""The name of this command, as its pages have it."""
FIELDS = ("suite", "metric", "implementation", "parameters", "unit", "better")


def labels(paths: Sequence[Path]) -> list[str]:
    """The name of each result: its folder's name, with as many parent folders as distinguish it from the others."""
    folders = [results_file(path).resolve().parent for path in paths]
    for length in range(1, max(len(folder.parts) for folder in folders)):
        names = ["/".join(folder.parts[-length:]) for folder in folders]
        if len(set(names)) == len(set(folders)):
            break
    # The same result named twice is still two columns.
    return [name if names.index(name) == place else f"{name} ({place + 1})" for place, name in enumerate(names)]


def side_by_side(names: Sequence[str], sides: Sequence[Side]) -> report.Comparison:
    return report.side_by_side((name, side.content, side.samples) for name, side in zip(names, sides, strict=True))


def print_tables(comparison: report.Comparison, out: Console) -> None:
    """The tables, then the guidelines of each platform."""
    for caption, table in comparison.tables():
        out.print(Text(caption, style="bold"))
        out.print(grid(table))
    for guide in comparison.guidelines:
        out.print(Text(f"Guidelines: {guide.label}", style="bold underline"))
        for piece in guide.pieces:
            out.print(Text(f"- {piece.text}"))


def json_lines(
    names: Sequence[str], sides: Sequence[Side], changes: Sequence[Comparison], percent: float | None
) -> Iterator[str]:
    """One object for each figure of any result: its medians, and the results in which it is a regression.

    `changes` compares the first result with each of the others.
    """
    rows = [side.rows() for side in sides]
    worse: dict[object, list[str]] = {}
    for name, comparison in zip(names[1:], changes, strict=True):
        for change in comparison.changes:
            if percent is not None and change.regression(percent):
                worse.setdefault(change.before.identity, []).append(name)
    for figure in dict.fromkeys(figure for held in rows for figure in held):
        having = {name: held[figure] for name, held in zip(names, rows, strict=True) if figure in held}
        first = next(iter(having.values()))
        yield json.dumps(
            {
                **{field: getattr(first, field) for field in FIELDS},
                "medians": {name: row.median for name, row in having.items()},
                "ci95": {name: [row.low, row.high] for name, row in having.items()},
                "regressions": None if percent is None else worse.get(figure, []),
            }
        )


def check_folder(directory: Path) -> None:
    """Raises UserError if the page would replace a foreign file."""
    page_file.check(directory, COMMAND)


def write_page(comparison: report.Comparison, directory: Path) -> Path:
    """Writes the page into the folder, which is created if necessary; raises UserError if this is impossible."""
    return page_file.write(directory, comparison.page())
