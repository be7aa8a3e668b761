"""The figure of a run: its wall time, and one that the program prints itself."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import regex as re

from kumiki.errors import UserError
from kumiki.evaluation.process import Ended
from kumiki.results.row import METRIC, ProgramRow

SUITE = "command"
IMPLEMENTATION = "command"
WALL_TIME = f"{SUITE}.time"
SEARCH_SECONDS = 10.0
"""The time limit for searching a run's output: some expressions need exponential time to match a line."""


@dataclass(frozen=True)
class Figure:
    """A number that the program prints: the last match of the only group of `regex`."""

    regex: str
    name: str
    unit: str
    better: str

    @property
    def metric(self) -> str:
        return f"{SUITE}.{self.name}"

    def as_arguments(self) -> dict[str, Any]:
        """The figure, as results.json records it."""
        return asdict(self)


def figure(regex: str, name: str, unit: str | None, better: str) -> Figure:
    """The requested figure; raises UserError if the request is not valid."""
    try:
        groups = re.compile(regex).groups
    except re.error as error:
        raise UserError(f"--metric: '{regex}' is not a regular expression ({error})") from None
    if groups != 1:
        raise UserError(
            f"--metric: '{regex}' has {groups} groups and needs exactly one, around the number: "
            "'Rate: ([0-9.]+)'; write (?:...) for other parentheses"
        )
    if not (unit or "s").isprintable():  # bytes that are no characters are not printable, either
        raise UserError(f"--unit: {unit!a} is not a text that can be shown")
    found = Figure(regex, name, unit or "s", better)
    if not METRIC.fullmatch(found.metric) or found.metric == WALL_TIME:
        raise UserError(f"--metric-name: '{name}' is not a name of lower-case letters, digits and _ other than 'time'")
    if better == "higher" and not unit:
        raise UserError("--better higher: name the unit of the figure with --unit, such as MFLOPS")
    return found


class FigureReader:
    """Finds the figure in the output of a run, on either stream; every line is also kept as a remark."""

    def __init__(
        self, figure: Figure | None, parameters: Mapping[str, int | str], oversubscribed: bool, command: str
    ) -> None:
        """`command` is the command line that was run, which becomes the note of its rows."""
        self._figure = figure
        self._parameters = parameters
        self._oversubscribed = oversubscribed
        self._command = command
        self._said: str | None = None
        self._searched = 0.0
        self.malformed: str | None = None

    @property
    def silence(self) -> str:
        sought = self._figure.regex if self._figure else ""
        if self._said is None:
            return f"printed nothing that --metric '{sought}' matches"
        return f"printed '{self._said}' where --metric '{sought}' looks for a number above 0"

    def take(self, line: str) -> bool:
        if self._figure and not self.malformed:
            begun = time.monotonic()
            try:
                left = max(0.0, SEARCH_SECONDS - self._searched)  # an earlier search may have ended after its limit
                if found := re.search(self._figure.regex, line, timeout=left):
                    self._said = found[1]
            except TimeoutError:
                self.malformed = (
                    f"printed output that takes longer than {SEARCH_SECONDS:g} s to search for --metric "
                    f"'{self._figure.regex}'; write it without nested repetitions"
                )
            self._searched += time.monotonic() - begun
        return False

    def take_error(self, line: str) -> None:
        self.take(line)

    def rows(self, ended: Ended) -> tuple[ProgramRow, ...]:
        """The figure and the wall time of a successful run; nothing of a failed one."""
        if ended.code != 0:
            return ()
        time = self._row(WALL_TIME, "s", "lower", ended.seconds)
        if self._figure is None:
            return (time,)
        value = _number(self._said)
        return (
            ()
            if value is None
            else (self._row(self._figure.metric, self._figure.unit, self._figure.better, value), time)
        )

    def _row(self, metric: str, unit: str, better: str, value: float) -> ProgramRow:
        return ProgramRow(
            metric, IMPLEMENTATION, self._parameters, unit, better, (value,), None, self._oversubscribed, self._command
        )


def _number(text: str | None) -> float | None:
    """A match as a number; None if it is not a number, or not one from which a speed-up can be computed."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 < value < float("inf") else None
