"""The programs in their papers: what each is, and which exhibits of ours have a counterpart there."""

from __future__ import annotations

from dataclasses import dataclass

COMPAS = "the COMPaS paper"
JAMSTEC = "the JAMSTEC paper"
MAESTRO = "the Maestro paper"


@dataclass(frozen=True)
class Papers:
    """A program in its paper."""

    intro: str
    """The program in a sentence."""
    source: str = COMPAS
    rate: str = ""
    """The counterpart of the rate over processors; likewise of the other exhibits. Empty where there is none."""
    time: str = ""
    speedup: str = ""
    efficiency: str = ""
    breakdown: str = ""
    settings: str = ""
    by_rate: bool = False
    """Whether its rate is what it is known by, also where its paper does not draw that."""


PAPERS = {
    "laplace": Papers(
        "A five-point stencil: neighbours exchange their borders in every iteration.",
        time="Figures 6 and 7",
        speedup="Figures 8 and 9",
    ),
    "matmul": Papers(
        "Dense matrix product: much computation on little data, by the machine's own matrix library.",
        speedup="Figure 10",
        settings="Table 5",
        by_rate=True,
    ),
    "radix-sort": Papers("Integer sort: every rank exchanges keys with every other.", speedup="Figure 11"),
    "cg": Papers(
        "NPB's conjugate gradient: a sparse matrix, irregular reads, reductions between ranks.",
        speedup="Figure 12",
        breakdown="Figure 13",
    ),
    "himeno": Papers(
        "The Himeno benchmark: a 19-point stencil with twelve coefficients a point, which the memory bus must carry.",
        JAMSTEC,
        rate="Figures 7 to 9",
        settings="Table 2",
    ),
    "pi": Papers(
        "Pi by random points and by integration: nothing but computation, and one sum at the end. It moves no data, so "
        "that the ideal is its bound.",
        JAMSTEC,
        speedup="Figures 10 to 12",
        efficiency="Figures 13 to 15",
    ),
    "is": Papers(
        "NPB's integer sort: every key moves to the rank that counts its like.",
        MAESTRO,
        time="Figure 6",
    ),
    "diffusion": Papers(
        "Diffusion by alternating directions: tridiagonal solves, and a grid that is transposed between all.",
        JAMSTEC,
        speedup="Figures 16 to 18",
        efficiency="Figures 19 to 21",
    ),
    "laplace-sor": Papers(
        "Laplace's equation by red-black over-relaxation: two exchanges a sweep, each of half the points of an edge.",
        JAMSTEC,
        speedup="Figures 22 to 24",
        efficiency="Figures 25 to 27",
    ),
    "cavity": Papers(
        "Flow under a moving lid by the MAC method: many short exchanges for the pressure of every time step.",
        JAMSTEC,
        speedup="Figures 28 to 30",
        efficiency="Figures 31 to 33",
    ),
}
