"""Shared arrays in the report: what single pages cost, and programs whose data are in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import golden_results
import kumiki.report as report
import pytest
from kumiki.report.analysis import shared as rows_of
from kumiki.report.analysis.model import Results
from kumiki.report.sections.shared import shared
from kumiki.report.tables import shared as tables
from synthetic import Host

PLACE = {"ranks": 2, "fabric": "shm", "copies": "rank", "mechanism": "userfaultfd", "page": 4096}
ONE_MEMORY = {**PLACE, "copies": "host", "mechanism": "none"}
GRID = {"size": 1024, "iterations": 50}


def pages(noise: float = 0.0) -> Host:
    """Pages with copies cost twice their bound, and a barrier in one memory what a rank barrier costs."""
    host = Host(suites=(), noise=noise)
    host.add("shared", "page_miss.time", "kumiki", "us", 8.0, **PLACE)
    host.add("shared", "page_upgrade.time", "kumiki", "us", 6.0, **PLACE)
    host.add("shared", "bound.page_fault", "bound", "us", 4.0, **PLACE)
    host.add("shared", "diff.time", "kumiki", "us", 1.0, **PLACE, changed=8)
    host.add("shared", "shared_barrier.time", "kumiki", "us", 0.3, **PLACE, cached=2048)
    for place, time in ((PLACE, 0.2), (ONE_MEMORY, 0.1)):
        host.add("shared", "shared_barrier.time", "kumiki", "us", time, **place, cached=0)
        host.add("shared", "shared_barrier.time", "bound", "us", 0.1, **place)
    host.add("shared", "shared_scan.bandwidth", "kumiki", "GB/s", 0.5, better="higher", **PLACE, bytes=8 << 20)
    host.add("shared", "shared_scan.bandwidth", "bound", "GB/s", 5.0, better="higher", **PLACE, bytes=8 << 20)
    return host


def programs(host: Host) -> Host:
    """The paper's program: cyclic homes cost ten times as much as blocks, and fetch many pages."""
    host.add("shared", "laplace.time", "openmp", "s", 0.1, **GRID, form="openmp", ranks=1, threads=2)
    host.add("shared", "laplace.time", "kumiki", "s", 0.2, **GRID, form="hybrid", ranks=2, threads=1)
    for homes, time, transfers, different in (("block", 0.25, 200.0, 0.0), ("cyclic", 2.5, 9000.0, 50.0)):
        run_of(host, "laplace", GRID, 2, homes, time, transfers, different)
    return host


def run_of(
    host: Host,
    program: str,
    problem: Mapping[str, int | str],
    ranks: int,
    homes: str,
    time: float,
    transfers: float = 100.0,
    different: float = 0.0,
) -> None:
    """A run with copies for all ranks, and its statistics."""
    run = {**problem, "form": "shared", "ranks": ranks, "threads": 1, "homes": homes, "protocol": "invalidate"}
    run |= {"copies": "rank", "mechanism": "userfaultfd", "page": 4096}
    crowded = ranks > 2
    host.add("shared", f"{program}.time", "kumiki", "s", time, oversubscribed=crowded, **run)
    for metric, unit, value in (
        ("page.transfers", "1", transfers),
        ("page.differences", "1", 2 * different),
        ("home.different", "%", different),
    ):
        host.add("shared", metric, "kumiki", unit, value, oversubscribed=crowded, **run, program=program)


BLOCKS = {"size": 1024, "block": 32}


def placed(first: float = 1.0, noise: float = 0.0) -> Host:
    """LU on two and four ranks: homes in blocks take three times as long as by hand, and first touch `first` times; and
    the same where one rank initializes."""
    host = programs(pages(noise))
    host.add("shared", "lu.time", "sequential", "s", 0.1, **BLOCKS, form="sequential", ranks=1, threads=1)
    for ranks, time in ((2, 0.08), (4, 0.2)):
        for homes, times, different in (("hand", 1.0, 0.0), ("first", first, 0.0), ("block", 3.0, 50.0)):
            run_of(host, "lu", BLOCKS, ranks, homes, times * time, 100 * times, different)
    for homes, times, different in (("hand", 1.0, 0.0), ("first", 5.0, 50.0), ("next", 1.0, 0.0)):
        run_of(host, "lu", {**BLOCKS, "touch": "one"}, 2, homes, times * 0.08, 100 * times, different)
    return host


def test_a_cost_is_compared_with_the_bound_of_its_own_place() -> None:
    found = {
        (cost.row.metric, cost.row.text("copies"), cost.row.count("cached", 0)): cost.ratio
        for cost in rows_of.costs(Results.parse(pages().results))
    }
    assert found[("page_miss.time", "rank", 0)] == pytest.approx(2.0)
    assert found[("page_upgrade.time", "rank", 0)] == pytest.approx(1.5)
    assert found[("diff.time", "rank", 0)] is None
    assert found[("shared_barrier.time", "rank", 2048)] == pytest.approx(3.0)
    assert found[("shared_barrier.time", "host", 0)] == pytest.approx(1.0)
    assert found[("shared_scan.bandwidth", "rank", 0)] == pytest.approx(0.1)


