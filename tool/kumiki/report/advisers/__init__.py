"""Advice: sentences about how to use this machine, each derived from figures in the rows and citing them.

One module per subject, one function per piece of advice. A function returns nothing if the rows do not support a
statement.
"""

from __future__ import annotations

from kumiki.report.advisers import (
    barrier,
    character,
    linpack,
    memory,
    message,
    network,
    occupancy,
    openmp,
    overlap,
    own,
    program,
    remote,
    routines,
    setting,
    trust,
    waiting,
)
from kumiki.report.advisers.kinds import Advice
from kumiki.report.analysis.model import Results

__all__ = ["Advice", "derive"]

_SUBJECTS = (
    own.advise,
    setting.advise,
    trust.advise,
    program.advise,
    character.advise,
    occupancy.advise,
    memory.advise,
    barrier.advise,
    waiting.advise,
    remote.advise,
    network.advise,
    message.advise,
    overlap.advise,
    routines.advise,
    linpack.advise,
    openmp.advise,
)


def derive(results: Results) -> list[Advice]:
    """All advice that the rows support, the most important first."""
    return [sentence for advise in _SUBJECTS for sentence in advise(results)]
