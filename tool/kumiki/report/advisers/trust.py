"""What to keep in mind before believing the figures."""

from __future__ import annotations

from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.model import Results
from kumiki.report.quantity import plural

HEADING = "How far to trust the figures"


def advise(results: Results) -> list[Advice]:
    pieces: list[Advice] = []
    wrong = [row for row in results.rows if row.validated is False]
    if wrong:
        text = (
            f"{plural(len(wrong), 'row')} failed validation: the program computed a wrong result, so these figures are "
            "left out of every plot and every other sentence. Look into them before using anything else."
        )
        pieces.append(say("trust", HEADING, text, wrong))
    loose = [row for row in results.rows if row.usable and not row.converged]
    if loose:
        own = bool(results.arguments.get("command"))
        cause, mend = ("the runs were over", "with `--repeat` more runs") if own else ("time was up", "for longer")
        text = (
            f"{plural(len(loose), 'row')} of {len(results.rows)} did not converge: {cause} before the confidence "
            f"interval was narrow enough. Measure again on a quieter machine or {mend} for sharper figures."
        )
        pieces.append(say("trust", HEADING, text, loose))
    if not results.complete:
        text = "The evaluation was interrupted: what is missing was not measured. `kumiki evaluate --resume` goes on."
        pieces.append(say("trust", HEADING, text))
    return pieces
