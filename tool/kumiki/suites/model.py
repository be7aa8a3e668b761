"""The vocabulary of suites: a grid of ranks x threads, points on it, and how a point is started."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from kumiki.evaluation.reader import Reader, RowReader
from kumiki.hosts import Hosts
from kumiki.machine import mpi
from kumiki.machine.native import Native, mend
from kumiki.machine.peer import UCX, Installation, Peer, absence
from kumiki.results.row import ProgramRow
from kumiki.results.statistics import FEWEST_SAMPLES
from kumiki.suites.described import Described

REMOTE_SHELL = "remote-shell"
"""The program of the native part that an mpirun calls instead of ssh."""
REMOTE_SHELL_VARIABLE = "REMOTE_SHELL"
"""The variable that gives it the remote shell of the hosts."""
ALONE = "this run has 1 ranks"
"""What programs that need more say of a run."""
LEAST_SECONDS = 0.05
WARM_UPS = 1
MOST_SAMPLES = 200
"""More samples than this would not narrow an interval noticeably, and would bloat samples.json."""


@dataclass(frozen=True)
class Grid:
    """The settings to measure: the machine's cores, and the ranks and threads that the user named, if any."""

    cores: int
    """The cores of one host."""
    quick: bool = False
    ranks: tuple[int, ...] | None = None
    threads: tuple[int, ...] | None = None
    hosts: Hosts | None = None
    """The hosts to measure over; None: only this one."""
    named: bool = False
    """Whether the user named the suite: then it may take longer than the default evaluation allows."""
    peers: tuple[Peer, ...] = ()
    """The installations of MPIs and of UCX that the user named, to be measured beside those of the distribution."""

    @property
    def mpis(self) -> tuple[mpi.Mpi, ...]:
        """The MPIs to measure beside."""
        return (*mpi.ALL, *(peer for peer in self.peers if isinstance(peer, mpi.Mpi)))

    @property
    def ucxs(self) -> tuple[Peer, ...]:
        """The installations of UCX to measure beside."""
        return (UCX, *(peer for peer in self.peers if peer.kind == UCX.kind))

    @property
    def in_full(self) -> bool:
        """Whether a suite measures everything it can."""
        return self.named and not self.quick

    @property
    def all_cores(self) -> int:
        """The cores of all hosts together; hosts on one machine share its cores."""
        return self.cores if self.hosts is None or self.hosts.one_machine else len(self.hosts) * self.cores

    def pairs_over_hosts(self) -> list[tuple[int, int]]:
        """(ranks, threads) over all hosts: one or two ranks on each, with 1, 2, 4, ... threads. All of them together
        use no more cores than there are, except for one rank on each host and the one oversubscribed column. Named
        numbers are measured in every combination.
        """
        assert self.hosts is not None
        count = len(self.hosts)
        most = max(count, self.all_cores if self.quick else 2 * self.all_cores)
        ranks = self.ranks or (count, 2 * count)
        found = {(each, threads) for each in ranks for threads in self.threads or self._whole()}
        return sorted(pair for pair in found if self.ranks or self.threads or pair[0] * pair[1] <= most)

    def pairs(self) -> list[tuple[int, int]]:
        """(ranks, threads) in ascending order. If both are named: every combination. Otherwise: every split of 1, 2, 4,
        ... cores, of all cores and of all but one (which leaves one to the system), and of twice as many (the one
        oversubscribed column), as far as they contain the named ranks or threads; a named number is always measured.
        """
        return self._splits((*self._whole(), *self._spare(), *self._crowded()))

    def pairs_with_a_core_free(self) -> list[tuple[int, int]]:
        """The same without the oversubscribed column, and always with the settings that leave a core free."""
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
        """All cores but one; empty with --quick."""
        return () if self.quick or self.cores < 2 else (self.cores - 1,)

    def _crowded(self) -> tuple[int, ...]:
        """The oversubscribed column; empty with --quick."""
        return () if self.quick else (2 * self.cores,)

    def _whole(self) -> tuple[int, ...]:
        """1, 2, 4, ... up to all cores."""
        powers = [2**power for power in range(self.cores.bit_length()) if 2**power < self.cores]
        return (*powers, self.cores)


