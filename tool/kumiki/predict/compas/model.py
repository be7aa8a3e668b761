"""The prediction of the kernels: the product of matrices of Table 5, Laplace's threads, caches and edges, barriers."""

from __future__ import annotations

from functools import partial

from kumiki.predict.compas.machine import NODES, THREADS, Machine, barrier
from kumiki.predict.parameters import changed, described
from kumiki.predict.prediction import Chart, Check, Curve, Model, Prediction

MATRICES = 3
"""Two factors and the product."""
ELEMENT_BYTES = 8
LAPLACE = 640
INTRO = (
    "The product of matrices takes its sequential time divided by the processors, of which a small share waits for a "
    "memory bus that threads share; and one transfer of each of the three matrices through the link of a node, but for "
    "the part that the node has (the paper does not say how they are split). Barriers are linear in the logarithm "
    "of the nodes."
)


def computing(machine: Machine, nodes: int, threads: int) -> float:
    """The seconds that each thread multiplies."""
    share = machine.memory_share
    return machine.sequential / (nodes * threads) * (1 - share + share * machine.crowding(threads))


def communicating(machine: Machine, nodes: int) -> float:
    """The seconds that a node sends and receives; its threads do not change them."""
    moved = MATRICES * machine.size**2 * ELEMENT_BYTES * (nodes - 1) / nodes
    return moved / (1e6 * machine.nicam_rate)


def efficiency(machine: Machine, nodes: int, threads: int) -> float:
    """The sequential time divided by that of all processors together."""
    taken = computing(machine, nodes, threads) + communicating(machine, nodes)
    return machine.sequential / (nodes * threads * taken)


def edge(latency: float, rate: float) -> float:
    """Microseconds to send one row of Laplace's array (M4)."""
    return latency + LAPLACE * ELEMENT_BYTES / rate


def fitting_processors(machine: Machine) -> int:
    """The least number of processors, of those tried, whose caches hold both arrays of Laplace (M3)."""
    both = 2 * LAPLACE**2 * ELEMENT_BYTES / 1024
    tried = sorted({nodes * threads for nodes in (1, *NODES) for threads in (1, 2, 4)})
    return next((count for count in tried if both / count <= machine.cache), tried[-1])


def predict(machine: Machine) -> Prediction:
    """All checks and charts for one machine."""
    return Prediction(
        "COMPaS: threads within nodes, remote memory between them",
        "the COMPaS paper",
        INTRO,
        tuple(described(machine)),
        (*_product(machine), *_laplace(machine), *_barriers(machine)),
        (_efficiencies(machine), _barrier_chart(machine)),
    )


def _product(machine: Machine) -> list[Check]:
    published = {(1, 2): 0.99, (1, 4): 0.97, (8, 1): 0.94, (8, 2): 0.89, (8, 4): 0.80}
    checks = [
        Check(
            f"efficiency of the product, {nodes} x {threads}",
            value,
            efficiency(machine, nodes, threads),
            "",
            "memory_share" if (nodes, threads) == (1, 4) else "",
        )
        for (nodes, threads), value in published.items()
    ]
    times = {1: 17.09, 2: 8.59, 4: 4.46}
    checks += [
        Check(
            f"multiplying, 8 x {threads}",
            value,
            computing(machine, 8, threads),
            "s",
            "sequential" if threads == 1 else "",
        )
        for threads, value in times.items()
    ]
    share = {1: 4.6, 4: 15.7}
    checks.append(Check("communicating, 8 nodes", 0.83, communicating(machine, 8), "s"))
    for threads, value in share.items():
        other, own = communicating(machine, 8), computing(machine, 8, threads)
        checks.append(Check(f"share of communication, 8 x {threads}", value, 100 * other / (other + own), "%"))
    return checks


def _laplace(machine: Machine) -> list[Check]:
    return [
        Check("Laplace on one node, 4 threads against 1: no gain", 1.0, 4 / machine.crowding(4), ""),
        Check("processors whose caches hold Laplace's arrays", 32, fitting_processors(machine), ""),
    ]


def _barriers(machine: Machine) -> list[Check]:
    return [
        Check("NICAM's barrier, 4 nodes", 31.45, barrier(machine.nicam_2, machine.nicam_8, 4), "us"),
        Check("PM's barrier, 4 nodes", 30.37, barrier(machine.pm_2, machine.pm_8, 4), "us"),
        Check("mpich's barrier, 4 nodes", 1066, barrier(machine.mpich_2, machine.mpich_8, 4), "us"),
    ]


def _efficiencies(machine: Machine) -> Chart:
    return Chart(
        "efficiency",
        "The product of matrices by nodes and threads",
        "The sequential time divided by that of all processors together.",
        "Threads shorten the multiplication, but not the communication, whose share grows.",
        "nodes",
        "count",
        "efficiency",
        "%",
        tuple(
            Curve(
                f"{threads} threads",
                tuple((nodes, 100 * efficiency(machine, nodes, threads)) for nodes in (1, *NODES)),
            )
            for threads in (1, 2, 4)
        ),
        "Figure 10",
    )


def _barrier_chart(machine: Machine) -> Chart:
    systems = {
        "NICAM": (machine.nicam_2, machine.nicam_8),
        "PM": (machine.pm_2, machine.pm_8),
        "mpich": (machine.mpich_2, machine.mpich_8),
    }
    row = edge(machine.nicam_latency, machine.nicam_rate), edge(0, machine.mpich_rate)
    return Chart(
        "barriers",
        "Barriers over nodes",
        f"The time of a barrier. Beside it, a row of Laplace's array takes {row[0]:.0f} us with NICAM and at least "
        f"{row[1]:.0f} us with mpich; a barrier of {THREADS[-1]} threads {machine.thread_barrier:g} us.",
        "Lower is better. NICAM's starts higher than PM's and grows more slowly.",
        "nodes",
        "count",
        "time",
        "us",
        tuple(Curve(name, tuple((n, barrier(*ends, n)) for n in NODES)) for name, ends in systems.items()),
        "Table 3",
    )


MODEL = Model(
    "compas",
    "The kernels of the COMPaS paper from its tables of bus, barriers and network.",
    partial(changed, Machine()),
    predict,
)