def test_programs_are_compared_with_puts_and_threads() -> None:
    table = tables.programs(Results.parse(programs(pages()).results))
    assert table is not None
    cells = {line.head: [cell.text for cell in line.cells] for line in table.lines}
    assert cells["laplace, block homes"][1:] == ["1.25", "2.50", "200", "0", "0 %"]
    assert cells["laplace, cyclic homes"][1:] == ["12.5", "25.0", "9000", "100", "50.0 %"]


def test_homes_are_compared_with_those_by_hand_on_as_many_ranks() -> None:
    table = tables.homes(Results.parse(placed().results))
    assert table is not None
    cells = {line.head: [cell.text for cell in line.cells] for line in table.lines}
    assert cells["lu, 2, by hand"][1:] == ["–", "100", "0", "0 %"]
    assert cells["lu, 2, blocks"][1] == cells["lu, 4, blocks"][1] == "3.00"
    assert cells["lu, 2, blocks"][2:] == ["300", "100", "50.0 %"]
    assert cells["lu, one rank initializes, 2, next touch"][1] == "1.00"
    assert not any(head.startswith("laplace") for head in cells), "nobody has placed its pages by hand"


def test_what_is_said_of_homes_follows_from_the_rows() -> None:
    def notes(first: float) -> list[str]:
        table = tables.homes(Results.parse(placed(first, noise=0.01).results))
        assert table is not None
        return table.notes

    usual, other = notes(1.0), notes(1.5)
    assert usual[0].startswith("lu on 2 ranks takes, beside its time with homes by hand: the same time, within ")
    assert "with first touch; " in usual[0] and "times as long with blocks. Pages that are fetched" in usual[0]
    assert "101 (first touch) and 40" in usual[0] and " (blocks). Other homes" in usual[0]
    assert "Other homes than by hand have 0 % (first touch) and 50." in usual[0]
    assert "where one rank initializes all pages, takes" in usual[1]
    assert "with next touch; " in usual[1] and "times as long with first touch. Pages" in usual[1]
    assert "hand: 1.5" in other[0] and "times as long with first touch; " in other[0]
    assert not any("4 ranks" in note for note in usual), "there are more ranks than cores"


def kept_value(metric: str, program: str, homes: str, one: bool) -> float:
    """The figure of the evaluation in golden/shared.json, on two ranks with copies of their own."""
    wanted = {"ranks": 2, "homes": homes, "copies": "rank", "protocol": "invalidate"}
    found = [
        row["median"]
        for row in golden_results.load("shared")["rows"]
        if row["metric"] == metric
        and row["parameters"].get("program", program) == program
        and all(row["parameters"].get(name) == value for name, value in wanted.items())
        and (row["parameters"].get("touch") == "one") == one
    ]
    (value,) = found
    return float(value)


def test_what_is_said_of_a_kept_evaluation_is_true_of_its_rows() -> None:
    names = {words: name for name, words in tables.HOMES.items()}
    table = tables.homes(Results.parse(golden_results.load("shared")))
    assert table is not None and len(table.notes) == 4, "three programs, and LU where one rank initializes"
    checked = 0
    for note in table.notes:
        program, one = note.split()[0], "one rank initializes" in note
        hand = kept_value(f"{program}.time", program, "hand", one)
        for ratio, words in re.findall(r"([\d.]+) times as long with ([a-z ]+)", note):
            time = kept_value(f"{program}.time", program, names[words], one)
            assert float(ratio) == pytest.approx(time / hand, rel=0.006)
            checked += 1
        pages = note.partition("in a run: ")[2].partition(". Other")[0].replace("\u202f", "")
        for count, words in re.findall(r"(\d+) \(([a-z ]+)\)", pages):
            moved = [kept_value(f"page.{name}", program, names[words], one) for name in ("transfers", "differences")]
            assert float(count) == pytest.approx(sum(moved), rel=0.006)
            checked += 1
    assert checked >= 20


def test_programs_are_drawn_over_ranks_by_homes() -> None:
    figures = [exhibit for exhibit in shared(Results.parse(placed().results)).exhibits if exhibit.picture]
    assert [figure.title for figure in figures] == ["LU factorisation in shared arrays: time by homes"]
    assert figures[0].paper == "Figures 4 and 5" and figures[0].base
    (picture,) = (figure.picture for figure in figures if figure.picture)
    assert [key.text for key in picture.legend] == ["homes: by hand", "homes: blocks", "homes: first touch"]


def test_the_section_has_two_tables_and_with_homes_by_hand_three_and_a_figure(tmp_path: Path) -> None:
    exhibits = shared(Results.parse(programs(pages(noise=0.01)).results)).exhibits
    assert [exhibit.kind for exhibit in exhibits] == ["Table", "Table"]
    host = placed(noise=0.01)
    exhibits = shared(Results.parse(host.results)).exhibits
    assert [exhibit.kind for exhibit in exhibits] == ["Figure", "Table", "Table", "Table"]
    page = report.write(host.save(tmp_path)).read_text(encoding="utf-8")
    assert "What a shared page costs" in page and "Figures 4 and 5 of the Omni/SCASH paper" in page


def test_without_rows_there_is_nothing() -> None:
    results = Results.parse(Host(suites=("memory",)).results)
    assert not shared(results).exhibits and tables.costs(results) is None and tables.programs(results) is None
