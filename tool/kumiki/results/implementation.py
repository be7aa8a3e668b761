"""What implementations are called in words: those that every report may show, and those that the user has named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TITLES = {
    "kumiki": "Kumiki",
    "openmpi": "Open MPI",
    "mpich": "MPICH",
    "ucx": "UCX",
    "tcp": "TCP",
    "openmp": "OpenMP",
    "pthread": "pthread",
    "std": "std::barrier",
    "central": "central",
    "bound": "bound",
    "sequential": "sequential",
}
MPIS = ("openmpi", "mpich")
"""Those of the distribution."""
UCX = "ucx"
RESERVED = (*TITLES, "command", "openblas", "blis", "blas", "highway", "tbb")
"""Names that stand for something else in rows."""


def title(implementation: str) -> str:
    """What an implementation is called wherever results are set side by side; what a user has named keeps its name."""
    return TITLES.get(implementation, implementation)


def titles(environment: Mapping[str, Any]) -> dict[str, str]:
    """All titles of a result with this environment.

    Where the user has named another installation of a kind, that of the distribution is told by its version, too.
    """
    peers, versions = environment.get("peers") or {}, environment.get("versions") or {}
    named = {name: f"{peer['title']} {peer['version']} ({name})" for name, peer in peers.items()}
    kinds = {peer["kind"] for peer in peers.values()}
    own = {kind: f"{TITLES[kind]} {versions[kind]}" for kind in kinds if kind in TITLES and versions.get(kind)}
    return {**TITLES, **own, **named}


def of_kinds(environment: Mapping[str, Any], *kinds: str) -> tuple[str, ...]:
    """The implementations of these kinds: the distribution's, and then what the user has named, in that order."""
    peers = environment.get("peers") or {}
    return (*kinds, *(name for name, peer in peers.items() if peer["kind"] in kinds))
