"""Flow in a cavity by the MAC method."""

from __future__ import annotations

from kumiki.suites.kernel import Problems, Workload
from kumiki.suites.model import Suite, with_mpi

ONE_CORE_SECONDS = {33: 0.015, 65: 0.15, 129: 1.9}
"""By points along an edge: from rest to the steady state."""


def _workload(size: int) -> Workload:
    return Workload(
        suite="cavity",
        program="cavity",
        metric="cavity.time",
        arguments=("--size", str(size)),
        parameters={"size": size},
        one_core_seconds=ONE_CORE_SECONDS[size],
        in_messages=True,
    )


PROBLEMS = Problems(_workload(33), _workload(65), [_workload(129)], in_tiles=_workload(65).in_tiles())

SUITE = Suite(
    name="cavity",
    title="Cavity flow (MAC)",
    sentence="A small grid and many short exchanges: whether a machine's latency allows to parallelise at all.",
    headline=("cavity.time", "cavity.rate"),
    programs=with_mpi("cavity"),
    build=PROBLEMS.everywhere,
    build_over_hosts=PROBLEMS.over_hosts,
    seconds=75,
    quick_seconds=10,
    by_name=True,
)
