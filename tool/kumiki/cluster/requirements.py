"""The requirements of clusters that this machine lacks, and the remedy."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from kumiki.errors import ExitCode, UserError

CAP_NET_ADMIN, CAP_SYS_ADMIN = 12, 21
PACKAGE = "iproute2"
COMMANDS = ("ip", "tc")


@dataclass(frozen=True)
class Lack:
    """The first thing that is missing."""

    need: str
    """Completes "needs ..."."""
    mend: str | None
    """A command for a shell, if there is one."""


def lack() -> Lack | None:
    """None if clusters are possible, as far as this can be determined without making one."""
    if not Path("/proc/self/ns/net").exists():
        return Lack("a Linux kernel with network namespaces (CONFIG_NET_NS)", None)
    if not _permitted():
        if os.geteuid() == 0:
            need = "the capabilities CAP_SYS_ADMIN and CAP_NET_ADMIN, which root lacks in this container"
            return Lack(need, "docker run --privileged ...")
        return Lack("root (CAP_SYS_ADMIN and CAP_NET_ADMIN)", "sudo kumiki cluster create")
    if missing := [command for command in COMMANDS if shutil.which(command) is None]:
        need = f"the package {PACKAGE} ({' and '.join(missing)} missing)"
        return Lack(need, f"{'' if os.geteuid() == 0 else 'sudo '}apt install {PACKAGE}")
    return None


def require() -> None:
    """Raises UserError if a requirement is missing."""
    if (missing := lack()) is not None:
        mend = f"; remedy: {missing.mend}" if missing.mend else ""
        raise UserError(f"a cluster on one machine needs {missing.need}{mend}", ExitCode.ENVIRONMENT)


def _permitted() -> bool:
    """Whether programs started from here may make namespaces; users other than root pass on ambient capabilities."""
    kind = "CapEff" if os.geteuid() == 0 else "CapAmb"
    held = 0
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{kind}:"):
            held = int(line.split()[1], 16)
    return all(held >> capability & 1 for capability in (CAP_NET_ADMIN, CAP_SYS_ADMIN))
