"""Long messages in fragments of one length (Maestro paper, F21, F27), for the suite message and `kumiki tune`."""

from __future__ import annotations

from collections.abc import Iterable

from kumiki.hosts import Hosts
from kumiki.suites.model import KumikiRun, Point

RANKS = 2
OWN_RULE = 0
"""The length that represents the library's own rule (KUMIKI_FRAGMENT=0)."""
PAPER = (223, 4048, 1048528)
"""The lengths of the Maestro paper: an Ethernet packet, its default, and a length that hides all overhead."""
FEW_LENGTHS = (*PAPER, *(2**power for power in range(14, 19, 2)))
"""Enough to find the best ones."""
LONGEST_OVER_HOSTS = 130048
"""The maximum of one transfer between hosts over TCP (over_tcp in src/fabric/ucx/transport.cpp)."""
METRIC = "fragment.bandwidth"
SMALLEST = 4096
"""Bytes of the shortest message for which a length is determined: shorter ones are never cut."""


def within(lengths: Iterable[int], over_hosts: bool) -> list[int]:
    """These lengths in ascending order; the longest possible one between hosts replaces all above it."""
    return sorted({min(length, LONGEST_OVER_HOSTS) for length in lengths} if over_hosts else set(lengths))


def message_bytes(over_hosts: bool, quick: bool) -> int:
    """Long compared with every length, and short enough for a slow network."""
    return 2**24 if not over_hosts else 2**20 if quick else 2**22


def sizes(largest: int) -> list[int]:
    """The sizes of messages, from the smallest useful one up to the largest, by factors of 4, as the program measures
    them.
    """
    found = [SMALLEST]
    while found[-1] * 4 <= largest:
        found.append(found[-1] * 4)
    return found


def point(
    suite: str, length: int, size: int, hosts: Hosts | None, seconds: float, smallest: int | None = None
) -> Point:
    """One start, in which messages of `size` bytes travel in fragments of this length. `hosts`: those of the two ranks.

    With `smallest` shorter messages as well, by factors of 4.
    """
    return Point(
        suite=suite,
        metric=METRIC,
        implementation="kumiki",
        program="fragment",
        arguments=(*(("--smallest", str(smallest)) if smallest else ()), "--largest", str(size)),
        launcher=KumikiRun(RANKS, options=("--fragment", str(length)), hosts=hosts),
        parameters={"ranks": RANKS, "fragment": length, "bytes": size},
        unit="GB/s",
        better="higher",
        seconds=seconds,
        figures=len(sizes(size)) if smallest else 1,
    )
