"""Selects rows: those that belong to one program, one problem, one form, one setting of ranks x threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from kumiki import suites
from kumiki.report.analysis.compare import best, better, cheapest, speed
from kumiki.report.analysis.model import Results
from kumiki.report.quantity import count_text, plural
from kumiki.results.implementation import MPIS, UCX
from kumiki.results.row import Row
from kumiki.suites.described import Bound, Described, Paper

Setting = tuple[int, int]
"""(ranks, threads per rank)"""

Parameters = tuple[tuple[str, int | str], ...]
"""Some of a row's parameters, in a fixed order."""

BETWEEN = ("from", "to")
"""The parameters of a row about one pair of hosts."""
FABRICS = {"shm": "within a host", "network": "between hosts"}
"""The paths of messages, in words."""
OWN_RULE = 0
"""Stands for a length of fragments: the library's own rule, which applies if no length is set."""
PARTS = ("computation", "communication", "synchronisation")
ORDER = ("kumiki", *MPIS, UCX)
"""The order in which implementations that move data between ranks are shown; those that the user named follow by name.
"""

_SIZES = ("size", "keys", "class", "iterations", "sweeps", "count", "steps")
_PLACES = ("form", "ranks", "threads", "working", "hosts")
_CLASSES = ("S", "W", "A", "B", "C", "D", "E", "F")
"""NPB's problem classes, the smallest first."""
_NAMED_SIZES = ("SS", "S", "M", "L", "XL")
"""The Himeno benchmark's sizes, the smallest first."""


@dataclass(frozen=True)
class Program:
    """A program: the names in its rows, and the description in its suite."""

    suite: str
    described: Described
    by_name: bool = False
    """Measured only if the user names its suite: without it, the report is not incomplete."""

    @property
    def title(self) -> str:
        return self.described.title

    @property
    def paper(self) -> Paper:
        return self.described.paper

    @property
    def bound(self) -> Bound:
        return self.described.bound

    def metric(self, figure: str) -> str:
        return f"{self.suite.replace('-', '_')}.{figure}"


PROGRAMS = tuple(
    Program(suite.name, suite.described, suite.by_name) for suite in suites.ALL if suite.described is not None
)
"""All programs that suites describe, in the order of the page."""


