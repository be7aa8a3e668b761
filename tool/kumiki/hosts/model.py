"""Hosts, independent of the source of their names."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any


class Origin(str, Enum):
    """The source of the names of the hosts."""

    CLUSTER = "cluster"
    """They are namespaces of this machine (kumiki cluster)."""
    SLURM = "slurm"
    USER = "user"


@dataclass(frozen=True)
class Equipment:
    """What every one of several hosts has: of each kind, the least that any of them has."""

    cores: int
    free_bytes: int
    """Of memory."""
    memories: int = 1
    """Memory nodes."""


@dataclass(frozen=True)
class Hosts:
    """Hosts that are measured together, in order."""

    name: str
    """The user's name for all of them together."""
    names: tuple[str, ...]
    remote_shell: tuple[str, ...]
    """The command that runs a command on a host; the host's name and the command follow."""
    interface: str | None = None
    """The network interface through which each host reaches the others; None: Kumiki and MPI choose."""
    rate: str | None = None
    """The rate of each host's link; None if it is not limited, or not known."""
    bits_per_second: int | None = None
    origin: Origin = Origin.CLUSTER
    each: Equipment | None = None
    """What every host has; None: the hosts are this one machine and share what it has."""

    def __len__(self) -> int:
        return len(self.names)

    def for_ranks(self, ranks: int) -> Hosts:
        """The first of them, if there are fewer ranks than hosts."""
        return replace(self, names=self.names[:ranks])

    @property
    def one_machine(self) -> bool:
        return self.each is None

    @property
    def cores(self) -> int | None:
        """The cores of the host with the fewest; None: the hosts share those of this machine."""
        return self.each.cores if self.each else None

    @property
    def launcher_options(self) -> tuple[str, ...]:
        """The options for kumiki-run."""
        words = ("--hosts", ",".join(self.names), "--remote-shell", shlex.join(self.remote_shell))
        return (*words, *(("--interface", self.interface) if self.interface else ()))

    @property
    def entrance(self) -> tuple[str, ...]:
        """The command prefix that runs an mpirun at a place to which all hosts can connect.

        The hosts of a cluster of namespaces cannot reach this one, so there mpirun must run on the first of them.
        """
        return (*self.remote_shell, self.names[0]) if self.origin is Origin.CLUSTER else ()

    @property
    def option(self) -> str:
        """The option of `kumiki run` that names all of them."""
        ways = {Origin.CLUSTER: f"--cluster {self.name}", Origin.SLURM: "--slurm"}
        return ways.get(self.origin) or shlex.join(self.launcher_options)

    def as_arguments(self) -> dict[str, Any]:
        """The requested hosts, as results.json records them."""
        return {"cluster": self.name} if self.origin is Origin.CLUSTER else {"hosts": list(self.names)}

    def as_dict(self) -> dict[str, Any]:
        """The hosts, as results.json records them."""
        return {
            "name": self.name,
            "hosts": len(self.names),
            "cores": self.cores,
            "interface": self.interface,
            "rate": self.rate,
            "bits_per_second": self.bits_per_second,
            "origin": self.origin.value,
            "names": list(self.names),
            "option": self.option,
        }


def interface() -> str | None:
    """The interface that the user has chosen for all jobs (docs/settings.md)."""
    return os.environ.get("KUMIKI_INTERFACE") or None
