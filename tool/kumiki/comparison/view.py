"""How a comparison is printed."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kumiki.comparison.compare import Change, Comparison
from kumiki.errors import complain
from kumiki.results.row import Row
from kumiki.results.statistics import EQUAL_WITHIN
from kumiki.terminal.display import console
from kumiki.terminal.formats import TableOrJson
from kumiki.terminal.quantity import figure

SHOWN_OF_ONE_SIDE = 10
FACTOR = 3.0
"""A larger change is printed as a factor: two network rates can differ by a factor of hundreds."""


def print_both(comparison: Comparison, percent: float | None, format: TableOrJson) -> None:
    """Two results: a warning if they are not of the same thing, machine or build, and then the changes."""
    warn(comparison)
    for what, differing in (("machine", comparison.machine_differences), ("build", comparison.build_differences)):
        if differing:
            complain(f"warning: the two were not measured on the same {what}: {'; '.join(differing)}")
    if format is TableOrJson.JSON:
        for line in json_lines(comparison, percent):
            print(line)
    else:
        print_table(comparison, console())


def warn(comparison: Comparison, whose: str = "") -> None:
    """Prints, before any verdict, the reasons why two results measure different things."""
    for sentence in comparison.subject_differences:
        complain(f"warning: {whose}{sentence}")


def complain_of_regressions(names: Sequence[str], changes: Sequence[Comparison], percent: float) -> bool:
    """Prints how many figures of each result are worse than the first's by more than this; returns whether any are."""
    found = False
    for name, comparison in zip(names[1:], changes, strict=True):
        count = sum(change.regression(percent) for change in comparison.changes)
        whose = f" in {name}" if len(changes) > 1 else ""
        if count:
            complain(f"{count} figures{whose} are significantly worse by more than {percent:g} %")
        found = found or count > 0
    return found


def print_table(comparison: Comparison, out: Console) -> None:
    """The significant changes, the worst first, then a line on the rest."""
    significant = [change for change in comparison.changes if change.significant]
    if significant:
        out.print(_table(significant))
    rest = len(comparison.changes) - len(significant)
    told = Counter(change.verdict for change in comparison.changes)
    same = [f"{told['equal']} the same within {100 * EQUAL_WITHIN:.0f} %"] if told["equal"] else []
    same += [f"{told['open']} open, for which more samples would be needed"] if told["open"] else []
    details = f": {', '.join(same)}" if same else ""
    out.print(Text(f"{rest} of {len(comparison.changes)} figures changed by no more than chance{details}."))
    for words, rows in (("the first", comparison.only_before), ("the second", comparison.only_after)):
        if rows:
            out.print(Text(f"Only in {words} ({len(rows)}): {_listed(rows)}"))


def json_lines(comparison: Comparison, percent: float | None) -> Iterator[str]:
    """One object for each figure in both, then one for each figure on one side only."""
    for change in comparison.changes:
        yield json.dumps(
            {
                **_named(change.before),
                "unit": change.before.unit,
                "better": change.before.better,
                "before": change.before.median,
                "after": change.after.median,
                "ratio": change.ratio if change.has_ratio else None,
                "worsening": change.worsening if change.has_ratio else None,
                "interval": [_finite(change.contrast.low), _finite(change.contrast.high)],
                "verdict": change.verdict,
                "significant": change.significant,
                "regression": None if percent is None else change.regression(percent),
            }
        )
    for side, rows in (("before", comparison.only_before), ("after", comparison.only_after)):
        for row in rows:
            yield json.dumps({**_named(row), "only": side})


def description(row: Row) -> str:
    """A figure's name in one line."""
    parameters = ", ".join(f"{name} {value}" for name, value in sorted(row.parameters.items()))
    return f"{row.metric} {row.implementation}" + (f" ({parameters})" if parameters else "")


def _table(changes: Sequence[Change]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("figure")
    for name in ("unit", "before", "after", "after / before", "between"):
        table.add_column(name, justify="right")
    table.add_column("")
    for change in changes:
        worse = change.worsening > 1
        table.add_row(
            description(change.before),
            change.before.unit,
            figure(change.before.value),
            figure(change.after.value),
            f"{change.ratio:.3f}" if change.has_ratio else "–",
            f"{change.contrast.low:.3f} to {change.contrast.high:.3f}" if change.has_ratio else "–",
            Text(_verdict(change), style="red" if worse else "green"),
        )
    return table


def _verdict(change: Change) -> str:
    word = "worse" if change.worsening > 1 else "better"
    if not change.has_ratio:
        return f"{word} by {figure(abs(change.difference))} {change.before.unit}"
    by = max(change.worsening, 1 / change.worsening)
    return f"{word} by {100 * (by - 1):.1f} %" if by < FACTOR else f"{word} by a factor of {figure(by)}"


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if math.isfinite(value) else None


def _listed(rows: Sequence[Row]) -> str:
    shown = "; ".join(description(row) for row in rows[:SHOWN_OF_ONE_SIDE])
    return shown + ("; ..." if len(rows) > SHOWN_OF_ONE_SIDE else "")


def _named(row: Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("suite", "metric", "implementation", "parameters")}