@dataclass(frozen=True)
class Problem:
    """One program at one size in one variant: the rows that may be compared with each other."""

    program: Program
    size: Parameters
    variant: Parameters
    results: Results

    @cached_property
    def label(self) -> str:
        """The problem in words: '640 × 640, 1000 iterations', 'size M, 10 sweeps', 'class A', '4 Mi keys'."""
        words = {
            "size": lambda v: f"{v} × {v}" if isinstance(v, int) else f"size {v}",
            "keys": lambda v: f"{count_text(v)} keys",
            "class": lambda v: f"class {v}",
            "iterations": lambda v: f"{v} iterations",
            "kernel": lambda v: f"{v} kernel",
            "sweeps": lambda v: f"{v} sweeps",
            "count": lambda v: f"{v} points",
            "steps": lambda v: f"{v} steps",
            "method": lambda v: str(v).replace("-", " "),
        }
        return ", ".join(
            words[name](value) if name in words else f"{name} {value}" for name, value in self.size + self.variant
        )

    @cached_property
    def title(self) -> str:
        return f"{self.program.title} ({self.label})" if self.label else self.program.title

    @cached_property
    def bounds(self) -> dict[int, Row]:
        """The rates that bound the program, by number of threads; empty if none was measured."""
        rows = self.results.where(self.program.bound.metric or self.program.metric("bound"))
        found = [
            row for row in rows if row.usable and self._holds(row) and dict(self.size).items() <= row.parameters.items()
        ]
        return dict(sorted({row.threads: row for row in found}.items()))

    @property
    def name(self) -> str:
        """The program within a sentence."""
        return self.program.title

    def series_name(self, ranks: int | None) -> str:
        """The name of a line over processors: for so many ranks, or for all settings (None)."""
        return "Kumiki" if ranks is None else f"Kumiki, {plural(ranks, 'rank')}"

    def command(self, setting: Setting) -> str:
        """The command that runs the program in a setting."""
        return command(setting, self.results)

    def option(self, setting: Setting) -> str:
        """The setting in a few words."""
        return option(setting)

    @cached_property
    def rows(self) -> list[Row]:
        """The usable rows of the time metric: hybrid ones of just this variant, others that do not contradict it.

        Where several suites have measured the same, the program's own suite has measured it beside the program's other
        figures.
        """
        rows = [row for row in self.results.where(self.program.metric("time")) if row.usable and self._holds(row)]
        own = {row.figure for row in rows if row.suite == self.program.suite}
        return [row for row in rows if row.suite == self.program.suite or row.figure not in own]

    def _holds(self, row: Row) -> bool:
        if any(row.parameters.get(name, value) != value for name, value in self.size):
            return False
        if row.text("form") == "hybrid":
            return variant_of(row) == self.variant
        wanted, said = dict(self.variant), dict(variant_of(row))
        # Another method makes another program of every form; the usual method is not recorded.
        if said.get("method") != wanted.get("method"):
            return False
        return all(wanted.get(name, value) == value for name, value in said.items())

    def form(self, *names: str) -> list[Row]:
        return [row for row in self.rows if row.text("form") in names]

    @cached_property
    def sequential(self) -> Row | None:
        return best(self.form("sequential"))

    @cached_property
    def hybrid(self) -> dict[Setting, Row]:
        return by_setting(self.form("hybrid"))

    @cached_property
    def messages(self) -> dict[Setting, Row]:
        """Kumiki's own message-passing form."""
        return by_setting(self.form("message"))

    @cached_property
    def openmp(self) -> dict[Setting, Row]:
        return by_setting(self.form("openmp"))

    @cached_property
    def mpi(self) -> dict[str, dict[Setting, Row]]:
        """The plain message-passing form by implementation of MPI."""
        rows = self.form("mpi")
        names = in_order((row.implementation for row in rows), self.results.mpis)
        return {name: by_setting(row for row in rows if row.implementation == name) for name in names}

    @cached_property
    def library(self) -> list[Row]:
        return self.form("library")

    @cached_property
    def base(self) -> Row | None:
        """The base of every speed-up: the sequential form, or, if it was not measured, one rank with one thread."""
        return self.sequential or self.hybrid.get((1, 1)) or self.openmp.get((1, 1))

    @cached_property
    def base_words(self) -> str:
        if self.base is None:
            return "no base case was measured"
        form = "the sequential form" if self.base is self.sequential else "one rank of one thread"
        return f"{form} of the same problem"

    @cached_property
    def base_place(self) -> str:
        """How the base case was run, if it is not the sequential form."""
        return "with one rank of one thread"

    @cached_property
    def fitting(self) -> dict[Setting, Row]:
        """The hybrid settings that have a core for every thread: only these are recommended, if there are any.

        A row with more threads than cores comes from one start, whose luck the next one need not have. Moreover, most
        programs leave the surplus threads idle, so that such a row measures a smaller setting once more.
        """
        found = {setting: row for setting, row in self.hybrid.items() if not row.oversubscribed}
        return found or self.hybrid

    @cached_property
    def fastest(self) -> Row | None:
        """The setting with the best median among those with a core for every thread."""
        return best(self.fitting.values())

    @cached_property
    def best_hybrid(self) -> tuple[Setting, Row] | None:
        """The setting to recommend: the cheapest one that is the fastest or equal to it.

        If any is shown to be better than the base case, the recommended one must be, too.
        """
        rows, base = list(self.fitting.values()), self.base
        chosen = cheapest([row for row in rows if base and better(row, base)] or rows)
        return ((chosen.ranks, chosen.threads), chosen) if chosen else None

    def best_by_processors(self) -> list[Row]:
        """The best row for each number of processors, without rows with more processors than cores."""
        fitting = [row for row in self.hybrid.values() if not row.oversubscribed]
        counts = sorted({row.processors for row in fitting})
        return [row for count in counts if (row := best(r for r in fitting if r.processors == count))]

    def speedup(self, row: Row, value: float | None = None) -> float | None:
        """How many times as fast as the base case a row is, or would be with another value than its median."""
        return self.base.value / (row.value if value is None else value) if self.base and row.measured else None

    def efficiency(self, row: Row) -> float | None:
        gain = self.speedup(row)
        return gain / row.processors if gain is not None else None

    def part(self, row: Row, name: str) -> Row | None:
        """The part of the time of `row` that was spent in computation, communication or synchronisation."""
        return self._same_run(row, self.program.metric(name))

    @cached_property
    def part_names(self) -> Sequence[str]:
        """The parts that its paper distinguishes, if they were measured; otherwise those of all programs."""
        own = self.program.described.parts
        return own if own and any(self.part(row, own[0]) for row in self.rows) else PARTS

    def rate(self, row: Row) -> Row | None:
        return self._same_run(row, self.program.metric("rate"))

    def parts(self, row: Row, names: Sequence[str] = PARTS) -> dict[str, Row]:
        found = {name: self.part(row, name) for name in names}
        return {name: part for name, part in found.items() if part is not None}

    def shared(self, row: Row) -> float | None:
        """The share of its time that a row spent in communication and synchronisation; None if this was not recorded.

        Each part is the largest over the ranks, so the parts may add up to more than the time; the share is therefore
        one of their sum.
        """
        parts = self.parts(row)
        whole = sum(part.value for part in parts.values())
        if PARTS[0] not in parts or len(parts) < 2 or whole <= 0:
            return None
        return sum(part.value for name, part in parts.items() if name != PARTS[0]) / whole

    def _same_run(self, row: Row, metric: str) -> Row | None:
        return next(
            (
                other
                for other in self.results.rows
                if other.suite == row.suite
                and other.metric == metric
                and other.median is not None
                and other.validated is not False
                and other.implementation == row.implementation
                and other.parameters == row.parameters
            ),
            None,
        )


