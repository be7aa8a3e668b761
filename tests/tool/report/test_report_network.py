"""The report's statements about a network: its section, and advice that follows the figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kumiki.report as report
import pytest
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import cores
from synthetic import Host

SUITES = ("network", "laplace")


def cluster(hosts: int = 3, **knobs: Any) -> Host:
    return Host(cores=8, hosts=hosts, suites=SUITES, **knobs)


def sentences(host: Host) -> list[str]:
    return [piece.text for piece in report.advice(host.results) if piece.kind == "network"]


def said(host: Host, *words: str) -> str:
    found = [text for text in sentences(host) if all(word in text for word in words)]
    assert len(found) == 1, sentences(host)
    return found[0]


def unsaid(host: Host, *words: str) -> bool:
    return not any(all(word in text for word in words) for text in sentences(host))


def page(host: Host, folder: Path) -> str:
    return report.write(host.save(folder)).read_text(encoding="utf-8")


def test_put_beside_tcp_and_its_peers() -> None:
    assert "1.30 times the latency of plain TCP" in said(cluster(), "put of 8 B")
    assert "2.50 times the latency of plain TCP" in said(cluster(put_over_tcp=2.5), "put of 8 B")
    assert "faster than the fastest put of its peers (UCX" in said(cluster(put_over_tcp=2.0), "put of 8 B")
    assert "slower than the fastest put of its peers (UCX" in said(cluster(put_over_tcp=4.0), "put of 8 B")


def test_network_beside_memory_when_both_are_known() -> None:
    host = Host(cores=2, hosts=2, suites=("remote-memory", "network"))
    assert "Within a host a put takes" in said(host, "prefer more threads or ranks on a host")
    assert unsaid(cluster(), "Within a host")


def test_half_of_the_bandwidth() -> None:
    assert said(cluster(), "half of its highest bandwidth").startswith("Send at least 16 KiB at once between hosts")
    assert "slower than plain TCP" in said(cluster(), "pieces of 64 MiB")


def test_a_host_that_is_farther_is_named() -> None:
    assert unsaid(cluster(4), "not equally distant")
    assert "host 3" in said(cluster(4, far_host=2.0), "not equally distant")


def test_programs_that_the_network_limits_are_named() -> None:
    assert unsaid(cluster(exchange=0.0), "is limited by the network")
    assert "is limited by the network" in said(cluster(exchange=1.0), "Laplace")
    assert unsaid(Host(cores=8, suites=("laplace",), exchange=1.0), "is limited by the network")


def test_every_sentence_cites_rows() -> None:
    host = cluster(4, far_host=2.0, exchange=1.0)
    for piece in (piece for piece in report.advice(host.results) if piece.kind == "network"):
        assert piece.rows and set(piece.rows) <= {row["id"] for row in host.rows}
        assert piece.text.endswith(".") and "  " not in piece.text


@pytest.mark.parametrize(("hosts", "maps"), [(2, 0), (4, 2)])
def test_section_has_its_exhibits(tmp_path: Path, hosts: int, maps: int) -> None:
    text = page(cluster(hosts), tmp_path)
    assert "The shortest operations between two hosts" in text
    assert "Bandwidth between two hosts over message size" in text and "bound: plain TCP" in text
    assert text.count("between every pair of hosts</h3>") == maps
    assert "plain TCP (bound)" in text


def test_no_section_without_a_network(tmp_path: Path) -> None:
    assert 'id="network"' not in page(Host(suites=("laplace",)), tmp_path)


def test_the_setting_names_the_cluster() -> None:
    results = cluster().results
    results["environment"]["cluster"] = {"name": "lab", "hosts": 3, "rate": "1gbit"}
    commands = [piece.text for piece in report.advice(results) if "`kumiki run" in piece.text]
    assert commands and all("`kumiki run --cluster lab -n" in text for text in commands)


@pytest.mark.parametrize(("own", "total"), [(2, 8), (None, 2)])
def test_the_cores_of_several_machines_add_up(own: int | None, total: int) -> None:
    host = Host(suites=("laplace",), cores=8, hosts=4, bus_threads=8, exchange=0.0)
    results = host.results
    results["environment"]["cpu"]["usable_cores"] = 2
    results["environment"]["cluster"] = {"name": "lab", "hosts": 4, "cores": own, "rate": None}
    assert cores(Results.parse(results)) == total
    spared = [piece.text for piece in report.advice(results) if "eaving 1 core" in piece.text]
    assert all(f"of {total} free" in text for text in spared) and (spared or total == 2)


def test_nodes_that_slurm_has_allocated(tmp_path: Path) -> None:
    host = cluster()
    results = host.results
    results["environment"]["cluster"] = {
        "name": "Slurm job 17",
        "hosts": 3,
        "interface": None,
        "rate": None,
        "bits_per_second": None,
        "origin": "slurm",
        "names": ["n1", "n2", "n3"],
        "option": "--slurm",
    }
    commands = [piece.text for piece in report.advice(results) if "kumiki run" in piece.text]
    assert commands and all("`kumiki run --slurm -n" in text for text in commands)
    folder = host.save(tmp_path)
    (folder / "results.json").write_text(json.dumps(results))
    assert "Here: 3 hosts (n1, n2, n3)." in report.write(folder).read_text(encoding="utf-8")
