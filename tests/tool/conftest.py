"""A native part made of small shell scripts in a temporary prefix, and the real command line run against it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# A busy machine is no failure, and the command lines under test need the time more.
settings.register_profile("tool", max_examples=50, deadline=None)
settings.load_profile("tool")

TOOL = Path(__file__).parents[2] / "tool"
TIME_LIMIT = 60

PRELUDE = """#!/bin/sh
ranks=${FAKE_RANKS:-1}; threads=${FAKE_THREADS:-1}; form=plain; problem=
while [ $# -gt 0 ]; do
    case "$1" in
        --threads) threads=$2 ;;
        --form) form=$2 ;;
        --size|--keys|--class) problem=$2 ;;
    esac
    shift
done
echo "${0##*/} ranks=$ranks threads=$threads form=$form problem=$problem" >> STARTED
row() { # metric implementation unit better samples [more fields]
    echo "{\\"metric\\": \\"$1\\", \\"implementation\\": \\"$2\\", \\"parameters\\": {\\"ranks\\": $ranks, \\
\\"threads\\": $threads, \\"form\\": \\"$form\\"}, \\"unit\\": \\"$3\\", \\"better\\": \\"$4\\", \\"samples\\": [$5]$6}"
}
"""
LAUNCHER = """#!/bin/sh
case "$1" in --version) echo "TITLE 4.1.4"; exit ;; esac
while :; do
    case "$1" in
        -n) FAKE_RANKS=$2; shift 2 ;;
        -t) FAKE_THREADS=$2; shift 2 ;;
        --bind-to|-bind-to|--wait) shift 2 ;;
        -*) shift ;;
        *) break ;;
    esac
done
export FAKE_RANKS FAKE_THREADS
exec "$@"
"""


@dataclass
class Native:
    """A prefix with fake programs, and what the tool's processes see of the world."""

    prefix: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def started(self) -> list[str]:
        """One line for each program that was started."""
        log = self.prefix / "started"
        return log.read_text().splitlines() if log.exists() else []

    def program(self, name: str, body: str) -> None:
        """Puts a measuring program there; `row` prints a row, $ranks, $threads and $form are known to the body."""
        self._script(
            self.prefix / "libexec" / "kumiki" / name, PRELUDE.replace("STARTED", f"{self.prefix}/started") + body
        )

    def command(self, name: str, body: str) -> None:
        self._script(self.prefix / "bin" / name, body)

    def mpi(self, name: str, title: str) -> None:
        """Installs an MPI launcher."""
        self._script(self.prefix / "path" / f"mpirun.{name}", LAUNCHER.replace("TITLE", title))

    def kumiki(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs the real command line to its end."""
        return subprocess.run(
            self.argv(*arguments),
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            cwd=self.prefix,
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Starts the real command line."""
        return subprocess.Popen(
            self.argv(*arguments),
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.prefix,
        )

    @staticmethod
    def argv(*arguments: str) -> list[str]:
        return [sys.executable, "-m", "kumiki", *arguments]

    @staticmethod
    def _script(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)


@pytest.fixture(scope="session")
def matplotlib_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where matplotlib keeps its list of fonts: making it anew in every test would take most of the time."""
    return tmp_path_factory.mktemp("matplotlib")


@pytest.fixture
def bare(tmp_path: Path, matplotlib_folder: Path) -> Iterator[Native]:
    """A prefix without a native part, on a machine without MPI or compilers. No test may leave a process of it."""
    tools = tmp_path / "path"
    tools.mkdir()
    for name in ("sleep", "sh"):
        found = shutil.which(name)
        assert found
        (tools / name).symlink_to(found)
    environment = {
        "PATH": str(tools),
        "HOME": str(tmp_path),
        "MPLCONFIGDIR": str(matplotlib_folder),
        "PYTHONPATH": str(TOOL),
        "KUMIKI_PREFIX": str(tmp_path),
        "COLUMNS": "200",
    }
    yield Native(tmp_path, environment)
    assert alive(str(tmp_path)) == []


@pytest.fixture
def native(bare: Native) -> Native:
    """A complete native part beside one MPI; every program prints a row or two of its suite."""
    bare.command("kumiki-run", LAUNCHER)
    bare.command("kumiki-topology", "#!/bin/sh\necho '{\"hosts\": []}'\n")
    bare.mpi("openmpi", "mpirun (Open MPI)")
    bare.program(
        "memory",
        "row memory.copy bound GB/s higher 10.1,10.2,10.0,10.3\nrow memory.read bound GB/s higher 20,21,20,20\n",
    )
    bare.program("thread-barrier", "row thread_barrier.time kumiki us lower 0.1,0.2,0.1,0.1\n")
    bare.program("rank-barrier", "row rank_barrier.time kumiki us lower 0.3,0.31,0.3,0.3\n")
    bare.program("rank-barrier-openmpi", "row rank_barrier.time openmpi us lower 0.4,0.41,0.4,0.4\n")
    bare.program("wait-cpu", "row wait.cpu kumiki % lower 1,2,1,1\n")
    bare.program("remote-memory", "row put.latency kumiki us lower 0.16,0.15,0.17,0.16\n")
    bare.program("remote-memory-openmpi", "row put.latency openmpi us lower 0.2,0.2,0.2,0.2\n")
    for suite, metric in (("laplace", "laplace"), ("matmul", "matmul"), ("radix-sort", "radix_sort"), ("cg", "cg")):
        rows = f"row {metric}.time IMPL s lower 0.5,0.51,0.5 ', \"validated\": true'\n"
        bare.program(suite, rows.replace("IMPL", "kumiki"))
        bare.program(f"{suite}-openmpi", "form=mpi\n" + rows.replace("IMPL", "openmpi"))
    return bare


def results_of(folder: Path) -> dict[str, Any]:
    """The content of a folder's results.json."""
    content = json.loads((folder / "results.json").read_text())
    assert isinstance(content, dict)
    return content


def alive(marker: str) -> list[int]:
    """The processes whose command line holds the marker."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if marker in (folder / "cmdline").read_text().replace("\0", " ") and int(folder.name) != os.getpid():
                found.append(int(folder.name))
        except OSError:
            continue
    return found
