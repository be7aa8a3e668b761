"""The exhibits of the JAMSTEC paper: single processes, meshes, the cavity's velocities."""

from __future__ import annotations

import pytest
from kumiki.report.model import Results
from kumiki.report.routines import by_size, of_single_processes
from synthetic import Host


def test_a_single_process_is_one_that_measured_itself() -> None:
    results = Results.parse(Host(suites=("mpi",)).results)
    found = of_single_processes(results, "openmpi")["sendrecv"][1 << 20]
    assert found.row.count("rank") == 1, "the first that sends and receives"
    total = next(row for row in by_size(results)["openmpi"][1 << 20] if row.text("routine") == "sendrecv")
    assert found.row.value == pytest.approx(0.3 * total.value, rel=0.02) and found.row.value != total.value / 3
    assert (found.slowest, found.fastest) == pytest.approx((0.25 * total.value, 0.5 * total.value), rel=0.02)
