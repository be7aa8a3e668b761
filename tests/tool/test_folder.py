"""The folder of an evaluation: how the rows of a repeated point are merged with those that it has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from kumiki.evaluation.measure import Outcome
from kumiki.evaluation.plan import Request
from kumiki.machine import environment
from kumiki.machine.native import Native
from kumiki.machine.topology import Machine
from kumiki.results import files
from kumiki.results.row import ProgramRow
from kumiki.suites.model import Alone, Point

POINT = Point(
    "laplace", "laplace.time", "kumiki", "laplace", ("--form", "openmp"), Alone(2), {"threads": 2}, "s", "lower"
)
HERE = environment.describe(Machine(), Native(Path("/nowhere")))


@pytest.fixture
def folder(tmp_path: Path) -> files.Folder:
    return files.create(tmp_path, Request().arguments(), 1, HERE)


def row(
    middle: float = 1.0, *, validated: bool | None = True, oversubscribed: bool = False, note: str = ""
) -> ProgramRow:
    """Samples that have not converged."""
    samples = tuple(middle * (1 + step / 10) for step in range(6))
    return ProgramRow(
        "laplace.time", "kumiki", POINT.parameters, "s", "lower", samples, validated, oversubscribed, note or None
    )


def add(folder: files.Folder, point: Point, *rows: ProgramRow) -> None:
    folder.add(Outcome(point, rows=rows), 0.0)


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [(False, True, False), (True, False, False), (True, True, True), (None, True, True), (True, None, True)],
)
def test_a_repeat_does_not_take_back_what_speaks_against_a_row(
    folder: files.Folder, first: bool | None, second: bool | None, both: bool
) -> None:
    add(folder, POINT, row(validated=first, oversubscribed=True, note="one thread is idle"))
    add(folder, replace(POINT, again=1), row(validated=second))
    (merged,) = folder.rows()
    assert merged.n == 12 and merged.validated is both
    assert merged.oversubscribed and merged.note == "one thread is idle"


def test_a_wrong_result_is_not_measured_again(folder: files.Folder) -> None:
    add(folder, POINT, row())
    assert [each.converged for each in folder.open_rows(POINT)] == [False]
    add(folder, replace(POINT, again=1), row(validated=False))
    assert folder.open_rows(POINT) == []


def test_a_repeat_finds_the_row_of_its_own_suite(folder: files.Folder) -> None:
    other = replace(POINT, suite="shared")
    add(folder, POINT, row(1.0))
    add(folder, other, row(2.0))
    add(folder, replace(other, again=1), row(2.0))
    assert [(each.suite, each.n, each.median) for each in folder.rows()] == [("laplace", 6, 1.25), ("shared", 12, 2.5)]
