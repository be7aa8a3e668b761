"""The software that is installed below a prefix: an MPI, identified by the output of its launcher, or UCX, identified
by its library.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kumiki.errors import ExitCode, UserError
from kumiki.machine import library, mpi
from kumiki.machine.native import Native
from kumiki.machine.peer import UCX, Installation, Peer
from kumiki.peers import sources
from kumiki.peers.named import Named

LIBRARY_FOLDERS = ("lib", "lib64")
LIBRARY_PATH = "LD_LIBRARY_PATH"
WRAPPER = Path("bin", "mpicxx")
HEADER = Path("include", "ucp", "api", "ucp.h")
SHOWN = 200


def find(named: Sequence[Named], native: Native) -> tuple[Peer, ...]:
    """The peers that the user names; raises UserError if one of them cannot be measured."""
    return tuple(_find(each, native) for each in named)


def _find(named: Named, native: Native) -> Peer:
    prefix, option = named.prefix, f"--peer {named.name}={named.prefix}"
    if not prefix.is_dir():
        raise UserError(f"{option}: there is no such folder")
    if launcher := mpi.launcher_below(prefix):
        kind, version = _of_launcher(option, launcher)
        if not os.access(prefix / WRAPPER, os.X_OK):
            raise UserError(
                f"{option}: {prefix / WRAPPER} is missing, with which programs for this MPI are compiled; also install "
                "the development files of this MPI",
                ExitCode.ENVIRONMENT,
            )
    else:
        kind, version = UCX, _of_library(option, prefix)
        if not (prefix / HEADER).is_file():
            raise UserError(
                f"{option}: {prefix / HEADER} is missing, with which programs for UCX are compiled; also install the "
                "development files of UCX",
                ExitCode.ENVIRONMENT,
            )
    installation = Installation(
        prefix, version, sources.programs(named.name, kind.kind, prefix, version, native), _variables(prefix)
    )
    return replace(kind, name=named.name, installation=installation)


def _of_launcher(option: str, launcher: str) -> tuple[Peer, str]:
    """The kind of an MPI and its version, as its launcher reports them."""
    try:
        asked = subprocess.run(
            [launcher, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=mpi.ASKING_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"{option}: {launcher} cannot be run ({error})", ExitCode.ENVIRONMENT) from None
    said = " ".join((asked.stdout + asked.stderr).split())
    kind = next((each for each in mpi.ALL if re.search(each.signature, said)), None)
    if asked.returncode != 0:
        raise UserError(
            f"{option}: {launcher} --version ended with {asked.returncode} and this output: {said[:SHOWN] or 'none'}",
            ExitCode.ENVIRONMENT,
        )
    if kind is None:
        raise UserError(
            f"{option}: {launcher} is the launcher of neither Open MPI nor MPICH, nor of an MPI derived from them; "
            f"its output: {said[:SHOWN] or 'none'}"
        )
    return kind, mpi.number(said) or "unknown"


def _of_library(option: str, prefix: Path) -> str:
    """The version of the UCX that is installed there."""
    files = [file for folder in LIBRARY_FOLDERS for file in sorted((prefix / folder).glob("libucp.so*"))]
    if not files:
        raise UserError(
            f"{option}: there is neither an MPI (bin/mpirun) nor UCX (lib/libucp.so); name the folder that contains "
            "bin, include and lib"
        )
    for file in files:
        if version := library.own_words(file, UCX.kind, _variables(prefix)):
            return version
    raise UserError(f"{option}: {files[0]} cannot be loaded, or does not report its version", ExitCode.ENVIRONMENT)


def _variables(prefix: Path) -> dict[str, str]:
    """Variables that make the loader search there first, whatever was set before."""
    folders = [str(prefix / name) for name in LIBRARY_FOLDERS if (prefix / name).is_dir()]
    return {LIBRARY_PATH: ":".join([*folders, *filter(None, [os.environ.get(LIBRARY_PATH)])])}
