"""The titles of implementations: of those that every report may show, and of those that the user has named."""

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
    "libgomp": "libgomp",
    "libomp": "libomp",
    "pthread": "pthread",
    "std": "std::barrier",
    "central": "central",
    "hpl": "reference HPL",
    "bound": "bound",
    "sequential": "sequential",
}
MPIS = ("openmpi", "mpich")
"""The MPIs of the distribution."""
UCX = "ucx"
RESERVED = (*TITLES, "command", "openblas", "blis", "blas", "highway", "tbb")
"""Names that mean something else in rows."""


def title(implementation: str) -> str:
    """The title of an implementation wherever results are shown side by side; an implementation that a user has named
    keeps its name.
    """
    return TITLES.get(implementation, implementation)


def titles(environment: Mapping[str, Any]) -> dict[str, str]:
    """All titles of a result with this environment. If the user has named another installation of a kind, the title of
    the distribution's includes its version.
    """
    peers, versions = environment.get("peers") or {}, environment.get("versions") or {}
    named = {name: f"{peer['title']} {peer['version']} ({name})" for name, peer in peers.items()}
    kinds = {peer["kind"] for peer in peers.values()}
    own = {kind: f"{TITLES[kind]} {versions[kind]}" for kind in kinds if kind in TITLES and versions.get(kind)}
    return {**TITLES, **own, **named}


def of_kinds(environment: Mapping[str, Any], *kinds: str) -> tuple[str, ...]:
    """The implementations of these kinds: the distribution's first, then those that the user has named."""
    peers = environment.get("peers") or {}
    return (*kinds, *(name for name, peer in peers.items() if peer["kind"] in kinds))
