"""The required parts: the native part, compilers, launchers, MPIs to compare with, and the needs of clusters."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

from kumiki import suites
from kumiki.cluster import requirements
from kumiki.doctor.finding import Finding, State
from kumiki.doctor.network import network
from kumiki.machine import mpi
from kumiki.machine.native import PREFIX_VARIABLE, Native, named_prefix
from kumiki.machine.peer import BLAS, UCX, Peer, mend

PMIX_MODULE = "kumiki-pmix.so"
PMIX_MEND = "sudo apt install libpmix-dev && ./kumiki"
ASKING_SECONDS = 20


def parts(native: Native) -> Iterator[Finding]:
    """The native part comes first: the tools to build it are needed only if it is missing."""
    own = list(_own_programs(native))
    yield from own
    complete = all(finding.state is State.GOOD for finding in own)
    yield from _build_tools(complete)
    for peer in (*mpi.ALL, UCX, BLAS):
        yield _peer(peer, native)
    yield _launchers(native)
    yield from network(native)
    yield _clusters()


def _own_programs(native: Native) -> Iterator[Finding]:
    for name in ("kumiki-run", "kumiki-topology"):
        path = native.command(name)
        if native.has(path):
            yield Finding(name, State.GOOD, str(path))
        else:
            yield Finding(name, State.MISSING, f"{path} is missing{_whose_prefix()}.", _build())
    names = _programs(None)
    missing = [name for name in names if not native.has(native.program(name))]
    if missing:
        folder = native.programs_folder
        sentence = f"Missing in {folder}{_whose_prefix()}: {', '.join(missing)}."
        yield Finding("measurement programs", State.MISSING, sentence, _build())
    else:
        yield Finding("measurement programs", State.GOOD, f"All {len(names)} are in {native.programs_folder}.")


def _build() -> str:
    """The command that brings the native part to where it is sought."""
    return f"unset {PREFIX_VARIABLE}" if named_prefix() else "./kumiki"


def _whose_prefix() -> str:
    return f" ({PREFIX_VARIABLE} names this prefix)" if named_prefix() else ""


def _build_tools(built: bool) -> Iterator[Finding]:
    lacking = State.OPTIONAL if built else State.MISSING
    what_for = "only needed to build Kumiki again" if built else "needed to build Kumiki"
    for subject, names, package in (
        ("C++ compiler", ("c++", "g++", "clang++"), "g++"),
        ("CMake", ("cmake",), "cmake"),
    ):
        path = next(filter(None, map(shutil.which, names)), None)
        if path:
            yield Finding(subject, State.GOOD, path)
        else:
            yield Finding(subject, lacking, f"There is none ({what_for}).", f"sudo apt install {package}")


def _peer(peer: Peer, native: Native) -> Finding:
    """Third-party software to compare with: an MPI needs its launcher, and all need programs built with them."""
    missing = [name for name in _programs(peer) if not native.has(native.program(name))]
    path = mpi.launcher(peer) if isinstance(peer, mpi.Mpi) else None
    if isinstance(peer, mpi.Mpi) and path is None:
        return Finding(peer.title, State.OPTIONAL, "It is not installed; its rows will say so.", mend([peer]))
    if missing:
        sentence = f"Kumiki was built without it ({', '.join(missing)} missing); its rows will say so."
        return Finding(peer.title, State.OPTIONAL, sentence, mend([peer]))
    version = mpi.version(peer) if isinstance(peer, mpi.Mpi) else None
    return Finding(peer.title, State.GOOD, f"{version} ({path})." if version else "Kumiki was built with it.")


def _launchers(native: Native) -> Finding:
    """The launchers that can start a job (docs/joining.md), and whether the library could join it."""
    pmix = (native.prefix / "lib" / PMIX_MODULE).is_file()
    found = ["kumiki-run"] if native.has(native.command("kumiki-run")) else []
    lost: list[str] = []
    if mpi.launcher(mpi.OPENMPI):
        (found if pmix else lost).append("Open MPI mpirun (PMIx)")
    if mpi.launcher(mpi.MPICH):
        found.append("MPICH mpirun (PMI)")
    if shutil.which("srun"):
        kinds = _kinds_of_srun()
        found += [f"srun --mpi={kind}" for kind in kinds if pmix or kind != "pmix"]
        lost += [f"srun --mpi={kind}" for kind in kinds if not pmix and kind == "pmix"]
        if not kinds:
            lost.append("srun (it names neither pmix nor pmi2 under --mpi=list)")
    sentence = f"Jobs can be started by {', '.join(found)}." if found else "There is none."
    if lost:
        sentence += f" The library cannot join under {', '.join(lost)}."
    if not pmix and any("pmix" in each.lower() for each in lost):
        sentence += f" Kumiki was built without PMIx ({PMIX_MODULE} is missing)."
        return Finding("launchers", State.OPTIONAL, sentence, PMIX_MEND)
    if not found:
        return Finding("launchers", State.OPTIONAL, sentence, _build())
    return Finding("launchers", State.GOOD, sentence)


def _kinds_of_srun() -> list[str]:
    """The PMI variants of srun under which the library finds the other ranks; empty if srun does not work."""
    try:
        asked = subprocess.run(
            ["srun", "--mpi=list"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ASKING_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    if asked.returncode != 0:
        return []
    words = (asked.stdout + asked.stderr).replace(",", " ").split()
    return [kind for kind in ("pmix", "pmi2") if kind in words]


def _clusters() -> Finding:
    """Whether clusters on one machine (`kumiki cluster`) can be made."""
    lack = requirements.lack()
    if lack is None:
        return Finding("clusters in namespaces", State.GOOD, "They are possible (kumiki cluster create).")
    return Finding("clusters in namespaces", State.OPTIONAL, f"They need {lack.need}.", lack.mend)


def _programs(peer: Peer | None) -> list[str]:
    """The measurement programs that exist only with this peer; for None, those that always exist."""
    return [program.name for suite in suites.ALL for program in suite.programs if program.peer == peer]
