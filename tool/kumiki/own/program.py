"""The request to measure the user's program: its command, its figure, and how its work grows."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kumiki.errors import UserError
from kumiki.own.figure import Figure
from kumiki.own.options import MOST_SIZE
from kumiki.own.template import Template
from kumiki.suites.model import Grid

REPEATS = 6
"""The smallest number that allows a verdict (kumiki.results.statistics)."""
STRONG, WEAK, BOTH = "strong", "weak", "both"


@dataclass(frozen=True)
class OwnProgram:
    """The program, and how to measure it."""

    template: Template
    sequential: Template | None = None
    """The same work without parallelism: the base of all speed-ups if it is given."""
    figure: Figure | None = None
    """None: the wall time."""
    scaling: str = STRONG
    """`strong`: the same work on any number of processors; `weak`: work that grows with them; `both`."""
    size: int | None = None
    """The value of {size} on the fewest processors."""
    power: float = 1.0
    """The work grows as the size to this power."""
    repeats: int = REPEATS

    def check(self, ranks: bool, threads: bool) -> None:
        """Raises UserError if the parts do not fit together; the flags say whether such numbers were given."""
        places = self.template.placeholders
        if ranks and "ranks" not in places:
            raise UserError("--ranks is given, but the command has no {ranks}")
        if not places & {"ranks", "threads", "processors"} and not threads:
            raise UserError(
                "nothing in the command changes from run to run: put {ranks} or {threads} in place of its numbers; "
                "for an OpenMP program give the numbers, --threads 1,2,4 (OMP_NUM_THREADS is set to them)"
            )
        if threads and self.template.sets_threads and not places & {"threads", "processors"}:
            raise UserError("--threads is given, but the command sets OMP_NUM_THREADS without {threads}")
        if not self.power > 0:
            raise UserError(f"--power: {self.power:g} is not above 0")
        if self.power == math.inf:
            raise UserError(f"--power: {self.power:g} is not a finite number")
        sized = "size" in places | (self.sequential.placeholders if self.sequential else set())
        if sized and self.size is None:
            raise UserError("the command has a {size}: give its value on one processor with --size")
        if self.size is not None and not sized:
            raise UserError("--size is given, but the command has no {size}")
        if self.scaling == BOTH and "size" not in places:
            raise UserError(
                "--scaling both runs constant work and growing work: put {size} in place of the problem size in the "
                "command, and give its value on one processor with --size N"
            )

    def settings(self, grid: Grid) -> list[tuple[int, int]]:
        """(ranks, threads) in ascending order, for all placeholders of the command."""
        places = self.template.placeholders
        by_ranks = "ranks" in places
        by_threads = "threads" in places or grid.threads is not None or not by_ranks
        axes = Grid(
            grid.cores,
            ranks=grid.ranks if by_ranks else (1,),
            threads=grid.threads if by_threads else (1,),
        )
        return axes.pairs_with_a_core_free()

    def grown(self, factor: float) -> int | None:
        """{size} for this many times the work, rounded to a whole number; None if the command has no {size}. Raises
        UserError if it is too large.
        """
        if self.size is None:
            return None
        try:
            grown = int(max(1, round(self.size * factor ** (1 / self.power))))
        except OverflowError:
            grown = MOST_SIZE + 1
        if grown > MOST_SIZE:
            raise UserError(
                f"--size {self.size} --power {self.power:g}: for {factor:g} times the work {{size}} exceeds {MOST_SIZE}"
            )
        return grown

    def as_arguments(self) -> dict[str, Any]:
        """The arguments that determine the runs, as results.json records them."""
        return {
            "words": list(self.template.words),
            "sequential": list(self.sequential.words) if self.sequential else None,
            "metric": self.figure.as_arguments() if self.figure else None,
            "scaling": self.scaling,
            "size": self.size,
            "power": self.power,
            "repeats": self.repeats,
        }


def spelled(arguments: Mapping[str, Any]) -> Iterator[str]:
    """The recorded arguments as command-line options, without the command itself."""
    if arguments["sequential"]:
        yield f"--sequential {shlex.quote(shlex.join(arguments['sequential']))}"
    if metric := arguments["metric"]:
        yield f"--metric {shlex.quote(metric['regex'])} --metric-name {metric['name']}"
        yield f"--unit {shlex.quote(metric['unit'])} --better {metric['better']}"
    if arguments["scaling"] != STRONG:
        yield f"--scaling {arguments['scaling']}"
    if arguments["size"] is not None:
        yield f"--size {arguments['size']} --power {arguments['power']:g}"
    yield f"--repeat {arguments['repeats']}"
