"""What to keep in mind before trusting the figures."""

from __future__ import annotations

from kumiki.comparison.subject import other_load
from kumiki.evaluation.spelling import folder, spelled
from kumiki.report.advisers.again import again
from kumiki.report.advisers.kinds import ALERT, Advice, say
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.unsettled import DRIFT, FEW, MODES, SCATTER, by_reason, unsettled
from kumiki.report.quantity import enumerate_words, plural
from kumiki.results.statistics import FEWEST_SAMPLES, Unsteady

HEADING = "How far to trust the figures"

_WHY = {
    FEW: f"with fewer than {FEWEST_SAMPLES} samples",
    DRIFT: "drifted",
    MODES: "had two groups of samples",
    SCATTER: "scattered by more than 5 % to either side",
}

_UNSTEADY = {
    Unsteady.DRIFT: "drifted: the second half of the samples is at a different level than the first, as when the clock "
    "frequency, the temperature or other load changes. The interval is therefore the whole range of the samples",
    Unsteady.MODES: "had two groups of samples with a gap between them, as when threads or memory are placed in one of "
    "two ways. The interval is therefore the whole range of the samples",
    Unsteady.START: "began with a sample far from all others, as when something is still loaded or allocated in the "
    "first run. The median hardly depends on it",
}


def advise(results: Results) -> list[Advice]:
    pieces: list[Advice] = []
    wrong = [row for row in results.rows if row.validated is False]
    if wrong:
        text = (
            f"{plural(len(wrong), 'row')} failed validation: the program computed a wrong result, so these figures are "
            "excluded from every plot and every other sentence. Investigate them before you use anything else."
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
        where = folder(results.directory) if results.directory else "--output DIR"
        command = spelled(results.arguments, results.environment, f"{where} --resume")
        text = f"The evaluation was interrupted, so some figures are missing. `{command}` continues it."
        pieces.append(say(ALERT, HEADING, text))
    return pieces


def _load(results: Results) -> str:
    if not {"load", "cpu"} <= set(results.environment):
        return ""
    load = other_load(results.environment)
    return f"This evaluation {load}, which affected every figure by using cores, caches and memory." if load else ""


def _loose(results: Results) -> list[Advice]:
    """Rows that did not converge, by their reasons."""
    loose = unsettled(results)
    if not loose:
        return []
    why = [f"{len(rows)} {_WHY[reason]}" for reason, rows in by_reason(loose).items()]
    crowded = sum(row.oversubscribed for row in loose)
    more = f"; {crowded} of them are of more threads than cores" if crowded else ""
    text = (
        f"{plural(len(loose), 'row')} of {len(results.rows)} did not converge ({enumerate_words(why)}{more}): no "
        f"verdict is given on figures that they do not distinguish. {again(results, [row.suite for row in loose])}"
    )
    return [say("trust", HEADING, text, loose)]
