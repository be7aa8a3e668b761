"""A Slurm on this machine for tests, with its own configuration, keys and logs in a temporary folder.

It has one node, or several that are hosts of a `kumiki cluster`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kumiki.cluster import plan
from kumiki.cluster.inspection import Cluster

DAEMONS = ("munged", "slurmctld", "slurmd")
PACKAGES = "slurmctld slurmd slurm-client munge"
PATIENCE = 30.0

ON_A_NODE = """\
set -e
hostname "$3"
mount --rbind /sys/fs/cgroup "$0"
exec $1 sh -c 'mount --rbind "$0" /sys/fs/cgroup; exec "$@"' "$0" $2
"""
"""Starts a daemon on a node, whose name its steps see: Open MPI 5 takes hosts of one name for one. Entering a namespace
hides the control groups, without which slurmd does not start."""

CONFIGURATION = """\
ClusterName=kumiki-test
SlurmctldHost={host}({address})
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
SlurmdSpoolDir={folder}/spool-%n
TmpFS={folder}/temporary-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


@lru_cache
def lacking() -> str | None:
    """Why no Slurm can be started here; None if one can."""
    if os.geteuid() != 0:
        return "Slurm's daemons need root"
    missing = [name for name in (*DAEMONS, "srun", "sinfo") if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} not installed: apt install {PACKAGES}"
    return None


@dataclass(frozen=True)
class Node:
    """One of its nodes."""

    name: str
    address: str
    entrance: tuple[str, ...] = ()
    """The command prefix that runs a command there."""


THIS_HOST = Node("node0", "127.0.0.1")


def nodes_of(cluster: Cluster) -> list[Node]:
    """A node in each host of a cluster."""
    return [Node(f"node{host.number}", host.address, tuple(plan.inside(host.namespace, ()))) for host in cluster.hosts]


@dataclass(frozen=True)
class Slurm:
    """A running one."""

    folder: Path
    entrance: tuple[str, ...]
    """The prefix for the node on which its controller runs; Slurm's commands are run there."""
    nodes: int

    @property
    def environment(self) -> dict[str, str]:
        return {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def command(self, *words: str) -> list[str]:
        return [*self.entrance, *words]

    def kinds_of_mpi(self) -> set[str]:
        """The values that srun --mpi= accepts."""
        said = self._ask("srun", "--mpi=list")
        return {word for line in (said.stdout + said.stderr).splitlines() for word in line.replace(",", " ").split()}

    def log(self) -> str:
        """For the message of a failed test."""
        return "\n".join(path.read_text()[-2000:] for path in self.folder.glob("slurm*.log"))

    def is_ready(self) -> bool:
        said = self._ask("sinfo", "--noheader", "--Node", "--format=%t").stdout
        return said.split() == self.nodes * ["idle"]

    def _ask(self, *words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **self.environment}
        return subprocess.run(
            self.command(*words), env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )


@contextlib.contextmanager
def new_slurm(folder: Path, nodes: Sequence[Node] = (THIS_HOST,)) -> Iterator[Slurm]:
    """Starts the daemons, with the controller on the first node, and ends them whatever happens."""
    for name in ("munge", "state", "cgroup", *(f"temporary-{node.name}" for node in nodes)):
        (folder / name).mkdir(mode=0o755)
    slurm = Slurm(folder, nodes[0].entrance, len(nodes))
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(
            host=socket.gethostname().split(".")[0],
            address=nodes[0].address,
            folder=folder,
            control_port=_free_port(),
            node_port=_free_port(),
            nodes="\n".join(
                f"NodeName={node.name} NodeAddr={node.address} CPUs={os.cpu_count()} State=UNKNOWN" for node in nodes
            ),
        )
    )
    key = folder / "munge" / "key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(128))
    munge = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    options = [f"--{option}={folder / 'munge' / name}" for option, name in munge.items()]
    daemons: list[subprocess.Popen[bytes]] = []

    def start(*words: str) -> None:
        # In the foreground, so that they are children of this process and can be ended by their numbers.
        environment = {**os.environ, **slurm.environment}
        daemons.append(
            subprocess.Popen(
                words,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )

    try:
        start("munged", "--foreground", "--force", *options)
        assert _eventually((folder / "munge" / "socket").exists), "munged does not start"
        start(*slurm.command("slurmctld", "-D"))
        for node in nodes:
            words = (str(folder / "cgroup"), " ".join(node.entrance), f"slurmd -D -N {node.name}", node.name)
            start("unshare", "--mount", "--uts", "sh", "-c", ON_A_NODE, *words)
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
