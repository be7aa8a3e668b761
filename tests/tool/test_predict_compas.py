"""`kumiki predict compas`: Table 5 from Tables 1 to 4 (M1 to M5)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from kumiki.predict.compas.machine import Machine, barrier
from kumiki.predict.compas.model import computing, edge, efficiency, fitting_processors, predict
from kumiki.predict.parameters import changed

MACHINE = Machine()


def test_m1_table_5_comes_out() -> None:
    checks = predict(MACHINE).checks
    assert len(checks) > 12
    for check in checks:
        assert abs(check.deviation) < 0.10, check
    table_5 = [check for check in checks if check.what.startswith("efficiency")]
    assert len(table_5) == 5 and sum(1 for check in table_5 if check.chosen) == 1


def test_m1_without_a_crowded_bus_threads_lose_nothing_but_communication() -> None:
    wide = replace(MACHINE, copy_2=2 * MACHINE.copy_1, copy_4=4 * MACHINE.copy_1)
    assert computing(wide, 8, 4) == pytest.approx(MACHINE.sequential / 32)
    assert efficiency(wide, 1, 4) == pytest.approx(1)
    assert efficiency(wide, 8, 4) > efficiency(MACHINE, 8, 4)


def test_m2_streaming_gains_nothing_by_threads() -> None:
    assert 2 / MACHINE.crowding(2) == pytest.approx(1.06, abs=0.01)


def test_m3_only_all_processors_hold_laplace() -> None:
    assert fitting_processors(MACHINE) == 32
    assert fitting_processors(replace(MACHINE, cache=512.0)) == 16


def test_m4_a_row_of_laplace() -> None:
    assert edge(MACHINE.nicam_latency, MACHINE.nicam_rate) == pytest.approx(78, abs=1)
    assert edge(0, MACHINE.mpich_rate) == pytest.approx(1280)


def test_m5_barriers_are_linear_in_the_logarithm() -> None:
    assert barrier(23.79, 38.67, 4) == pytest.approx(31.45, rel=0.01)
    assert barrier(10, 30, 8) == 30 and barrier(10, 30, 2) == 10


def test_parameters_can_be_changed() -> None:
    machine = changed(MACHINE, None, ["nicam_rate=825"])
    assert efficiency(machine, 8, 4) > efficiency(MACHINE, 8, 4)
