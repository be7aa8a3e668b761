"""Software of others that Kumiki is measured beside or built on, where it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    """One of them."""

    name: str
    """Its name in rows and in the names of programs."""
    title: str
    packages: str
    """The Debian packages that a build of Kumiki with it needs."""


UCX = Peer("ucx", "UCX", "libucx-dev")
BLAS = Peer("blas", "OpenBLAS", "libopenblas-dev")


def mend(peers: Sequence[Peer]) -> str:
    """The command that brings them in."""
    return f"sudo apt install {' '.join(peer.packages for peer in peers)} && ./kumiki"


def absence(what: str, peers: Sequence[Peer]) -> str:
    """The sentence for a row that cannot be measured because `what` is missing."""
    titles = " and ".join(peer.title for peer in peers)
    return f"{what} is missing; install {titles} and build Kumiki again: {mend(peers)}"
