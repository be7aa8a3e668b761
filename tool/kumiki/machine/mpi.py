"""The MPIs beside which Kumiki is measured: finds their launchers and builds their command lines."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kumiki.hosts import Hosts
from kumiki.machine.peer import Peer

ASKING_SECONDS = 20


LAUNCHERS = ("mpirun", "mpiexec")
"""The names of an MPI's launcher, below its prefix."""


@dataclass(frozen=True, kw_only=True)
class Mpi(Peer):
    """One implementation of MPI."""

    signature: str
    """A text in the output of its launcher under --version."""
    options: tuple[str, ...]
    bind: tuple[str, ...]
    release: tuple[str, ...]
    """Options that leave ranks unbound, for more ranks than cores."""
    environment: Mapping[str, str]
    over_hosts: Callable[[Mpi, Hosts, int, str], tuple[str, ...]]
    """Options for these hosts, with so many ranks on each; the program at this path is used instead of ssh to reach
    them.
    """
    network_environment: Mapping[str, str]
    """Variables that keep it from using memory that hosts share if they are namespaces of one machine."""

    def arguments(self, ranks: int, cores: int) -> tuple[str, ...]:
        """The launcher's arguments before the program."""
        return ("-n", str(ranks), *self.options, *(self.bind if ranks <= cores else self.release))

    def arguments_over(self, hosts: Hosts, ranks: int, remote_shell: str) -> tuple[str, ...]:
        """The same over hosts. Nothing is bound, because each host would take the first cores, and the hosts may be one
        machine.
        """
        on_each = -(-ranks // len(hosts))
        return ("-n", str(ranks), *self.options, *self.release, *self.over_hosts(self, hosts, on_each, remote_shell))


MORE_RANKS_THAN_CORES = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",  # until Open MPI 4
    "PRTE_MCA_rmaps_default_mapping_policy": "slot:oversubscribe",  # from version 5 on, whose launcher is PRRTE
}
"""Variables that let Open MPI start them if its launcher has no option for this. Without `slot`, Open MPI 5.0.7
would start all ranks on the first host, whatever its number of slots."""

ONE_MACHINE = {
    "pml": "ob1",
    "rtc_hwloc_vmhole": "none",  # two daemons on one machine would write the same file, and one of them would crash
    "btl": "tcp,self",
}
"""Settings that keep Open MPI from using memory that hosts on one machine could share."""

WINDOWS_OVER_TCP = {"osc": "pt2pt"}
"""The component of Open MPI 4 for windows over TCP that its own choice does not support. Open MPI 5 supports them, and
does not have this component.
"""


def _openmpi_over(openmpi: Mpi, hosts: Hosts, on_each: int, remote_shell: str) -> tuple[str, ...]:
    settings = {
        "plm": "^slurm",  # also in an allocation, so that all programs are started in the same way
        "plm_rsh_agent": remote_shell,
        "plm_rsh_no_tree_spawn": "1",
        **(ONE_MACHINE if hosts.one_machine else {}),
        **(WINDOWS_OVER_TCP if hosts.one_machine and major(openmpi) < 5 else {}),
        **({f"{part}_tcp_if_include": hosts.interface for part in ("btl", "oob")} if hosts.interface else {}),
    }
    slots = ",".join(f"{name}:{on_each}" for name in hosts.names)
    return ("--host", slots, *(word for name, value in settings.items() for word in ("--mca", name, value)))


def _mpich_over(_: Mpi, hosts: Hosts, on_each: int, remote_shell: str) -> tuple[str, ...]:
    reached = (
        "-launcher",
        "ssh",
        "-launcher-exec",
        remote_shell,
        *(("-iface", hosts.interface) if hosts.interface else ()),
    )
    return ("-hosts", ",".join(hosts.names), "-ppn", str(on_each), *reached)


OPENMPI = Mpi(
    name="openmpi",
    kind="openmpi",
    title="Open MPI",
    packages="openmpi-bin libopenmpi-dev",
    signature="Open MPI|OpenRTE|PRRTE|Spectrum MPI",
    options=("--oversubscribe", "--allow-run-as-root"),
    bind=("--bind-to", "core"),
    release=("--bind-to", "none"),
    environment=MORE_RANKS_THAN_CORES,
    over_hosts=_openmpi_over,
    network_environment={},
)
MPICH = Mpi(
    name="mpich",
    kind="mpich",
    title="MPICH",
    packages="mpich libmpich-dev",
    signature=r"HYDRA|Intel\(R\) MPI",
    options=(),
    bind=("-bind-to", "core"),
    release=(),
    environment={},
    over_hosts=_mpich_over,
    network_environment={"UCX_TLS": "tcp,self", "FI_PROVIDER": "tcp"},
)
ALL = (OPENMPI, MPICH)


def launcher(mpi: Mpi) -> str | None:
    """The path of this MPI's launcher: mpirun.<name> if Debian's alternatives hold several, otherwise mpirun."""
    if mpi.installation:
        return launcher_below(mpi.installation.prefix)
    if found := shutil.which(f"mpirun.{mpi.name}"):
        return found
    plain = shutil.which("mpirun")
    return plain if plain and re.search(mpi.signature, said(plain)) else None


def launcher_below(prefix: Path) -> str | None:
    """The path of the launcher of the MPI that is installed there; None if there is no MPI."""
    folder = prefix / "bin"
    return next((str(folder / name) for name in LAUNCHERS if (folder / name).exists()), None)


def version(mpi: Mpi) -> str | None:
    """The version that this MPI's launcher reports; None without a launcher."""
    if mpi.installation:
        return mpi.installation.version
    path = launcher(mpi)
    return number(said(path)) if path else None


def number(text: str) -> str | None:
    """The first number of a version in a text."""
    found = re.search(r"\d+\.\d+[\w.]*", text)
    return found.group() if found else None


def major(mpi: Mpi) -> int:
    """The first number of the version; 0 if the launcher reports none."""
    return int((version(mpi) or "0").split(".")[0])


@lru_cache
def said(path: str) -> str:
    """The output of a launcher under --version; it never changes while the tool runs."""
    try:
        asked = subprocess.run(
            [path, "--version"], capture_output=True, text=True, errors="replace", timeout=ASKING_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return asked.stdout + asked.stderr
