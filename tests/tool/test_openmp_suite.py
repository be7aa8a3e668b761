"""The suite of OpenMP programs: on which runtimes they are started, and what of their rows is kept."""

from __future__ import annotations

import json
from pathlib import Path

import kumiki.suites.openmp_point as runtimes
import numpy as np
import pytest
from kumiki.evaluation.plan import Request, plan
from kumiki.evaluation.process import Ended
from kumiki.explain.moved import main, rows
from kumiki.explain.record import COUNTS, Record, Tallied
from kumiki.hosts import Hosts
from kumiki.machine.native import Native
from kumiki.suites.model import Alone, KumikiRun, Mpirun
from kumiki.suites.openmp_point import OpenMpPoint

LAB = Hosts("lab", ("a", "b"), ("ip", "netns", "exec"))
ENDED = Ended(0, 1.0, (), 0)


def points(hosts: Hosts | None = None, quick: bool = False) -> list[OpenMpPoint]:
    request = Request(suites=("openmp",), hosts=hosts, quick=quick)
    found = [point for _, points in plan(request, 2, 1) for point in points]
    assert all(isinstance(point, OpenMpPoint) for point in found)
    return [point for point in found if isinstance(point, OpenMpPoint)]


def of(program: str, implementation: str, found: list[OpenMpPoint]) -> list[OpenMpPoint]:
    return [
        point
        for point in found
        if (point.parameters.get("program"), point.implementation, point.recorded) == (program, implementation, False)
    ]


def line(metric: str, implementation: str, unit: str = "s", **parameters: int | str) -> str:
    samples = [0.1, 0.11, 0.1, 0.1, 0.1, 0.1]
    fields = {"metric": metric, "implementation": implementation, "parameters": parameters, "unit": unit}
    return json.dumps({**fields, "better": "lower", "samples": samples, "validated": True})


def test_the_same_binary_runs_on_each_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtimes, "libomp", lambda: "libomp.so.5")
    found = points()
    for program in ("cg", "queens"):
        alone = [point for point in of(program, "libgomp", found) if point.launcher.threads == 2]
        commands = {
            name: next(point for point in of(program, name, found) if point.place == (1, 2)).command(
                Native(Path("/prefix")), 2
            )
            for name in ("libgomp", "libomp", "kumiki")
        }
        assert len(alone) == 1 and isinstance(alone[0].launcher, Alone)
        assert commands["libgomp"].arguments == commands["libomp"].arguments
        assert commands["libomp"].variables["LD_PRELOAD"] == "libomp.so.5"
        assert "LD_PRELOAD" not in commands["libgomp"].variables
        # libgomp, which stays in the process, would bind the initial thread before libomp counts the processors.
        assert "OMP_PROC_BIND" not in commands["libomp"].variables
        assert commands["kumiki"].variables["OMP_PROC_BIND"] == commands["libgomp"].variables["OMP_PROC_BIND"]
        launched = commands["kumiki"].arguments
        assert "--openmp" in launched[: launched.index(commands["libgomp"].arguments[0])]
        assert launched[-len(commands["libgomp"].arguments) :] == commands["libgomp"].arguments


def test_constructs_are_measured_in_rounds_on_one_thread_and_on_all() -> None:
    found = [point for point in points() if point.metric == "openmp.overhead"]
    assert {(point.implementation, point.launcher.threads) for point in found} == {
        (name, threads) for name in ("kumiki", "libgomp", "libomp") for threads in (1, 2)
    }
    assert len(found) == 3 * len({point.setting for point in found})


def test_over_hosts_each_program_has_its_base_its_placements_and_mpi() -> None:
    found = points(LAB)
    for program in ("laplace", "is"):
        assert {point.implementation for point in found if point.parameters.get("program") == program} == {
            *("kumiki", "libgomp", "openmpi", "mpich")
        }
    (base,) = of("adi", "libgomp", found)
    assert base.launcher == KumikiRun(1, 1, hosts=LAB.for_ranks(1))
    placed = {
        point.parameters["homes"]: " ".join(point.command(Native.installed(), 2).arguments)
        for point in of("adi", "kumiki", found)
    }
    assert set(placed) == {"first", "owner", "block", "by hand"}
    assert "--homes" not in placed["first"] and "--map" not in placed["first"]
    assert "--homes owner" in placed["owner"]
    assert "--map __cube_MOD_u=[block:64]" in placed["by hand"]
    assert all(point.variables is None for point in of("adi", "kumiki", found))
    assert {point.program for point in found if isinstance(point.launcher, Mpirun)} >= {"laplace-openmpi", "is-mpich"}


