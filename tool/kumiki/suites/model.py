"""The words that suites are written in: a grid of ranks x threads, points on it, and how a point is started."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from kumiki.evaluation.reader import Reader, RowReader
from kumiki.hosts import Hosts
from kumiki.machine import mpi
from kumiki.machine.native import MEND, Native
from kumiki.machine.peer import UCX, Installation, Peer, absence
from kumiki.results.statistics import FEWEST_SAMPLES
from kumiki.suites.described import Described

REMOTE_SHELL = "remote-shell"
"""The program of the native part that an mpirun calls in the place of ssh."""
REMOTE_SHELL_VARIABLE = "REMOTE_SHELL"
"""The variable in which it finds the remote shell of the hosts."""
LEAST_SECONDS = 0.05
WARM_UPS = 1
MOST_SAMPLES = 200
"""More samples than this narrow no interval that a reader would notice, and swell samples.json."""


@dataclass(frozen=True)
class Grid:
    """What to measure over: the machine's cores, and the ranks and threads that the user named, if any."""

    cores: int
    """Of one host."""
    quick: bool = False
    ranks: tuple[int, ...] | None = None
    threads: tuple[int, ...] | None = None
    hosts: Hosts | None = None
    """Over which hosts; None: on this one alone."""
    named: bool = False
    """Whether the user named the suite: then it may take what the usual evaluation has no time for."""
    peers: tuple[Peer, ...] = ()
    """The installations of MPIs and of UCX that the user named, to be measured beside those of the distribution."""

    @property
    def mpis(self) -> tuple[mpi.Mpi, ...]:
        """The MPIs to measure beside."""
        return (*mpi.ALL, *(peer for peer in self.peers if isinstance(peer, mpi.Mpi)))

    @property
    def ucxs(self) -> tuple[Peer, ...]:
        """The same of UCX."""
        return (UCX, *(peer for peer in self.peers if peer.kind == UCX.kind))

    @property
    def in_full(self) -> bool:
        """Whether a suite measures all that it can."""
        return self.named and not self.quick

    @property
    def all_cores(self) -> int:
        """Of all hosts together: those of one machine share its own."""
        return self.cores if self.hosts is None or self.hosts.one_machine else len(self.hosts) * self.cores

    def pairs_over_hosts(self) -> list[tuple[int, int]]:
        """(ranks, threads) over all hosts: one or two ranks on each, with 1, 2, 4, ... threads.

        All together take no more than the cores that there are, but for one rank on each host and the one
        oversubscribed column. Named numbers are measured in every combination.
        """
        assert self.hosts is not None
        count = len(self.hosts)
        most = max(count, self.all_cores if self.quick else 2 * self.all_cores)
        ranks = self.ranks or (count, 2 * count)
        found = {(each, threads) for each in ranks for threads in self.threads or self._whole()}
        return sorted(pair for pair in found if self.ranks or self.threads or pair[0] * pair[1] <= most)

    def pairs(self) -> list[tuple[int, int]]:
        """(ranks, threads) in ascending order.

        Both named: every combination. Else: every split of 1, 2, 4, ... cores, of all cores and of all but one (which
        leaves one to the system), and of twice as many (the one oversubscribed column), as far as the named ranks or
        threads take part; a named number is always measured.
        """
        return self._splits((*self._whole(), *self._spare(), *self._crowded()))

    def pairs_with_a_core_free(self) -> list[tuple[int, int]]:
        """The same without the oversubscribed column, and in a first impression, too, with one that leaves a core."""
        return self._splits((*self._whole(), max(1, self.cores - 1)))

    def _splits(self, totals: Sequence[int]) -> list[tuple[int, int]]:
        if self.ranks and self.threads:
            return sorted({(ranks, threads) for ranks in self.ranks for threads in self.threads})
        found = {(ranks, total // ranks) for total in totals for ranks in range(1, total + 1) if total % ranks == 0}
        if self.ranks:
            found = {pair for pair in found if pair[0] in self.ranks} | {(ranks, 1) for ranks in self.ranks}
        if self.threads:
            found = {pair for pair in found if pair[1] in self.threads} | {(1, threads) for threads in self.threads}
        return sorted(found)

    def thread_counts(self, oversubscribed: bool = True) -> list[int]:
        """Threads of one rank, with or without the column of twice the cores."""
        return sorted(self.threads or (*self._whole(), *(self._crowded() if oversubscribed else ())))

    def rank_counts(self, oversubscribed: bool = False) -> list[int]:
        """Ranks of one thread each, with or without the column of twice the cores."""
        return sorted(self.ranks or (*self._whole(), *((2 * self.cores,) if oversubscribed else ())))

    def _spare(self) -> tuple[int, ...]:
        """All cores but one, which a first impression does without."""
        return () if self.quick or self.cores < 2 else (self.cores - 1,)

    def _crowded(self) -> tuple[int, ...]:
        """The oversubscribed column, which a first impression does without."""
        return () if self.quick else (2 * self.cores,)

    def _whole(self) -> tuple[int, ...]:
        """1, 2, 4, ... up to all cores."""
        powers = [2**power for power in range(self.cores.bit_length()) if 2**power < self.cores]
        return (*powers, self.cores)


@dataclass(frozen=True)
class Alone:
    """The program starts itself, with threads that its own arguments name."""

    threads: int = 1
    ranks: int = 1
    startup_seconds: float = 0.1
    hosts: Hosts | None = None


@dataclass(frozen=True)
class KumikiRun:
    """Under `kumiki-run -n RANKS -t THREADS`."""

    ranks: int
    threads: int = 1
    options: tuple[str, ...] = ()
    startup_seconds: float = 0.15
    hosts: Hosts | None = None


@dataclass(frozen=True)
class Mpirun:
    """Under an MPI's own launcher."""

    mpi: mpi.Mpi
    ranks: int
    threads: int = 1
    startup_seconds: float = 0.8
    hosts: Hosts | None = None


Launcher = Alone | KumikiRun | Mpirun


@dataclass(frozen=True)
class Command:
    """What is really executed: the argument list, and the variables set beside the tool's own environment."""

    arguments: tuple[str, ...]
    variables: Mapping[str, str]

    def __str__(self) -> str:
        return shlex.join([*(f"{name}={value}" for name, value in self.variables.items()), *self.arguments])


@dataclass(frozen=True)
class Point:
    """One start of one program."""

    suite: str
    metric: str
    """The suite's first figure: what a row says that stands for a point that could not be measured."""
    implementation: str
    program: str
    arguments: tuple[str, ...]
    launcher: Launcher
    parameters: Mapping[str, int | str]
    unit: str
    better: str
    seconds: float = 1.0
    """The budget of one figure: after this time the program takes no further sample of it."""
    figures: int = 1
    """How many figures the program samples, each with its own budget."""
    sample_seconds: float = 0.0
    """What one sample is expected to take, where that is not small beside the budget."""
    setup_seconds: float = 0.0
    """What making the problem and checking the results is expected to take."""
    variables: Mapping[str, str] | None = None
    built_on: Peer | None = None
    """Software of others without which the program does not exist."""
    again: int = 0
    """How often it was measured before in this evaluation: all its samples join in the rows of the first time."""

    @property
    def peers(self) -> tuple[Peer, ...]:
        """All software of others without which the point cannot be measured."""
        launched_by = (self.launcher.mpi,) if isinstance(self.launcher, Mpirun) else ()
        return (*launched_by, *((self.built_on,) if self.built_on else ()))

    @property
    def installation(self) -> Installation | None:
        """Of the peer that it measures, where the user has named it."""
        return next((peer.installation for peer in self.peers if peer.installation), None)

    @property
    def key(self) -> str:
        """Names the point among all others, in the same words on every run."""
        return f"{self.setting}, again {self.again}" if self.again else self.setting

    @property
    def setting(self) -> str:
        """What the point is a run of: points of one setting are repeats, and their samples belong to the same rows."""
        return f"{self.suite}: {shlex.join([*self._starter_words(), self.program, *self.arguments])}"

    @property
    def warm_up(self) -> bool:
        """Whether its figures do not count."""
        return False

    @property
    def may_settle(self) -> bool:
        """Whether measuring it again may settle figures that are still open, as it may for programs that sample until
        their figures are."""
        return True

    @property
    def label(self) -> str:
        """The point in a few words, for who watches."""
        ranks, threads = self.place
        return f"{self.suite}: {self.implementation}, {ranks} x {threads}"

    @property
    def location(self) -> Mapping[str, int | str]:
        """What all rows of the point say beside their own parameters: over how many hosts it ran."""
        hosts = self.launcher.hosts
        return {"hosts": len(hosts)} if hosts and len(hosts) > 1 else {}

    @property
    def place(self) -> tuple[int, int]:
        """(ranks, threads): points of one place are peers and are measured side by side."""
        return self.launcher.ranks, self.launcher.threads

    @property
    def total(self) -> int:
        """How many threads of execution take part."""
        return self.launcher.ranks * self.launcher.threads

    @property
    def fixed_seconds(self) -> float:
        """The part of the estimate that no budget changes."""
        return self.launcher.startup_seconds + self.setup_seconds + self.figures * WARM_UPS * self.sample_seconds

    @property
    def estimated_seconds(self) -> float:
        return self.fixed_seconds + self.figures * max(self.seconds, FEWEST_SAMPLES * self.sample_seconds)

    @property
    def limit_seconds(self) -> float:
        """When the point counts as hanging: generous, since a slow or busy machine is not a hanging one."""
        return round(30 + 10 * self.estimated_seconds)

    @property
    def mend(self) -> str:
        """What to do when the program cannot be started."""
        return MEND

    def reader(self, cores: int) -> Reader:
        """What reads the program's output on a machine of `cores` usable cores."""
        return RowReader(self.location)

    def limit(self, wanted: float | None) -> float:
        """The seconds that it may take, where the user wants no more than so many."""
        return self.limit_seconds if wanted is None else min(self.limit_seconds, wanted)

    def command(self, native: Native, cores: int) -> Command:
        """The command line on a machine of `cores` usable cores."""
        budget = ("--seconds", f"{self.seconds:.2f}", "--samples", str(MOST_SAMPLES))
        installation = self.installation
        path = installation.programs / self.program if installation else native.program(self.program)
        program = (str(path), *self.arguments, *budget)
        variables = {**(installation.variables if installation else {}), **(self.variables or {})}
        starter = self.launcher
        if isinstance(starter, Alone):
            return Command(program, variables)
        if isinstance(starter, KumikiRun):
            hosts = starter.hosts.launcher_options if starter.hosts else ()
            counts = ("-n", str(starter.ranks), "-t", str(starter.threads))
            words = (str(native.command("kumiki-run")), *hosts, *counts, *starter.options)
            return Command((*words, *program), variables)
        mpirun = mpi.launcher(starter.mpi) or f"mpirun.{starter.mpi.name}"
        variables = {**starter.mpi.environment, **variables}
        if starter.hosts is None:
            return Command((mpirun, *starter.mpi.arguments(starter.ranks, cores), *program), variables)
        remote_shell = str(native.program(REMOTE_SHELL))
        options = starter.mpi.arguments_over(starter.hosts, starter.ranks, remote_shell)
        words = (*starter.hosts.entrance, mpirun, *options)
        apart = starter.mpi.network_environment if starter.hosts.one_machine else {}
        reached = {REMOTE_SHELL_VARIABLE: shlex.join(starter.hosts.remote_shell)}
        return Command((*words, *program), {**apart, **reached, **variables})

    def _starter_words(self) -> tuple[str, ...]:
        """What stands before the program in words that do not depend on the machine."""
        starter = self.launcher
        hosts = ("--hosts", str(len(starter.hosts))) if starter.hosts else ()
        if isinstance(starter, KumikiRun):
            return "kumiki-run", *hosts, "-n", str(starter.ranks), "-t", str(starter.threads), *starter.options
        if isinstance(starter, Mpirun):
            return f"mpirun.{starter.mpi.name}", *hosts, "-n", str(starter.ranks)
        return ()

    def absence(self, native: Native) -> str | None:
        """Why the point cannot be measured here because software of others is missing; None when it can."""
        if self.installation:
            # Its program is built before anything is measured, if that of Kumiki could be.
            others = tuple(peer for peer in self.peers if not peer.installation)
            own = self.program.removesuffix(f"-{self.implementation}")
            return absence(f"the program {own}", others) if others and not native.has(native.program(own)) else None
        if isinstance(self.launcher, Mpirun) and mpi.launcher(self.launcher.mpi) is None:
            return absence(f"mpirun.{self.launcher.mpi.name}", (self.launcher.mpi,))
        if self.peers and not native.has(native.program(self.program)):
            return absence(f"the program {self.program}", self.peers)
        return None


@dataclass(frozen=True)
class Program:
    """A program of the native part, and the software of others without which it does not exist."""

    name: str
    peer: Peer | None = None


def with_mpi(name: str, built_on: Peer | None = None) -> tuple[Program, ...]:
    """Kumiki's own program of a name, and each MPI's."""
    return (Program(name, built_on), *(Program(f"{name}-{peer.name}", peer) for peer in mpi.ALL))


Builder = Callable[[Grid], Sequence[Point]]


@dataclass(frozen=True)
class Suite:
    """A set of points that answers one question."""

    name: str
    title: str
    sentence: str
    headline: tuple[str, ...]
    """The metrics that are printed while it runs; the report and results.json hold them all."""
    programs: tuple[Program, ...]
    """The programs of the native part that it starts."""
    build: Builder | None
    """None: it says nothing of a single host."""
    seconds: float
    """What all its points together may take, in seconds."""
    quick_seconds: float
    build_over_hosts: Builder | None = None
    """None: it says nothing of several hosts."""
    by_name: bool = False
    """Measured only where the user names it: the usual evaluation is kept short."""
    described: Described | None = None
    """What the report says of the program; None where the suite measures the machine and no program."""

    def builder(self, over_hosts: bool) -> Builder | None:
        return self.build_over_hosts if over_hosts else self.build

    def points(self, grid: Grid) -> list[Point]:
        """The suite's points; where they would take longer than the suite may, their budgets shrink alike.

        Peers that the user names lengthen the suite: with and without them all are measured for as long.
        """
        build = self.builder(grid.hosts is not None)
        points = list(build(grid)) if build else []
        usual = [point for point in points if not point.installation]
        allowed = self.quick_seconds if grid.quick else self.seconds
        wanted = sum(point.figures * point.seconds for point in usual)
        left = allowed - sum(point.fixed_seconds for point in usual)
        factor = min(1.0, left / wanted) if wanted > 0 else 1.0
        return [replace(point, seconds=round(max(point.seconds * factor, LEAST_SECONDS), 2)) for point in points]
