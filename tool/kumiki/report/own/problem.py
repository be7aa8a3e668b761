"""The rows of `kumiki evaluate -- COMMAND` as a problem: settings, base case, speed-ups (F66)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kumiki.report.analysis.compare import best, clearly_better
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import Problem, Program, Setting, by_setting
from kumiki.report.quantity import amount, plural
from kumiki.results.row import Row
from kumiki.suites.described import Described

SUITE = "command"
PROGRAM = Program(SUITE, Described("Your program"))
GROWING = Program(SUITE, Described("Your program with growing work"))


@dataclass(frozen=True)
class OwnProblem(Problem):
    """The user's program with constant work on any number of processors, or with work that grows with them."""

    weak: bool = False

    @property
    def name(self) -> str:
        return self.program.title[0].lower() + self.program.title[1:]

    @property
    def caption(self) -> str:
        """The program and its base case."""
        return f"{self.program.title}; base case: {self.base_words}" + (f", {amount(self.base)}" if self.base else "")

    def series_name(self, ranks: int | None) -> str:
        alone = len({ranks for ranks, _ in self.hybrid}) == 1
        return "measured" if ranks is None or alone else plural(ranks, "rank")

    def command(self, setting: Setting) -> str:
        """The command that was run, according to its rows."""
        return f"`{self.hybrid[setting].note}`"

    def option(self, setting: Setting) -> str:
        ranks, threads = setting
        if ranks == 1:
            return plural(threads, "thread")
        return plural(ranks, "rank") + (f" with {plural(threads, 'thread')}" if threads > 1 else "")

    @cached_property
    def metric(self) -> str:
        """The figure to evaluate: the one that the user named, else the wall time."""
        named = asked(self.results).get("metric")
        return f"{SUITE}.{named['name']}" if named else self.program.metric("time")

    @cached_property
    def rows(self) -> list[Row]:
        """The usable rows of this scaling; growing work starts with the rows on the fewest processors."""
        found = [row for row in self.results.where(self.metric) if row.usable]
        fewest = _fewest(row for row in found if not _sequential(row))
        return [
            row
            for row in found
            if _sequential(row) or row.processors == fewest or (row.text("scaling") == "weak") is self.weak
        ]

    @cached_property
    def hybrid(self) -> dict[Setting, Row]:
        return by_setting(row for row in self.rows if not _sequential(row))

    @cached_property
    def fitting(self) -> dict[Setting, Row]:
        """Includes oversubscribed settings that win clearly: every run was a separate start, so such a setting has won
        repeatedly."""
        roomy = super().fitting
        top = best(roomy.values())
        return {s: row for s, row in self.hybrid.items() if s in roomy or (top and clearly_better(row, top))}

    @cached_property
    def best_hybrid(self) -> tuple[Setting, Row] | None:
        """The setting to recommend, as for any program; with growing work no setting is the best."""
        return None if self.weak else super().best_hybrid

    @cached_property
    def base(self) -> Row | None:
        """The sequential form, or the best on the fewest processors; m processors count as m times as fast as one."""
        few = _fewest(self.hybrid.values())
        return self.sequential or best(row for row in self.hybrid.values() if row.processors == few)

    @cached_property
    def base_words(self) -> str:
        if self.base is None:
            return "no base case was measured"
        if self.base is self.sequential:
            return "the sequential form"
        count = self.base.processors
        return "one processor" if count == 1 else f"{count} processors, assumed to be {count} times as fast as one"

    @cached_property
    def base_place(self) -> str:
        count = self.base.processors if self.base else 1
        return "on one processor" if count == 1 else f"on {count} processors"

    def speedup(self, row: Row, value: float | None = None) -> float | None:
        """S_n = T_1 / T_n by times and R_n / R_1 by rates; with growing work the times count for as much more work."""
        if self.base is None:
            return None
        value = row.value if value is None else value
        if row.better == "higher":
            return value / self.base.value * self.base.processors
        return self._work(row) * self.base.value / value * self.base.processors

    def _work(self, row: Row) -> float:
        """How many times the work on the fewest processors, which is that of the sequential form, too."""
        if row.text("scaling") != "weak":
            return 1.0
        request = asked(self.results)
        if "size" in row.parameters:
            return float((row.count("size") / request["size"]) ** request["power"])
        return row.processors / _fewest(self.hybrid.values())


def asked(results: Results) -> Mapping[str, Any]:
    """The request to measure the user's program; empty in an evaluation of suites."""
    found = results.arguments.get("command")
    return found if isinstance(found, Mapping) else {}


def own_problems(results: Results) -> list[OwnProblem]:
    """The user's program in each scaling that was measured."""
    scaling = asked(results).get("scaling")
    wanted = {"strong": [False], "weak": [True], "both": [False, True]}.get(str(scaling), [])
    found = [OwnProblem(GROWING if weak else PROGRAM, (), (), results, weak) for weak in wanted]
    return [problem for problem in found if problem.hybrid]


def _sequential(row: Row) -> bool:
    return row.text("form") == "sequential"


def _fewest(rows: Iterable[Row]) -> int:
    return min((row.processors for row in rows), default=1)
