"""The report shows installations that the user has named beside those of the distribution, with their versions."""

from __future__ import annotations

import copy
from typing import Any

import kumiki.report as report
from kumiki.report.analysis.model import Results
from kumiki.report.page import html
from kumiki.report.palette import looks
from synthetic import Host

PEERS = {
    "new-openmpi": {"kind": "openmpi", "title": "Open MPI", "version": "5.0.11", "prefix": "/opt/openmpi-5"},
    "new-mpich": {"kind": "mpich", "title": "MVAPICH", "version": "4.0", "prefix": "/opt/mvapich"},
    "new-ucx": {"kind": "ucx", "title": "UCX", "version": "1.22.0", "prefix": "/opt/ucx"},
}
SUITES = ("remote-memory", "rank-barrier", "message", "mpi", "laplace")


def beside(host: Host, times: dict[str, float]) -> dict[str, Any]:
    """The results of a host where each of these peers is so many times as fast as the distribution's of its kind."""
    rows = copy.deepcopy(host.rows)
    for name, gain in times.items():
        for row in [row for row in host.rows if row["implementation"] == PEERS[name]["kind"]]:
            twin: dict[str, Any] = copy.deepcopy(row) | {"implementation": name, "id": len(rows)}
            factor = gain if row["better"] == "higher" else 1 / gain
            if row["median"] is not None:
                twin["median"] *= factor
                twin["ci95"] = [factor * end for end in row["ci95"]]
            rows.append(twin)
    content = copy.deepcopy(host.results) | {"rows": rows}
    content["environment"]["versions"] |= {"openmpi": "4.1.4", "ucx": "1.13.1"}
    content["environment"]["peers"] = {name: PEERS[name] for name in times}
    return content


def text(results: dict[str, Any], kind: str, words: str) -> str:
    found = [piece.text for piece in report.advice(results) if piece.kind == kind and words in piece.text]
    assert len(found) == 1, found
    return found[0]


def test_the_best_of_the_peers_may_be_one_that_the_user_has_named() -> None:
    host = Host(suites=SUITES)
    faster = beside(host, {"new-ucx": 1.3, "new-openmpi": 0.9})
    assert "the fastest of its peers (UCX 1.22.0 (new-ucx)," in text(faster, "message", "of 8 B within a host arrives")
    slower = beside(host, {"new-ucx": 0.8})
    assert "the fastest of its peers (UCX 1.13.1," in text(slower, "message", "of 8 B within a host arrives")
    mpi = beside(host, {"new-openmpi": 3.0})
    assert "the best MPI_Barrier (Open MPI 5.0.11 (new-openmpi)," in text(mpi, "barrier", "the best MPI_Barrier")
    assert "Open MPI 5.0.11 (new-openmpi)" in text(mpi, "program", "plain MPI at its best")


def test_without_them_nothing_bears_a_version() -> None:
    results = Results.parse(beside(Host(suites=SUITES), {}))
    assert {row.title for row in results.rows} >= {"Kumiki", "Open MPI", "UCX"}
    assert results.mpis == ("openmpi", "mpich") and results.peers == ("openmpi", "mpich", "ucx")


def test_tables_and_figures_name_them() -> None:
    times = {"new-openmpi": 1.2, "new-mpich": 1.1, "new-ucx": 1.3}
    results = Results.parse(beside(Host(suites=SUITES, cores=4), times))
    assert results.mpis == ("openmpi", "mpich", "new-openmpi", "new-mpich")
    page = html.render(results)
    for title in ("Open MPI 5.0.11 (new-openmpi)", "MVAPICH 4.0 (new-mpich)", "UCX 1.22.0 (new-ucx)", "UCX 1.13.1"):
        assert f">{title}<" in page.replace("\n", ""), title
    assert "all-MPI, MVAPICH 4.0 (new-mpich)" in page
    assert "/opt/openmpi-5" in page


def test_named_peers_are_told_apart() -> None:
    names = [f"peer{number}" for number in range(16)]
    found = looks(names)
    assert len({(found[name].role, found[name].marker) for name in names}) == 16
