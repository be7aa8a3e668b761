"""Which length is best, and how certain that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kumiki.results.statistics import Summary, contrast, summarise
from kumiki.suites.fragments import OWN_RULE

DRAWS = 2000
AS_GOOD = 0.95
"""A length that reaches this share of the best bandwidth counts as good as the best."""
LEAST_GAIN = 0.01
"""A gain in bandwidth below this share is not worth a setting."""
LIKELY = 0.5
"""Share of draws in which a length must be as good as the best."""


@dataclass(frozen=True)
class Choice:
    """The shortest length that is as good as the fastest."""

    length: int
    chosen: Summary
    fastest: int
    """The length with the highest median."""
    certainty: float
    """The share of bootstrap draws in which the chosen length is as good as the best of the draw."""
    loss: float
    """The share of bandwidth that the library's own rule loses against the chosen length; negative: it is faster."""
    loss_is_real: bool
    """Whether the two differ by more than chance."""

    @property
    def is_worth_keeping(self) -> bool:
        """Whether the library is faster with the length than with its own rule, by more than the noise."""
        return self.loss_is_real and self.loss >= LEAST_GAIN


def choose(bandwidths: Mapping[int, Sequence[float]]) -> Choice:
    """The choice from the bandwidths of all rounds, by length; including `OWN_RULE` and at least one length.

    It is the shortest length that is as good as the best in at least half of the draws of the bootstrap, or else the
    fastest, because short fragments let other messages through in between. The bootstrap draws whole rounds, in which
    all lengths were measured one after another.
    """
    summaries = {length: summarise(samples) for length, samples in bandwidths.items()}
    lengths = sorted(set(bandwidths) - {OWN_RULE})
    fastest = max(lengths, key=lambda length: summaries[length].median)
    rounds = np.array([bandwidths[each] for each in lengths])
    count = rounds.shape[1]
    draws = np.random.default_rng(0).integers(count, size=(DRAWS, count))
    medians = np.median(rounds[:, draws], axis=2)
    certainties = np.mean(medians >= AS_GOOD * medians.max(axis=0), axis=1)
    length, certainty = next(
        ((each, sure) for each, sure in zip(lengths, certainties.tolist(), strict=True) if sure >= LIKELY),
        (fastest, certainties[lengths.index(fastest)].item()),
    )
    chosen, own = summaries[length], summaries[OWN_RULE]
    loss = 1 - own.median / chosen.median
    return Choice(length, chosen, fastest, certainty, loss, contrast(own, chosen).differ)
