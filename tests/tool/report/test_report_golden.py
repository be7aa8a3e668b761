"""The first statements of reports on kept evaluations are true of their rows, and the reader that checks them detects
false ones.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import golden_results
import kumiki.report as report
import numpy as np
import pytest
from synthetic import Host
from test_report_own import Own
from truth import Untrue, check, first_sentences


@pytest.mark.parametrize("name", golden_results.NAMES)
def test_first_sentences_are_true(name: str) -> None:
    results = golden_results.load(name)
    sentences = list(first_sentences(report.advice(results)))
    assert len(sentences) >= 3, sentences
    for sentence in sentences:
        check(results, sentence)


@pytest.mark.parametrize("name", golden_results.NAMES)
def test_whatever_a_rule_reads_is_true(name: str) -> None:
    results = golden_results.load(name)
    read = 0
    for piece in report.advice(results):
        try:
            check(results, piece.text)
        except Untrue as untrue:
            assert str(untrue).startswith("no rule reads"), f"{piece.text}: {untrue}"
        else:
            read += 1
    assert read >= 4


@pytest.mark.parametrize("name", golden_results.NAMES)
def test_share_of_communication_is_the_tables(name: str) -> None:
    """Advice and table state the same number from the same row."""
    from kumiki.report.analysis.model import Results
    from kumiki.report.analysis.select import PROGRAMS, principal
    from kumiki.report.tables import settings

    results = golden_results.load(name)
    said = [piece.text for piece in report.advice(results) if "of its time in communication" in piece.text]
    for text in said:
        title, _, rest = text.partition(" at `-n ")
        ranks, threads = rest.split("`")[0].split(" -t ")
        program = next(program for program in PROGRAMS if program.title == title)
        problem = principal(Results.parse(results), program)
        table = settings(problem) if problem else None
        assert table
        line = next(line for line in table.lines if line.head == f"Kumiki {ranks} × {threads}")
        assert line.cells[[column.title for column in table.columns].index("shared time")].text in text


@pytest.mark.parametrize(
    ("name", "lie"),
    [
        ("quiet", "Laplace (640 × 640, 500 iterations): use `kumiki run -n 1 -t 4`, 90 ms."),
        ("quiet", "Laplace (640 × 640, 500 iterations): use `kumiki run -n 1 -t 1`, 116 ms."),
        ("quiet", "Laplace (640 × 640, 500 iterations): do not parallelise at this size."),
        ("quiet", "Laplace (640 × 640, 500 iterations): these samples do not show whether it gains."),
        ("quiet", "Laplace at `-n 1 -t 2` spends 48 % of its time in communication and synchronisation."),
        ("quiet", "100 ms against 200 ms sequentially: 2.00 times as fast on 4 processors, efficiency 50 %."),
        ("quiet", "100 ms against 200 ms sequentially: 3.00 times as fast on 2 processors, efficiency 150 %."),
        ("quiet", "Run the programs sequentially: no parallel setting measured here is faster for Laplace."),
        ("quiet", "The memory bus is not saturated by the 2 threads measured."),
        ("quiet", "7 rows of 12 did not converge."),
        ("quiet", "A sentence that nobody has thought of."),
        (
            "eight-cores",
            "If you want one setting for all programs, use `kumiki run -n 1 -t 1`: it is the fastest measured setting, "
            "or equal to it, for Matrix product.",
        ),
        ("noisy", "Laplace: do not parallelise at this size."),
    ],
)
def test_the_reader_notices_lies(name: str, lie: str) -> None:
    with pytest.raises((Untrue, KeyError)):
        check(golden_results.load(name), lie)


def test_compact_results_are_what_was_measured(tmp_path: Path) -> None:
    host = Host(suites=("memory",))
    (tmp_path / "kept.json").write_text(golden_results.compact(host.results))
    kept = json.loads((tmp_path / "kept.json").read_text())
    assert len(kept["rows"]) == len(host.rows)
    assert kept["rows"][0][6] == pytest.approx(host.rows[0]["median"], rel=1e-4)


# -- equal settings are not told apart ---------------------------------------------------------------------------

VERDICTS = (
    "times as fast on",
    "takes longer",
    "is faster than using all",
    "is slower for",
    "costs most for",
    "gains more from",
    "gains from threads but",
    "gains from ranks but",
    "this costs",
)
"""Statements that are false if all settings are the same."""


@pytest.mark.parametrize("noise", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("runs", [6, 12, 30])
def test_equal_settings_are_seldom_told_apart(noise: float, runs: int) -> None:
    """In a hundred evaluations of a program that gains nothing, at most five contain an undeserved verdict."""
    wrong = 0
    for seed in range(100):
        host = Own(lambda r, t: 1.0, settings=((1, 1), (1, 2), (2, 1), (2, 2), (1, 3)), cores=4, runs=runs)
        _redraw(host, noise, seed)
        texts = [piece.text for piece in report.advice(host.results) if piece.kind in ("program", "occupancy")]
        wrong += any(verdict in text for text in texts for verdict in VERDICTS)
    assert wrong <= 5


def _redraw(host: Own, noise: float, seed: int) -> None:
    """Other samples of the same figures: some are late, as on a machine that also does something else."""
    from kumiki.results.statistics import summarise

    chance = np.random.default_rng(seed)
    for row in host.rows:
        drawn: Any = 1 + noise * chance.gamma(2.0, 0.5, row["n"])
        found = summarise(drawn.tolist())
        row.update(median=found.median, ci95=[found.low, found.high], converged=found.converged)
