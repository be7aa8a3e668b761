"""Conditions on this machine that would disturb a measurement."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kumiki.doctor.finding import Finding, State
from kumiki.machine.load import present
from kumiki.machine.topology import Machine

BUSY_LOAD_PER_CORE = 0.2
LEAST_SHARED_MEMORY = 256 * 2**20
"""Below this, MPIs that keep their buffers in /dev/shm have failed or slowed down with a few ranks."""


def disturbances(machine: Machine) -> Iterator[Finding]:
    """One finding for each source of noise that could be examined, including good ones."""
    for look in LOOKS:
        if (finding := look(machine)) is not None:
            yield finding


def _load(machine: Machine) -> Finding:
    load, cores = present(machine), machine.usable_cores()
    if load > BUSY_LOAD_PER_CORE * cores:
        sentence = f"Other processes keep {load:g} of {cores} cores busy and would compete with the measured programs."
        return Finding("load", State.DISTURBS, sentence, "top")
    return Finding("load", State.GOOD, f"Other processes keep {load:g} of {cores} cores busy.")


def _quota(machine: Machine) -> Finding | None:
    quota, processors = machine.processor_quota(), len(machine.usable_processors())
    if quota is None or quota >= processors:
        return None
    sentence = f"The cgroup grants the time of {quota:g} of {processors} processors and stops threads that exceed it."
    return Finding("processor quota", State.DISTURBS, sentence, "docker update --cpus 0 CONTAINER")


def _governor(machine: Machine) -> Finding | None:
    governor = machine.governor()
    if governor is None:
        return None
    if governor == "performance":
        return Finding("frequency governor", State.GOOD, "The frequency governor is performance.")
    sentence = f"The frequency governor is {governor}: the clock frequency rises only after work has begun."
    return Finding("frequency governor", State.DISTURBS, sentence, "sudo cpupower frequency-set --governor performance")


def _turbo(machine: Machine) -> Finding | None:
    if not machine.turbo():
        return None
    return Finding(
        "turbo",
        State.DISTURBS,
        "Turbo is on: the clock depends on temperature and on the number of busy cores, so scaling looks worse than "
        "it is.",
        "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
        " || echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
    )


def _siblings(machine: Machine) -> Finding | None:
    threads = machine.threads_per_core()
    if threads == 1:
        return None
    sentence = f"Each core runs {threads} hardware threads: two busy siblings share its units."
    return Finding(
        "hardware threads", State.DISTURBS, sentence, "echo off | sudo tee /sys/devices/system/cpu/smt/control"
    )


def _virtual_machine(machine: Machine) -> Finding | None:
    if not machine.virtual_machine():
        return None
    sentence = "This is a virtual machine: other guests of its host may slow it down, and it has no real clock."
    return Finding("virtual machine", State.FIXED, sentence)


def _huge_pages(machine: Machine) -> Finding | None:
    setting = machine.transparent_huge_pages()
    if setting is None:
        return None
    if setting == "never":
        sentence = "Transparent huge pages are off: large arrays miss the TLB more often."
        mend = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
        return Finding("huge pages", State.DISTURBS, sentence, mend)
    return Finding("huge pages", State.GOOD, f"Transparent huge pages: {setting}.")


def _shared_memory(machine: Machine) -> Finding | None:
    size = machine.shared_memory_bytes()
    if size is None or size >= LEAST_SHARED_MEMORY:
        return None
    sentence = f"/dev/shm has only {size >> 20} MiB: MPI may fail or slow down there (Kumiki itself does not use it)."
    mend = "docker run --shm-size=1g ..." if machine.container() else "sudo mount -o remount,size=1G /dev/shm"
    return Finding("/dev/shm", State.DISTURBS, sentence, mend)


LOOKS: tuple[Callable[[Machine], Finding | None], ...] = (
    _load,
    _quota,
    _governor,
    _turbo,
    _siblings,
    _virtual_machine,
    _huge_pages,
    _shared_memory,
)
