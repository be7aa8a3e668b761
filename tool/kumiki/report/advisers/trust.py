"""What to keep in mind before believing the figures."""

from __future__ import annotations

from kumiki.comparison.subject import other_load
from kumiki.report.advisers.again import again
from kumiki.report.advisers.kinds import ALERT, Advice, say
from kumiki.report.analysis.model import Results
from kumiki.report.quantity import plural
from kumiki.results.statistics import FEWEST_SAMPLES, Unsteady

HEADING = "How far to trust the figures"

_UNSTEADY = {
    Unsteady.DRIFT: "drifted: the second half of the samples lies elsewhere than the first, as when the clock, the "
    "temperature or another load changes. The interval is their whole range",
    Unsteady.MODES: "had two kinds of samples with nothing between, as when threads or memory are placed in one of two "
    "ways. The interval is their whole range",
    Unsteady.START: "began with a sample far from all others: one more run should warm up",
}


def advise(results: Results) -> list[Advice]:
    pieces: list[Advice] = []
    wrong = [row for row in results.rows if row.validated is False]
    if wrong:
        text = (
            f"{plural(len(wrong), 'row')} failed validation: the program computed a wrong result, so these figures are "
            "left out of every plot and every other sentence. Look into them before using anything else."
        )
        pieces.append(say(ALERT, HEADING, text, wrong))
    if load := _load(results):
        pieces.append(say("trust", HEADING, load))
    pieces += _loose(results)
    for kind, words in _UNSTEADY.items():
        rows = [row for row in results.rows if row.usable and row.unsteady == kind.value]
        if rows:
            pieces.append(say("trust", HEADING, f"{plural(len(rows), 'row')} {words}.", rows))
    if not results.complete:
        text = "The evaluation was interrupted: what is missing was not measured. `kumiki evaluate --resume` goes on."
        pieces.append(say(ALERT, HEADING, text))
    return pieces


def _load(results: Results) -> str:
    if not {"load", "cpu"} <= set(results.environment):
        return ""
    load = other_load(results.environment)
    return (
        f"This evaluation {load}, which took its share of cores, caches and memory from every figure." if load else ""
    )


def _loose(results: Results) -> list[Advice]:
    """Rows that did not converge: those of too few samples, and those that scatter."""
    loose = [row for row in results.rows if row.usable and not row.converged]
    if not loose:
        return []
    few = [row for row in loose if row.n < FEWEST_SAMPLES]
    why = [f"{len(few)} with fewer than {FEWEST_SAMPLES} samples"] if few else []
    why += [f"{len(loose) - len(few)} with an interval wider than 5 % to either side"] if len(few) < len(loose) else []
    text = (
        f"{plural(len(loose), 'row')} of {len(results.rows)} did not converge, {' and '.join(why)}: where they do not "
        f"tell figures apart, no verdict is given. {again(results, [row.suite for row in loose])}"
    )
    return [say("trust", HEADING, text, loose)]
