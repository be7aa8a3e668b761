"""Which rows a figure is taken from."""

from __future__ import annotations

from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import PROGRAMS, Problem, principal
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
