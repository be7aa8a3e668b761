"""Advice follows the figures: if a knob of the made-up machine is turned, the sentence changes."""

from __future__ import annotations

import math
import re
from typing import Any

import kumiki.report as report
import pytest
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import PROGRAMS, problems
from sentences import cited, said, unsaid
from synthetic import SUITES, Host


def faster(host: Host, metric: str, factor: float, implementation: str = "kumiki", **where: int) -> dict[str, Any]:
    """Scales one row's time and its parts."""
    row = host.find(metric, implementation, form="hybrid" if implementation == "kumiki" else "mpi", **where)
    prefix = metric.partition(".")[0]
    for other in host.rows:
        same = other["implementation"] == implementation and other["parameters"] == row["parameters"]
        if same and other["metric"].startswith(f"{prefix}.") and other["unit"] == "s":
            other["median"], other["ci95"] = other["median"] * factor, [end * factor for end in other["ci95"]]
    return row


@pytest.mark.parametrize(
    "host", [Host(), Host(cores=16, bus_threads=5.0), Host(cores=6, exchange=0.6)], ids=["2", "16", "6"]
)
def test_every_sentence_cites_rows_that_exist(host: Host) -> None:
    known = {row["id"] for row in host.rows}
    pieces = report.advice(host.results)
    assert len(pieces) > 15
    for piece in pieces:
        assert piece.rows and set(piece.rows) <= known and len(set(piece.rows)) == len(piece.rows), piece.text
        assert piece.text.endswith(".") and not piece.text[0].islower() and "  " not in piece.text, piece.text
        assert piece.text.count("`") % 2 == 0 and piece.text.count("(") == piece.text.count(")"), piece.text


def test_every_number_comes_from_the_rows() -> None:
    """On a machine that is half as fast, no time in the advice may stay the same."""
    host = Host(suites=("thread-barrier",))
    before = {
        match for piece in report.advice(host.results) for match in re.findall(r"[\d.]+ (?:ns|µs|ms)", piece.text)
    }
    for row in host.rows:
        row["median"] *= 2.0
        row["ci95"] = [2.0 * end for end in row["ci95"]]
    after = {match for piece in report.advice(host.results) for match in re.findall(r"[\d.]+ (?:ns|µs|ms)", piece.text)}
    assert before and after and not before & after


def test_memory_bus_that_saturates_and_one_that_does_not() -> None:
    full = said(Host(cores=16, bus_threads=5.2, suites=("memory",)), "memory", "saturates at 8 threads")
    assert re.search(r"at most 5\.[12]\d times", full.text)
    free = said(Host(cores=16, bus_threads=16, suites=("memory",)), "memory", "not saturated by the 16 threads")
    assert "gain from every thread" in free.text


def test_memory_bus_that_is_full_before_all_cores_run() -> None:
    piece = said(Host(bus_threads=1.3, suites=("memory",)), "memory", "saturates at 2 threads")
    assert re.search(r"at most 1\.(29|30|31) times", piece.text)
    assert "gain nothing" in said(Host(bus_threads=1.0, suites=("memory",)), "memory", "saturates at 1 thread").text


def test_memory_bus_that_gets_slower_with_threads() -> None:
    host = Host(cores=4, bus_threads=1.0, suites=("memory",))
    row = host.find("memory.copy", threads=4)
    row["median"], row["ci95"] = row["median"] * 0.7, [end * 0.7 for end in row["ci95"]]
    assert "falls to" in said(host, "memory", "saturates at 1 thread").text


def test_barrier_grain_is_a_hundred_barriers() -> None:
    host = Host(suites=("thread-barrier",))
    row = host.find("thread_barrier.time", threads=2)
    row["median"], row["ci95"] = 0.25, [0.24, 0.26]
    piece = said(host, "barrier", "A barrier of 2 threads costs 250 ns")
    assert "at least 25 µs of work (100 times as long)" in piece.text and piece.rows == [row["id"]]


