"""Chooses the sentences of the first screen by what the owner of a machine needs to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from kumiki.report.advisers.kinds import ALERT, Advice
from kumiki.report.platforms.guidelines import Guidelines

FEWEST, MOST = 3, 5
WEIGHTY = 1.2
"""Advice with less at stake than this ratio does not appear on the first screen."""
NEEDS = (
    ("setting", "program"),
    ("own", "memory"),
    ("network",),
    ("trust",),
)
"""The owner's questions in order of importance: how to run programs here, what limits them, what the network between
the hosts costs, and how far to trust the figures. The first piece of the first listed kind that has any answers each
question. The remaining space goes to the advice with the most at stake."""


def headlines(advice: Sequence[Advice]) -> list[Advice]:
    """Three to five pieces of this advice (fewer if there are fewer), the most important first.

    Alerts, which decide whether the figures can be used at all, are not among them: they appear above.
    """
    left = [piece for piece in advice if piece.kind != ALERT]
    answers = [piece for kinds in NEEDS if (piece := _first(left, kinds))]
    for piece in sorted((piece for piece in left if piece.stake >= WEIGHTY), key=lambda piece: -piece.stake):
        if len(answers) < MOST and piece.heading not in {other.heading for other in answers}:
            answers.append(piece)
    for piece in left:
        if len(answers) < FEWEST and piece not in answers:
            answers.append(piece)
    # How far to trust the statements comes after them.
    return sorted(answers, key=lambda piece: piece.kind == "trust")


def in_turn(guides: Sequence[Guidelines]) -> list[Advice]:
    """The first guideline of each platform, then the second of each, as space permits."""
    rounds = zip_longest(*([replace(piece, heading=guide.label) for piece in guide.pieces] for guide in guides))
    chosen = [piece for pieces in rounds for piece in pieces if piece][:MOST]
    order = [guide.label for guide in guides]
    return sorted(chosen, key=lambda piece: order.index(piece.heading))


def _first(pieces: Sequence[Advice], kinds: Sequence[str]) -> Advice | None:
    return next((piece for kind in kinds for piece in pieces if piece.kind == kind), None)
