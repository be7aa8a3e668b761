"""Software of others that Kumiki is measured beside, where it is installed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    """One of them."""

    name: str
    """As in rows and in the names of programs."""
    title: str
    packages: str
    """The Debian packages to measure beside it."""

    @property
    def mend(self) -> str:
        """The command that brings it in."""
        return f"sudo apt install {self.packages} && ./kumiki"

    def absence(self, what: str) -> str:
        """The sentence for a row that cannot be measured because `what` is missing."""
        return f"{what} is missing; install {self.title} and build Kumiki again: {self.mend}"


UCX = Peer("ucx", "UCX", "libucx-dev")
