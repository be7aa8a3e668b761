"""Software of others that Kumiki is measured beside or built on, where it is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Installation:
    """Where software lies that the user has named (`kumiki evaluate --peer`)."""

    prefix: Path
    version: str
    programs: Path
    """The folder of Kumiki's measuring programs that are built with it."""
    variables: Mapping[str, str]
    """What leads the loader to its libraries."""


@dataclass(frozen=True)
class Peer:
    """One of them."""

    name: str
    """Its name in rows and in the names of programs."""
    kind: str
    """The name of the distribution's own of its kind."""
    title: str
    packages: str
    """The Debian packages that a build of Kumiki with it needs."""
    installation: Installation | None = None
    """Where the user says that it lies; None: it is the one that Kumiki was built with."""

    def as_dict(self) -> dict[str, Any]:
        """What results.json says of one that the user has named."""
        assert self.installation is not None
        return {
            "kind": self.kind,
            "title": self.title,
            "version": self.installation.version,
            "prefix": str(self.installation.prefix),
        }


UCX = Peer("ucx", "ucx", "UCX", "libucx-dev")
BLAS = Peer("blas", "blas", "OpenBLAS", "libopenblas-dev")


def mend(peers: Sequence[Peer]) -> str:
    """The command that brings them in."""
    return f"sudo apt install {' '.join(peer.packages for peer in peers)} && ./kumiki"


def absence(what: str, peers: Sequence[Peer]) -> str:
    """The sentence for a row that cannot be measured because `what` is missing."""
    titles = " and ".join(peer.title for peer in peers)
    return f"{what} is missing; install {titles} and build Kumiki again: {mend(peers)}"
