"""Turns the output of a program into rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from kumiki.evaluation.process import Ended
from kumiki.results.row import MalformedRow, ProgramRow, parse_row

SHOWN_OF_A_LINE = 120


class Reader(Protocol):
    """Receives a program's lines as they arrive, and returns its rows at the end."""

    @property
    def silence(self) -> str:
        """The complaint about a program that succeeded without printing a row."""

    @property
    def malformed(self) -> str | None:
        """The complaint about malformed output, whatever the exit code was."""

    def take(self, line: str) -> bool:
        """Accepts a line of standard output; returns False if it is only a remark."""

    def take_error(self, line: str) -> None:
        """Accepts a line of standard error."""

    def rows(self, ended: Ended) -> tuple[ProgramRow, ...]:
        """The rows of the program, which has ended in this way."""


class RowReader:
    """Reads the rows that Kumiki's own programs print (docs/rows.md)."""

    silence = "printed no row"

    def __init__(self, location: Mapping[str, int | str], cores: int | None = None) -> None:
        """`location`: parameters that are added to all rows. `cores`: those that the program may use, if it does not
        know them itself.
        """
        self.malformed: str | None = None
        self._location = location
        self._cores = cores
        self._rows: list[ProgramRow] = []

    def take(self, line: str) -> bool:
        if not line.startswith("{"):
            return False
        try:
            row = parse_row(line)
        except MalformedRow as problem:
            self.malformed = self.malformed or f"printed a malformed row: {problem}: {line[:SHOWN_OF_A_LINE]}"
            return False
        crowded = row.oversubscribed if self._cores is None else row.processors > self._cores
        self._rows.append(replace(row, parameters={**row.parameters, **self._location}, oversubscribed=crowded))
        return True

    def take_error(self, line: str) -> None:
        pass

    def rows(self, ended: Ended) -> tuple[ProgramRow, ...]:
        return tuple(self._rows)
