"""A job of many ranks over hosts: how soon it has started, and what it costs."""

from __future__ import annotations

import time
from collections.abc import Callable

from clustering import Hosts
from jobs import Jobs

RANKS = 64
SECONDS = 3.0
KIB_PER_PEER = 64.0


def test_many_ranks_meet_soon_and_cost_little(make_cluster: Callable[..., Hosts]) -> None:
    jobs = Jobs(make_cluster(4))
    begin = time.monotonic()
    rows = jobs.rows(RANKS, "wireup")
    whole = time.monotonic() - begin
    figures = {row["metric"]: row["samples"][0] for row in rows}
    assert all(row["parameters"] == {"hosts": 4, "ranks": RANKS} for row in rows)
    assert figures["wireup.time"] < SECONDS, f"the whole job took {whole:.1f} s"
    assert 0 < figures["wireup.memory_per_peer"] < KIB_PER_PEER
