"""The process mix of the TSUBAME paper (4.1): host processes and accelerator processes with equal shares, so that
processors of different speed differ only by how many processes they get."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kumiki.errors import UserError

KINDS = ("fine", "coarse")
"""Layouts that are chosen: many host processes of one or two threads, or two with many threads (Figure 7)."""
FINE_CORES = 8
"""With so many cores or more, host processes of the fine layout have two threads, as in the paper."""
COARSE_PROCESSES = 2


@dataclass(frozen=True)
class Mix:
    """The processes of a host."""

    hosts: int
    """Host processes."""
    threads: int
    """Threads of each of them."""
    accelerated: int
    """Accelerator processes, of one thread: the products of their updates go to the device."""

    @property
    def ranks(self) -> int:
        return self.hosts + self.accelerated

    @property
    def each(self) -> str:
        """The threads of each rank, for `kumiki-run -t`."""
        return ",".join(map(str, [self.threads] * self.hosts + [1] * self.accelerated))

    def __str__(self) -> str:
        return f"{self.hosts}x{self.threads}+{self.accelerated}"

    def rankfile(self, cores: Sequence[int] | None, host: str = "") -> str:
        """Lines for `kumiki-run --rankfile`: host processes have cores of their own, and accelerator processes share
        those that are left, or the last one. Raises UserError if there are too few cores. None: the numbers of the
        cores of that host are not known, and the launcher deals them out."""
        name = f"{host} " if host else ""
        if cores is None:
            return f"{name}threads={self.threads}\n" * self.hosts + f"{name}threads=1\n" * self.accelerated
        own = self.hosts * self.threads
        if own > len(cores):
            raise UserError(
                f"--mix {self}: the host processes have {own} threads, but there are {len(cores)} cores"
                + (f" on {host}" if host else "")
            )
        taken = [cores[each * self.threads : (each + 1) * self.threads] for each in range(self.hosts)]
        left = cores[own:] or cores[-1:]
        lines = [f"threads={self.threads} cores={','.join(map(str, each))}" for each in taken]
        lines += [f"threads=1 cores={left[each % len(left)]}" for each in range(self.accelerated)]
        return "".join(f"{name}{line}\n" for line in lines)


def mix_of(text: str) -> Mix | str:
    """Reads `fine`, `coarse`, or a mix such as 7x2+3. Raises UserError if it is none."""
    if text in KINDS:
        return text
    found = re.fullmatch(r"([1-9]\d{0,3})x([1-9]\d{0,3})\+(\d{1,3})", text)
    if not found:
        raise UserError(
            f"--mix {text}: write fine, coarse, or host processes x threads + accelerator processes such as 7x2+3"
        )
    return Mix(int(found[1]), int(found[2]), int(found[3]))


def host_part(kind: str, cores: int) -> Mix:
    """The host processes of a layout: the cores of one of them remain for accelerator processes and the server."""
    if cores < 2:
        raise UserError("--mix: a core for host processes and one for accelerator processes are needed; there is 1")
    if kind == "fine":
        threads = 2 if cores >= FINE_CORES else 1
        return Mix(cores // threads - 1, threads, 0)
    processes = COARSE_PROCESSES if cores > COARSE_PROCESSES else 1
    return Mix(processes, max(1, (cores - min(2, cores // 2)) // processes), 0)


def without_device(kind: str, cores: int) -> Mix:
    """The host processes of a layout where none uses the device, so that no core is left for it."""
    if kind == "fine":
        threads = host_part(kind, cores).threads
        return Mix(cores // threads, threads, 0)
    return Mix(COARSE_PROCESSES, cores // COARSE_PROCESSES, 0)


def accelerated_by(device_rate: float, host_rate: float) -> int:
    """How many processes can share a device, each at least as fast as a host process (F45)."""
    return int(device_rate / host_rate)