def test_split_phase_only_where_it_pays() -> None:
    assert "111 ns" in said(Host(suites=("rank-barrier",), split_gain=0.5), "barrier", "use the split-phase").text
    assert (
        "no part of it is hidden"
        in said(Host(suites=("rank-barrier",), split_gain=1.0), "barrier", "split-phase", "equal to").text
    )
    assert (
        "does not pay off"
        in said(Host(suites=("rank-barrier",), split_gain=1.5), "barrier", "split-phase", "more expensive").text
    )


def test_routine_by_size() -> None:
    host = Host(suites=("mpi",))
    text = said(host, "routine", "Send with").text
    mpis = "with Open MPI and MPICH by send up to 512 KiB and by sendrecv above"
    assert text == f"Send with Kumiki by send at every size; {mpis}."
    assert unsaid(Host(), "by sendrecv")


def test_where_messages_beat_every_routine_of_mpi() -> None:
    words = "the bandwidth of Kumiki's messages is"
    faster = said(Host(suites=("mpi",), messages_over_mpi=2.0), "routine", words)
    assert "higher at every size measured" in faster.text and "more ranks than cores" in faster.text
    roomy = said(Host(suites=("mpi",), cores=4, messages_over_mpi=0.85), "routine", words)
    assert "higher at 1 MiB to 32 MiB; lower at 1 KiB to 512 KiB." in roomy.text and "than cores" not in roomy.text
    assert unsaid(Host(suites=("mpi",), mpis=()), words)


def test_what_messages_cost_and_what_limits_them() -> None:
    host = Host(suites=("remote-memory", "message"))
    short = said(host, "message", "of 8 B within a host arrives after").text
    assert "1.4" in short and "times as fast as the fastest of its peers (UCX" in short
    assert re.search(r"a rank sends 3[01]\.\d million per second", short)
    assert "use puts if" in said(host, "message", "For short data").text
    limit = said(host, "message", "memory limits messages").text
    assert re.match(r"From (4|16) KiB on, memory", limit) and "bandwidth of memcpy" in limit
    assert "there is no need to hold it back" in said(host, "message", "right after one of 64 MiB", "Open MPI").text
    assert "are faster from regions at" in said(host, "message", "sent repeatedly in regions").text
    independent = said(host, "message", "to a rank that computes").text
    assert re.search(r"complete at its sender after 1\d\d µs where the receive was posted before", independent)
    assert re.search(r"\(posted before, (Open MPI|MPICH): \d\d\.\d ms and (Open MPI|MPICH): \d\d\.\d ms\)", independent)
    verdict = said(host, "message", "the bandwidth of messages within a host is").text
    assert re.search(r"higher at 1 B to (16|64) KiB; equal \(within 10 %\) at", verdict)


def test_messages_that_are_slow_are_not_praised() -> None:
    host = Host(suites=("message",), messages_over_mpi=0.5)
    assert "slower than" in said(host, "message", "of 8 B within a host arrives after").text
    assert unsaid(host, "memory limits messages") and unsaid(host, "For short data")
    row = host.find("message.interleaving")
    row["median"], row["ci95"] = 97.0, [96.0, 98.0]
    assert "send the short one first" in said(host, "message", "right after one of 64 MiB").text


def test_messages_between_hosts_are_held_against_tcp() -> None:
    host = Host(hosts=2, suites=("network", "message"))
    assert "arrives after 4.5" in said(host, "message", "of 8 B between hosts").text
    assert "bandwidth of plain TCP" in said(host, "message", "the network limits messages between hosts").text
    assert "a put with its signal takes" in said(host, "message", "For short data between hosts").text


def test_a_length_of_fragments_is_named_only_where_it_pays() -> None:
    assert "no fragment length is better" in said(Host(suites=("message",)), "message", "For messages of 16").text
    better = said(Host(suites=("message",), tuning_gain=1.5), "message", "`kumiki tune`").text
    assert re.match(r"Cut into fragments of 64 KiB, messages of 16 MiB within a host are 1\.5\d* times as fast", better)


