"""The points that all programs of the papers share: the same problem in every form."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from kumiki.machine.peer import Peer
from kumiki.suites import bound
from kumiki.suites.model import Alone, Grid, KumikiRun, Launcher, Mpirun, Point

FULL_SECONDS = 0.8
SAMPLES = 6
"""This many samples settle a figure that does not scatter (measure/interval.hpp); they may exceed the budget."""
QUICK_SECONDS = 0.2
CUTS_DIFFER_FROM = 4
"""With fewer workers, cutting a grid into rows gives the smallest surface between its parts."""


@dataclass(frozen=True)
class Workload:
    """One problem, and the program that solves it in several forms."""

    suite: str
    program: str
    metric: str
    """Its time, `thing.time`."""
    arguments: tuple[str, ...]
    parameters: Mapping[str, int | str]
    one_core_seconds: float
    """Seconds of one solution on one core, for the estimate."""
    built_on: Peer | None = None
    """Third-party software without which the program does not exist."""
    setup_seconds: float = 0.0
    """Seconds to set up the problem and check its solutions, for the estimate."""
    in_messages: bool = False
    """Whether the program has the form `message`."""
    most_workers: int | None = None
    """The largest number of parts into which the problem can be cut."""
    traffic: bound.Traffic | None = None
    """The data that it must move; None if they are no bound, or are not known."""

    def variant(self, name: str, value: str, *arguments: str) -> Workload:
        """The same problem solved in another way, which the arguments select and the rows record."""
        return replace(self, arguments=(*self.arguments, *arguments), parameters={**self.parameters, name: value})

    def in_tiles(self, name: str = "tiles") -> Workload:
        """The same problem with its grid cut in both directions, under the program's name for this."""
        return self.variant("split", name, "--split", name)

    def everywhere(self, grid: Grid) -> list[Point]:
        """The problem in every form, over the whole grid."""
        return self._fitting(
            self.point(grid, Alone(), "sequential"),
            *(self.openmp(grid, threads) for threads in grid.thread_counts()),
            *(self.hybrid(grid, pair) for pair in grid.pairs()),
            *self.message(grid, grid.rank_counts()),
            *self.mpi(grid, grid.rank_counts()),
            *self.bounds(grid, grid.thread_counts(oversubscribed=False)),
        )

    def where_it_tells(self, grid: Grid) -> list[Point]:
        """The problem on one core, and on all cores in every split."""
        return self._fitting(
            self.point(grid, Alone(), "sequential"),
            *(self.openmp(grid, threads) for threads in grid.thread_counts() if threads == grid.cores),
            *(self.hybrid(grid, pair) for pair in grid.pairs() if pair[0] * pair[1] == grid.cores),
            *self.message(grid, [ranks for ranks in grid.rank_counts() if ranks == grid.cores]),
            *self.mpi(grid, [ranks for ranks in grid.rank_counts() if ranks == grid.cores]),
            *self.bounds(grid, {1, grid.cores}),
        )

    def as_series(self, grid: Grid) -> list[Point]:
        """The informative points and those needed for a line over processors: ranks only, threads only, MPIs."""
        fewer = [pair for pair in grid.pairs() if 1 in pair and 1 < pair[0] * pair[1] < grid.cores]
        few_ranks = [ranks for ranks in grid.rank_counts() if 1 < ranks < grid.cores]
        more = self._fitting(*(self.hybrid(grid, pair) for pair in fewer), *self.mpi(grid, few_ranks))
        return [*self.where_it_tells(grid), *more]

    def at_both_ends(self, grid: Grid) -> list[Point]:
        """A problem that takes minutes: on one core, and on all of them by ranks, by threads and by each MPI."""
        ends = [pair for pair in grid.pairs() if 1 in pair and pair[0] * pair[1] == grid.cores > 1]
        return self._fitting(
            self.point(grid, Alone(), "sequential"),
            *(self.hybrid(grid, pair) for pair in ends),
            *self.mpi(grid, [ranks for ranks in grid.rank_counts() if ranks == grid.cores > 1]),
            *self.bounds(grid, {1, grid.cores}),
        )

    def _fitting(self, *points: Point) -> list[Point]:
        """The points with no more workers than the number of parts into which the problem can be cut."""
        return [point for point in points if self.most_workers is None or point.total <= self.most_workers]

    def over_hosts(self, grid: Grid) -> list[Point]:
        """The base case on one core, and the problem over hosts: ranks and threads, and each MPI's ranks."""
        assert grid.hosts is not None
        pairs, few = grid.pairs_over_hosts(), max(len(grid.hosts), grid.all_cores)
        counts = dict.fromkeys(ranks for ranks, _ in pairs if grid.ranks or ranks <= few)
        return [
            self.point(grid, KumikiRun(1, hosts=grid.hosts.for_ranks(1)), "sequential"),
            *(self.hybrid(grid, pair) for pair in pairs),
            *self.message(grid, list(counts)),
            *self.mpi(grid, list(counts)),
        ]

    def over_few_hosts(self, grid: Grid) -> list[Point]:
        """With messages, one rank on each of 2, 4, ... hosts: the gain from more hosts (Maestro, Figures 6 and 7)."""
        assert grid.hosts is not None
        if grid.quick or grid.ranks:
            return []
        counts = [2**power for power in range(1, len(grid.hosts).bit_length()) if 2**power < len(grid.hosts)]
        return [*self.message(grid, counts), *self.mpi(grid, counts)]

    def openmp(self, grid: Grid, threads: int) -> Point:
        return self.point(
            grid,
            Alone(threads),
            "openmp",
            ("--threads", str(threads)),
            implementation="openmp",
            variables=places(grid, threads),
        )

    def bounds(self, grid: Grid, thread_counts: Collection[int]) -> list[Point]:
        """The data that the problem must move, moved by this many threads."""
        named = [f"--parameter={name}={value}" for name, value in self.parameters.items()]
        of = self.metric.removesuffix(".time")
        return [
            Point(
                suite=self.suite,
                metric=f"{of}.bound",
                implementation="bound",
                program=bound.PROGRAM.name,
                arguments=("--of", of, *named, *self.traffic.options, "--threads", str(threads)),
                launcher=Alone(threads),
                parameters={**self.parameters, "form": bound.FORM, "ranks": 1, "threads": threads},
                unit=self.traffic.unit,
                better="higher",
                seconds=bound.QUICK_SECONDS if grid.quick else bound.SECONDS,
                sample_seconds=self.traffic.sample_seconds(min(threads, grid.cores)),
                setup_seconds=self.traffic.setup_seconds,
                variables=places(grid, threads),
            )
            for threads in sorted(thread_counts)
            if self.traffic
        ]

    def between_ranks(self, grid: Grid) -> list[Point]:
        """All cores, in every split with several ranks, where the method of communication matters."""
        return [self.hybrid(grid, pair) for pair in grid.pairs() if pair[0] > 1 and pair[0] * pair[1] == grid.cores]

    def hybrid(self, grid: Grid, pair: tuple[int, int], form: str = "hybrid") -> Point:
        hosts = grid.hosts.for_ranks(pair[0]) if grid.hosts else None
        return self.point(grid, KumikiRun(*pair, hosts=hosts), form)

    def message(self, grid: Grid, rank_counts: Sequence[int]) -> list[Point]:
        """With Kumiki's messages, like the MPI programs and comparable with them: one thread in each rank."""
        counts = rank_counts if self.in_messages else ()
        return [self.hybrid(grid, (ranks, 1), "message") for ranks in counts if ranks > 1]

    def mpi(self, grid: Grid, rank_counts: Sequence[int]) -> list[Point]:
        """Each MPI's form; a quick evaluation uses only the largest number of ranks, because mpirun starts slowly."""
        chosen = rank_counts if not grid.quick or grid.ranks else rank_counts[-1:]
        return [
            self.point(
                grid,
                Mpirun(peer, ranks, hosts=grid.hosts.for_ranks(ranks) if grid.hosts else None),
                "mpi",
                implementation=peer.name,
            )
            for peer in grid.mpis
            for ranks in chosen
        ]

    def point(
        self,
        grid: Grid,
        launcher: Launcher,
        form: str,
        arguments: tuple[str, ...] = (),
        implementation: str = "kumiki",
        variables: Mapping[str, str] | None = None,
    ) -> Point:
        """One point; the form is an argument of the program, except for MPI, which is a separate program."""
        total = launcher.ranks * launcher.threads
        own_program = isinstance(launcher, Mpirun)
        sample_seconds = self.one_core_seconds / min(total, grid.cores)
        return Point(
            suite=self.suite,
            metric=self.metric,
            implementation=implementation,
            program=f"{self.program}-{implementation}" if own_program else self.program,
            arguments=(*(() if own_program else ("--form", form)), *self.arguments, *arguments),
            launcher=launcher,
            parameters={**self.parameters, "form": form, "ranks": launcher.ranks, "threads": launcher.threads},
            unit="s",
            better="lower",
            seconds=QUICK_SECONDS if grid.quick else max(FULL_SECONDS, SAMPLES * sample_seconds),
            sample_seconds=sample_seconds,
            setup_seconds=self.setup_seconds,
            variables=variables,
            built_on=self.built_on,
        )


