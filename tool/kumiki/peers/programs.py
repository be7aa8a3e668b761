"""The measuring programs of the peers that the user names: built when they are first needed, and kept."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from kumiki.errors import ExitCode, UserError
from kumiki.evaluation import process
from kumiki.machine import library
from kumiki.machine.native import Native
from kumiki.machine.peer import Installation, Peer
from kumiki.peers import sources
from kumiki.suites.model import Point

BUILT = "built.json"
LOG = "build.log"
LOCK = "lock"
LIMIT_SECONDS = 3600.0
SHOWN_LINES, SHOWN_OF_LINE = 4, 200
TELLING = re.compile(r"\berror\b|undefined reference|cannot find|No such file", re.IGNORECASE)
"""Matches the lines of a build that say why it failed."""
OWN_WORDS = re.compile(
    r"(?P<title>.+?)[\s,:]+(library\s+)?(version\s*:?\s*)?v?(?P<version>\d+\.\d[\w.]*)", re.IGNORECASE
)
"""Matches the descriptions that libraries of MPIs give of themselves: 'Open MPI v5.0.7, ...', 'MPICH Version: 4.3.0',
'MVAPICH2 Version : 2.3'. UCX reports only its version.
"""


def ready(
    peers: Sequence[Peer], points: Sequence[Point], native: Native, cores: int, tell: Callable[[str], None]
) -> tuple[Peer, ...]:
    """Builds the programs that the points need and that do not exist yet, with so many processors.

    Returns the peers with the title and version that the actually loaded library reports. Raises UserError if programs
    cannot be built, or if they run with a library outside the prefix.
    """
    return tuple(_ready(peer, points, native, cores, tell) for peer in peers)


def _ready(peer: Peer, points: Sequence[Point], native: Native, cores: int, tell: Callable[[str], None]) -> Peer:
    assert peer.installation is not None
    own = [point for point in points if peer in point.peers and point.absence(native) is None]
    wanted = sorted({point.program for point in own})
    if not wanted:
        return peer
    with _locked(peer.installation.programs) as folder:
        missing = set(wanted) - _built(folder)
        if missing:
            count = "1 program" if len(missing) == 1 else f"{len(missing)} programs"
            tell(f"compiling {count} for {peer.name} ({peer.title} in {peer.installation.prefix}), this once")
            _build(peer, peer.installation, folder, wanted, native, cores)
    return _as_loaded(peer, peer.installation, peer.installation.programs / wanted[0])


@contextmanager
def _locked(programs: Path) -> Iterator[Path]:
    """Holds the folder of a build, so that no other process builds there meanwhile."""
    folder = _build_folder(programs)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("w")
    except OSError as error:
        raise UserError(
            f"{folder}, where programs for peers are kept, cannot be used ({error.strerror}); name another folder by "
            "XDG_CACHE_HOME",
            ExitCode.ENVIRONMENT,
        ) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def _build_folder(programs: Path) -> Path:
    return programs.parents[len(sources.PROGRAMS.parts) - 1]


def _built(folder: Path) -> set[str]:
    """The programs that have been built completely."""
    try:
        said = json.loads((folder / BUILT).read_text())
    except (OSError, ValueError, RecursionError):
        return set()
    names = said if isinstance(said, list) else []
    return {name for name in names if os.access(folder / sources.PROGRAMS / str(name), os.X_OK)}


def _build(
    peer: Peer, installation: Installation, folder: Path, wanted: Collection[str], native: Native, cores: int
) -> None:
    cmake = shutil.which("cmake")
    if cmake is None:
        raise UserError(
            f"programs for {peer.name} cannot be compiled: cmake is missing; kumiki doctor lists what "
            "building Kumiki requires",
            ExitCode.ENVIRONMENT,
        )
    build = native.build() or {}
    settings = {
        "CMAKE_BUILD_TYPE": build.get("build_type") or "Release",
        "KUMIKI_NATIVE": "ON" if "-march=native" in str(build.get("program_flags")) else "OFF",
        "KUMIKI_PEER": peer.name,
        "KUMIKI_PEER_KIND": peer.kind,
        "KUMIKI_PEER_PREFIX": installation.prefix,
        "KUMIKI_INSTALLED": native.prefix,
        "KUMIKI_COMPILER": build.get("compiler") or "",
    }
    # A folder that was configured by another generator could not be configured again.
    (folder / "CMakeCache.txt").unlink(missing_ok=True)
    options = [f"-D{name}={value}" for name, value in settings.items()]
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    before = _built(folder)
    (folder / LOG).write_text("")
    _run(peer, folder, [cmake, "-S", str(sources.of(native)), "-B", str(folder), *generator, *options])
    _run(peer, folder, [cmake, "--build", str(folder), "--parallel", str(cores), "--target", *wanted])
    beside = folder / f"{BUILT}.new"
    beside.write_text(json.dumps(sorted({*before, *wanted})))
    beside.replace(folder / BUILT)


def _run(peer: Peer, folder: Path, command: Sequence[str]) -> None:
    """Runs a step of the build; its whole output goes into the log."""
    lines: list[str] = []
    ended = process.run(command, os.environ, LIMIT_SECONDS, lines.append, lines.append)
    with (folder / LOG).open("a", errors="surrogateescape") as log:
        log.write("".join(f"{line}\n" for line in (f"$ {' '.join(command)}", *lines)))
    if ended.code != 0:
        raise UserError(
            f"programs for {peer.name} cannot be compiled ({_telling(lines)}); the whole log: {folder / LOG}",
            ExitCode.ENVIRONMENT,
        )


def _telling(lines: Sequence[str]) -> str:
    """The lines that say why a build failed: the lines after an error of CMake, or the errors of the compiler."""
    said = [line.strip() for line in lines if line.strip()]
    place = next((place for place, line in enumerate(said) if line.startswith("CMake Error")), None)
    shown = said[place:] if place is not None else [line for line in said if TELLING.search(line)]
    return " | ".join(line[:SHOWN_OF_LINE] for line in (shown or said[-SHOWN_LINES:])[:SHOWN_LINES])


def _as_loaded(peer: Peer, installation: Installation, program: Path) -> Peer:
    """The peer as the library reports it with which the program is run; this library must be below the prefix.

    A program that contains the library itself loads none; then the description by the launcher remains.
    """
    libraries = library.loaded(program, peer.kind, installation.variables)
    for each in libraries:
        if each.path is None or not _lies_below(installation.prefix, each.path):
            where = "not found" if each.path is None else f"taken from {each.path}"
            raise UserError(
                f"--peer {peer.name}={installation.prefix}: {program} would not run with the library in that "
                f"folder, because {each.name} is {where}; name the folder that contains it in lib or lib64",
                ExitCode.ENVIRONMENT,
            )
    first = next((each.path for each in libraries if each.path), None)
    words = library.own_words(first, peer.kind, installation.variables) if first else None
    said = OWN_WORDS.match(words) if words else None
    if said is None:
        return peer
    title = said["title"].strip() or peer.title
    return replace(peer, title=title, installation=replace(installation, version=said["version"].rstrip(".")))


def _lies_below(prefix: Path, file: Path) -> bool:
    """Whether a library belongs to a prefix, which may be a link or contain links to its files."""
    if file.resolve().is_relative_to(prefix.resolve()) or file.is_relative_to(prefix):
        return True
    return any(
        (prefix / name / file.name).exists() and (prefix / name / file.name).samefile(file) for name in ("lib", "lib64")
    )