def test_growth_of_the_barrier_with_the_ranks() -> None:
    host = Host(cores=16, suites=("rank-barrier",), noise=0.0)
    for row in host.rows:
        if row["metric"] == "rank_barrier.time" and row["median"] is not None:
            row["median"] = 2.0 + 3.0 * math.log2(row["parameters"]["ranks"])
            row["ci95"] = [row["median"], row["median"]]
    text = said(host, "barrier", "log2 P").text
    assert "3.0 µs × log2 P + 2.0 µs" in text and "2, 4, 8 and 16 ranks" in text and "cores" not in text
    for row in host.rows:  # a barrier that itself grows with the ranks is not a line in log2 P
        if row["metric"] == "rank_barrier.time" and row["median"] is not None:
            row["median"] = 0.1 * row["parameters"]["ranks"] ** 2
            row["ci95"] = [0.99 * row["median"], 1.01 * row["median"]]
    assert unsaid(host, "log2 P")
    # With 2 and 4 ranks on four cores there is no third point: those of 8 ranks depend on the scheduler.
    assert unsaid(Host(cores=4, suites=("rank-barrier",)), "log2 P")


def test_split_phase_that_hides_the_whole_barrier() -> None:
    host = Host(suites=("rank-barrier",))
    row = host.find("rank_barrier.time", form="split-phase", ranks=2)
    row["median"], row["ci95"] = -0.003, [-0.01, 0.002]
    assert "none of it remains" in said(host, "barrier", "use the split-phase").text


def test_waiting_policies() -> None:
    piece = said(Host(suites=("wait",)), "waiting", "Use `--wait sleep` if others need the cores")
    assert "`--wait spin` if every wait is short" in piece.text and len(piece.rows) == 8
    host = Host(suites=("wait",))
    for policy in ("spin", "yield", "adaptive"):
        row = host.find("wait.wakeup", policy=policy)
        row["median"], row["ci95"] = 50.0, [48.0, 52.0]
    assert "Use `--wait sleep` everywhere" in said(host, "waiting", "no policy wakes a rank sooner").text
    host.find("wait.wakeup", policy="spin")["ci95"] = [20.0, 90.0]
    assert "do not show which policy" in said(host, "waiting", "Share of a core that a waiting rank uses").text


def test_crowded_ranks_name_the_mpi_that_spins() -> None:
    piece = said(Host(suites=("rank-barrier",)), "barrier", "more than there are cores")
    assert "MPICH" in piece.text and "Open MPI" not in piece.text


@pytest.mark.parametrize(
    ("factor", "latency", "bandwidth"),
    [
        (3.0, "times as fast as the fastest of its peers", "put is higher at every size measured"),
        (1.0 / 3.0, "slower than the fastest of its peers", "put is lower at every size measured"),
    ],
)
def test_put_beside_mpi(factor: float, latency: str, bandwidth: str) -> None:
    host = Host(suites=("remote-memory",), put_over_mpi=factor)
    assert cited(host, said(host, "remote", "A put of 8 B", latency))[0]["metric"] == "put.latency"
    said(host, "remote", bandwidth)


def test_half_of_the_peak_is_found_in_the_sweep() -> None:
    host = Host(suites=("remote-memory",))
    curve = {
        r["parameters"]["bytes"]: r["median"]
        for r in host.rows
        if r["metric"] == "put.bandwidth" and r["implementation"] == "kumiki"
    }
    half = min(size for size, rate in curve.items() if rate >= max(curve.values()) / 2)
    assert half == 4096
    said(host, "remote", "Send pieces of at least 4 KiB", "half of its highest bandwidth", "at 1 MiB")
    for row in host.rows:  # a machine whose start-up costs are four times as high
        if row["metric"] == "put.bandwidth" and row["parameters"]["bytes"] <= 4096:
            row["median"], row["ci95"] = row["median"] / 4, [end / 4 for end in row["ci95"]]
    said(host, "remote", "Send pieces of at least 16 KiB")


