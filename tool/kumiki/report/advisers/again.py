"""The command that answers a question which these samples leave open."""

from __future__ import annotations

from collections.abc import Iterable

from kumiki.report.analysis.model import Results
from kumiki.results.statistics import FEWEST_SAMPLES


def again(results: Results, suites: Iterable[str]) -> str:
    """A sentence that recommends the command."""
    command = results.arguments.get("command")
    if command:
        repeats = max(2 * int(command.get("repeats") or 0), 2 * FEWEST_SAMPLES)
        return f"Use `--repeat {repeats}` on an otherwise idle machine to find out."
    cluster = results.environment.get("cluster") or {}
    over = cluster.get("option") or (f"--cluster {cluster['name']}" if cluster.get("name") else "")
    names = list(dict.fromkeys(suites))
    only = "" if set(names) >= set(results.arguments.get("suites") or [""]) else f"--suite {','.join(names)}"
    words = " ".join(filter(None, ["kumiki evaluate", over, only, "--output again"]))
    return f"Run `{words}` on an otherwise idle machine to find out."
