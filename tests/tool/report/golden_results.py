"""Results that are kept as a few lines: what evaluations of several machines found, for reports to be checked by.

A file in `golden/` holds part of the `environment` and the `arguments` of results.json, and a line for each row.
`compact` makes one of the results of any evaluation:
`python golden_results.py report/results.json golden/name.json [SUITE ...]`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "golden"
NAMES = ("quiet", "two-cores", "noisy", "one-core", "one-busy-core", "eight-cores", "hosts")
TOLD = ("suite", "metric", "implementation", "parameters", "unit", "better", "median", "ci95", "n")
FLAGS = {"c": "converged", "o": "oversubscribed", "v": "validated"}
KEPT = ("cpu", "load", "cluster")
"""The kept part of the environment: nothing else is needed, and names of hosts and folders do not belong in tests."""
DIGITS = 5


def load(name: str) -> dict[str, Any]:
    """The results of a kept evaluation, as results.json has them."""
    kept = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    rows = []
    for number, (*told, flags) in enumerate(kept.pop("rows")):
        row = {"id": number, **dict(zip(TOLD, told, strict=True))}
        row.update({field: flag in flags for flag, field in FLAGS.items()})
        row["validated"] = row["validated"] or None
        unsteady = flags.strip("".join(FLAGS)).strip()
        rows.append({**row, **({"unsteady": unsteady} if unsteady else {})})
    return {"schema_version": 1, "complete": True, "seed": 1, "points": [], **kept, "rows": rows}


def compact(results: Mapping[str, Any], suites: Sequence[str] = ()) -> str:
    """Makes the text that `load` reads: only correct, measured rows of these suites (none named: all)."""
    rows = []
    for row in results["rows"]:
        if row["median"] is None or row["validated"] is False or (suites and row["suite"] not in suites):
            continue
        if row["metric"].endswith(".rate") and row["unit"] != "M/s":  # the work divided by the time, which is present
            continue
        figures = {"median": _short(row["median"]), "ci95": [_short(end) for end in row["ci95"]]}
        flags = "".join(flag for flag, field in FLAGS.items() if row[field]) + " " + row.get("unsteady", "")
        rows.append(json.dumps([*({**row, **figures}[field] for field in TOLD), flags.strip()], ensure_ascii=False))
    environment = {name: results["environment"][name] for name in KEPT if name in results["environment"]}
    head = {
        "environment": environment,
        "arguments": {**results["arguments"], "suites": list(suites) or results["arguments"]["suites"]},
    }
    lines = json.dumps(head, ensure_ascii=False)[:-1]
    return lines + ', "rows": [\n' + ",\n".join(rows) + "\n]}\n"


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


if __name__ == "__main__":
    source, target, *named = sys.argv[1:]
    Path(target).write_text(compact(json.loads(Path(source).read_text()), named), encoding="utf-8")
