"""The traffic of programs according to the suites: it is for the same problem, in the unit of its rate, and no program
is faster than its bound.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from typing import Any

import pytest
from kumiki import suites
from kumiki.machine.native import Native
from kumiki.suites.bound import PROGRAM
from kumiki.suites.model import Alone, Grid, Point

NATIVE = Native.installed()
CORES = 1
BOUNDED = [suite for suite in suites.ALL if PROGRAM in suite.programs]
BEYOND_CHANCE = 2.0
"""The machine may be busy with other tests. A bound that is wrong by less than this becomes visible in reports, where
both figures have settled.
"""


def row(point: Point, figure: str) -> dict[str, Any]:
    command = replace(point, seconds=0.3).command(NATIVE, CORES)
    ended = subprocess.run(
        command.arguments, env={**os.environ, **command.variables}, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
    rows = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    return next(each for each in rows if each["metric"].endswith(figure))


def test_there_are_programs_that_are_bounded() -> None:
    assert len(BOUNDED) == 8


@pytest.mark.skipif(not NATIVE.has(NATIVE.program(PROGRAM.name)), reason="the native part is not installed here")
@pytest.mark.parametrize("suite", BOUNDED, ids=lambda suite: suite.name)
def test_a_bound_is_of_the_programs_problem_in_its_unit_and_above_it(suite: suites.Suite) -> None:
    points = [point for point in suite.points(Grid(CORES, quick=True)) if point.launcher == Alone()]
    sequential = next(point for point in points if point.parameters["form"] == "sequential")
    bound = row(next(point for point in points if point.program == PROGRAM.name), ".bound")
    rate = row(sequential, ".rate")
    assert bound["unit"] == rate["unit"]
    own = {name: value for name, value in rate["parameters"].items() if name not in ("form", "kernel")}
    assert {name: value for name, value in bound["parameters"].items() if name != "form"} == own
    assert max(rate["samples"]) < BEYOND_CHANCE * max(bound["samples"])
