"""The MPIs that Kumiki is measured beside: finding their launchers and wording their command lines."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from kumiki.peer import Peer

ASKING_SECONDS = 20


@dataclass(frozen=True)
class Mpi(Peer):
    """One implementation of MPI."""

    signature: str
    """What its launcher says of itself under --version."""
    options: tuple[str, ...]
    bind: tuple[str, ...]
    release: tuple[str, ...]
    """Options that leave ranks unbound, for more ranks than cores."""
    environment: Mapping[str, str]

    def arguments(self, ranks: int, cores: int) -> tuple[str, ...]:
        """The launcher's arguments before the program."""
        return ("-n", str(ranks), *self.options, *(self.bind if ranks <= cores else self.release))


OPENMPI = Mpi(
    name="openmpi",
    title="Open MPI",
    packages="openmpi-bin libopenmpi-dev",
    signature="Open MPI|OpenRTE|PRRTE",
    options=("--oversubscribe", "--allow-run-as-root"),
    bind=("--bind-to", "core"),
    release=("--bind-to", "none"),
    environment={"OMPI_MCA_rmaps_base_oversubscribe": "1"},
)
MPICH = Mpi(
    name="mpich",
    title="MPICH",
    packages="mpich libmpich-dev",
    signature="HYDRA",
    options=(),
    bind=("-bind-to", "core"),
    release=(),
    environment={},
)
ALL = (OPENMPI, MPICH)


def launcher(mpi: Mpi) -> str | None:
    """The path of this MPI's launcher: mpirun.<name> where Debian's alternatives keep several, else a plain mpirun."""
    if found := shutil.which(f"mpirun.{mpi.name}"):
        return found
    plain = shutil.which("mpirun")
    return plain if plain and re.search(mpi.signature, _said(plain)) else None


def version(mpi: Mpi) -> str | None:
    """The version that this MPI's launcher tells, None without one."""
    path = launcher(mpi)
    numbers = re.search(r"\d+\.\d+[\w.]*", _said(path)) if path else None
    return numbers.group() if numbers else None


@lru_cache
def _said(path: str) -> str:
    """What a launcher prints under --version; it never changes while the tool runs."""
    try:
        asked = subprocess.run(
            [path, "--version"], capture_output=True, text=True, errors="replace", timeout=ASKING_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return asked.stdout + asked.stderr
