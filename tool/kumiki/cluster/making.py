"""Making a cluster, completely or not at all, and deleting it with everything that runs in it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from kumiki.cluster import inspection, plan, system
from kumiki.cluster.rate import Rate
from kumiki.errors import ExitCode, UserError

GRACE_SECONDS = 2.0
"""How long processes may take to end before they are killed."""
POLL_SECONDS = 0.02


def create(name: str, hosts: int, rate: Rate | None) -> inspection.Cluster:
    """Makes a cluster. If a step fails, or at an interrupt, everything made so far is removed again.

    Raises UserError, and KeyboardInterrupt.
    """
    with system.interrupts_held():
        if (there := inspection.find(name)) is not None:
            state = "exists already" if there.complete else "exists already, but is not complete"
            raise UserError(f"cluster '{name}' {state}; delete it: kumiki cluster delete {name}")
        made: list[str] = []
        try:
            for step in plan.creation(name, hosts, rate):
                system.run(step.arguments, step.module)
                if step.namespace is not None:
                    made.append(step.namespace)
                system.let_interrupt()
        except BaseException:
            _take_away(made)
            raise
    return inspection.require(name)


def delete(name: str) -> int | None:
    """Deletes a cluster after ending its processes; returns their number, or None if there is no such cluster.

    Raises UserError. An interrupt takes effect when all is done.
    """
    with system.interrupts_held():
        namespaces = inspection.namespaces().get(name)
        return _take_away(namespaces) if namespaces else None


def link(host: inspection.Host, name: str, up: bool) -> None:
    """Plugs in or unplugs the cable of a host. Raises UserError."""
    system.run(plan.link(name, host.number, up).arguments)


def _take_away(namespaces: Sequence[str]) -> int:
    """Ends the processes in the namespaces and removes the namespaces; returns the number of processes."""
    ended = _end_processes(namespaces)
    failures: list[system.Failed] = []
    # The bridge is removed first: hosts without it cannot be mistaken for a smaller cluster if this process is killed
    # before the end.
    for namespace in sorted(namespaces, key=plan.is_host):
        try:
            with _unless_gone(namespace):
                system.run(("ip", "netns", "delete", namespace))
        except system.Failed as failure:
            failures.append(failure)
    if failures:
        raise failures[0]
    return ended


def _end_processes(namespaces: Sequence[str]) -> int:
    if os.getpid() in _processes(namespaces):
        raise UserError("this shell runs in the cluster itself; delete the cluster from outside", ExitCode.USAGE)
    seen: set[int] = set()
    for number, patience in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, GRACE_SECONDS)):
        asked: set[int] = set()
        deadline = time.monotonic() + patience
        while (alive := _processes(namespaces)) and time.monotonic() < deadline:
            for process in alive - asked:  # including those that were started meanwhile
                with suppress(ProcessLookupError):
                    os.kill(process, number)
                    os.kill(process, signal.SIGCONT)  # a stopped process reacts only to SIGKILL
            asked |= alive
            time.sleep(POLL_SECONDS)
        seen |= asked | alive
        if not alive:
            return len(seen)
    raise UserError(f"processes of the cluster cannot be ended: {', '.join(map(str, sorted(alive)))}", ExitCode.FAILED)


def _processes(namespaces: Sequence[str]) -> set[int]:
    found: set[int] = set()
    for namespace in namespaces:
        with _unless_gone(namespace):
            found.update(map(int, system.run(("ip", "netns", "pids", namespace)).split()))
    return found


@contextmanager
def _unless_gone(namespace: str) -> Iterator[None]:
    """Failures inside count only while the namespace exists, because another process may be deleting the cluster."""
    try:
        yield
    except system.Failed:
        if any(namespace in parts for parts in inspection.namespaces().values()):
            raise
