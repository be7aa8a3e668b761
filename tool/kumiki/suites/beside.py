"""The operations of two ranks, performed by Kumiki's program, by each MPI's and by UCX's: the same loops, compiled into
each.
"""

from __future__ import annotations

from dataclasses import replace

from kumiki.machine.peer import UCX
from kumiki.suites.model import Grid, Mpirun, Point, Program, with_mpi


def programs(name: str) -> tuple[Program, ...]:
    """Kumiki's own program of a name, and the peers'."""
    return (*with_mpi(name), Program(_of(name, UCX.name), UCX))


def peers(grid: Grid, own: Point, mpi_figures: int, ucx_figures: int) -> list[Point]:
    """The points beside Kumiki's own: as many ranks on the same hosts, with so many figures each."""
    return [
        *(
            replace(
                own,
                implementation=peer.name,
                program=_of(own.program, peer.name),
                launcher=Mpirun(peer, own.launcher.ranks, hosts=own.launcher.hosts),
                figures=mpi_figures,
            )
            for peer in grid.mpis
        ),
        # It has no launcher of its own: its ranks find each other as ranks of a Kumiki job.
        *(
            replace(own, implementation=ucx.name, program=_of(own.program, ucx.name), figures=ucx_figures, built_on=ucx)
            for ucx in grid.ucxs
        ),
    ]


def _of(program: str, peer: str) -> str:
    return f"{program}-{peer}"
