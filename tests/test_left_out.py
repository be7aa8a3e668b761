"""The report about tests that were left out, from the formats of ctest and pytest."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from left_out import lines

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
</testsuite>
"""

PYTEST = """\
<testsuites><testsuite name="pytest" tests="2" skipped="1">
  <testcase classname="tests.cluster.test_srun" name="test_a_job" time="0.1">
    <skipped type="pytest.skip" message="no srun">/root/tests/cluster/test_srun.py:21: no srun</skipped></testcase>
  <testcase classname="tests.tool.test_row" name="test_a_row" time="0.1"/>
</testsuite></testsuites>
"""


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            CTEST,
            ["part: 3 tests, 3 left out:", "    2 x this system has no membarrier", "    1 x needs root"],
        ),
        (PYTEST, ["part: 2 tests, 1 left out:", "    1 x no srun"]),
        ("<testsuite><testcase name='one'/></testsuite>", ["part: 1 tests, 0 left out"]),
        (None, ["part: it did not come to its tests"]),
    ],
)
def test_reasons_are_counted(tmp_path: Path, written: str | None, said: list[str]) -> None:
    file = tmp_path / "results.xml"
    if written is not None:
        file.write_text(written)
    assert list(lines("part", file)) == said
