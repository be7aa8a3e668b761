"""The nodes of the Slurm allocation that this process is part of."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass

from kumiki.errors import ExitCode, UserError
from kumiki.hosts.model import Hosts, Origin, interface

ASKING_SECONDS = 60
REMOTE_SHELL = (
    "srun",
    # Without this, srun holds back incomplete lines, but kumiki-run exchanges binary frames with its hosts.
    "--unbuffered",
    # The step runs beside others and gets all resources of the job on the node; kumiki-run or mpirun binds threads.
    "--overlap",
    "--cpu-bind=none",
    "--mpi=none",
    "--nodes=1",
    "--ntasks=1",
    "--ntasks-per-node=1",
    "--nodelist",
)
"""The command that runs a command on a node; the node's name and the command follow."""


@dataclass(frozen=True)
class Allocation:
    """The relevant facts about a Slurm job."""

    job: str
    nodes: tuple[str, ...]
    here: bool
    """Whether this process runs on one of the nodes, and not on the host where the job was submitted."""

    @property
    def title(self) -> str:
        return f"Slurm job {self.job}"

    @property
    def hosts(self) -> Hosts:
        return Hosts(self.title, self.nodes, REMOTE_SHELL, interface(), origin=Origin.SLURM)


def allocation() -> Allocation | None:
    """None outside an allocation; raises UserError if Slurm's commands are missing or do not respond."""
    job, nodes = os.environ.get("SLURM_JOB_ID"), os.environ.get("SLURM_JOB_NODELIST")
    if not job or not nodes:
        return None
    return Allocation(job, _expanded(job, nodes), here="SLURMD_NODENAME" in os.environ)


def required() -> Allocation:
    """The allocation; raises UserError outside one."""
    found = allocation()
    if found is None:
        raise UserError("this is not a Slurm allocation (SLURM_JOB_ID is not set): start under salloc or in sbatch")
    return found


def _expanded(job: str, nodes: str) -> tuple[str, ...]:
    """node[1-3] as node1, node2, node3; Slurm knows the rules."""
    try:
        asked = subprocess.run(
            ("scontrol", "show", "hostnames", nodes),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ASKING_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise UserError(
            f"this is Slurm job {job} (SLURM_JOB_ID), but Slurm's commands (srun, scontrol) are not here: put their "
            "folder in PATH, or measure this host alone with --alone",
            ExitCode.ENVIRONMENT,
        ) from None
    except subprocess.TimeoutExpired:
        raise UserError(f"scontrol has not answered for {ASKING_SECONDS} s", ExitCode.ENVIRONMENT) from None
    if asked.returncode != 0 or not asked.stdout.split():
        said = " ".join(asked.stderr.split())
        raise UserError(f"scontrol cannot list the nodes of Slurm job {job}: {said}", ExitCode.ENVIRONMENT)
    return tuple(asked.stdout.split())
