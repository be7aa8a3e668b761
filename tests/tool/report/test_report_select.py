"""Which rows a figure is taken from."""

from __future__ import annotations

import re

from kumiki.report import tables
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import PROGRAMS, Problem, principal
from kumiki.report.sections.overview import overview
from synthetic import Host


def problem(host: Host, suite: str = "laplace") -> Problem:
    found = principal(Results.parse(host.results), next(each for each in PROGRAMS if each.suite == suite))
    assert found
    return found


def test_a_program_is_told_by_the_rows_of_its_own_suite() -> None:
    """Another suite has measured one setting again, and the machine was twice as fast by then."""
    host = Host(suites=("radix-sort",))
    before = problem(host, "radix-sort")
    for row in [row for row in host.rows if row["parameters"].get("ranks") == 2]:
        factor = 2.0 if row["better"] == "higher" else 0.5
        ends = [end * factor for end in row["ci95"]]
        host.rows.append(
            {**row, "id": len(host.rows), "suite": "shared", "median": row["median"] * factor, "ci95": ends}
        )
    after = problem(host, "radix-sort")
    assert after.hybrid == before.hybrid
    alone = Host(suites=())
    alone.rows = [row for row in host.rows if row["suite"] == "shared"]
    other = problem(alone, "radix-sort")
    row = other.hybrid[2, 1]
    rate, part = other.rate(row), other.part(row, "computation")
    assert rate and part and row.suite == rate.suite == part.suite == "shared"


def test_the_figures_of_a_run_are_those_of_its_suite() -> None:
    host = Host(suites=("radix-sort",))
    times = [row for row in host.rows if row["metric"] == "radix_sort.time" and row["parameters"].get("ranks") == 2]
    host.rows += [{**row, "id": len(host.rows), "suite": "shared"} for row in times[:1]]
    results = Results.parse(host.results)
    found = problem(host, "radix-sort")
    assert found.rate(results.rows[-1]) is None


def test_the_best_peer_is_the_same_everywhere() -> None:
    """With more threads than cores OpenMP was faster once, which is no peer to the settings that have cores."""
    host = Host(suites=("radix-sort", "laplace"))
    best = {
        row["id"]: row for row in host.rows if row["implementation"] == "openmp" and row["metric"].endswith(".time")
    }
    for row in list(best.values()):
        where = {**row["parameters"], "threads": 4}
        ends = [end / 2 for end in row["ci95"]]
        more = {"id": len(host.rows), "median": row["median"] / 2, "ci95": ends, "oversubscribed": True}
        host.rows.append({**row, **more, "parameters": where})
    results = Results.parse(host.results)
    shown = overview(results, [])
    table = tables.other_problems(results, problem(host, "radix-sort"))
    assert shown and shown.picture and table
    cited = {int(number) for number in re.findall(r"#row-(\d+)", shown.picture.svg)}
    cited |= {cell.row for line in table.lines for cell in line.cells if cell.row is not None}
    assert cited & set(best) and not {row for row in cited if results.rows[row].oversubscribed}
