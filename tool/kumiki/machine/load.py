"""The load of other processes on this machine: busy processors that this evaluation did not cause.

The load average is of no use here. It is the mean of the last minute, in which the machine built or measured for us.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import psutil

from kumiki.machine.topology import Machine

SAMPLE_SECONDS = 0.2
"""Long enough to resolve a twentieth of a processor, because the system counts in hundredths of a second."""


class OtherLoad:
    """The average number of usable processors that other processes keep busy, since the creation of this object."""

    def __init__(self, machine: Machine, clock: Callable[[], float] = time.monotonic) -> None:
        self._machine = machine
        self._clock = clock
        self._start = self._now()

    def so_far(self) -> float:
        (before, ours_before, start), (now, ours, end) = self._start, self._now()
        if end <= start:
            return 0.0
        return round(max(0.0, (now - before) - (ours - ours_before)) / (end - start), 2)

    def _now(self) -> tuple[float, float, float]:
        """Total seconds of the processors; those of this process and of its ended descendants; and the time."""
        times = os.times()
        ours = times.user + times.system + times.children_user + times.children_system
        return busy_seconds(self._machine), ours, self._clock()


def present(machine: Machine) -> float:
    """The number of processors that other processes keep busy now; takes a moment."""
    others = OtherLoad(machine)
    time.sleep(SAMPLE_SECONDS)
    return others.so_far()


def busy_seconds(machine: Machine) -> float:
    """Seconds since boot during which the usable processors have worked for any process, or were taken by the host of
    this virtual machine for another one. Interrupts belong to no process and are not counted.
    """
    times, processors = psutil.cpu_times(percpu=True), machine.processors()
    if len(times) == len(processors):  # a container that shows only its own processors shows the usable ones
        usable = set(machine.usable_processors())
        times = [each for processor, each in zip(processors, times, strict=True) if processor in usable]
    return float(sum(each.user + each.nice + each.system + each.steal for each in times))
