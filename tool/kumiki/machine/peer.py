"""Third-party software that Kumiki is measured beside or built on, and where it is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Installation:
    """An installation of software that the user has named (`kumiki evaluate --peer`)."""

    prefix: Path
    version: str
    programs: Path
    """The folder with Kumiki's measuring programs that are built with it."""
    variables: Mapping[str, str]
    """Variables through which the loader finds its libraries."""


@dataclass(frozen=True)
class Peer:
    """One piece of such software."""

    name: str
    """Its name in rows and in the names of programs."""
    kind: str
    """The name of the distribution's own software of the same kind."""
    title: str
    packages: str
    """The Debian packages that are needed to build Kumiki with it."""
    installation: Installation | None = None
    """The installation that the user has named; None: the one with which Kumiki was built."""

    def as_dict(self) -> dict[str, Any]:
        """Its description in results.json, if the user has named it."""
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
    """The command that installs the packages."""
    return f"sudo apt install {' '.join(peer.packages for peer in peers)} && ./kumiki"


def absence(what: str, peers: Sequence[Peer]) -> str:
    """The sentence for a row that cannot be measured because `what` is missing."""
    titles = " and ".join(peer.title for peer in peers)
    return f"{what} is missing; install {titles} and build Kumiki again: {mend(peers)}"
