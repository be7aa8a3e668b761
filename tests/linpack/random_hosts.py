"""Solves random systems over random hosts, all of them this machine, and compares the solutions with those of one rank.

usage: random_hosts.py KUMIKI-RUN REMOTE-SHELL KUMIKI-LINPACK [--seeds FIRST COUNT]

Each seed is one job: its hosts have different numbers of ranks, and the ranks different numbers of threads. A threshold
that no residual is below makes the program print the norms, with which the solutions are compared.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

RUN = re.compile(r"W\S+ +(\d+) +(\d+) +(\d+) +(\d+) +\d+\.\d\d +\d\.\d{4}e[+-]\d\d")
RESIDUAL = re.compile(r"\|\|Ax-b.*\)= +(\S+) \.{6} (?:PASSED|FAILED)")
NORM = re.compile(r"\|\|(A|x|b)\|\|_(oo|1) [ .]+ = +(\d+\.\d{6})")
EXIT_FAILED = 1
SIZES, BLOCKS, GRIDS = 3, 2, 2
"""How many of each a job has; it solves a system for each combination."""


@dataclass
class Run:
    size: int
    what: str
    residual: float = float("nan")
    norms: dict[str, float] = field(default_factory=dict)


def runs_of(command: list[str]) -> list[Run]:
    """What the program says of each run; a residual of 0 is below every threshold, and such a run has no norms."""
    ended = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    runs: list[Run] = []
    for line in ended.stdout.splitlines():
        if found := RUN.fullmatch(line):
            runs.append(Run(int(found[1]), "N {} B {} grid {} x {}".format(*found.groups())))
        elif found := RESIDUAL.fullmatch(line):
            runs[-1].residual = float(found[1])
        elif found := NORM.fullmatch(line):
            runs[-1].norms[f"{found[1]} {found[2]}"] = float(found[3])
    if ended.returncode not in (0, EXIT_FAILED) or "End of Tests." not in ended.stdout:
        raise RuntimeError(f"exit code {ended.returncode}: {ended.stderr}{ended.stdout}")
    return runs


def listed(values: list[int]) -> str:
    return ",".join(map(str, values))


def grids_of(draw: random.Random, ranks: int) -> list[tuple[int, int]]:
    """Two grids, at least one of which needs all ranks or all but one."""
    shapes = [(rows, columns) for rows in range(1, ranks + 1) for columns in range(1, ranks // rows + 1)]
    large = [shape for shape in shapes if shape[0] * shape[1] >= ranks - 1]
    return [draw.choice(large), draw.choice(shapes)]


def shares_of(draw: random.Random, columns: set[int]) -> list[str]:
    """Numbers fit only grids with as many process columns."""
    if len(columns) > 1 or draw.random() < 0.3:
        return draw.choice([[], ["--weights", "measured"]])
    weights = [draw.randint(0, 3) for _ in range(columns.pop() - 1)] + [1]
    return ["--weights", listed(weights)]


def device_of(draw: random.Random) -> list[str]:
    kind = draw.random()
    if kind < 0.6:
        return []
    if kind < 0.8:
        return ["--device", "emulated:rate=100", "--form", "resident"]
    return ["--device", "emulated:rate=100", "--form", "offload", "--device-share", draw.choice(["0.3", "1"])]


def job_of(draw: random.Random) -> tuple[list[str], list[str]]:
    """The launcher's options, and the program's."""
    ranks_of_hosts = [draw.randint(1, 3) for _ in range(draw.randint(2, 3))]
    ranks = sum(ranks_of_hosts)
    hosts = ",".join(f"host{number}:{count}" for number, count in enumerate(ranks_of_hosts))
    threads = [draw.randint(1, 2) for _ in range(ranks)]
    sizes = [draw.choice([1, 2, 7, 31, 97]), *(draw.randint(1, 200) for _ in range(SIZES - 1))]
    grids = grids_of(draw, ranks)
    looking = ["left", "crout", "right"]
    options = ["-N", listed(sizes), "--block", listed([draw.randint(1, 40), draw.choice([8, 16, 64, 500])])]
    options += ["--grid", ",".join(f"{rows}x{columns}" for rows, columns in grids)]
    options += ["--broadcast", draw.choice(["1ring", "1ringM", "2ring", "2ringM", "long", "longM"])]
    options += ["--swap", draw.choice(["binary", "long", "mix"]), "--swap-threshold", str(draw.randint(0, 100))]
    options += ["--look-ahead", draw.choice(["tiles", "chopped", "thread", "none"])]
    options += ["--rfact", draw.choice(looking), "--ndiv", str(draw.randint(2, 4))]
    options += ["--pfact", draw.choice(looking), "--nbmin", str(draw.randint(1, 10))]
    options += ["--by-columns"] * draw.randint(0, 1) + shares_of(draw, {columns for _, columns in grids})
    return ["--hosts", hosts, "-t", listed(threads)], options + device_of(draw)


def faults_of(run: Run, expected: Run) -> Iterator[str]:
    if not run.residual < 16:
        yield f"{run.what}: the residual is {run.residual}"
    if run.residual > 0 and not run.norms:
        yield f"{run.what}: the norms are not printed"
    for name, norm in run.norms.items():
        if abs(norm - expected.norms.get(name, norm)) > 1e-6 * norm + 2e-6:
            yield f"{run.what}: the norm {name} is {norm}, and with one rank {expected.norms[name]}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("launcher")
    parser.add_argument("remote_shell")
    parser.add_argument("program")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 5), metavar=("FIRST", "COUNT"))
    given = parser.parse_args()
    first, count = given.seeds
    jobs = {seed: job_of(random.Random(seed)) for seed in range(first, first + count)}
    program = [given.program, "--threshold", "1e-300"]
    sizes = sorted({int(size) for _, options in jobs.values() for size in options[1].split(",")})
    alone = {run.size: run for run in runs_of([given.launcher, *program, "-N", listed(sizes), "--block", "16"])}
    failed = 0
    for seed, (where, options) in jobs.items():
        command = [given.launcher, "--remote-shell", given.remote_shell, *where, *program, *options]
        try:
            runs = runs_of(command)
            faults = [fault for run in runs for fault in faults_of(run, alone[run.size])]
            faults += [] if len(runs) == SIZES * BLOCKS * GRIDS else [f"there are only {len(runs)} runs"]
        except (RuntimeError, subprocess.TimeoutExpired) as failure:
            faults = [str(failure)]
        if faults:
            failed += 1
            print(f"seed {seed}: {' '.join(command)}", *faults, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
