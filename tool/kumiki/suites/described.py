"""A suite's description of its program for the report: the program, its exhibits in the paper, and its bound."""

from __future__ import annotations

from dataclasses import dataclass

COMPAS = "the COMPaS paper"
JAMSTEC = "the JAMSTEC paper"
MAESTRO = "the Maestro paper"
TSUBAME = "the TSUBAME paper"
SCASH = "the Omni/SCASH paper"


@dataclass(frozen=True)
class Paper:
    """The paper of a program, and the tables and figures there that have a counterpart in the report.

    The fields are named after what they show; empty if there is no counterpart.
    """

    source: str = COMPAS
    rate: str = ""
    """Over processors, like the following ones."""
    time: str = ""
    speedup: str = ""
    efficiency: str = ""
    breakdown: str = ""
    settings: str = ""
    by_size: str = ""
    """The rates of all sizes, with the bytes of a message and the residual."""
    over_hosts: str = ""
    """The time over hosts; always in the Maestro paper, whatever the program's own paper is."""
    over_hosts_result: str = ""
    """What the Maestro paper found there, as a sentence."""
    placement: str = ""
    """The time by the homes of pages, in the Omni/SCASH paper; empty: this program takes the place of its NPB."""
    velocities: str = ""
    """The publication with whose velocities a flow is compared."""


@dataclass(frozen=True)
class Bound:
    """The upper limit of a program's speed, in words."""

    metric: str
    """The metric of its rates; empty: the program's own `bound`."""
    name: str
    what: str
    """What was measured, as part of a sentence."""
    near: str
    """The statement about a program that comes close to the bound."""
    far: str


MOVING = Bound(
    "",
    "moving its data",
    "the data that the program must move through memory, or through the cache that holds them, moved by as many "
    "threads without any computation",
    "data movement limits it",
    "computation, latency or waiting limits it, not data movement",
)


@dataclass(frozen=True)
class Described:
    """The description of a program in the report."""

    title: str
    intro: str = ""
    """The program in a sentence."""
    problem: tuple[str, int | str] = ("", 0)
    """The parameter of its rows, and the value, of the problem that its paper solved."""
    paper: Paper = Paper()
    parts: tuple[str, ...] = ()
    """The parts into which its paper divides the time, if they are not those of all programs."""
    bound: Bound = MOVING
    by_rate: bool = False
    """Whether the program is known by its rate, even if its paper does not draw the rate."""
