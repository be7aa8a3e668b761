"""OpenMP in the report: constructs beside other runtimes, and programs over several processes."""

from __future__ import annotations

from pathlib import Path

import golden_results
import kumiki.report as report
import pytest
from kumiki.report.advisers import openmp as adviser
from kumiki.report.analysis import openmp as rows_of
from kumiki.report.analysis.model import Results
from kumiki.report.sections.openmp import openmp
from kumiki.report.tables import Table
from kumiki.report.tables import openmp as tables
from synthetic import Host
from truth import check
from truth_openmp import RULES

ONE = {"ranks": 1, "threads": 2}
TWO = {"ranks": 2, "threads": 1, "homes": "first"}


def constructs(noise: float = 0.0) -> Host:
    """Tasks cost twice as much as libomp's; a barrier costs less than on either."""
    host = Host(suites=(), noise=noise)
    for construct, ours, libgomp, libomp in (("barrier", 0.2, 0.25, 0.3), ("task", 0.6, 0.45, 0.3)):
        for name, time in (("kumiki", ours), ("libgomp", libgomp), ("libomp", libomp)):
            host.add("openmp", "openmp.overhead", name, "us", time, construct=construct, **ONE)
    host.add(
        "openmp", "openmp.fork_join", "kumiki", "us", 20.0, construct="parallel", **ONE | {"ranks": 2, "threads": 1}
    )
    host.add("openmp", "rank_barrier.time", "kumiki", "us", 10.0, form="plain", ranks=2)
    host.add("openmp", "put.latency", "kumiki", "us", 4.0, ranks=2)
    return host


def programs(host: Host, moved: float = 50.0, faulting: float = 60.0, waiting: float = 20.0) -> Host:
    """Sums gain from a second process, and sweeps do not, because of their pages."""
    for program, alone, ours, spread in (("sums", 2.0, 1.0, 1.1), ("sweeps", 0.2, 0.1, 4.0)):
        own = {"program": program, "size": 8}
        host.add("openmp", "openmp.time", "libgomp", "s", alone, **own, ranks=1, threads=1)
        host.add("openmp", "openmp.time", "libgomp", "s", ours, **own, **ONE)
        host.add("openmp", "openmp.time", "kumiki", "s", ours, **own, **ONE)
        host.add("openmp", "openmp.time", "openmpi", "s", 1.5 * ours, **own, ranks=2, threads=1)
        host.add("openmp", "openmp.time", "kumiki", "s", spread, **own, **TWO)
        host.add("openmp", "openmp.time", "kumiki", "s", 2 * spread, **own, **TWO | {"homes": "by hand"})
        host.add("openmp", "openmp.verified", "kumiki", "1", 1.0, better="higher", **own, **TWO)
        for metric, unit, value in (("pages", "1", moved), ("faulting", "%", faulting), ("waiting", "%", waiting)):
            host.add("openmp", f"openmp.{metric}", "kumiki", unit, value, **own, **TWO)
    return host


def cells(table: Table | None) -> dict[str, list[str]]:
    assert table is not None
    return {line.head: [cell.text for cell in line.cells] for line in table.lines}


def test_a_construct_is_compared_with_the_better_of_the_others() -> None:
    found = cells(tables.constructs(Results.parse(constructs().results)))
    assert found["task, 2 threads"][-2:] == ["2.00", "slower than libomp by a factor of 2.00"]
    assert found["barrier, 2 threads"][-2:] == ["0.800", "1.25 times as fast as libgomp"]


def test_a_region_is_told_in_barriers_and_round_trips() -> None:
    (found,) = cells(tables.joins(Results.parse(constructs().results))).values()
    assert found[-2:] == ["2.00", "2.50"]


def test_a_program_that_gains_and_one_that_does_not() -> None:
    results = Results.parse(programs(constructs()).results)
    found = cells(tables.spread(results))
    assert found["sums 8, 2 x 1"][-1].startswith("gain: 1.82 times as fast")
    assert found["sweeps 8, 2 x 1"][-1] == "do not gain: 20.0 times as long; it waits for 50 pages in each run"
    assert found["sums 8, 2 x 1"][2] == "1.50 s"
    assert cells(tables.native(results))["sums 8"][-1].startswith("equal to libgomp")
    assert cells(tables.placements(results))["sums 8"][-1] == "2.00 times as fast as by hand"


@pytest.mark.parametrize(
    ("moved", "faulting", "waiting", "reason"),
    [
        (50.0, 60.0, 20.0, "it waits for 50 pages in each run"),
        (50.0, 20.0, 60.0, "it waits at barriers, where pages are sent, too"),
        (0.0, 0.0, 50.0, "one process waits for the other, and no page moves"),
        (9.0, 3.0, 4.0, "nearly all of its time is computation"),
    ],
)
def test_the_reason_follows_the_record(moved: float, faulting: float, waiting: float, reason: str) -> None:
    results = Results.parse(programs(Host(suites=()), moved, faulting, waiting).results)
    assert {tables.reason(each) for each in rows_of.spread(results)} == {reason}


def test_sentences_are_true_and_change_with_the_figures() -> None:
    host = programs(constructs())
    said = [piece.text for piece in adviser.advise(Results.parse(host.results))]
    for sentence in said:
        check(host.results, sentence, RULES)
    assert "1 of 2 constructs" in said[0] and "task 2.00 times" in said[0]
    assert said[2].endswith("faster than on one are sums 8 and slower are sweeps 8.")
    task = host.find("openmp.overhead", construct="task")
    task.update(median=0.2, ci95=[0.2, 0.2])
    assert "2 of 2 constructs" in adviser.advise(Results.parse(host.results))[0].text


def test_verified_solutions_are_counted() -> None:
    host = programs(constructs())
    host.find("openmp.verified", program="sums").update(median=0.0, ci95=[0.0, 0.0])
    right, of, count = rows_of.verified(Results.parse(host.results))
    assert (2 * right, count) == (of, 2)


def test_the_section_has_all_tables(tmp_path: Path) -> None:
    host = programs(constructs(noise=0.01))
    exhibits = openmp(Results.parse(host.results)).exhibits
    assert len(exhibits) == 5
    page = report.write(host.save(tmp_path)).read_text(encoding="utf-8")
    assert "What constructs cost" in page and "Which programs gain from more processes" in page


@pytest.mark.parametrize("name", ("openmp", "openmp-hosts"))
def test_a_kept_evaluation(name: str) -> None:
    """Each sentence about a real evaluation is true of its rows, and each table has a line for what was measured."""
    content = golden_results.load(name)
    results = Results.parse(content)
    said = adviser.advise(results)
    assert said
    for piece in said:
        check(content, piece.text, RULES)
    assert all(join.barrier and join.put for join in rows_of.joins(results))
    measured = {row["parameters"]["program"] for row in content["rows"] if row["metric"] == "openmp.time"}
    assert {each.program for each in rows_of.solved(results)} == measured
    spread = cells(tables.spread(results))
    assert {head.split()[0].rstrip(",") for head in spread} == measured
    for each in rows_of.spread(results):
        faster = each.alone is not None and each.row.high < each.alone.low  # type: ignore[operator]
        assert tables.gains(each).startswith("gain") <= faster


def test_without_rows_there_is_nothing() -> None:
    results = Results.parse(Host(suites=("memory",)).results)
    assert not openmp(results).exhibits and adviser.advise(results) == []
