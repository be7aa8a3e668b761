"""Rows in machine-readable form: JSON lines and CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import IO, Any

BEFORE_PARAMETERS = ("id", "suite", "metric", "implementation")
AFTER_PARAMETERS = (
    "unit",
    "better",
    "median",
    "ci95_low",
    "ci95_high",
    "n",
    "converged",
    "oversubscribed",
    "validated",
    "unsteady",
    "note",
    "absent",
    "failed",
)


class Format(str, Enum):
    """The output format of a command."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


class TableOrJson(str, Enum):
    """The output format of a command whose results are more than rows."""

    TABLE = "table"
    JSON = "json"


def write_json_lines(rows: Sequence[Mapping[str, Any]], out: IO[str]) -> None:
    for row in rows:
        out.write(json.dumps(row) + "\n")


def write_csv(rows: Sequence[Mapping[str, Any]], out: IO[str]) -> None:
    """One column for each parameter that any row has; an empty cell is a null."""
    parameters = sorted({name for row in rows for name in row["parameters"]})
    writer = csv.DictWriter(
        out,
        [*BEFORE_PARAMETERS, *parameters, *AFTER_PARAMETERS],
        restval="",
        extrasaction="ignore",
        lineterminator="\n",
    )
    writer.writeheader()
    for row in rows:
        low, high = row["ci95"] or (None, None)
        cells = {**row["parameters"], **row, "ci95_low": low, "ci95_high": high}
        writer.writerow({name: _cell(value) for name, value in cells.items()})


def _cell(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else value
