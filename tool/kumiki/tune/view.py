"""The output: the growing table, and the choice in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.table import Table

from kumiki.results.statistics import summarise
from kumiki.suites.fragments import OWN_RULE
from kumiki.terminal.quantity import binary, figure
from kumiki.tune.choice import AS_GOOD, LEAST_GAIN, Choice
from kumiki.tune.sweep import Sweep


def title(sweep: Sweep) -> str:
    """What is measured, in one line."""
    where = f"between hosts ({sweep.hosts.name})" if sweep.hosts else "on one host"
    return f"Messages of {binary(sweep.message_bytes)}B {where}, by fragment length"


def table(bandwidths: Mapping[int, Sequence[float]], choice: Choice | None = None) -> Table:
    """Bandwidth by length, with the 95 % interval of the median."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("fragment\nbytes", "bandwidth\nGB/s", "95 % interval\nGB/s", "rounds"):
        made.add_column(column, justify="right")
    for length, samples in bandwidths.items():
        name = "own rule" if length == OWN_RULE else str(length)
        style = "bold" if choice and length == choice.length else ""
        if samples:
            found = summarise(samples)
            interval = f"{figure(found.low)} to {figure(found.high)}"
            made.add_row(name, figure(found.median), interval, str(found.n), style=style)
        else:
            made.add_row(name, "", "", "0")
    return made


def sentences(choice: Choice) -> list[str]:
    """The choice, its certainty, and its gain."""
    told = f"Best: {choice.length} bytes, {figure(choice.chosen.median)} GB/s"
    if choice.fastest != choice.length:
        told += f": the shortest that is as good as the fastest ({choice.fastest})"
    sure = (
        f"It is within {1 - AS_GOOD:.0%} of the best in {choice.certainty:.0%} of 2000 bootstrap draws of the rounds."
    )
    if choice.is_worth_keeping:
        worth = f"The library's own rule loses {choice.loss:.0%} against it."
    elif choice.loss_is_real and choice.loss < -LEAST_GAIN:
        worth = f"The library's own rule is {-choice.loss:.0%} faster."
    else:
        worth = "The library's own rule is as good: no difference was found beyond the noise of these rounds."
    return [told + ".", sure, worth]
