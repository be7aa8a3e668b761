"""The options of `kumiki evaluate -- COMMAND` that suites do not have."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from kumiki.errors import UserError

if TYPE_CHECKING:  # `kumiki run` must not wait for these imports
    from kumiki.own.figure import Figure
    from kumiki.own.program import OwnProgram

MOST_REPEATS = 10_000
MOST_SIZE = 2**63 - 1
"""What the user's program can hold in a number."""


class Scaling(str, Enum):
    """How the work depends on the number of processors."""

    STRONG = "strong"
    WEAK = "weak"
    BOTH = "both"


class Better(str, Enum):
    """Which direction of a figure is better."""

    LOWER = "lower"
    HIGHER = "higher"


Command = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="-- COMMAND",
        show_default=False,
        help="A program of your own instead of suites, with {ranks}, {threads}, {processors} or {size}.",
    ),
]
Repeat = Annotated[
    int | None,
    typer.Option(
        "--repeat", metavar="N", min=1, max=MOST_REPEATS, help="COMMAND: the number of runs of each setting; default 6."
    ),
]
Metric = Annotated[
    str | None,
    typer.Option(
        "--metric",
        metavar="REGEX",
        help="COMMAND: the figure is the last match of this expression's only group; default: the wall time.",
    ),
]
MetricName = Annotated[
    str | None, typer.Option("--metric-name", metavar="NAME", help="COMMAND: the name of the --metric; default figure.")
]
Unit = Annotated[
    str | None, typer.Option("--unit", metavar="TEXT", help="COMMAND: the unit of the --metric; default s.")
]
BetterOption = Annotated[
    Better | None, typer.Option("--better", help="COMMAND: which direction of the --metric is better; default lower.")
]
Sequential = Annotated[
    str | None,
    typer.Option(
        "--sequential", metavar="'COMMAND'", help="COMMAND: the same work without parallelism, the base of speed-ups."
    ),
]
ScalingOption = Annotated[
    Scaling | None,
    typer.Option("--scaling", help="COMMAND: constant work (strong), work that grows with processors (weak), or both."),
]
Size = Annotated[
    int | None,
    typer.Option(
        "--size", metavar="N", min=1, max=MOST_SIZE, help="COMMAND: the value of {size} on the fewest processors."
    ),
]
Power = Annotated[
    float | None,
    typer.Option("--power", metavar="P", help="COMMAND: its work grows as {size} to the power P; default 1."),
]


@dataclass(frozen=True)
class Options:
    """The options as given; None: not given."""

    repeat: int | None
    metric: str | None
    metric_name: str | None
    unit: str | None
    better: Better | None
    sequential: str | None
    scaling: Scaling | None
    size: int | None
    power: float | None

    def program(
        self, command: Sequence[str] | None, quick: bool, ranks: Sequence[int] | None, threads: Sequence[int] | None
    ) -> OwnProgram | None:
        """The requested program, None without a command; raises UserError if the parts do not fit together."""
        given = [f"--{field.name.replace('_', '-')}" for field in fields(self) if getattr(self, field.name) is not None]
        if not command:
            if given:
                raise UserError(
                    f"{given[0]} is for a program of your own: put its command after all options, -- COMMAND"
                )
            return None
        from kumiki.own.program import REPEATS, OwnProgram
        from kumiki.own.template import template

        found = OwnProgram(
            template=template(command),
            sequential=template(_split(self.sequential)) if self.sequential is not None else None,
            figure=self._figure(),
            scaling=(self.scaling or Scaling.STRONG).value,
            size=self.size,
            power=1.0 if self.power is None else self.power,
            repeats=self.repeat or REPEATS,
        )
        found.check(ranks=ranks is not None, threads=threads is not None)
        return found

    def _figure(self) -> Figure | None:
        from kumiki.own.figure import figure

        if self.metric is not None:
            better = (self.better or Better.LOWER).value
            name = "figure" if self.metric_name is None else self.metric_name
            return figure(self.metric, name, self.unit, better)
        for name, value in (("metric-name", self.metric_name), ("unit", self.unit), ("better", self.better)):
            if value is not None:
                raise UserError(f"--{name} describes the figure of --metric REGEX, but there is no --metric")
        return None


def _split(command: str) -> list[str]:
    """Splits a command line into words as a shell would."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UserError(f"--sequential: '{command}' cannot be split into words ({error})") from None
    if not words:
        raise UserError("--sequential: the command is empty")
    return words
