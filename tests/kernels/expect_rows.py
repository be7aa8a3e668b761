"""Runs a measuring program and checks what docs/rows.md promises of its output.

usage: expect_rows.py [--exit-code N] [--rows N] [--like COMMAND] [--figure METRIC=VALUE]... [KEY=VALUE ...]
       -- COMMAND ...

The command must end with the exit code (0 unless given). With exit code 0 it must have printed rows, `--rows` of them
if given, each validated, with at least three samples, times above 0, and the given parameters ("implementation" is
looked up beside them). `--figure METRIC=VALUE`: that metric's samples all have this value, to a millionth of it.
`--like COMMAND`: both commands must report the same checksum, in a remark beside their rows.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shlex
import subprocess
import sys
from typing import Any


def read_rows(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def faults_of(row: dict[str, Any], expected: dict[str, str]) -> list[str]:
    """The defects of a row, each as a sentence."""
    faults = []
    known = {"implementation": row["implementation"], **row["parameters"]}
    for key, value in expected.items():
        if str(known.get(key)) != value:
            faults.append(f"{row['metric']}: {key} is {known.get(key)!r}, expected {value!r}")
    if row.get("validated") is not True:
        faults.append(f"{row['metric']}: not validated")
    if len(row["samples"]) < 3:
        faults.append(f"{row['metric']}: only {len(row['samples'])} samples")
    if row["metric"].endswith(".time") and min(row["samples"]) <= 0:
        faults.append(f"{row['metric']}: a run took no time")
    return faults


def figure_faults(rows: list[dict[str, Any]], wanted: str) -> list[str]:
    """The defects of a figure that is known beforehand."""
    metric, value = wanted.split("=", 1)
    found = [sample for row in rows if row["metric"] == metric for sample in row["samples"]]
    if found and all(math.isclose(sample, float(value), rel_tol=1e-6) for sample in found):
        return []
    return [f"{metric} is {found}, expected {value}"]


def checksum_in(remarks: str) -> str | None:
    found = re.search(r"checksum (\d+)", remarks)
    return found.group(1) if found else None


def faults_beside(remarks: str, like: str) -> list[str]:
    """The differences from the results of another command."""
    other = subprocess.run(shlex.split(like), capture_output=True, text=True, check=False)
    found, wanted = checksum_in(remarks), checksum_in(other.stderr)
    if found is not None and found == wanted:
        return []
    return [f"checksum {found}, but {wanted} of: {like}"]


def main() -> int:
    if "--" not in sys.argv:
        print(__doc__, file=sys.stderr)
        return 2
    split = sys.argv.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("--exit-code", type=int, default=0)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--like")
    parser.add_argument("--figure", action="append", default=[])
    parser.add_argument("expected", nargs="*")
    options = parser.parse_args(sys.argv[1:split])
    expected = dict(item.split("=", 1) for item in options.expected)

    command = sys.argv[split + 1 :]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    faults = []
    if process.returncode != options.exit_code:
        faults.append(f"exit code {process.returncode}, expected {options.exit_code}")
    if options.exit_code == 0:
        rows = read_rows(process.stdout)
        if not rows:
            faults.append("no rows")
        if options.rows is not None and len(rows) != options.rows:
            faults.append(f"{len(rows)} rows, expected {options.rows}")
        for row in rows:
            faults += faults_of(row, expected)
        for figure in options.figure:
            faults += figure_faults(rows, figure)
        if options.like is not None:
            faults += faults_beside(process.stderr, options.like)
    elif not process.stderr.strip() and not process.stdout.strip():
        faults.append("failed without a word")
    if faults:
        print(" ".join(command), *faults, process.stdout, process.stderr, sep="\n", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
