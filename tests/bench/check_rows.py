"""Runs a measuring program and checks its exit code and its rows (docs/rows.md).

    check_rows.py --expect METRIC:IMPLEMENTATION[:PARAMETER=VALUE,...] ... -- PROGRAM ARGUMENTS

Every row must be well formed, valid and not empty; every expected row must be there, and no other metrics.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

TYPES: dict[str, type | tuple[type, ...]] = {
    "metric": str,
    "implementation": str,
    "parameters": dict,
    "unit": str,
    "better": str,
    "samples": list,
    "oversubscribed": bool,
}
FEWEST_SAMPLES = 3
MAY_BE_NEGATIVE = {"split-phase", "openmp.overhead"}
"""Forms and metrics whose figure is a difference of two times, of which the second may have been disturbed."""


@dataclass(frozen=True)
class Expected:
    metric: str
    implementation: str
    parameters: dict[str, str]

    @classmethod
    def parse(cls, text: str) -> Expected:
        metric, implementation, *rest = text.split(":")
        parameters = dict(pair.split("=", 1) for pair in rest[0].split(",")) if rest else {}
        return cls(metric, implementation, parameters)

    def fits(self, row: dict[str, Any]) -> bool:
        held = {name: str(value) for name, value in row["parameters"].items()}
        return (
            row["metric"] == self.metric
            and row["implementation"] == self.implementation
            and self.parameters.items() <= held.items()
        )


def faults(row: dict[str, Any]) -> Iterator[str]:
    """The defects of one row."""
    for field, kind in TYPES.items():
        if not isinstance(row.get(field), kind):
            yield f"{field} is missing or no {kind}"
            return
    if row["better"] not in ("lower", "higher"):
        yield "better is neither lower nor higher"
    if row.get("validated") is False:
        yield "the result is wrong"
    samples = row["samples"]
    if len(samples) < FEWEST_SAMPLES:
        yield f"only {len(samples)} samples"
    signed = not MAY_BE_NEGATIVE.isdisjoint({row["metric"], row["parameters"].get("form")})
    for sample in samples:
        if not isinstance(sample, (int, float)) or not math.isfinite(sample) or (sample < 0 and not signed):
            yield f"{sample!r} is no sample"


def check(rows: list[dict[str, Any]], expected: list[Expected]) -> list[str]:
    found = [f"{row.get('metric')} by {row.get('implementation')}: {fault}" for row in rows for fault in faults(row)]
    if found:
        return found
    for wanted in expected:
        if not any(wanted.fits(row) for row in rows):
            found.append(f"no row fits {wanted}")
    known = {wanted.metric for wanted in expected}
    found.extend(f"{row['metric']} was not expected" for row in rows if row["metric"] not in known)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--expect", nargs="+", type=Expected.parse, default=[])
    parser.add_argument("--exit", type=int, default=0, help="the exit code that the program must have")
    parser.add_argument("--says", default="", help="what the program must say on standard error")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    done = subprocess.run(arguments.command, capture_output=True, text=True, check=False)
    complaints = []
    if done.returncode != arguments.exit:
        complaints.append(f"exit code {done.returncode}, not {arguments.exit}")
    if arguments.says not in done.stderr:
        complaints.append(f"standard error does not say {arguments.says!r}")
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    complaints += check(rows, arguments.expect)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    if complaints:
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
