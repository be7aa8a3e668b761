"""By which routine to send a message of which size."""

from __future__ import annotations

from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.model import Results
from kumiki.report.routines import sentence


def advise(results: Results) -> list[Advice]:
    found = sentence(results)
    return [say("routine", "Routines that send", *found)] if found else []