def test_without_libomp_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtimes, "libomp", lambda: None)
    absent = {point.implementation: point.absence(Native(Path("/prefix"))) or "" for point in points(quick=True)}
    assert "apt install libomp5" in absent["libomp"]
    assert not absent["libgomp"]


def test_without_fortran_its_program_is_absent(tmp_path: Path) -> None:
    (point, *_) = of("adi", "kumiki", points(quick=True))
    assert "gfortran" in (point.absence(Native(tmp_path)) or "")


def test_times_get_the_names_of_the_suite_and_say_that_they_are_verified() -> None:
    (point,) = [point for point in of("cg", "kumiki", points()) if point.place == (2, 1)]
    reader = point.reader(2)
    assert reader.take(line("cg.time", "openmp", **{"class": "W"}, form="openmp", ranks=1, threads=2))
    assert reader.take(line("cg.rate", "openmp", "Mop/s", **{"class": "W"}, form="openmp", ranks=1, threads=2))
    time, verified = reader.rows(ENDED)
    assert (time.metric, time.implementation) == ("openmp.time", "kumiki")
    assert dict(time.parameters) == {"program": "cg", "class": "W", "ranks": 2, "threads": 1, "homes": "first"}
    assert (verified.metric, verified.samples, verified.unit) == ("openmp.verified", (1.0,) * 6, "1")


def test_a_barrier_of_ranks_keeps_its_form() -> None:
    (point,) = [point for point in points() if point.metric == "rank_barrier.time"]
    reader = point.reader(2)
    reader.take(line("rank_barrier.time", "kumiki", "us", form="plain", ranks=2))
    reader.take(line("rank_barrier.time", "bound", "us", form="plain", ranks=2))
    (row,) = reader.rows(ENDED)
    assert row.parameters["form"] == "plain"


def test_a_program_that_ran_on_another_runtime_has_no_row() -> None:
    (point,) = [point for point in of("queens", "libomp", points()) if point.place == (1, 2)]
    reader = point.reader(2)
    assert reader.take(line("openmp.time", "libgomp", program="queens", threads=2))
    assert reader.rows(ENDED) == () and "on libomp" in reader.silence


def test_a_recorded_run_says_what_moved_in_each_solution() -> None:
    (point,) = [point for point in points() if point.recorded and point.parameters["program"] == "queens"]
    command = point.command(Native.installed(), 2)
    assert command.arguments[0] == "sh" and "KUMIKI_EXPLAIN" in command.arguments[2]
    reader = point.reader(2)
    reader.take(line("openmp.time", "kumiki", program="queens", threads=2))
    for row in rows([record(0, 700, 0, 1000, 400)]):
        reader.take(json.dumps(row))
    pages, _, waiting = reader.rows(ENDED)
    assert pages.metric == "openmp.pages" and pages.samples == (100.0,)
    assert waiting.samples == (40.0,)


def record(rank: int, fetches: int, fault_ns: int, region_ns: int, wait_ns: int) -> Record:
    counts = np.zeros(1, np.dtype([("counts", "<u8", len(COUNTS))]))
    counts["counts"][0, COUNTS.index("fetches")] = fetches
    counts["counts"][0, COUNTS.index("fault_ns")] = fault_ns
    tallies = {
        **{(int(Tallied.REGION), 0): (1, 10**9), (int(Tallied.REGION), 7): (3, region_ns)},
        (int(Tallied.REGION_WAIT), 7): (3, wait_ns),
    }
    return Record(rank, 2, True, True, 1, 1.0, 1.0, "host", Path(), counts, tallies, {}, None, 0)


def test_shares_are_of_the_time_of_regions() -> None:
    found = {
        row["metric"]: row["samples"] for row in rows([record(0, 5, 100, 1000, 300), record(1, 7, 300, 1000, 500)])
    }
    assert found == {"openmp.pages": [12.0], "openmp.faulting": [20.0], "openmp.waiting": [40.0]}


def test_a_folder_without_records_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 1 and "no rank has left a record" in capsys.readouterr().err
    assert main([]) == 2