@pytest.mark.parametrize(
    ("cache_bytes", "words"), [(4 << 20, ", where its data stay in the L2 cache)"), (1 << 20, ")")]
)
def test_the_rate_of_a_cache_is_called_so(cache_bytes: int, words: str) -> None:
    """The highest rate is that of 1 MiB, which is there twice."""
    results = Host(suites=("remote-memory",)).results
    results["environment"]["caches"] = [{"level": 2, "type": "unified", "bytes": cache_bytes, "count": 2}]
    text = next(piece.text for piece in report.advice(results) if "half of its highest bandwidth" in piece.text)
    assert f"at 1 MiB{words}" in text


def test_threshold_between_the_routines_of_an_mpi_is_the_measured_one() -> None:
    host = Host(suites=("remote-memory",), mpis=("openmpi",))
    assert "use put at 64 KiB to 64 MiB and use send at 1 B to 16 KiB" in said(host, "remote", "stay on Open MPI").text
    assert unsaid(host, "stay on MPICH")


def test_best_setting_and_its_command() -> None:
    piece = said(Host(suites=("matmul",)), "program", "Matrix product (1800 × 1800): use")
    assert "`kumiki run -n 1 -t 2`" in piece.text and "1.9" in piece.text
    host = Host(suites=("matmul",))
    faster(host, "matmul.time", 0.5, ranks=2, threads=1)
    assert "`kumiki run -n 2 -t 1`" in said(host, "program", "Matrix product (1800 × 1800): use").text


def test_equal_settings_are_called_equal_and_not_ranked() -> None:
    host = Host(suites=("laplace",))
    one, two = (host.find("laplace.time", form="hybrid", ranks=r, threads=t) for r, t in ((1, 2), (2, 1)))
    two["median"], two["ci95"] = one["median"] * 1.001, list(one["ci95"])
    assert "equal to it: `-n 2 -t 1` within 1 %" in said(host, "program", "use `kumiki run -n 1 -t 2`").text
    assert "gains equally from threads and from ranks" in said(host, "program", "Laplace gains").text
    assert "Equal to it for all of them: `-n 2 -t 1` within 1 %" in said(host, "setting", "`kumiki run -n 1 -t 2`").text


def test_threads_or_ranks() -> None:
    host = Host(suites=("cg",))
    assert "gains more from threads than from ranks" in said(host, "program", "Conjugate gradient gains").text
    faster(host, "cg.time", 0.8, ranks=2, threads=1)
    assert "gains more from ranks than from threads" in said(host, "program", "Conjugate gradient gains").text
    faster(host, "cg.time", 3.0, ranks=1, threads=2)
    assert "gains from ranks but not from threads" in said(host, "program", "Conjugate gradient gains").text


def test_variants_of_a_program_are_not_mixed() -> None:
    host = Host(suites=("laplace",))
    for ranks in (1, 2):
        where = {"form": "hybrid", "ranks": ranks, "threads": 1, "size": 640, "iterations": 500, "overlap": "yes"}
        host.add("laplace", "laplace.time", "kumiki", "s", 0.001, validated=True, **where)
    assert "90" in said(host, "program", "Laplace (640 × 640, 500 iterations): use").text


def test_another_method_is_another_problem_in_every_form() -> None:
    diffusion = next(program for program in PROGRAMS if program.suite == "diffusion")
    results = Results.parse(Host(suites=("diffusion",)).results)
    usual, jacobi = (problem for problem in problems(results, diffusion) if ("size", 513) in problem.size)
    for problem, method in ((usual, None), (jacobi, "jacobi")):
        assert {"sequential", "openmp", "hybrid", "mpi"} <= {row.text("form") for row in problem.rows}
        assert {row.parameters.get("method") for row in problem.rows} == {method}


