"""How accesses to pages of shared arrays that are on another host would be detected on this machine, and why so."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from typing import Any

from kumiki.doctor.answer import NoAnswer, ask
from kumiki.doctor.finding import Finding, State
from kumiki.machine.native import Native
from kumiki.machine.topology import Machine

SUBJECT = "faults of shared arrays"
CALLS = "system calls in shared arrays"
PROGRAM = "kumiki-shared-faults"
OLDEST_KERNEL = (6, 4)
"""The first kernel whose userfaultfd does all that Kumiki needs (src/platform/userfaultfd.cpp)."""
PROFILE = "docker run --security-opt seccomp=unconfined ..."


def faults(machine: Machine, native: Native) -> Iterator[Finding]:
    """How faults are handled, and a second finding where system calls fail with pages that are not here. None when the
    native part is missing, which another finding states."""
    if not native.has(native.program(PROGRAM)):
        return
    release = platform.release()
    try:
        told = ask(native, PROGRAM)
    except NoAnswer as problem:
        yield Finding(SUBJECT, State.OPTIONAL, f"It is not known how they would be handled: {problem}.")
        return
    yield _mechanism(machine, told, release)
    if told["system_calls"]:
        sentence = (
            "System calls of a program fail (EFAULT) if their buffers are in pages of a shared array that are not "
            f"here: {told['system_calls']}. The calls of the library take such buffers; for others, touch the pages "
            "before."
        )
        yield Finding(CALLS, State.OPTIONAL, sentence, PROFILE if machine.container() else None)


def _mechanism(machine: Machine, told: dict[str, Any], release: str) -> Finding:
    if told["mechanism"] == "userfaultfd":
        return Finding(SUBJECT, State.GOOD, f"They are handled by userfaultfd, without privileges (Linux {release}).")
    sentence = (
        f"They are handled by the protection of memory (mprotect) and not by userfaultfd: {told['why']} "
        f"(Linux {release}). "
        "With mprotect an array can have some 60,000 runs of pages that differ in what is allowed; "
        "give large arrays longer pages."
    )
    # A kernel that is too old is not mended by a profile.
    mend = PROFILE if machine.container() and _version(release) >= OLDEST_KERNEL else None
    return Finding(SUBJECT, State.OPTIONAL, sentence, mend)


def _version(release: str) -> tuple[int, ...]:
    """6.1 of "6.1.0-18-amd64"; empty where the text does not begin with numbers."""
    found = re.match(r"(\d+)\.(\d+)", release)
    return tuple(int(number) for number in found.groups()) if found else ()