@dataclass(frozen=True)
class Alone:
    """The program is started directly; its arguments give the number of threads."""

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
    each: str = ""
    """The threads of each rank, such as 2,2,1, where not all have as many as the first."""

    @property
    def counts(self) -> tuple[str, ...]:
        """The options for ranks and threads."""
        return ("-n", str(self.ranks), "-t", self.each or str(self.threads))


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
    """The actual command: the argument list, and the variables set in addition to the tool's own environment."""

    arguments: tuple[str, ...]
    variables: Mapping[str, str]

    def __str__(self) -> str:
        return shlex.join([*(f"{name}={value}" for name, value in self.variables.items()), *self.arguments])


@dataclass(frozen=True)
class Point:
    """One start of one program."""

    suite: str
    metric: str
    """The suite's first figure, used in the row of a point that could not be measured."""
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
    """The expected seconds of one sample, if they are not small compared with the budget."""
    setup_seconds: float = 0.0
    """The expected seconds to set up the problem and check the results."""
    variables: Mapping[str, str] | None = None
    built_on: Peer | None = None
    """Third-party software without which the program does not exist."""
    again: int = 0
    """How often it was measured before in this evaluation; all samples are merged into the rows of the first time."""

    @property
    def peers(self) -> tuple[Peer, ...]:
        """All third-party software without which the point cannot be measured."""
        launched_by = (self.launcher.mpi,) if isinstance(self.launcher, Mpirun) else ()
        return (*launched_by, *((self.built_on,) if self.built_on else ()))

    @property
    def installation(self) -> Installation | None:
        """The installation of the peer that it measures, if the user has named it."""
        return next((peer.installation for peer in self.peers if peer.installation), None)

    @property
    def key(self) -> str:
        """A unique name of the point, the same on every run."""
        return f"{self.setting}, again {self.again}" if self.again else self.setting

    @property
    def setting(self) -> str:
        """The setting of the point: points with the same setting are repeats whose samples belong to the same rows."""
        settings = (f"{name}={value}" for name, value in (self.variables or {}).items() if name.startswith("KUMIKI_"))
        return f"{self.suite}: {shlex.join([*settings, *self._starter_words(), self.program, *self.arguments])}"

    @property
    def warm_up(self) -> bool:
        """Whether the point only warms up and its figures do not count."""
        return False

    @property
    def may_settle(self) -> bool:
        """Whether measuring the point again may settle figures that have not converged, as for programs that sample
        until their figures have settled."""
        return True

    @property
    def label(self) -> str:
        """The point in a few words, for the progress display."""
        ranks, threads = self.place
        return f"{self.suite}: {self.implementation}, {ranks} x {threads}"

    @property
    def location(self) -> Mapping[str, int | str]:
        """Parameters added to all rows of the point: the number of hosts."""
        hosts = self.launcher.hosts
        return {"hosts": len(hosts)} if hosts and len(hosts) > 1 else {}

    @property
    def place(self) -> tuple[int, int]:
        """(ranks, threads): points of one place are peers and are measured side by side."""
        return self.launcher.ranks, self.launcher.threads

    @property
    def total(self) -> int:
        """The number of threads of execution."""
        return self.launcher.ranks * self.launcher.threads

    @property
    def fixed_seconds(self) -> float:
        """The part of the estimate that does not depend on the budget."""
        return self.launcher.startup_seconds + self.setup_seconds + self.figures * WARM_UPS * self.sample_seconds

    @property
    def estimated_seconds(self) -> float:
        return self.fixed_seconds + self.figures * max(self.seconds, FEWEST_SAMPLES * self.sample_seconds)

    @property
    def limit_seconds(self) -> float:
        """When the point counts as hanging; generous, because a slow or busy machine is not a hang."""
        return round(30 + 10 * self.estimated_seconds)

    @property
    def mend(self) -> str:
        """What to do when the program cannot be started."""
        return mend()

    def reader(self, cores: int) -> Reader:
        """The reader of the program's output on a machine with `cores` usable cores.

        Only under Kumiki's own launcher a program knows the cores of its job: mpirun binds each process to one of them,
        and runtimes of OpenMP count processors, of which a core may have two.
        """
        return RowReader(self.location, None if isinstance(self.launcher, KumikiRun) else self.all_cores(cores))

    def all_cores(self, cores: int) -> int:
        """The cores of all its hosts together, if each has so many; hosts on one machine share its cores."""
        hosts = self.launcher.hosts
        return cores if hosts is None or hosts.one_machine else len(hosts) * cores

    def limit(self, wanted: float | None) -> float:
        """The seconds that it may take; `wanted` is the user's limit, if any."""
        return self.limit_seconds if wanted is None else min(self.limit_seconds, wanted)

    def command(self, native: Native, cores: int) -> Command:
        """The command line on a machine with `cores` usable cores."""
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
            words = (str(native.command("kumiki-run")), *hosts, *starter.counts, *starter.options)
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
        """The command before the program, in words that do not depend on the machine."""
        starter = self.launcher
        hosts = ("--hosts", str(len(starter.hosts))) if starter.hosts else ()
        if isinstance(starter, KumikiRun):
            return "kumiki-run", *hosts, *starter.counts, *starter.options
        if isinstance(starter, Mpirun):
            return f"mpirun.{starter.mpi.name}", *hosts, "-n", str(starter.ranks)
        return ()

    def absence(self, native: Native) -> str | None:
        """Why the point cannot be measured here because third-party software is missing; None if it can."""
        if self.installation:
            # Its program is built before anything is measured, provided that Kumiki's own could be built.
            others = tuple(peer for peer in self.peers if not peer.installation)
            own = self.program.removesuffix(f"-{self.implementation}")
            return absence(f"the program {own}", others) if others and not native.has(native.program(own)) else None
        if isinstance(self.launcher, Mpirun) and mpi.launcher(self.launcher.mpi) is None:
            return absence(f"mpirun.{self.launcher.mpi.name}", (self.launcher.mpi,))
        if self.peers and not native.has(native.program(self.program)):
            return absence(f"the program {self.program}", self.peers)
        return None

    def absence_told_by(self, rows: Sequence[ProgramRow], errors: Sequence[str]) -> str | None:
        """Why the point cannot be measured here, as its program's rows or its last errors show; None if they do not."""
        starter = self.launcher
        if not isinstance(starter, Mpirun) or starter.ranks == 1:
            return None
        if all(row.parameters.get("ranks") != 1 for row in rows) and not any(ALONE in error for error in errors):
            return None
        return (
            f"The {starter.ranks} processes that {starter.mpi.title} starts do not find each other: its library does "
            "not understand its launcher (so it is with MPICH 4.2.0 of Ubuntu 24.04). Install another version of it."
        )


