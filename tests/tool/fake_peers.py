"""Installations of MPIs and of UCX made of small shell scripts, and a cmake that builds programs of the same kind."""

from __future__ import annotations

import shutil
from pathlib import Path

from fake_native import LAUNCHER, Native

OPENMPI = "mpirun (Open MPI)"
MPICH = "HYDRA build details: Version:"
CMAKE = """#!/bin/sh
echo "$*" >> BUILT
case "$*" in
    *"SAYS"*) echo 'CMake Error at KumikiPeer.cmake:3 (message):'; echo '  mpicxx is broken'; exit 1 ;;
    --build*) folder=$2 ;;
    *) exit ;;
esac
mkdir -p "$folder/libexec/kumiki"
while [ "$1" != --target ]; do shift; done
shift
for target in "$@"; do
    name=${target##*-}
    sed "s/ openmpi / $name /" "LIBEXEC/${target%-*}-openmpi" > "$folder/libexec/kumiki/$target"
    chmod +x "$folder/libexec/kumiki/$target"
done
"""
"""For a target NAME-PEER it makes a program like NAME-openmpi, with rows of that peer; a special word among the
arguments makes it fail.
"""
TOOLS = ("mkdir", "sed", "chmod", "cat")


def with_sources(native: Native, fails_at: str = "no such argument") -> None:
    """Installs the sources of the measuring programs, and the tools to build them."""
    source = native.prefix / "share" / "kumiki" / "source"
    source.mkdir(parents=True)
    (source / "CMakeLists.txt").write_text("# the sources")
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found
        link = native.prefix / "path" / tool
        if not link.exists():
            link.symlink_to(found)
    text = CMAKE.replace("BUILT", f"{native.prefix}/built").replace("SAYS", fails_at)
    executable(native.prefix / "path" / "cmake", text.replace("LIBEXEC", f"{native.prefix}/libexec/kumiki"))


def builds(native: Native) -> list[str]:
    """The arguments of each cmake that was started."""
    log = native.prefix / "built"
    return log.read_text().splitlines() if log.exists() else []


def install_mpi(prefix: Path, says: str = OPENMPI, version: str = "5.0.9") -> Path:
    """An MPI with a working launcher, and a compiler wrapper that is not used."""
    executable(prefix / "bin" / "mpirun", LAUNCHER.replace("TITLE 4.1.4", f"{says} {version}"))
    executable(prefix / "bin" / "mpicxx", "#!/bin/sh\n")
    (prefix / "lib").mkdir(exist_ok=True)
    return prefix


def install_ucx(prefix: Path) -> Path:
    """A UCX whose library is empty."""
    for file in ("lib/libucp.so", "include/ucp/api/ucp.h"):
        (prefix / file).parent.mkdir(parents=True, exist_ok=True)
        (prefix / file).write_text("")
    return prefix


def executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
