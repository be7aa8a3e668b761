"""Arranging rows as tables: every row has its cell, and the caption says only what holds for all of them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from kumiki.results.row import Row
from kumiki.terminal.tables import legend, sheets

NAMES = ("ranks", "threads", "bytes", "kernel", "form")


def row(metric: str, implementation: str, median: float | None = 1.0, **fields: Any) -> Row:
    """A row with these parameters (or, for oversubscribed and converged, fields)."""
    marks = {name: fields.pop(name) for name in ("oversubscribed", "converged") if name in fields}
    told = {"metric": metric, "implementation": implementation, "parameters": fields, "unit": "us", "better": "lower"}
    return Row.parse({**told, "median": median, "validated": None, **marks})


ROWS = st.lists(
    st.builds(
        lambda metric, by, parameters: row(metric, by, **parameters),
        st.sampled_from(["put.latency", "get.latency"]),
        st.sampled_from(["kumiki", "mpich", "bound"]),
        st.fixed_dictionaries({"ranks": st.integers(1, 3), "form": st.sampled_from(["plain", "split"])})
        | st.fixed_dictionaries(
            {"bytes": st.integers(1, 3)}, optional={"kernel": st.sampled_from(["plain", "vector"])}
        ),
    ),
    min_size=1,
    max_size=15,
    unique_by=lambda held: held.identity,
)


@given(ROWS)
def test_every_row_has_a_cell_of_its_own(rows: list[Row]) -> None:
    (sheet,) = sheets(rows, ["put.latency", "get.latency"])
    cells = [held for line in sheet.cells.values() for held in line.values()]
    assert len(cells) == len(rows)
    assert all(column in sheet.columns for line in sheet.cells.values() for column in line)


def test_peers_stand_beside_each_other_and_bounds_last() -> None:
    rows = [row("put.latency", by, bytes=size) for by in ("bound", "mpich", "kumiki") for size in (8, 4096)]
    (sheet,) = sheets(rows, ["put.latency"])
    assert [column[1] for column in sheet.columns] == ["kumiki", "mpich", "bound"]
    assert list(sheet.cells) == [(8,), (4096,)]


def test_what_is_the_same_everywhere_goes_into_the_caption() -> None:
    rows = [row("laplace.time", "kumiki", size=640, ranks=ranks, threads=1) for ranks in (1, 2)]
    (sheet,) = sheets(rows, ["laplace.time"])
    assert sheet.caption == "laplace.time [us], lower is better (size 640, threads 1)"
    assert sheet.heads == ("ranks",)


def test_metrics_with_different_parameters_stand_below_each_other() -> None:
    rows = [
        row("put.latency", "kumiki", placement="adjacent"),
        row("put.latency", "kumiki", placement="separate"),
        row("atomic.latency", "kumiki", contention="none"),
        row("atomic.latency", "kumiki", contention="both"),
    ]
    (sheet,) = sheets(rows, ["put.latency", "atomic.latency"])
    assert sheet.heads[0] == "metric"
    assert len(sheet.columns) == 1


def test_legend_explains_only_the_marks_that_are_used() -> None:
    assert legend([row("x.y", "kumiki")]) == ""
    assert "cores" in legend([row("x.y", "kumiki", oversubscribed=True)])
    assert "converged" in legend([row("x.y", "kumiki", converged=False)])
    assert legend([row("x.y", "kumiki", median=None, converged=False)]) == ""