@dataclass(frozen=True)
class Program:
    """A program of the native part, and the third-party software without which it does not exist."""

    name: str
    peer: Peer | None = None


def with_mpi(name: str, built_on: Peer | None = None) -> tuple[Program, ...]:
    """Kumiki's own program of this name, and that of each MPI."""
    return (Program(name, built_on), *(Program(f"{name}-{peer.name}", peer) for peer in mpi.ALL))


Builder = Callable[[Grid], Sequence[Point]]


@dataclass(frozen=True)
class Suite:
    """A set of points that answers one question."""

    name: str
    title: str
    sentence: str
    headline: tuple[str, ...]
    """The metrics that are printed while it runs; the report and results.json contain all of them."""
    programs: tuple[Program, ...]
    """The programs of the native part that it starts."""
    build: Builder | None
    """None: it does not apply to a single host."""
    seconds: float
    """The maximum seconds of all its points together."""
    quick_seconds: float
    build_over_hosts: Builder | None = None
    """None: it does not apply to several hosts."""
    by_name: bool = False
    """Measured only if the user names it, which keeps the default evaluation short."""
    limits_programs: bool = False
    """Whether the first screen tells what its headline figures mean for programs."""
    described: Described | None = None
    """The program's description in the report; None if the suite measures the machine and no program."""

    @property
    def leads(self) -> bool:
        """Whether the first screen of the report is about its headline figures."""
        return self.limits_programs or self.described is not None

    def builder(self, over_hosts: bool) -> Builder | None:
        return self.build_over_hosts if over_hosts else self.build

    def points(self, grid: Grid) -> list[Point]:
        """The suite's points; if they would take longer than the suite may, all budgets shrink by the same factor.

        Peers that the user names lengthen the suite: with and without them every point is measured for the same time.
        """
        build = self.builder(grid.hosts is not None)
        points = list(build(grid)) if build else []
        usual = [point for point in points if not point.installation]
        allowed = self.quick_seconds if grid.quick else self.seconds
        wanted = sum(point.figures * point.seconds for point in usual)
        left = allowed - sum(point.fixed_seconds for point in usual)
        factor = min(1.0, left / wanted) if wanted > 0 else 1.0
        return [replace(point, seconds=round(max(point.seconds * factor, LEAST_SECONDS), 2)) for point in points]
