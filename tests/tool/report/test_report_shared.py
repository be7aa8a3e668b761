"""Shared arrays in the report: what single pages cost, and programs whose data are in them."""

from __future__ import annotations

from pathlib import Path

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
        run = {**GRID, "form": "shared", "ranks": 2, "threads": 1, "homes": homes, "protocol": "invalidate"}
        run |= {"copies": "rank", "mechanism": "userfaultfd", "page": 4096}
        host.add("shared", "laplace.time", "kumiki", "s", time, **run)
        host.add("shared", "page.transfers", "kumiki", "1", transfers, **run, program="laplace")
        host.add("shared", "page.differences", "kumiki", "1", 2 * different, **run, program="laplace")
        host.add("shared", "home.different", "kumiki", "%", different, **run, program="laplace")
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


def test_the_section_has_two_tables(tmp_path: Path) -> None:
    host = programs(pages(noise=0.01))
    exhibits = shared(Results.parse(host.results)).exhibits
    assert [exhibit.kind for exhibit in exhibits] == ["Table", "Table"]
    page = report.write(host.save(tmp_path)).read_text(encoding="utf-8")
    assert "What a shared page costs" in page and "the Omni/SCASH paper" in page


def test_without_rows_there_is_nothing() -> None:
    results = Results.parse(Host(suites=("memory",)).results)
    assert not shared(results).exhibits and tables.costs(results) is None and tables.programs(results) is None
