"""Everything that the report knows about a program is in its suite."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import kumiki.report
from kumiki import suites
from kumiki.report.analysis.select import PROGRAMS
from kumiki.suites.model import Grid


def words(path: Path) -> Iterator[str]:
    """All texts in the code of a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_no_module_of_the_report_names_a_program() -> None:
    names = {name for program in PROGRAMS for name in (program.suite, program.metric("")[:-1])}
    folder = Path(kumiki.report.__file__).parent
    told = [
        f"{path.relative_to(folder)}: {word}"
        for path in folder.rglob("*.py")
        for word in words(path)
        if word.partition(".")[0] in names and word.partition(".")[2].isidentifier() == ("." in word)
    ]
    assert told == []


def test_the_problem_of_the_paper_is_one_that_is_measured() -> None:
    for program in PROGRAMS:
        suite = next(suite for suite in suites.ALL if suite.name == program.suite)
        parameter, value = program.described.problem
        points = suite.points(Grid(4))
        assert any(point.parameters.get(parameter) == value for point in points), program.suite
