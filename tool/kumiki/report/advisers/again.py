"""The command that answers a question which these samples leave open."""

from __future__ import annotations

from collections.abc import Iterable

from kumiki.evaluation.spelling import spelled
from kumiki.report.analysis.model import Results
from kumiki.results.statistics import FEWEST_SAMPLES


def again(results: Results, suites: Iterable[str]) -> str:
    """A sentence that recommends the command: the same request, for these suites only."""
    command = results.arguments.get("command")
    if command:
        repeats = max(2 * int(command.get("repeats") or 0), 2 * FEWEST_SAMPLES)
        return f"Use `--repeat {repeats}` on an otherwise idle machine to find out."
    names, requested = list(dict.fromkeys(suites)), results.arguments.get("suites") or []
    wanted = requested if requested and set(names) >= set(requested) else names
    # A peer beside which none of the suites measures would be refused.
    measured = {row.implementation for row in results.rows if row.suite in wanted}
    peers = {name: prefix for name, prefix in (results.arguments.get("peers") or {}).items() if name in measured}
    words = spelled({**results.arguments, "suites": wanted, "peers": peers}, results.environment, "--output again")
    return f"Run `{words}` on an otherwise idle machine to find out."