def places(grid: Grid, threads: int) -> Mapping[str, str]:
    """Binds each OpenMP thread to its own core if there are enough."""
    return {"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"} if threads <= grid.cores else {}


@dataclass(frozen=True)
class Problems:
    """A program's problems of several sizes: which of them are measured, and over which settings."""

    quick: Workload
    """The one for --quick."""
    usual: Workload
    others: Sequence[Workload] = ()
    in_tiles: Workload | None = None
    """One of them, with its grid cut in both directions."""
    long: Sequence[Workload] = ()
    """Sizes that take minutes."""

    def main(self, grid: Grid) -> Workload:
        """The problem that is measured in every form."""
        return self.quick if grid.quick else self.usual

    def everywhere(self, grid: Grid) -> list[Point]:
        """The main problem in every form over the whole grid, and the others as series, except with --quick."""
        if grid.quick:
            return self.quick.everywhere(grid)
        others = [point for workload in self.others for point in workload.as_series(grid)]
        others += [point for workload in self.long for point in workload.at_both_ends(grid)]
        cut = self.in_tiles.between_ranks(grid) if self.in_tiles and grid.cores >= CUTS_DIFFER_FROM else []
        return [*self.usual.everywhere(grid), *others, *cut]

    def over_hosts(self, grid: Grid) -> list[Point]:
        return self.main(grid).over_hosts(grid)
