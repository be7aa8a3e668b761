"""What a suite says of its program for the report: what it is, what its paper shows of it, and what bounds it."""

from __future__ import annotations

from dataclasses import dataclass

COMPAS = "the COMPaS paper"
JAMSTEC = "the JAMSTEC paper"
MAESTRO = "the Maestro paper"


@dataclass(frozen=True)
class Paper:
    """The paper that a program is of, and the tables and figures there to which exhibits of ours have a counterpart.

    They are named by what they show; empty where there is none.
    """

    source: str = COMPAS
    rate: str = ""
    """Over processors, as the others."""
    time: str = ""
    speedup: str = ""
    efficiency: str = ""
    breakdown: str = ""
    settings: str = ""
    by_size: str = ""
    """The rates of all sizes, with the bytes of a message and the residual."""
    over_hosts: str = ""
    """The time over hosts, in the Maestro paper whatever the program's own is."""
    velocities: str = ""
    """The publication whose velocities a flow is compared with."""


@dataclass(frozen=True)
class Bound:
    """What a program cannot be faster than, in words."""

    metric: str
    """The metric of its rates; empty: the program's own `bound`."""
    name: str
    what: str
    """What was measured, within a sentence."""
    near: str
    """What a program says of itself that comes near."""
    far: str


MOVING = Bound(
    "",
    "moving its data",
    "what the program must move through memory, or through the cache that holds it, moved by as many threads and "
    "nothing computed",
    "moving data is what limits it",
    "computing, latency or waiting limits it, and not the bytes that it moves",
)


@dataclass(frozen=True)
class Described:
    """A program, as the report speaks of it."""

    title: str
    intro: str = ""
    """The program in a sentence."""
    problem: tuple[str, int | str] = ("", 0)
    """The parameter of its rows, and the value, that is the problem which its paper solved."""
    paper: Paper = Paper()
    parts: tuple[str, ...] = ()
    """What its paper takes its time apart into, where that is not what all programs tell."""
    bound: Bound = MOVING
    by_rate: bool = False
    """Whether its rate is what it is known by, also where its paper does not draw that."""
