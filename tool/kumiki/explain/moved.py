"""What moved in a run whose ranks have recorded it, as rows: `python -m kumiki.explain.moved FOLDER`.

It is the short form of an explanation, for programs that measure: how many pages moved, and which share of the time of
parallel regions threads spent in faults, and ranks at barriers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from kumiki.errors import ExitCode, complain
from kumiki.explain.record import COUNTS, Record, Tallied, read

PAGES, FAULTING, WAITING = "openmp.pages", "openmp.faulting", "openmp.waiting"
RECORDED = (PAGES, FAULTING, WAITING)
ONE_POINT = 1.0
"""Shares that differ by less than a percentage point need not be told apart."""


def rows(records: Sequence[Record]) -> Iterator[dict[str, object]]:
    """The rows of a run; the shares only if it had parallel regions on all ranks."""
    pages = sum(_sum(record, "fetches") + _sum(record, "differences") for record in records)
    yield _row(PAGES, "1", float(pages), 0.0)
    regions = sum(ns for record in records for key, (_, ns) in record.of(Tallied.REGION).items() if key)
    if not regions:
        return
    waits = sum(ns for record in records for key, (_, ns) in record.of(Tallied.REGION_WAIT).items() if key)
    faults = sum(_sum(record, "fault_ns") for record in records)
    yield _row(FAULTING, "%", 100 * min(1.0, faults / regions), ONE_POINT)
    yield _row(WAITING, "%", 100 * min(1.0, waits / regions), ONE_POINT)


def _sum(record: Record, count: str) -> int:
    return int(record.arrays["counts"][:, COUNTS.index(count)].sum())


def _row(metric: str, unit: str, figure: float, resolution: float) -> dict[str, object]:
    return {
        "metric": metric,
        "implementation": "kumiki",
        "parameters": {},
        "unit": unit,
        "better": "lower",
        "samples": [figure],
        "resolution": resolution,
    }


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1:
        complain("name the folder with the records of a run: python -m kumiki.explain.moved FOLDER")
        return ExitCode.USAGE
    records = read(Path(arguments[0]))
    if not records:
        complain(f"no rank has left a record in {arguments[0]}")
        return ExitCode.FAILED
    for row in rows(records):
        print(json.dumps(row))
    return ExitCode.OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
