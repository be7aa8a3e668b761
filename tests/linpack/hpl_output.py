"""Runs a command and reads its output as programs read that of HPL 2.3.

usage: hpl_output.py [--exit-code N] [--check PASSED|FAILED|none] [--says TEXT]... [--run "N NB P Q"]...
       [--variant W...]... -- COMMAND ...

The command must end with the exit code (0 unless given), print exactly the given runs in this order, each with a time,
a rate that fits it and a residual that passed (or failed, or none at all), count them at the end, and mark every other
line as a remark (#).
`--variant` expects these words under T/V. `--says`: standard output or standard error contains the text.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator

RULE = re.compile(r"={80}|-{80}")
HEADING = "T/V                N    NB     P     Q               Time                 Gflops"
RESULT = re.compile(r"(W[RC]\d\d[LCR]\d+[LCR]\d+)\s+(\d+) +(\d+) +(\d+) +(\d+) +(\d+\.\d\d) +(\d\.\d{4}e[+-]\d\d)")
FORMULA = re.escape("||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=")
RESIDUAL = re.compile(FORMULA + r" +(\d\.\d{8}e[+-]\d\d) \.{6} (PASSED|FAILED)")
TIME = re.compile(r"HPL_pdgesv\(\) (start time|end time  ) \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}")
NORM = re.compile(r"\|\|(Ax-b|A|x|b)\|\|_(oo|1) [ .]+ = +\d+\.\d{6}")
COUNT = re.compile(r" +(\d+) tests (completed and passed|completed and failed|skipped|completed without)")


def faults_of(output: str, runs: list[str], variants: list[str], check: str) -> Iterator[str]:
    """The defects of the output, each as a sentence."""
    lines = output.splitlines()
    results = [match for line in lines if (match := RESULT.fullmatch(line))]
    found = [" ".join(match.group(2, 3, 4, 5)) for match in results]
    if found != runs:
        yield f"the runs are {found}, expected {runs}"
    if variants and [match[1] for match in results] != variants:
        yield f"the variants are {[match[1] for match in results]}, expected {variants}"
    for match in results:
        n, seconds, rate = int(match[2]), float(match[6]), float(match[7])
        operations = (2 / 3 * n**3 + 3 / 2 * n**2) / 1e9
        if not (seconds - 0.006) * rate <= operations * 1.001 <= (seconds + 0.006) * rate + 1e-3:
            yield f"{match[0]}: {operations} operations do not give this rate in this time"
    residuals = [match for line in lines if (match := RESIDUAL.fullmatch(line))]
    expected = [check] * len(runs) if check != "none" else []
    said = ["PASSED" if float(match[1]) < 16 else "FAILED" for match in residuals]
    if [match[2] for match in residuals] != expected or (check == "PASSED" and said != expected):
        yield f"residuals: {[match[0] for match in residuals]}"
    if runs and f"Finished {len(runs):6} tests with the following results:" not in lines:
        yield "no line counts the tests"
    known = (RULE, RESULT, RESIDUAL, TIME, COUNT, *([NORM] if check == "FAILED" else []))
    for line in lines:
        if line in ("", HEADING, "End of Tests.") or line.startswith(("# ", "Finished ")):
            continue
        if not any(pattern.match(line) for pattern in known):
            yield f"neither HPL's nor a remark: {line}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--exit-code", type=int, default=0)
    parser.add_argument("--check", default="PASSED", choices=("PASSED", "FAILED", "none"))
    parser.add_argument("--says", action="append", default=[])
    parser.add_argument("--run", action="append", default=[])
    parser.add_argument("--variant", action="append", default=[])
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    ended = subprocess.run(options.command, capture_output=True, text=True, timeout=100)
    faults = list(faults_of(ended.stdout, options.run, options.variant, options.check))
    if ended.returncode != options.exit_code:
        faults.append(f"exit code {ended.returncode}, expected {options.exit_code}")
    faults += [f"nothing says '{text}'" for text in options.says if text not in ended.stdout + ended.stderr]
    if faults:
        print(*faults, ended.stdout, ended.stderr, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
