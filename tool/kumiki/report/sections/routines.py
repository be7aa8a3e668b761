"""The routines that send a message, along a chain of ranks."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.report.exhibit import Exhibit, Section
from kumiki.report.figures.routines import bandwidth
from kumiki.report.model import Results
from kumiki.report.palette import title
from kumiki.report.routines import SUITE, curves, implementations


def routines(results: Results) -> Section:
    """A figure for each implementation."""

    def exhibits() -> Iterator[Exhibit]:
        for name in implementations(results):
            picture = bandwidth(f"routines-{name}", title(name), curves(results, name))
            if picture:
                yield Exhibit(
                    "Figure",
                    f"The routines of {title(name)} over the size of the message",
                    "Bytes sent by all ranks of an open chain per second: each rank sends to the next one and receives "
                    "from the one before. Median with its 95 % band, logarithmic on both axes.",
                    "Higher is better. Those that need a preparation (rsend, ssend, bsend) have it in their time; a "
                    "routine that falls behind the others as messages grow waits for its receiver.",
                    "Figures 1 to 6 of the JAMSTEC paper",
                    picture=picture,
                )

    intro = "Which of its routines an MPI moves a message with best depends on the size, and on the machine."
    return Section.of(results, SUITE, "Routines that send", intro, exhibits())
