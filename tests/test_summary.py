"""The report about tests that failed or were left out, from the formats of ctest and pytest."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from summary import lines

CTEST = """\
<testsuite name="Linux-c++" tests="3" failures="0" disabled="0" skipped="1">
  <testcase name="wait-test" classname="wait-test" time="0.2" status="run"><system-out>[ RUN      ] Wait.IsSeen
[       OK ] Wait.IsSeen (0 ms)
[ RUN      ] Wait.IsFree
../../tests/unit/wait_test.cpp:83: Skipped
this system has no membarrier

[  SKIPPED ] Wait.IsFree (0 ms)
[ RUN      ] Rings/Wait.AreFree/0
../../tests/unit/wait_test.cpp:167: Skipped
this system has no membarrier

[  SKIPPED ] Rings/Wait.AreFree/0 (0 ms)
[==========] 3 tests from 1 test suite ran. (0 ms total)
</system-out></testcase>
  <testcase name="Agent.Stranger" classname="Agent.Stranger" time="0.1" status="notrun">
    <skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
    <system-out>[ RUN      ] Agent.Stranger
agent_test.cpp:45: Skipped
needs root

[  SKIPPED ] Agent.Stranger (0 ms)
</system-out></testcase>
  <testcase name="cg.openmp.1" classname="cg.openmp.1" time="0.1" status="run"><system-out/></testcase>
  <testcase name="cg.openmp.2" classname="cg.openmp.2" time="0.1" status="fail"><failure message=""/></testcase>
</testsuite>
"""

PYTEST = """\
<testsuites><testsuite name="pytest" tests="2" skipped="1">
  <testcase classname="tests.cluster.test_srun" name="test_a_job" time="0.1">
    <skipped type="pytest.skip" message="no srun">/clone/tests/cluster/test_srun.py:21: no srun</skipped></testcase>
  <testcase classname="tests.tool.test_row" name="test_a_row" time="0.1"/>
  <testcase classname="tests.tool.test_row" name="test_rows[2]" time="0.1"><failure message="assert"/></testcase>
  <testcase classname="tests.tool.test_row" name="test_rows[3]" time="0.1"><error message="of a fixture"/></testcase>
</testsuite></testsuites>
"""


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            CTEST,
            [
                "part: 4 tests, 1 failed, 3 left out:",
                "    failed: cg.openmp.2",
                "    2 x this system has no membarrier",
                "    1 x needs root",
            ],
        ),
        (
            PYTEST,
            [
                "part: 4 tests, 2 failed, 1 left out:",
                "    failed: test_rows[2]",
                "    failed: test_rows[3]",
                "    1 x no srun",
            ],
        ),
        ("<testsuite><testcase name='one'/></testsuite>", ["part: 1 tests, 0 failed, 0 left out"]),
        (None, ["part: it did not come to its tests"]),
    ],
)
def test_failures_are_named_and_reasons_counted(tmp_path: Path, written: str | None, said: list[str]) -> None:
    file = tmp_path / "results.xml"
    if written is not None:
        file.write_text(written)
    assert list(lines("part", file)) == said