def test_what_limits_a_program() -> None:
    bus = Host(cores=8, bus_threads=1.5, suites=("laplace",))
    assert "slower computation" in said(bus, "program", "spends", "communication and synchronisation").text
    host = Host(cores=8, bus_threads=8, exchange=0.4, suites=("laplace",))
    for row in [
        r
        for r in host.rows
        if r["parameters"]["form"] == "hybrid" and r["parameters"]["ranks"] == 1 and r["parameters"]["threads"] > 1
    ]:
        host.rows.remove(row)
    assert "bound by communication" in said(host, "program", "spends", "communication and synchronisation").text
    calm = Host(cores=2, bus_threads=2, exchange=0.0, suites=("matmul",))
    assert ": almost nothing is lost" in said(calm, "program", "spends").text


def test_superlinear_computation_pays_for_communication() -> None:
    host = Host(cores=2, bus_threads=2, suites=("laplace",))
    row = host.find("laplace.time", form="hybrid", ranks=1, threads=2)
    for part, share in (("computation", 0.62), ("communication", 0.37), ("synchronisation", 0.01)):
        other = host.find(f"laplace.{part}", form="hybrid", ranks=1, threads=2)
        other["median"], other["ci95"] = row["median"] * share, [end * share for end in row["ci95"]]
    text = said(host, "program", "spends 38 %").text
    assert "almost nothing is lost" not in text
    assert re.search(r"made up for by a computation that is 1\.\d+ times as fast per processor", text)
    assert "measure the base case again" in text


def test_growth_of_communication_with_ranks() -> None:
    piece = said(Host(cores=8, bus_threads=8, exchange=0.1, suites=("laplace",)), "program", "spends")
    few, many = (
        float(share)
        for share in re.search(r"with more ranks: ([\d.]+) % at `-n 2.*?, ([\d.]+) % at `-n 8", piece.text).groups()
    )  # type: ignore[union-attr]
    assert many > few > 1


def test_do_not_parallelise_when_the_sequential_form_is_best() -> None:
    host = Host(suites=("cg",), bus_threads=1.0)
    for row in host.rows:
        if row["metric"] == "cg.time" and row["parameters"]["form"] == "hybrid":
            row["median"], row["ci95"] = row["median"] * 1.5, [end * 1.5 for end in row["ci95"]]
    assert "takes longer" in said(host, "program", "do not parallelise").text
    assert "sequentially" in said(host, "setting", "no parallel setting").text
    assert unsaid(host, "use `kumiki run")


def test_a_program_to_leave_sequential_among_others() -> None:
    host = Host(suites=("matmul", "cg"))
    for row in host.rows:
        if row["metric"] == "cg.time" and row["parameters"]["form"] == "hybrid":
            row["median"], row["ci95"] = row["median"] * 3, [end * 3 for end in row["ci95"]]
    assert "Run Conjugate gradient (class A) sequentially" in said(host, "setting", "`kumiki run -n 1 -t 2`").text


def test_peers() -> None:
    host = Host(suites=("laplace",))
    assert "faster than plain MPI" in said(host, "program", "under Kumiki at its best").text
    faster(host, "laplace.time", 0.5, "openmpi", ranks=2)
    piece = said(host, "program", "under Kumiki at its best", "slower than plain MPI at its best")
    assert host.find("laplace.time", "openmpi", ranks=2)["id"] in piece.rows


def test_kinds_of_program() -> None:
    piece = said(Host(cores=16, bus_threads=4), "character", "memory bus delivers")
    bound, free = piece.text.split("Working in the caches")
    assert "Laplace" in bound and "Conjugate gradient" in bound and "Matrix product" in free
    wide = said(Host(cores=16, bus_threads=16), "character", "grows with the threads")
    assert "benefit alike" in wide.text


