"""The exhibits of the JAMSTEC paper: single processes, meshes, the cavity's velocities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kumiki.report as report
import pytest
from kumiki.report.analysis.meshes import families
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.routines import bound, by_size, of_single_processes
from kumiki.report.analysis.select import PROGRAMS
from kumiki.report.sections.meshes import meshes
from kumiki.report.sections.routines import routines
from kumiki.report.sections.velocities import velocities
from synthetic import Host


def test_a_single_process_is_one_that_measured_itself() -> None:
    results = Results.parse(Host(suites=("mpi",)).results)
    found = of_single_processes(results, "openmpi")["sendrecv"][1 << 20]
    assert found.row.count("rank") == 1, "the first that sends and receives"
    total = next(row for row in by_size(results)["openmpi"][1 << 20] if row.text("routine") == "sendrecv")
    assert found.row.value == pytest.approx(0.3 * total.value, rel=0.02) and found.row.value != total.value / 3
    assert (found.slowest, found.fastest) == pytest.approx((0.25 * total.value, 0.5 * total.value), rel=0.02)


def test_no_routine_is_compared_with_the_bound_which_every_figure_draws() -> None:
    results = Results.parse(Host(suites=("mpi",)).results)
    assert list(by_size(results)) == ["kumiki", "openmpi", "mpich"]
    assert {row.count("rank") for row in bound(results, "one").values()} == {1} and len(bound(results, "all")) == 16
    figures = [exhibit for exhibit in routines(results).exhibits if exhibit.picture]
    assert len(figures) == 7
    for exhibit in figures:
        assert "bound: memcpy" in [key.text for key in exhibit.picture.legend if exhibit.picture]


def himeno() -> Host:
    """Two sizes in the paper's form as well, with what memory allows, the messages counted, and gosa."""
    host = Host(suites=("himeno",), cores=4)
    for size, sweeps, seconds, work, plane in (("M", 10, 0.27, 1389.0, 131072), ("L", 2, 0.45, 2236.0, 524288)):
        where: dict[str, Any] = {"size": size, "sweeps": sweeps, "threads": 1}
        for ranks in (1, 2, 4):
            parts = {"computation": seconds / ranks * 1.1, "communication": 0.01, "synchronisation": 0.0}
            form = {**where, "form": "sendrecv", "ranks": ranks}
            host._run("himeno", "himeno", "openmpi", parts, work, "MFLOPS", False, **form)
            host.add("himeno", "himeno.gosa", "openmpi", "1", 1.6e-3 * (1 + 1e-7 * ranks), validated=True, **form)
            if ranks > 1:
                message = host.add("himeno", "himeno.message", "openmpi", "B", plane, validated=True, **form)
                message.update(median=plane, ci95=[plane, plane])  # counted
        bound = {**where, "form": "bound", "ranks": 1, "threads": 4}
        host.add("himeno", "himeno.bound", "bound", "MFLOPS", work / seconds * 3.0, better="higher", **bound)
    return host


@pytest.mark.parametrize("suite", ["pi", "diffusion", "laplace-sor", "cavity", "himeno"])
def test_sizes_are_series(suite: str, tmp_path: Path) -> None:
    results = Results.parse(Host(suites=(suite,), cores=4).results)
    program = next(each for each in PROGRAMS if each.suite == suite)
    (family,) = families(results, program)
    assert [count for count, _ in family.meshes[0].rows] in ([1, 4], [1, 2, 3, 4])
    for mesh in family.meshes:
        assert mesh.rows[0][1] is mesh.problem.sequential, "every line has its own base case"
    exhibits = list(meshes(results, program))
    assert [exhibit.paper for exhibit in exhibits][:2] == [program.paper.speedup, program.paper.efficiency]
    legend = [key.text for key in exhibits[0].picture.legend] if exhibits[0].picture else []
    assert legend[: len(family.meshes)] == [mesh.problem.label for mesh in family.meshes]
    assert len(family.meshes) == 2


def test_one_size_is_no_series() -> None:
    results = Results.parse(Host(suites=("himeno",)).results)
    program = next(each for each in PROGRAMS if each.suite == "himeno")
    small = Results(tuple(row for row in results.rows if row.text("size") != "L"))
    assert families(small, program) == []


def test_himeno_by_size_has_the_papers_form_and_its_figures() -> None:
    results = Results.parse(himeno().results)
    program = next(each for each in PROGRAMS if each.suite == "himeno")
    exhibits = list(meshes(results, program))
    assert "Figures 7 to 9" in [exhibit.paper for exhibit in exhibits]
    table = exhibits[-1].table
    assert table is not None and [line.head for line in table.lines] == ["size M, 10 sweeps", "size L, 2 sweeps"]
    heads = [column.title for column in table.columns]
    assert heads == [
        *("sequential", "memory bound", "best Kumiki", "Open MPI, 1 process", "Open MPI, at its best", "a message"),
        "gosa",
    ]
    texts = {head: cell.text for head, cell in zip(heads, table.lines[0].cells, strict=True)}
    assert texts["a message"] == "131072" and float(texts["gosa"]) == pytest.approx(1.6e-3, rel=0.01)
    allowed, reached = float(texts["memory bound"]), float(texts["best Kumiki"])
    assert reached < allowed == pytest.approx(3 * 1389 / 0.27, rel=0.05)
    assert "agrees to" in exhibits[-1].reading


CAVITY = next(each for each in PROGRAMS if each.suite == "cavity")


def cavity(shift: float = 0.004) -> Host:
    host = Host(suites=("cavity",))
    published = {"u": {"0.0547": -0.03717, "0.5000": -0.20581, "0.9766": 0.84123}, "v": {"0.5000": 0.05454}}
    for component, places in published.items():
        for place, velocity in places.items():
            where = {"form": "hybrid", "ranks": 1, "threads": 2, "size": 129, "component": component, "place": place}
            where["published"] = f"{velocity:.5f}"
            host.add("cavity", "cavity.velocity", "kumiki", "1", velocity, validated=True, **where)
            host.rows[-1]["median"] = velocity + shift
    return host


def test_velocities_of_the_cavity_stand_beside_the_published_ones() -> None:
    along, across = velocities(Results.parse(cavity().results), CAVITY)
    assert "0.0040 at Re = 100" in along.reading and "129 × 129" in along.shows and "Ghia" in along.shows
    assert along.picture and [key.text for key in along.picture.legend] == ["Re = 100", "published"]
    assert across.picture is not None
    assert "0.0125 at Re = 100" in next(velocities(Results.parse(cavity(-0.0125).results), CAVITY)).reading


def test_no_velocities_no_figure() -> None:
    assert list(velocities(Results.parse(Host(suites=("cavity",)).results), CAVITY)) == []


def test_the_pages_of_the_papers_programs_are_whole(tmp_path: Path) -> None:
    for host in (himeno(), cavity(), Host(suites=("diffusion",))):
        host.save(tmp_path)
        text = report.write(tmp_path).read_text(encoding="utf-8")
        assert "by size" in text or "beside the published one" in text
