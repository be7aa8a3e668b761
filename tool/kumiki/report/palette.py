"""One colour, marker and dash for each implementation, the same everywhere, and distinguishable without colour.

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
"""How many numbers of ranks the tints can distinguish."""

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
_OTHER_MARKERS = "<>dh"
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
        """The same look without a line."""
        return replace(self, dash="none")


def colour(role: str) -> str:
    """The placeholder that the finished drawing replaces by `var(--role)`."""
    return _PLACEHOLDERS[role]


def to_variables(svg: str) -> str:
    """Replaces the placeholder colours by CSS variables."""
    for role, placeholder in _PLACEHOLDERS.items():
        svg = svg.replace(placeholder, f"var(--{role})")
    return svg


def looks(implementations: Iterable[str]) -> dict[str, Look]:
    """A look for each implementation of a report; unknown names get the spare colours in order."""
    strangers = sorted({name for name in implementations if name not in _MARKERS})
    known = {name: Look("bound" if name == "tcp" else name, marker) for name, marker in _MARKERS.items()}
    return known | {name: _spare(place) for place, name in enumerate(strangers)}


def _spare(place: int) -> Look:
    """Every pair of a colour and a marker comes once before the first pair comes again."""
    turn, colour = divmod(place, len(_OTHERS))
    return Look(_OTHERS[colour], _OTHER_MARKERS[(colour + turn) % len(_OTHER_MARKERS)])


def rank_looks(counts: Iterable[int]) -> dict[int, Look]:
    """Tints of Kumiki's colour for the series of a hybrid program, the darkest for the most ranks."""
    ordered = sorted(set(counts))
    steps = {1: [4], 2: [3, 5], 3: [2, 4, 6], 4: [1, 3, 4, 6]}.get(len(ordered), list(range(1, TINTS + 1)))
    return {
        count: Look(f"ranks-{steps[index % len(steps)]}", _RANK_MARKERS[index % len(_RANK_MARKERS)])
        for index, count in enumerate(ordered)
    }
