"""Explanations at the place where they are needed: efficiency above 100 %, rates of caches, bounds."""

from __future__ import annotations

from typing import Any

import pytest
from kumiki.report import tables
from kumiki.report.analysis.caches import holding
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import PROGRAMS, principal
from kumiki.report.analysis.uncertainty import speedup_ends
from kumiki.report.own import table
from synthetic import Host
from test_report_own import Own


def notes(host: Host) -> list[str]:
    problem = principal(Results.parse(host.results, host.samples), PROGRAMS[0])
    made = problem and tables.settings(problem)
    assert made
    return made.notes


def scaled(host: Host, factor: float, **where: Any) -> Host:
    row = host.find("laplace.time", **where)
    row.update(median=row["median"] * factor, ci95=[end * factor for end in row["ci95"]])
    return host


def test_efficiency_up_to_the_ideal_needs_no_words() -> None:
    assert notes(Host(suites=("laplace",))) == []


def test_pieces_that_are_faster_than_the_whole_are_explained() -> None:
    (note,) = notes(scaled(Host(suites=("laplace",)), 0.5, form="hybrid", ranks=1, threads=2))
    assert "fits into the caches" in note


def test_a_form_that_is_faster_on_one_processor_is_not_put_down_to_caches() -> None:
    (note,) = notes(scaled(Host(suites=("laplace",)), 0.8, form="hybrid", ranks=1, threads=1))
    assert "on one processor" in note and "caches" not in note


def test_what_may_be_chance_is_called_so() -> None:
    host = Host(suites=("laplace",))
    row = host.find("laplace.time", form="hybrid", ranks=1, threads=1)
    base = host.find("laplace.time", form="sequential")["median"]
    row.update(median=base * 0.95, ci95=[base * 0.8, base * 1.1])
    (note,) = notes(host)
    assert "chance" in note


def test_chance_may_be_the_base_cases_alone() -> None:
    host = scaled(Host(suites=("laplace",)), 0.95, form="hybrid", ranks=1, threads=1)
    base = host.find("laplace.time", form="sequential")
    base["ci95"] = [0.5 * base["median"], 1.5 * base["median"]]
    (note,) = notes(host)
    assert "chance" in note
    problem = principal(Results.parse(host.results), PROGRAMS[0])
    assert problem and problem.base
    low, high = speedup_ends(problem, problem.hybrid[1, 1]) or (0.0, 0.0)
    assert low < 0.6 and high > 1.5
    assert speedup_ends(problem, problem.base) == (1.0, 1.0)


def test_a_program_of_the_users_own_is_explained_alike() -> None:
    made = table.settings(Own(lambda ranks, threads: (ranks * threads) ** -1.3).problem())
    assert made and "fits into the caches" in made.notes[0]


@pytest.mark.parametrize(
    ("size", "more", "cache"),
    [
        (1 << 14, {}, "L1"),
        (1 << 15, {}, "L2"),
        (1 << 20, {}, "L2"),
        (1 << 21, {}, "L3"),
        (1 << 26, {}, ""),
        (1 << 14, {"hosts": 2}, ""),
        (1 << 14, {"fabric": "network"}, ""),
    ],
)
def test_a_transfer_is_put_down_to_the_smallest_cache_that_holds_it_twice(
    size: int, more: dict[str, Any], cache: str
) -> None:
    host = Host(suites=())
    host.add("remote-memory", "put.bandwidth", "kumiki", "GB/s", 200.0, ranks=2, bytes=size, **more)
    results = Results.parse(host.results)
    assert holding(results, results.rows[0]) == cache


def test_bounds_of_the_product_are_drawn_in_every_figure_of_it() -> None:
    from kumiki.report.figures.scaling import scaling

    results = Results.parse(Host(suites=("matmul",)).results)
    problem = principal(results, PROGRAMS[1])
    assert problem
    for figure in ("rate", "time", "speedup"):
        picture = scaling("name", problem, figure, 2)  # type: ignore[arg-type]
        assert picture and "bound: DGEMM of the library" in [key.text for key in picture.legend]
        assert "var(--bound)" in picture.svg
