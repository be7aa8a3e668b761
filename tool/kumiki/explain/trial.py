"""`kumiki advise`: whether an OpenMP program gains from more hosts, and why not, from a short trial on this one.

The program runs twice with the same threads: as one process, and as two that have a copy of their memory each. The
first run says how long it takes, the second one which parts are parallel, and what would travel between two hosts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.text import Text

from kumiki.errors import ExitCode, UserError
from kumiki.explain.command import VARIABLE
from kumiki.explain.model import Explanation
from kumiki.interrupts import interrupts_deferred
from kumiki.machine.native import Native

HOSTS = (2, 4)
GAIN = 0.9
"""A run over more hosts that takes more than this part of the time of one is no gain."""


@dataclass(frozen=True)
class Costs:
    """What the network between hosts costs, in us."""

    page: float
    message: float


@dataclass(frozen=True)
class Estimate:
    """The time over some hosts, in seconds, by what it is spent on."""

    hosts: int
    serial: float
    parallel: float
    pages: float
    locks: float
    barriers: float

    @property
    def seconds(self) -> float:
        return self.serial + self.parallel + self.pages + self.locks + self.barriers

    @property
    def obstacle(self) -> str:
        """Why it is not faster."""
        parts = {
            "what one thread does between the parallel regions": self.serial,
            "pages that travel": self.pages,
            "locks and atomic instructions": self.locks,
            "the beginning and end of parallel regions, which are too short": self.barriers,
        }
        return max(parts, key=lambda name: parts[name])


def estimate(explained: Explanation, alone: float, hosts: int, costs: Costs) -> Estimate:
    """The time over hosts of a program that takes `alone` seconds on one; `explained` is its run as two processes.

    The work between regions stays as it is, that in regions is divided. A page costs each host the same, whatever their
    number; a lock or atomic instruction is a message and keeps all others out.
    """
    between = sum(region.seconds for region in explained.regions if region.text.startswith("between"))
    inside = sum(
        region.seconds * max(0.0, 1 - region.waiting - region.faulting)
        for region in explained.regions
        if not region.text.startswith("between")
    )
    share = between / (between + inside) if between + inside > 0 else 1.0
    transfers = sum(subject.transfers for subject in explained.subjects) / max(explained.ranks, 1)
    taken = sum(lock.count for lock in explained.locks if lock.kind != "gathered")
    regions = sum(region.executions for region in explained.regions if not region.text.startswith("between"))
    return Estimate(
        hosts,
        serial=alone * share,
        parallel=alone * (1 - share) / hosts,
        pages=transfers * costs.page / 1e6,
        locks=2 * taken * costs.message / 1e6,
        barriers=4 * regions * costs.message / 1e6,
    )


def verdict(explained: Explanation, alone: float, costs: Costs) -> Iterator[str]:
    """The answer in words."""
    estimates = [estimate(explained, alone, hosts, costs) for hosts in HOSTS]
    best = min(estimates, key=lambda each: each.seconds)
    share = 100 * best.seconds / alone
    if best.seconds <= GAIN * alone:
        yield f"It gains from more hosts: on {best.hosts} it would take about {share:.0f} % of the time."
        yield f"What then limits it most: {best.obstacle}."
    elif best.seconds < alone:
        yield (
            f"It hardly gains from more hosts: on {best.hosts} it would take about {share:.0f} % of the time, because "
            f"of {best.obstacle}."
        )
    else:
        two = estimates[0]
        yield (
            f"It does not gain from more hosts: on {two.hosts} it would take about {two.seconds / alone:.1f} times as "
            f"long, because of {two.obstacle}."
        )
        yield (
            "Where that is faster, its parallel regions would run on the first host alone after a while (--regions "
            "adaptive, the default)."
        )
    for each in estimates:
        yield (
            f"{each.hosts} hosts: {each.seconds:.2f} s = {each.serial:.2f} s between regions + {each.parallel:.2f} s "
            f"in regions + {each.pages:.2f} s for pages + {each.locks:.2f} s for locks and atomic instructions + "
            f"{each.barriers:.2f} s for beginning and ending regions."
        )
    yield (
        f"Estimated from a trial on this host, with {costs.page:g} us for a page and {costs.message:g} us for "
        "a message (--page, --message)."
    )


def advise(program: Sequence[str], threads: int, limit: float, costs: Costs, native: Native) -> ExitCode:
    """Runs the trials and prints the answer."""
    from kumiki.explain.analysis import explain
    from kumiki.explain.view import print_explanation
    from kumiki.terminal.display import console

    launcher = str(native.require(native.command("kumiki-run")))
    alone = _timed([launcher, "-n", "1", "-t", str(threads), "--openmp", *program], {}, limit)
    each = max(1, threads // 2)
    with TemporaryDirectory(prefix="kumiki-explain-") as folder:
        settings = {VARIABLE: folder, "KUMIKI_SHARED_COPIES": "rank"}
        # Slower by far where it does not gain.
        _timed([launcher, "-n", "2", "-t", str(each), "--openmp", *program], settings, 10 * limit)
        explained = explain(Path(folder), program, native).explanation
    out = console()
    if not explained.regions:
        raise UserError("the program ran no parallel region over both processes, so there is nothing to share out")
    print_explanation(explained, out)
    out.print(Text("More hosts?", style="bold underline"))
    out.print(Text(f"As one process with {threads} threads it took {alone:.2f} s."))
    for sentence in verdict(explained, alone, costs):
        out.print(Text(sentence))
    return ExitCode.OK


def _timed(command: Sequence[str], settings: Mapping[str, str], limit: float) -> float:
    """Runs a command in the open, without its output, and returns the seconds that it took."""
    sys.stdout.flush()
    begin = time.monotonic()
    child: subprocess.Popen[bytes] | None = None
    try:
        with interrupts_deferred():
            child = subprocess.Popen(command, env={**os.environ, **settings}, stdout=subprocess.DEVNULL)
        code = child.wait(limit)
    except subprocess.TimeoutExpired:
        raise UserError(
            f"a trial took more than {limit:g} s; give the program a smaller problem, or a longer --limit",
            ExitCode.FAILED,
        ) from None
    finally:
        if child is not None and child.poll() is None:
            child.terminate()  # kumiki-run ends all that it has started
            child.wait()
    if code != 0:
        raise UserError(f"a trial ended with code {code}: {' '.join(command)}", ExitCode.FAILED)
    return time.monotonic() - begin
