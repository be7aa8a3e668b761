"""One colour, marker and dash for each implementation, the same everywhere, and told apart without colour too.

Plots are drawn with placeholder colours that stand for CSS variables, so that one drawing serves light, dark and
paper: the values of the variables are in templates/style.css. The hues follow Okabe and Ito's palette for colour-blind
readers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

_ROLES = (
    *("ink", "muted", "grid", "surface", "crowd", "bound", "kumiki", "openmpi", "mpich", "openmp", "pthread", "std"),
    *(
        "central",
        "ucx",
        "other-1",
        "other-2",
        "other-3",
        "other-4",
        "computation",
        "communication",
        "vectors",
        "synchronisation",
        "heat",
    ),
    *("on-heat", "ranks-1", "ranks-2", "ranks-3", "ranks-4", "ranks-5", "ranks-6", "sequential"),
)
_PLACEHOLDERS = {role: f"#fe{index:02x}a7" for index, role in enumerate(_ROLES)}
_OTHERS = ("other-1", "other-2", "other-3", "other-4")

TINTS = 6
"""How many numbers of ranks can be told apart by tint."""

KNOWN = ("kumiki", "openmpi", "mpich", "ucx", "tcp", "openmp", "pthread", "std", "central", "bound", "sequential")

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
_MARKERS = {
    "kumiki": "o",
    "openmpi": "s",
    "mpich": "D",
    "ucx": "p",
    "tcp": "_",
    "openmp": "^",
    "pthread": "v",
    "std": "P",
    "central": "X",
    "bound": "_",
    "sequential": "*",
}
_RANK_MARKERS = "osD^vP"


@dataclass(frozen=True)
class Look:
    """How a series is drawn."""

    role: str
    marker: str = "o"
    dash: str = "solid"

    @property
    def colour(self) -> str:
        return colour(self.role)

    @property
    def point(self) -> Look:
        """The same for what has no line."""
        return replace(self, dash="none")


def colour(role: str) -> str:
    """The placeholder that the finished drawing replaces by `var(--role)`."""
    return _PLACEHOLDERS[role]


def to_variables(svg: str) -> str:
    """Put CSS variables in the place of the placeholder colours."""
    for role, placeholder in _PLACEHOLDERS.items():
        svg = svg.replace(placeholder, f"var(--{role})")
    return svg


def title(implementation: str) -> str:
    return TITLES.get(implementation, implementation)


def looks(implementations: Iterable[str]) -> dict[str, Look]:
    """A look for each implementation of a report; names that are not known get the spare colours in order."""
    names = dict.fromkeys(implementations)
    strangers = sorted(name for name in names if name not in KNOWN)
    return {
        name: Look("bound" if name == "tcp" else name, _MARKERS[name])
        if name in KNOWN
        else Look(_OTHERS[strangers.index(name) % len(_OTHERS)], "<>dh"[strangers.index(name) % 4])
        for name in [*KNOWN, *strangers]
    }


def rank_looks(counts: Iterable[int]) -> dict[int, Look]:
    """Tints of Kumiki's colour for the series of a hybrid program, the darkest for the most ranks."""
    ordered = sorted(set(counts))
    steps = {1: [4], 2: [3, 5], 3: [2, 4, 6], 4: [1, 3, 4, 6]}.get(len(ordered), list(range(1, TINTS + 1)))
    return {
        count: Look(f"ranks-{steps[index % len(steps)]}", _RANK_MARKERS[index % len(_RANK_MARKERS)])
        for index, count in enumerate(ordered)
    }
