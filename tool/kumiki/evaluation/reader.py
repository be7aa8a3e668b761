"""What makes rows of what a program prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from kumiki.evaluation.process import Ended
from kumiki.results.row import MalformedRow, ProgramRow, parse_row

SHOWN_OF_A_LINE = 120


class Reader(Protocol):
    """Takes a program's lines as they come, and knows at its end what they say."""

    @property
    def silence(self) -> str:
        """What is wrong with a program that ended well and gave no row."""

    @property
    def malformed(self) -> str | None:
        """What is wrong with what it printed, whatever its exit code."""

    def take(self, line: str) -> bool:
        """Takes a line of standard output; False when it is a remark only."""

    def take_error(self, line: str) -> None:
        """Takes a line of standard error."""

    def rows(self, ended: Ended) -> tuple[ProgramRow, ...]:
        """The rows of the program, which has ended so."""


class RowReader:
    """Reads the rows that Kumiki's own programs print (docs/rows.md)."""

    silence = "printed no row"

    def __init__(self, location: Mapping[str, int | str]) -> None:
        """`location`: parameters that all rows get beside their own."""
        self.malformed: str | None = None
        self._location = location
        self._rows: list[ProgramRow] = []

    def take(self, line: str) -> bool:
        if not line.startswith("{"):
            return False
        try:
            row = parse_row(line)
        except MalformedRow as problem:
            self.malformed = self.malformed or f"printed a malformed row: {problem}: {line[:SHOWN_OF_A_LINE]}"
            return False
        self._rows.append(replace(row, parameters={**row.parameters, **self._location}))
        return True

    def take_error(self, line: str) -> None:
        pass

    def rows(self, ended: Ended) -> tuple[ProgramRow, ...]:
        return tuple(self._rows)
