"""What an evaluation measures, and in which order."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kumiki import suites
from kumiki.errors import UserError
from kumiki.hosts import Hosts
from kumiki.machine.peer import Peer
from kumiki.machine.topology import Machine
from kumiki.own import runs
from kumiki.own.figure import SUITE
from kumiki.own.program import OwnProgram
from kumiki.suites.model import Grid, Point, Suite

MOST = 4096
"""Ranks of a job, and threads of a rank (src/settings/settings.hpp); the same for a program of the user's own."""


USUAL_SECONDS = 225.0
"""What the usual evaluation may take together with its repeats, so that it ends within four minutes with its report."""


@dataclass(frozen=True)
class Request:
    """The user's request; None means the default."""

    suites: tuple[str, ...] | None = None
    quick: bool = False
    ranks: tuple[int, ...] | None = None
    threads: tuple[int, ...] | None = None
    output: Path = Path("report")
    resume: bool = False
    seed: int | None = None
    time_limit: float | None = None
    hosts: Hosts | None = None
    """The hosts to measure over; None: only this one."""
    own: OwnProgram | None = None
    """A program of the user's own, instead of suites."""
    peers: tuple[Peer, ...] = ()
    """The installations of MPIs and of UCX to measure beside, too."""

    def cores(self, machine: Machine) -> int:
        """The cores of one host."""
        return (self.hosts.cores if self.hosts else None) or machine.usable_cores()

    def chosen(self) -> list[Suite]:
        return suites.chosen(self.suites, self.hosts is not None)

    @property
    def seconds(self) -> float:
        """What the evaluation may take even if its points are estimated to take less: the rest is for repeats."""
        return USUAL_SECONDS if self.suites is None and self.own is None and not self.quick else 0.0

    def arguments(self) -> dict[str, Any]:
        """The arguments that determine the points, as results.json records them."""
        hosts = self.hosts.as_arguments() if self.hosts else {}
        command = {"command": self.own.as_arguments()} if self.own else {}
        prefixes = {peer.name: str(peer.installation.prefix) for peer in self.peers if peer.installation}
        return {
            "suites": [SUITE] if self.own else [suite.name for suite in self.chosen()],
            "quick": self.quick,
            "ranks": list(self.ranks) if self.ranks else None,
            "threads": list(self.threads) if self.threads else None,
            **hosts,
            **command,
            **({"peers": prefixes} if prefixes else {}),
        }


def plan(request: Request, cores: int, seed: int) -> list[tuple[Suite, list[Point]]]:
    """Every suite's points in the order in which they are measured."""
    grid = Grid(
        cores,
        request.quick,
        request.ranks,
        request.threads,
        request.hosts,
        named=request.suites is not None,
        peers=request.peers,
    )
    for name, counts in (("ranks", request.ranks), ("threads", request.threads)):
        if counts and max(counts) > MOST:
            raise UserError(f"--{name} {max(counts)} is more than Kumiki measures: at most {MOST} {name}")
    if request.own:
        return [runs.stage(request.own, grid, seed)]
    chosen = request.chosen()
    stages = [(suite, ordered(suite.points(grid), random.Random(f"{seed} {suite.name}"))) for suite in chosen]
    if not any(points for _, points in stages):
        names = ", ".join(suite.name for suite in chosen)
        raise UserError(f"there is nothing to measure: {names} needs at least two threads or ranks; name other numbers")
    measured = {point.implementation for _, points in stages for point in points}
    for peer in request.peers:
        if peer.name not in measured:
            names = ", ".join(suite.name for suite in chosen)
            raise UserError(f"--peer {peer.name}: of the suites {names} none measures beside {peer.title}; name others")
    return [(suite, points) for suite, points in stages if points]


def ordered(points: Sequence[Point], chance: random.Random) -> list[Point]:
    """The points in random order, but with peers next to each other in time.

    Points that a reader compares (all forms with the same total number of threads, and among them those with the same
    ranks x threads) find the machine in the same state; the random order among them keeps slow drifts from favouring
    any of them.
    """

    def shuffled_groups(members: Sequence[Point], key: Callable[[Point], object]) -> list[list[Point]]:
        groups: defaultdict[object, list[Point]] = defaultdict(list)
        for member in members:
            groups[key(member)].append(member)
        found = list(groups.values())
        chance.shuffle(found)
        return found

    order: list[Point] = []
    for same_total in shuffled_groups(points, lambda point: point.total):
        for peers in shuffled_groups(same_total, lambda point: point.place):
            chance.shuffle(peers)
            order += peers
    return order
