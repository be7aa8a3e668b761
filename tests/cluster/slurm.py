"""A Slurm of one node on this machine, for tests: its own configuration, keys and logs in a temporary folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
PACKAGES = "slurmctld slurmd slurm-client munge"
PATIENCE = 30.0

CONFIGURATION = """\
ClusterName=kumiki-test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={control_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


@lru_cache
def lacking() -> str | None:
    """Why no Slurm can be started here; None when one can."""
    if os.geteuid() != 0:
        return "Slurm's daemons need root"
    missing = [name for name in (*DAEMONS, "srun", "sinfo") if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} not installed: apt install {PACKAGES}"
    return None


@dataclass(frozen=True)
class Slurm:
    """A running one."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def kinds_of_mpi(self) -> set[str]:
        """What srun --mpi= takes."""
        said = self._ask("srun", "--mpi=list")
        return {word for line in (said.stdout + said.stderr).splitlines() for word in line.replace(",", " ").split()}

    def log(self) -> str:
        """For the message of a failed test."""
        return "\n".join(path.read_text()[-2000:] for path in self.folder.glob("slurm*.log"))

    def is_ready(self) -> bool:
        return self._ask("sinfo", "--noheader", "--format=%t").stdout.strip() == "idle"

    def _ask(self, *command: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **self.environment}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)


@contextlib.contextmanager
def new_slurm(folder: Path) -> Iterator[Slurm]:
    """Starts the three daemons, and ends them whatever happens."""
    for name in ("munge", "state", "spool"):
        (folder / name).mkdir(mode=0o755)
    slurm = Slurm(folder)
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(
            host=socket.gethostname().split(".")[0],
            folder=folder,
            control_port=_free_port(),
            node_port=_free_port(),
            processors=os.cpu_count(),
        )
    )
    key = folder / "munge" / "key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(128))
    munge = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    options = [f"--{option}={folder / 'munge' / name}" for option, name in munge.items()]
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        # In the foreground, so that they are our children and end by their number.
        for command in (["munged", "--foreground", "--force", *options], ["slurmctld", "-D"], ["slurmd", "-D"]):
            daemons.append(
                subprocess.Popen(
                    command,
                    env={**os.environ, **slurm.environment},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
            if command[0] == "munged":
                assert _eventually((folder / "munge" / "socket").exists), "munged does not start"
        assert _eventually(slurm.is_ready), f"Slurm does not start: {slurm.log()}"
        yield slurm
    finally:
        for daemon in reversed(daemons):
            _end(daemon)


def _end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.send_signal(signal.SIGTERM)
    try:
        daemon.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _eventually(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True
