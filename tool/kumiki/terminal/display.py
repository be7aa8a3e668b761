"""The display of a running evaluation: progress on standard error, each suite's tables on standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from kumiki.errors import complain
from kumiki.evaluation.measure import Outcome
from kumiki.results.row import Row
from kumiki.suites.model import Point, Suite
from kumiki.terminal.quantity import duration
from kumiki.terminal.tables import legend, render, sheets

WIDTH_WITHOUT_TERMINAL = 160


def console(stderr: bool = False) -> Console:
    """The console for one of the two streams; wide if no terminal limits it."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else WIDTH_WITHOUT_TERMINAL)


class Display:
    """The audience of an evaluation on a terminal or a pipe."""

    def __init__(self, tables: bool) -> None:
        self._tables = tables
        self._out = console()
        self._errors = console(stderr=True)
        self._progress: Progress | None = None
        self._task = TaskID(0)
        self._left = 0.0
        self._planned, self._taken = 0.0, 0.0
        """The estimated and the actual seconds of the points that have ended."""

    def begin(self, points: Sequence[Point]) -> None:
        self._left = sum(point.estimated_seconds for point in points)
        if self._errors.is_terminal:
            # Drawn between points only: a display that redraws by itself would disturb the measurement.
            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[left]}"),
                TimeElapsedColumn(),
                console=self._errors,
                auto_refresh=False,
                transient=True,
            )
            self._task = self._progress.add_task("", total=self._left, left="")
            self._progress.start()

    def extends(self, point: Point) -> None:
        self._left += point.estimated_seconds
        if self._progress is not None:
            self._progress.update(self._task, total=(self._progress.tasks[0].total or 0) + point.estimated_seconds)

    def point_begins(self, point: Point) -> None:
        if self._progress is not None:
            self._progress.update(self._task, description=point.label, left=self._time_left())
            self._progress.refresh()

    def point_ends(self, outcome: Outcome) -> None:
        self._left -= outcome.point.estimated_seconds
        self._planned += outcome.point.estimated_seconds
        self._taken += outcome.seconds
        if self._progress is not None:
            self._progress.advance(self._task, outcome.point.estimated_seconds)
            self._progress.refresh()
        if outcome.failed:
            self._apart(lambda: complain(outcome.failed or ""))

    def suite_ends(self, suite: Suite, rows: Sequence[Row]) -> None:
        if self._tables:
            self._apart(lambda: self._print(suite, rows))

    def settles(self, suite: Suite, rows: Sequence[Row]) -> None:
        if self._tables and any(row.metric in suite.headline for row in rows):
            self._apart(lambda: self._print(suite, rows, again=True))

    def end(self) -> None:
        if self._progress is not None:
            self._progress.stop()

    def _time_left(self) -> str:
        """The estimated time left, corrected by the accuracy of the estimates so far."""
        return f"about {duration(self._left * self._taken / self._planned)} left" if self._taken else ""

    def _print(self, suite: Suite, rows: Sequence[Row], again: bool = False) -> None:
        out = self._out
        title = f"{suite.title}  [{suite.name}]"
        out.print(Text(f"{title}: measured again, all samples together" if again else title, style="bold underline"))
        if not again:
            out.print(Text(suite.sentence, style="dim"))
        out.print()
        for sheet in sheets(rows, suite.headline):
            out.print(Text(sheet.caption, style="bold"))
            out.print(render(sheet))
        for sentence in _remarks(rows, suite.headline):
            out.print(Text(f"  {sentence}", style="dim"))
        out.print()

    def _apart(self, show: Any) -> None:
        """Prints while the progress display is hidden."""
        if self._progress is not None:
            self._progress.stop()
        show()
        if self._progress is not None:
            self._progress.start()


def _remarks(rows: Sequence[Row], metrics: Sequence[str]) -> Iterator[str]:
    """The lines below a suite's tables: the marks, what is absent, and notes with the implementations they concern."""
    shown = [row for row in rows if row.metric in metrics]
    if marks := legend(shown):
        yield marks
    yield from dict.fromkeys(row.absent for row in rows if row.absent)
    concerned: dict[str, dict[str, None]] = {}
    for row in shown:
        if row.note:
            concerned.setdefault(row.note, {})[row.implementation] = None
    for note, implementations in concerned.items():
        yield f"{', '.join(implementations)}: {note}"
