"""Statements that must not say more than the rows do, each from a case in which one did."""

from __future__ import annotations

from typing import Any

import kumiki.report as report
import pytest
from synthetic import Host


def pieces(host: Host, kind: str) -> list[str]:
    return [piece.text for piece in report.advice(host.results) if piece.kind == kind]


def put(row: dict[str, Any], low: float, median: float, high: float) -> None:
    row.update(median=median, ci95=[low, high])


@pytest.mark.parametrize(("bound_gain", "limited"), [(1.9, False), (1.1, True)])
def test_the_bus_limits_only_what_its_own_bound_says_so_of(bound_gain: float, limited: bool) -> None:
    host = Host(suites=("memory", "laplace"), bus_threads=1.1)
    one = host.find("laplace.rate", form="hybrid", ranks=1, threads=1)["median"]
    where: dict[str, Any] = {"better": "higher", "form": "bound", "ranks": 1, "size": 640, "iterations": 500}
    for threads, factor in ((1, 1.0), (2, bound_gain)):
        host.add("laplace", "laplace.bound", "bound", "Mcell/s", 5 * one * factor, threads=threads, **where)
    (text,) = pieces(host, "character")
    assert ("Limited by it" in text) is limited
    assert ("not because of the bus" in text) is not limited


def test_a_setting_that_is_shown_to_be_better_goes_before_one_that_only_may_be() -> None:
    host = Host(suites=("laplace",))
    put(host.find("laplace.time", form="sequential"), 0.0119, 0.012, 0.0121)
    put(host.find("laplace.time", form="hybrid", ranks=1, threads=1), 0.0119, 0.012, 0.0121)
    put(host.find("laplace.time", form="hybrid", ranks=2, threads=1), 0.0078, 0.008, 0.014)
    put(host.find("laplace.time", form="hybrid", ranks=1, threads=2), 0.0089, 0.009, 0.0091)
    text = next(text for text in pieces(host, "program") if "use `kumiki run" in text)
    assert "use `kumiki run -n 1 -t 2`" in text and "whether `-n 2 -t 1`" in text


def test_policies_that_use_the_same_of_a_core_are_told_apart_by_their_delay() -> None:
    """The usual one uses a tenth of a percent more than the most frugal one, and wakes a rank much sooner."""
    host = Host(suites=("wait",))
    for policy, share in (("sleep", 0.3), ("adaptive", 0.4)):
        row = host.find("wait.cpu", policy=policy, after_ms=0)
        put(row, share - 0.01, share, share + 0.01)
        row["resolution"] = 1
    (text,) = pieces(host, "waiting")
    assert "Use `--wait adaptive` if others need the cores, and `--wait spin`" in text


def test_what_one_run_has_recorded_is_not_called_unsettled() -> None:
    host = Host(suites=())
    host.add("openmp", "openmp.pages", "kumiki", "1", 31.0, n=1, program="rows", ranks=2, threads=1)
    assert pieces(host, "trust") == []


def test_a_bus_that_one_thread_was_not_tried_on_saturates_somewhere_below() -> None:
    host = Host(cores=4, bus_threads=1.0, suites=("memory",))
    host.rows = [row for row in host.rows if row["parameters"]["threads"] > 1]
    (text,) = [text for text in pieces(host, "memory") if "memory bus" in text]
    assert "saturates at 2 threads or fewer" in text and "gain nothing from threads beyond 2;" in text


def test_few_samples_say_neither_what_limits_messages_nor_which_to_send_first() -> None:
    host = Host(suites=("message", "remote-memory"))
    assert any("memory limits messages" in text for text in pieces(host, "message"))
    for row in host.rows:
        row["n"] = 5
    texts = pieces(host, "message")
    assert not any("limits messages" in text or "hold it back" in text for text in texts)
    assert any("right after one of 64 MiB" in text for text in texts)


def test_leaving_a_core_free_is_told_by_the_programs_that_left_one() -> None:
    """CG was not measured on three of four cores: with two it is no example of leaving one free."""
    host = Host(suites=("laplace", "cg"), cores=4, bus_threads=4, exchange=0.0)
    host.rows = [row for row in host.rows if row["suite"] != "cg" or 3 not in row["parameters"].values()]
    (text,) = [text for text in pieces(host, "occupancy") if "eaving 1 core of 4 free" in text]
    assert "Laplace" in text and "CG" not in text


@pytest.mark.parametrize(("mib", "virtual", "told"), [(96, False, True), (64, False, False), (480, True, False)])
def test_arrays_that_caches_may_hold_are_told(mib: int, virtual: bool, told: bool) -> None:
    """A virtual machine is shown caches that it shares with others."""
    results = Host(suites=("memory",)).results
    results["environment"]["caches"][-1]["bytes"] = mib << 20
    results["environment"]["system"]["virtual_machine"] = virtual
    assert any("have 256 MiB each" in piece.text for piece in report.advice(results)) is told