def problems(results: Results, program: Program) -> list[Problem]:
    """The problems of a program, the principal one first: the paper's if it was measured, otherwise the one with the
    most rows, the largest of these.
    """
    rows = [row for row in results.where(program.metric("time")) if row.usable]
    # The parameters of a hybrid row determine the variant: a peer may have other parameters, or leave them out.
    leading = [row for row in rows if row.text("form") == "hybrid"]
    leading += [row for row in rows if size_of(row) not in {size_of(other) for other in leading}]
    found = dict.fromkeys((size_of(row), variant_of(row)) for row in leading)
    return sorted((Problem(program, size, variant, results) for size, variant in found), key=_rank)


def size_of(row: Row) -> Parameters:
    return tuple((name, row.parameters[name]) for name in _SIZES if name in row.parameters)


def variant_of(row: Row) -> Parameters:
    """A row's parameters besides size, form, ranks and threads: the kernel used, how it communicates, ..."""
    return tuple(sorted((n, v) for n, v in row.parameters.items() if n not in _SIZES and n not in _PLACES))


def principal(results: Results, program: Program) -> Problem | None:
    found = problems(results, program)
    return found[0] if found else None


def _rank(problem: Problem) -> tuple[bool, int, float, float, str]:
    """Sorts the principal problem first; of several variants of one size, the fastest represents the program."""
    published = problem.program.described.problem in problem.size and len(problem.hybrid) > 1
    fastest = min((row.value for row in problem.hybrid.values()), default=float("inf"))
    return (not published, -len(problem.hybrid), -magnitude(problem), fastest, problem.label)


def magnitude(problem: Problem) -> float:
    """The size of the problem, for comparison with other problems of its program."""
    sizes = dict(problem.size)
    size = sizes.get("class") or sizes.get("size") or sizes.get("keys") or sizes.get("count") or 0
    names = _CLASSES if "class" in sizes else _NAMED_SIZES
    if isinstance(size, str):
        return float(names.index(size)) if size in names else -1.0
    return float(size)


def cores(results: Results) -> int | None:
    """The number of cores that a job could use, on all hosts together: as recorded, otherwise the most processors of
    any row that was not oversubscribed.
    """
    cluster = results.environment.get("cluster") or {}
    if cluster.get("cores"):
        return int(cluster["hosts"] * cluster["cores"])
    recorded = (results.environment.get("cpu") or {}).get("usable_cores")
    if isinstance(recorded, int) and recorded > 0:
        return recorded
    used = [
        row.processors
        for row in results.rows
        if row.measured and not row.oversubscribed and ("ranks" in row.parameters or "threads" in row.parameters)
    ]
    return max(used, default=None)


def in_order(implementations: Iterable[str], order: Sequence[str] = ORDER) -> list[str]:
    """Each once: those of `order` first, in that order, then the others by name."""
    return sorted(set(implementations), key=lambda name: (order.index(name) if name in order else len(order), name))


def network_rows(results: Results, metric: str) -> list[Row]:
    """The usable rows between the first two hosts, which contain every operation and size."""
    return [row for row in results.where(metric) if row.usable and not set(BETWEEN) & set(row.parameters)]


def by_bytes(rows: Iterable[Row]) -> dict[int, Row]:
    """The usable rows that have a size, by that size in ascending order."""
    return dict(sorted({row.count("bytes"): row for row in rows if row.usable and "bytes" in row.parameters}.items()))


def transfer_bound(results: Results, between_hosts: bool) -> tuple[str, dict[int, Row]]:
    """The bound of the bandwidth of transfers, by size: a copy within a host, plain TCP between hosts."""
    if not between_hosts:
        return "memcpy", by_bytes(results.where("bound.memcpy"))
    return "plain TCP", by_bytes(
        row for row in network_rows(results, "network.bandwidth") if row.implementation == "tcp"
    )


def setting_words(setting: Setting) -> str:
    ranks, threads = setting
    return f"{ranks} × {threads}"


def command(setting: Setting, results: Results) -> str:
    """The command that runs a program in this setting, over the measured hosts if there were several."""
    cluster = results.environment.get("cluster") or {}
    option = cluster.get("option") or (f"--cluster {cluster['name']}" if cluster else "")
    over = f"{option} " if option else ""
    return f"`kumiki run {over}-n {setting[0]} -t {setting[1]}`"


def option(setting: Setting) -> str:
    return f"`-n {setting[0]} -t {setting[1]}`"


def by_setting(rows: Iterable[Row]) -> dict[Setting, Row]:
    settings: dict[Setting, Row] = {}
    for row in rows:
        key = (row.ranks, row.threads)
        known = settings.get(key)
        if known is None or speed(row) > speed(known):
            settings[key] = row
    return dict(sorted(settings.items()))
