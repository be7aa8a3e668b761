"""Rounds of a job with one fault at a random moment; each follows from its seed alone, so that it can be repeated."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

SEED = int(os.environ.get("TEST_FAULT_SEED", "0"))
"""The seed of the first round; the others follow."""
SIDE_BY_SIDE = 4
MARK = "FAULT_TEST_MARK"
TIMEOUT = 2
"""KUMIKI_TIMEOUT of the jobs, in seconds."""
ENDED_WITHIN = 5.0
"""Seconds from a death to the end of the launcher: one second of grace, and the time that several jobs take on few
cores.
"""
NOTICED_WITHIN = TIMEOUT * 1.25 + ENDED_WITHIN
PATIENCE = 30.0
DEATHS = (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGTERM)


def rounds(count: int, one: Callable[[int], None]) -> None:
    """Performs this many rounds, several at a time; reports all failures, each with the command that repeats it."""

    def play(seed: int) -> str | None:
        try:
            one(seed)
        except AssertionError as failure:
            return f"TEST_FAULT_SEED={seed} TEST_FAULT_ROUNDS=1 repeats this: {failure}"
        return None

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        failures = [told for told in pool.map(play, range(SEED, SEED + count)) if told is not None]
    assert not failures, "\n".join(failures)


PROCESS_NUMBERS = int(Path("/proc/sys/kernel/pid_max").read_text())


def children(process: int) -> list[int]:
    """The children of a process, the oldest first. Several start within one tick of the clock; then their numbers tell
    the order, unless the system has begun anew with small ones.
    """
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        if int(words[1]) == process:
            found.append((int(words[19]), int(entry.name)))
    highest = max((number for _, number in found), default=0)

    def age(child: tuple[int, int]) -> tuple[int, int]:
        start, number = child
        began_anew = highest - number > PROCESS_NUMBERS // 2
        return start, number + PROCESS_NUMBERS if began_anew else number

    return [number for _, number in sorted(found, key=age)]


@dataclass
class Job:
    """A running job of kumiki-run, its processes, and what it leaves behind."""

    command: Sequence[str]
    folder: Path
    hosts: Sequence[str] = ()
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        self.folder.mkdir()
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("KUMIKI_", "OMP_"))}
        settings = {MARK: self.mark, "KUMIKI_TIMEOUT": str(TIMEOUT), "TMPDIR": str(self.folder)}
        handed_on = ("-x", MARK, "-x", "TMPDIR") if self.hosts else ()
        self.process = subprocess.Popen(
            [self.command[0], *handed_on, *self.command[1:]],
            env={**clean, **settings},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def daemons(self) -> list[int]:
        """The host daemons in the order of the hosts."""
        if not self.hosts:
            return children(self.process.pid)[:1]
        return [daemon for supervisor in children(self.process.pid) for daemon in children(supervisor)[:1]]

    def ranks(self) -> list[int]:
        """The ranks in their order."""
        return [rank for daemon in self.daemons() for rank in children(daemon)]

    def wait_for(self, what: Callable[[], list[int]], count: int) -> list[int]:
        end = time.monotonic() + PATIENCE
        while len(found := what()) < count and self.process.poll() is None:
            assert time.monotonic() < end, "the ranks were not started"
            time.sleep(0.005)
        assert len(found) >= count, self.ending()
        return found

    def ending(self, within: float = PATIENCE) -> tuple[int, str]:
        """Exit code and output."""
        begin = time.monotonic()
        try:
            _, said = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{' '.join(self.command)} has not ended after {PATIENCE} s") from None
        seconds = time.monotonic() - begin
        assert seconds < within, f"it took {seconds:.1f} s: {said}"
        return self.process.returncode, said

    def left(self) -> list[int]:
        """Processes that still exist."""
        needle = f"{MARK}={self.mark}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and needle in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def expect_nothing_left(self) -> None:
        end = time.monotonic() + 3
        while (left := self.left()) and time.monotonic() < end:
            time.sleep(0.02)
        assert not left, f"processes are left: {left}"
        assert not list(self.folder.iterdir()), "files are left"

    def end(self) -> None:
        for process in (self.process.pid, *self.left()):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.communicate()


def host_of(rank: int, ranks: int, hosts: Sequence[str]) -> str:
    """The host of a rank, as kumiki-run distributes ranks if all hosts get equally many."""
    return hosts[rank * len(hosts) // ranks] if hosts else ""


def kill_a_rank(job: Job, ranks: int, chance: random.Random, fault: signal.Signals) -> None:
    """Kills a rank at a random moment from its first millisecond on: the launcher must name the rank, its host and its
    end.
    """
    rank = chance.randrange(ranks)
    process = job.wait_for(job.ranks, ranks)[rank]
    time.sleep(chance.random() ** 3 * 0.6)
    os.kill(process, fault)
    code, said = job.ending(NOTICED_WITHIN if fault is signal.SIGSTOP else ENDED_WITHIN)
    host = host_of(rank, ranks, job.hosts)
    who = rf"rank {rank} of {ranks}{f' on host {host}' if host else ''} \(process {process}\)"
    if fault is signal.SIGSTOP:
        assert code == 3, f"code {code}: {said}"
        how = rf"was stopped and not continued for {TIMEOUT} s \(KUMIKI_TIMEOUT\); the other ranks were ended.*"
    else:
        assert code == 128 + fault, f"code {code} after signal {fault}: {said}"
        how = rf"was killed by signal {fault.value} \(.*\); the other ranks were ended"
    own = [line for line in said.splitlines() if line.startswith("kumiki-run:")]
    assert len(own) == 1 and re.fullmatch(f"kumiki-run: {who} {how}", own[0]), said


def kill_the_launcher(job: Job, chance: random.Random) -> None:
    time.sleep(chance.random() * 0.2)
    job.process.kill()
    code, _ = job.ending(ENDED_WITHIN)
    assert code == -signal.SIGKILL


def kill_a_host_daemon(job: Job, chance: random.Random) -> None:
    daemons = job.wait_for(job.daemons, max(1, len(job.hosts)))
    place = chance.randrange(len(daemons))
    time.sleep(chance.random() ** 2 * 0.4)
    os.kill(daemons[place], signal.SIGKILL)
    code, said = job.ending(ENDED_WITHIN)
    if job.hosts:
        assert code == 3 and f"the connection to host {job.hosts[place]} was lost" in said, f"code {code}: {said}"
    else:
        assert code == 128 + signal.SIGKILL, f"code {code}: {said}"
        assert "the process that watches over the job" in said, said
