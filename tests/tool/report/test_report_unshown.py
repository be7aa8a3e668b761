"""What the samples do not show is not said."""

from __future__ import annotations

import re

import kumiki.report as report
import pytest
from sentences import said, unsaid
from synthetic import Host


def few_samples(host: Host, n: int = 5) -> Host:
    """The same rows with too few samples for a verdict."""
    for row in host.rows:
        row.update(n=n, converged=False)
    return host


def test_oversubscribed_settings_are_never_recommended_by_one_start() -> None:
    host = Host(suites=("laplace", "matmul"))
    for row in host.rows:
        shape = row["parameters"]
        if row["metric"].endswith(".time") and shape["form"] == "hybrid" and shape["ranks"] * shape["threads"] == 4:
            row["median"], row["ci95"] = row["median"] * 0.5, [end * 0.5 for end in row["ci95"]]
            row["parameters"]["working"] = 2 if shape["ranks"] == 1 else 1
    texts = [piece.text for piece in report.advice(host.results)]
    for text in texts:
        assert not re.search(r"use `[^`]*-n (1 -t 4|2 -t 2|4 -t 1)`", text), text
        assert "4 processors" not in text, text
    piece = said(host, "occupancy", "Laplace was clearly faster with")
    assert "A single start does not prove that this is repeatable. Run `kumiki evaluate --suite laplace" in piece.text
    assert re.search(r"computes with \d of its \d threads|4 -t 1", piece.text)


def test_threads_that_were_left_idle_are_told() -> None:
    host = Host(suites=("laplace",))
    for row in host.rows:
        if row["parameters"]["form"] == "hybrid" and row["oversubscribed"] and row["parameters"]["threads"] > 1:
            row["parameters"]["working"] = row["parameters"]["threads"] // 2
            row["median"], row["ci95"] = row["median"] * 0.99, [end * 0.99 for end in row["ci95"]]
    text = said(host, "occupancy", "more threads than cores").text
    assert "`-n 1 -t 4` computes with 2 of its 4 threads" in text


def test_five_samples_carry_no_verdict() -> None:
    suites = ("memory", "rank-barrier", "wait", "laplace", "cg", "remote-memory", "message", "mpi")
    host = few_samples(Host(suites=suites))
    verdicts = (
        "do not parallelise",
        ": use `",
        "Do not start",
        "Use all cores",
        "saturates at",
        "gains more",
        "log2 P",
    )
    verdicts += ("log2 P", "times as fast", "equal to", "is higher", "is lower", "by bsend", "everywhere: no policy")
    for piece in report.advice(host.results):
        assert not any(verdict in piece.text for verdict in verdicts), piece.text
    text = said(host, "setting", "These samples do not show which setting to use").text
    assert "Run `kumiki evaluate --suite laplace,cg --output again` on an otherwise idle machine" in text


def test_wide_intervals_are_no_ground_for_do_not_parallelise() -> None:
    host = Host(suites=("cg",))
    for row in host.rows:
        row["ci95"] = [0.5 * row["median"], 2.0 * row["median"]]
    text = said(host, "program", "these samples do not show whether it gains").text
    assert "± 75 %" in text and unsaid(host, "do not parallelise")
    assert (
        "do not show the effect of more threads than cores" in said(host, "occupancy", "more threads than cores").text
    )


def test_a_routine_that_needs_preparation_must_have_shown_that_it_is_better() -> None:
    def host(n: int) -> Host:
        made = Host(suites=(), cores=8)
        for size in (1 << power for power in range(10, 24)):
            for routine, rate in (("send", 1.0), ("bsend", 1.4)):
                made.add("mpi", "routine.bandwidth", "mpich", "GB/s", rate, better="higher", ranks=4, n=n, bytes=size,
                         routine=routine, scope="all")  # fmt: skip
        return made

    assert "by bsend at every size" in said(host(9), "routine", "Send with").text
    assert unsaid(host(3), "bsend")


def test_one_disturbed_direction_makes_no_far_host() -> None:
    host = Host(hosts=3, suites=("network",))
    row = host.find("network.latency", **{"from": 0, "to": 2})
    row["median"], row["ci95"] = row["median"] * 43.3, [end * 43.3 for end in row["ci95"]]
    assert unsaid(host, "not equally distant")
    back = host.find("network.latency", **{"from": 2, "to": 0})
    back["median"], back["ci95"] = back["median"] * 43.3, [end * 43.3 for end in back["ci95"]]
    assert "43" in said(host, "network", "not equally distant").text


@pytest.mark.parametrize(
    ("kind", "words"),
    [("drift", "drifted"), ("modes", "two groups"), ("start", "began with a sample far from all others")],
)
def test_unsteady_samples_are_told(kind: str, words: str) -> None:
    host = Host(suites=("memory",))
    host.rows[2]["unsteady"] = kind
    assert said(host, "trust", words, "1 row").rows == [host.rows[2]["id"]]


def test_other_load_is_told() -> None:
    host = Host(suites=("memory",))
    results = host.results
    results["environment"]["load"] = {"start": 0.0, "during": 1.2}
    assert any("other processes kept 1.2 of 2 cores busy" in piece.text for piece in report.advice(results))
    assert unsaid(host, "other load")