def test_oversubscription_and_a_free_core() -> None:
    host = Host(cores=4, bus_threads=4, exchange=0.0)
    assert "Do not start more threads than cores" in said(host, "occupancy", "more threads than cores").text
    assert "Use all cores: leaving 1 core of 4 free costs most" in said(host, "occupancy", "free").text
    for row in host.rows:
        shape = row["parameters"]
        if row["metric"].endswith(".time") and shape.get("form") == "hybrid" and shape["ranks"] * shape["threads"] == 3:
            row["median"], row["ci95"] = row["median"] * 0.5, [end * 0.5 for end in row["ci95"]]
    assert "is faster than using all of them for Laplace" in said(host, "occupancy", "eaving 1 core of 4 free").text
    harmless = Host(crowding=1.0, exchange=0.0, suites=("laplace",))
    assert "bring nothing: this makes no difference to Laplace" in said(harmless, "occupancy", "More threads than").text
    noisy = Host(crowding=1.0, exchange=0.0, noise=0.3, suites=("laplace",))
    assert (
        "do not show the effect of more threads than cores" in said(noisy, "occupancy", "more threads than cores").text
    )


def test_no_setting_serves_all() -> None:
    host = Host(cores=8, bus_threads=8, suites=("laplace", "matmul"))
    faster(host, "laplace.time", 0.3, ranks=8, threads=1)
    faster(host, "matmul.time", 0.3, ranks=1, threads=8)
    assert "no single setting is the fastest for all" in said(host, "setting", "loses the least").text


def test_wrong_results_are_reported_and_not_used() -> None:
    host = Host(suites=("laplace",))
    row = faster(host, "laplace.time", 0.01, ranks=2, threads=1)
    row["validated"] = False
    assert said(host, "alert", "failed validation").rows == [row["id"]]
    assert all(row["id"] not in piece.rows for piece in report.advice(host.results) if piece.kind != "alert")


def test_unconverged_rows_are_named() -> None:
    host = Host(suites=("memory",))
    host.rows[3]["converged"] = False
    assert said(host, "trust", "1 row of 10 did not converge").rows == [host.rows[3]["id"]]
    assert unsaid(Host(suites=("memory", "laplace")), "did not converge")  # times of exactly zero do not matter


@pytest.mark.parametrize("suite", SUITES)
def test_one_suite_alone_speaks_only_of_itself(suite: str) -> None:
    host = Host(suites=(suite,))
    pieces = report.advice(host.results)
    assert pieces and all(set(piece.rows) <= {row["id"] for row in host.rows} for piece in pieces)


def test_nothing_to_say_about_nothing() -> None:
    assert report.advice(Host(suites=()).results) == []
    assert report.advice({"schema_version": 1, "rows": []}) == []


@pytest.mark.parametrize(
    ("hidden", "words"),
    [
        (112, ("was not measured correctly: 112 %", "more than all of it is impossible")),
        (93, ("93 %", "send early and compute")),
        (50, ("50 %", "waiting for the last")),
        (10, ("10 %", "gains almost nothing")),
        (-300, ("hides nothing", "both together take longer than one after the other")),
    ],
)
def test_what_computation_hides_of_the_messages(hidden: float, words: tuple[str, ...]) -> None:
    host = Host(suites=("laplace",))
    whole = host.find("laplace.time", "kumiki", form="hybrid", ranks=2, threads=1)
    where = {**whole["parameters"], "form": "message", "hosts": 2}
    for metric, unit, value, part in (
        ("laplace.hidden", "%", hidden, {}),
        ("laplace.alone", "s", 0.1, {"part": "computation"}),
        ("laplace.alone", "s", 0.2, {"part": "communication"}),
    ):
        row = {**whole, "id": len(host.rows), "metric": metric, "unit": unit, "parameters": {**where, **part}}
        host.rows.append({**row, "median": value, "ci95": [value, value]})
    piece = said(host, "overlap", "Laplace over 2 hosts", "(100 ms and 200 ms)", *words)
    assert len(piece.rows) == 3
