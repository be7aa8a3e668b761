"""The library of an MPI or of UCX with which a program is really run, and the version that this library reports."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kumiki.machine.native import Native
from kumiki.machine.peer import UCX, Peer

ASKING_SECONDS = 20
TRACE = {"LD_TRACE_LOADED_OBJECTS": "1"}
"""With this variable the loader prints what it would load and starts nothing, as `ldd` does."""
NAMES = {UCX.kind: r"libuc[pst]\.so"}
"""Patterns for the names of a kind's libraries; a kind that is missing here is an MPI."""
NAMES_OF_MPI = r"libmpi(?!cxx|_cxx|_usempi|_mpifh)\w*\.so"
_ASK_UCX = "library.ucp_get_version_string.restype = ctypes.c_char_p; said = library.ucp_get_version_string()"
_ASK_MPI = (
    "said = ctypes.create_string_buffer(1 << 14); "
    "library.MPI_Get_library_version(said, ctypes.byref(ctypes.c_int())); said = said.value"
)
_ASK = "import ctypes, sys; library = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL); {}; print(said.decode())"
"""Run in a separate process, because a library of this kind changes how its process allocates memory."""


@dataclass(frozen=True)
class Loaded:
    """A library that a program needs, and where the loader finds it; None: it is not found."""

    name: str
    path: Path | None


def loaded(program: Path, kind: str, variables: Mapping[str, str]) -> list[Loaded]:
    """The libraries of this kind of peer with which the program is run; empty if the program contains them itself."""
    said = _said([str(program)], {**TRACE, **variables}) or ""
    names = NAMES.get(kind, NAMES_OF_MPI)
    found = re.findall(rf"^\s*({names}\S*) => (/.*?|not found)(?: \(0x\w+\))?$", said, re.MULTILINE)
    return [Loaded(name, Path(path) if path.startswith("/") else None) for name, path in found]


def own_words(library: Path, kind: str, variables: Mapping[str, str]) -> str | None:
    """The description that a library of this kind gives of itself: 'Open MPI v5.0.7, package: ...', '1.18.1'; None if
    it cannot.
    """
    question = _ASK.format(_ASK_UCX if kind == UCX.kind else _ASK_MPI)
    return _said([sys.executable, "-c", question, str(library)], variables)


def installed_version(peer: Peer, program: str, native: Native) -> str | None:
    """The version of the library with which a program of the native part is run; None without the program."""
    path = native.program(program)
    libraries = loaded(path, peer.kind, {}) if native.has(path) else []
    first = next((library.path for library in libraries if library.path), None)
    return own_words(first, peer.kind, {}) if first else None


def _said(command: list[str], variables: Mapping[str, str]) -> str | None:
    """The standard output of a command that succeeds, otherwise None."""
    try:
        asked = subprocess.run(
            command,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ASKING_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() if asked.returncode == 0 else None
