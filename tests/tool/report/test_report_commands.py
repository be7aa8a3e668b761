"""Commands in advice do what their sentence says: they repeat what was requested."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kumiki.report as report
from kumiki import suites
from kumiki.own.program import OwnProgram
from kumiki.own.template import Template
from kumiki.report.advisers.again import again
from kumiki.report.analysis.model import Results
from synthetic import Host


def test_a_command_repeats_the_request_and_names_the_suites() -> None:
    """Only the usual suites need no name; a peer is named where one of the suites measures beside it."""

    def commanded(row_of: str, **arguments: Any) -> str:
        results = Host(suites=("memory", "rank-barrier")).results
        for row in results["rows"]:
            row["converged"] = row["suite"] != row_of
        results["arguments"] |= arguments
        text = next(piece.text for piece in report.advice(results) if "did not converge" in piece.text)
        return text.split("`")[1]

    usual = [suite.name for suite in suites.chosen(None)]
    request = {"quick": True, "ranks": [1, 2], "threads": [1], "peers": {"openmpi": "/opt/m p i"}}
    assert commanded("memory", suites=["memory"]) == "kumiki evaluate --suite memory --output again"
    assert commanded("memory", suites=usual) == "kumiki evaluate --suite memory --output again"
    assert commanded("memory", **request) == (
        "kumiki evaluate --quick --suite memory --ranks 1,2 --threads 1 --output again"
    )
    assert commanded("rank-barrier", suites=["rank-barrier"], **request) == (
        "kumiki evaluate --quick --suite rank-barrier --ranks 1,2 --threads 1 --peer openmpi='/opt/m p i' "
        "--output again"
    )


def test_the_usual_suites_need_no_name() -> None:
    usual = tuple(suite.name for suite in suites.chosen(None))
    results = Results.parse({"arguments": {"suites": list(usual)}})
    assert "`kumiki evaluate --output again`" in again(results, usual)


def test_an_interrupted_evaluation_is_continued_by_the_command_that_is_named(tmp_path: Path) -> None:
    host = Host(suites=("memory",), complete=False)
    where = tmp_path / "my report"
    texts = [piece.text for piece in report.advice(host.results, None, where)]
    assert any(f"`kumiki evaluate --suite memory --output '{where}' --resume` continues it" in text for text in texts)
    command = OwnProgram(Template(("./heat", "{threads}"))).as_arguments()
    results = {**host.results, "arguments": {"suites": ["command"], "threads": [1, 2], "command": command}}
    texts = [piece.text for piece in report.advice(results, None, where)]
    expected = f"kumiki evaluate --threads 1,2 --repeat 6 --output '{where}' --resume -- ./heat '{{threads}}'"
    assert any(f"`{expected}` continues it" in text for text in texts)
