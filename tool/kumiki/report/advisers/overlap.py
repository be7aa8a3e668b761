"""How well a program hides its communication behind computation, over a network."""

from __future__ import annotations

from kumiki.report.advisers.again import again
from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import PROGRAMS, Program
from kumiki.report.quantity import amount, percent
from kumiki.results.row import Row
from kumiki.results.statistics import FEWEST_SAMPLES

NEARLY_ALL, HARDLY = 0.8, 0.2
ALL = 100.0


def advise(results: Results) -> list[Advice]:
    return [
        _advice(results, program, row)
        for program in PROGRAMS
        for row in results.where(program.metric("hidden"))
        if row.parameters.get("hosts")
    ]


def _advice(results: Results, program: Program, row: Row) -> Advice:
    who = program.title if row.implementation == "kumiki" else f"{program.title} under {row.title}"
    alone = {part: _alone(results, program, row, part) for part in ("computation", "communication")}
    computation, communication = alone["computation"], alone["communication"]
    beside = f" ({amount(computation)} and {amount(communication)})" if computation and communication else ""
    said = _hidden(row, beside) or f"{_not_told(row, beside)} {again(results, ['overlap'])}"
    text = f"{who} over {row.parameters['hosts']} hosts {said}"
    return say("overlap", "Overlap", text, [row, computation, communication])


def _hidden(row: Row, beside: str) -> str:
    """The share that is hidden and the consequence; empty if the share is unknown."""
    low, high = row.interval
    of = f"of the shorter of computation and communication behind the other{beside}"
    if row.n < FEWEST_SAMPLES or low > ALL:
        return ""
    if row.value > ALL:
        return f"hides all {of} according to these samples, and at least {percent(low / ALL)}: {_EARLY}"
    if high < 0:
        return f"hides nothing {of}: both together take longer than one after the other."
    if low >= HARDLY * ALL and row.value >= NEARLY_ALL * ALL:
        return f"hides {percent(row.value / ALL)} {of}: {_EARLY}"
    if low >= HARDLY * ALL:
        return (
            f"hides {percent(row.value / ALL)} {of}: the rest is processor time spent on the messages, and waiting for "
            "the last of them."
        )
    if high < HARDLY * ALL:
        return f"hides {percent(row.value / ALL)} {of}: sending early gains almost nothing here."
    return ""


_EARLY = "programs on this network should send early and compute in the meantime."


def _not_told(row: Row, beside: str) -> str:
    """Why the share is unknown: the measured value is impossible, or the samples do not determine it."""
    low, high = row.interval
    if low > ALL:
        return (
            f"was not measured correctly: {percent(row.value / ALL)} of the shorter of computation and communication "
            f"appears to be hidden{beside}, and more than all of it is impossible. The runs with and without the other "
            "part did not do the same work in the same state."
        )
    return (
        f"hides an unknown share of the communication: these samples allow anything from {percent(low / ALL)} to "
        f"{percent(high / ALL)}{beside}."
    )


def _alone(results: Results, program: Program, row: Row, part: str) -> Row | None:
    wanted = {**row.parameters, "part": part}
    found = results.where(program.metric("alone"), row.implementation)
    return next((other for other in found if other.parameters == wanted), None)
