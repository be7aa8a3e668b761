"""The programs over hosts: each validates its result, and the sums are equal to those on one host."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from clustering import Hosts
from jobs import Jobs

PROGRAMS = {
    "laplace": ("--size", "130", "--iterations", "50"),
    "matmul": ("--size", "200"),
    "radix-sort": ("--keys", "100000"),
    "cg": ("--class", "S"),
    "himeno": ("--size", "SS", "--sweeps", "5"),
    "pi": ("--count", "1000000"),
    "is": ("--class", "S"),
    "diffusion": ("--size", "52", "--steps", "20"),
    "laplace-sor": ("--size", "33"),
    "cavity": ("--size", "17", "--steady", "0.05"),
    "lu": ("--size", "75", "--block", "16"),
}
FEW = ("--samples", "3", "--seconds", "0.05")


@pytest.fixture
def jobs(make_cluster: Callable[..., Hosts]) -> Jobs:
    return Jobs(make_cluster(3))


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("ranks", [3, 5])
def test_every_program_validates_over_hosts(jobs: Jobs, program: str, ranks: int) -> None:
    rows = jobs.rows(ranks, program, "--form", "hybrid", *PROGRAMS[program], *FEW)
    times = [row for row in rows if row["metric"].endswith(".time")]
    assert times and all(row["validated"] for row in rows)
    assert times[0]["parameters"]["ranks"] == ranks


@pytest.mark.parametrize("program", [each for each in PROGRAMS if each not in ("matmul", "radix-sort")])
def test_in_messages_as_well(jobs: Jobs, program: str) -> None:
    rows = jobs.rows(3, program, "--form", "message", *PROGRAMS[program], *FEW)
    assert rows and all(row["validated"] and row["parameters"]["form"] == "message" for row in rows)


@pytest.mark.parametrize("program", [each for each in PROGRAMS if each != "pi"])
@pytest.mark.parametrize("homes", ["block", "cyclic", "first", "relocated", "managed", "hand", "rows"])
def test_in_shared_arrays_as_well(jobs: Jobs, program: str, homes: str) -> None:
    rows = jobs.rows(3, program, "--form", "shared", "--homes", homes, *PROGRAMS[program], *FEW)
    assert rows and all(row["validated"] and row["parameters"]["copies"] == "rank" for row in rows)
    moved = [row["samples"] for row in rows if row["metric"] in ("page.transfers", "page.differences")]
    assert len(moved) == 2
    # Nobody writes to the matrices after the first product, so they need not be fetched again.
    assert program == "matmul" or all(sum(counts) > 0 for counts in zip(*moved, strict=True))


def test_a_slow_link_costs_time_and_nothing_else(make_cluster: Callable[..., Hosts]) -> None:
    """Over 100 Mbit/s the exchange of 4 MB of keys takes the time that the link needs for it."""
    rows = Jobs(make_cluster(2, "100mbit")).rows(2, "radix-sort", "--form", "hybrid", "--keys", "1048576", *FEW)
    time = next(row for row in rows if row["metric"] == "radix_sort.time")
    assert time["validated"]
    moved = 1048576 * 4 / 2 / 2  # each rank keeps half of its half
    assert min(time["samples"]) > moved * 8 / 100e6
