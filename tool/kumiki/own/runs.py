"""The runs of the user's program: every setting once in each round, in random order within the round."""

from __future__ import annotations

import random
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from kumiki.machine.native import Native
from kumiki.own.figure import IMPLEMENTATION, SUITE, WALL_TIME, Figure, FigureReader
from kumiki.own.program import STRONG, WEAK, OwnProgram
from kumiki.own.template import OMP_NUM_THREADS, Template
from kumiki.suites.model import Alone, Command, Grid, Point, Suite

LIMIT_SECONDS = 3600.0
WARM_UP = 0
"""The number of the run that is not counted."""


@dataclass(frozen=True)
class Run(Point):
    """One start of the user's program."""

    sought: Figure | None = None
    number: int = WARM_UP

    @property
    def key(self) -> str:
        return f"{self.setting}, {'warm-up' if self.warm_up else f'run {self.number}'}"

    @property
    def setting(self) -> str:
        what = ", ".join(f"{name} {value}" for name, value in self.parameters.items())
        return f"{self.suite}: {shlex.join((self.program, *self.arguments))} ({what})"

    @property
    def warm_up(self) -> bool:
        return self.number == WARM_UP

    @property
    def may_settle(self) -> bool:
        """The user determines the number of runs."""
        return False

    @property
    def label(self) -> str:
        ranks, threads = self.place
        return f"{Path(self.program).name}, {ranks} x {threads}{'' if self.warm_up else f', run {self.number}'}"

    def limit(self, wanted: float | None) -> float:
        """The user's limit, even above the default, because only the user knows how long the program takes."""
        return LIMIT_SECONDS if wanted is None else wanted

    @property
    def mend(self) -> str:
        return "is it a program for this machine, and is it executable?"

    def command(self, native: Native, cores: int) -> Command:
        return self._command()

    def _command(self) -> Command:
        return Command((self.program, *self.arguments), dict(self.variables or {}))

    def absence(self, native: Native) -> None:
        return None

    def reader(self, cores: int) -> FigureReader:
        return FigureReader(self.sought, self.parameters, self.total > cores, str(self._command()))


def stage(own: OwnProgram, grid: Grid, seed: int) -> tuple[Suite, list[Point]]:
    """The program as a suite, and its runs in order: a warm-up, then round after round of all settings.

    With rounds, rather than all runs of a setting in a row, slow drifts of the machine affect every setting alike, and
    the picture is complete if they are interrupted.
    """
    settings = _settings(own, grid)
    chance = random.Random(f"{seed} {SUITE}")
    # This loads program and files into the caches of the system in the fastest setting; its time means nothing.
    fitting = [run for run in settings if run.total <= grid.cores] or settings
    order: list[Point] = [max(fitting, key=lambda run: run.total)]
    for number in range(1, own.repeats + 1):
        round_ = [replace(run, number=number) for run in settings]
        chance.shuffle(round_)
        order += round_
    return _suite(own), order


def _settings(own: OwnProgram, grid: Grid) -> list[Run]:
    """One run of each setting, in ascending order: the sequential form, the same work, the grown work."""
    pairs = own.settings(grid)
    fewest = min(ranks * threads for ranks, threads in pairs)
    runs = [_run(own, own.sequential, 1, 1, own.size, {"form": "sequential"})] if own.sequential else []
    for ranks, threads in pairs:
        factor = ranks * threads / fewest
        if own.scaling != WEAK or factor == 1:
            runs.append(_run(own, own.template, ranks, threads, own.size, {}))
        if own.scaling != STRONG and factor > 1:
            runs.append(_run(own, own.template, ranks, threads, own.grown(factor), {"scaling": WEAK}))
    return runs


def _run(
    own: OwnProgram, template: Template, ranks: int, threads: int, size: int | None, parameters: dict[str, int | str]
) -> Run:
    numbers = {"ranks": ranks, "threads": threads, **({} if size is None else {"size": size})}
    program, *arguments = template.filled({**numbers, "processors": ranks * threads})
    return Run(
        suite=SUITE,
        metric=own.figure.metric if own.figure else WALL_TIME,
        implementation=IMPLEMENTATION,
        program=program,
        arguments=tuple(arguments),
        launcher=Alone(threads, ranks),
        parameters={**parameters, **numbers},
        unit=own.figure.unit if own.figure else "s",
        better=own.figure.better if own.figure else "lower",
        variables={} if template.sets_threads else {OMP_NUM_THREADS: str(threads)},
        sought=own.figure,
    )


def _suite(own: OwnProgram) -> Suite:
    return Suite(
        name=SUITE,
        title="Your program",
        sentence=str(own.template),
        headline=(own.figure.metric if own.figure else WALL_TIME,),
        programs=(),
        build=None,
        seconds=0,
        quick_seconds=0,
    )
