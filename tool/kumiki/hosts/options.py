"""The options of `kumiki evaluate` that select the hosts."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kumiki.errors import ExitCode, UserError

if TYPE_CHECKING:  # `kumiki run` must not wait for these imports
    from kumiki.hosts.model import Hosts
    from kumiki.hosts.slurm import Allocation
    from kumiki.machine.native import Native

SSH = ("ssh", "-o", "BatchMode=yes")
"""How kumiki-run reaches hosts by default."""
STARTED_BY = {
    "srun": "SLURM_STEP_NUM_TASKS",
    "Open MPI's mpirun": "OMPI_COMM_WORLD_SIZE",
    "MPICH's mpirun": "PMI_SIZE",
}
"""Launchers, and the variable that holds the number of processes they have started."""

Cluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="NAME", help="Measure over the hosts of this cluster (kumiki cluster)."),
]
Named = Annotated[
    str | None,
    typer.Option(
        "--hosts",
        metavar="A,B",
        help="Measure over these hosts; the default in a Slurm allocation is all its nodes.",
    ),
]
File = Annotated[
    Path | None, typer.Option("--hostfile", metavar="FILE", help="Measure over the hosts of this file, one per line.")
]
RemoteShell = Annotated[
    str | None,
    typer.Option(
        "--remote-shell",
        metavar="COMMAND",
        help="The command that reaches a host; default srun in an allocation, else ssh.",
    ),
]
Alone = Annotated[bool, typer.Option("--alone", help="Measure this host only, even in a Slurm allocation.")]


@dataclass(frozen=True)
class Where:
    """The options as they were given."""

    cluster: str | None = None
    named: str | None = None
    file: Path | None = None
    remote_shell: str | None = None
    alone: bool = False

    @property
    def given(self) -> str | None:
        """The first option that names hosts, as it was given."""
        options = {"--cluster": self.cluster, "--hosts": self.named, "--hostfile": self.file}
        return next((f"{name} {value}" for name, value in options.items() if value is not None), None)

    def hosts(self, native: Native) -> Hosts | None:
        """The hosts to measure over; None: only this one. Raises UserError if they cannot be used, if there are too
        few, or if the tool itself was started several times.
        """
        from kumiki.hosts import cluster, inquiry, slurm

        self._check()
        if self.cluster is not None:
            return cluster.of_cluster(self.cluster)
        allocation = None if self.alone else slurm.allocation()
        found = self._listed(allocation) or (self._of(allocation) if allocation else None)
        return inquiry.asked(found, native) if found else None

    def _check(self) -> None:
        many = [name for name in ("cluster", "named", "file") if getattr(self, name) is not None]
        if len(many) + self.alone > 1:
            raise UserError("--cluster, --hosts, --hostfile and --alone exclude each other: use only one of them")
        if self.remote_shell is not None and not (self.named or self.file):
            raise UserError("--remote-shell needs --hosts or --hostfile: it says how those hosts are reached")
        for launcher, variable in STARTED_BY.items():
            count = os.environ.get(variable, "1")
            if count != "1":
                raise UserError(
                    f"{launcher} has started kumiki evaluate {count} times; it starts its programs itself: run it "
                    "once, in a Slurm allocation without srun (salloc, sbatch), or with --hostfile FILE"
                )

    def _listed(self, allocation: Allocation | None) -> Hosts | None:
        """The hosts that the user names, reached by srun inside an allocation and by ssh otherwise."""
        from kumiki.hosts import listed, slurm
        from kumiki.hosts.model import Hosts, Origin, interface

        if self.given is None:
            return None
        names = listed.of_file(self.file) if self.file else listed.of_list(self.named or "")
        remote_shell = _words(self.remote_shell) if self.remote_shell else slurm.REMOTE_SHELL if allocation else SSH
        if len(names) < 2:
            raise UserError(f"{self.given} names one host, but an evaluation over a network needs two; name another")
        return Hosts(", ".join(names), names, remote_shell, interface(), origin=Origin.USER)

    @staticmethod
    def _of(allocation: Allocation) -> Hosts | None:
        """The nodes of the allocation; None for a single node, which is measured like any host."""
        if len(allocation.nodes) > 1:
            return allocation.hosts
        if allocation.here:
            return None
        raise UserError(
            f"{allocation.title} has one node, {allocation.nodes[0]}, and this is another host: measure the node with "
            "srun kumiki evaluate, the network with two nodes or more, or this host with --alone",
            ExitCode.ENVIRONMENT,
        )


def _words(remote_shell: str) -> tuple[str, ...]:
    """The words of the command, with quotes as in a shell."""
    try:
        return tuple(shlex.split(remote_shell))
    except ValueError as error:
        raise UserError(f"--remote-shell {remote_shell}: the quotes do not match ({error})") from None
