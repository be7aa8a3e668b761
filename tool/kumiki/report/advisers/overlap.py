"""What the messages of a program cost while it computes, over a network."""

from __future__ import annotations

from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.model import Results, Row
from kumiki.report.palette import title
from kumiki.report.quantity import amount, percent

NAMES = {"laplace": "Laplace", "cg": "Conjugate gradient"}
NEARLY_ALL, HARDLY = 0.8, 0.2


def advise(results: Results) -> list[Advice]:
    rows = [row for program in NAMES for row in results.where(f"{program}.hidden") if row.parameters.get("hosts")]
    return [_advice(results, row) for row in rows]


def _advice(results: Results, row: Row) -> Advice:
    program = row.metric.partition(".")[0]
    who = NAMES[program] if row.implementation == "kumiki" else f"{NAMES[program]} under {title(row.implementation)}"
    alone = {part: _alone(results, program, row, part) for part in ("computation", "communication")}
    computation, communication = alone["computation"], alone["communication"]
    beside = f" ({amount(computation)} and {amount(communication)})" if computation and communication else ""
    hidden = min(max(row.value / 100, 0.0), 1.0)  # beyond: the machine was faster in one of the three runs
    if hidden >= NEARLY_ALL:
        rest = "let programs for this network send early and compute meanwhile."
    elif hidden >= HARDLY:
        rest = "the rest is work of the processor for the messages, and what waits for the last of them."
    else:
        rest = "here sending early gains next to nothing."
    text = (
        f"{who} over {row.parameters['hosts']} hosts hides {percent(hidden)} of the shorter of "
        f"computation and communication behind the other{beside}: {rest}"
    )
    return say("overlap", "Overlap", text, [row, computation, communication])


def _alone(results: Results, program: str, row: Row, part: str) -> Row | None:
    wanted = {**row.parameters, "part": part}
    found = results.where(f"{program}.alone", row.implementation)
    return next((other for other in found if other.parameters == wanted), None)
