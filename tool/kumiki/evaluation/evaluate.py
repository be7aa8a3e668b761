"""The evaluation: measures every point of the chosen suites and saves the results after each."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from kumiki.errors import ExitCode, UserError
from kumiki.evaluation.measure import Outcome, measure
from kumiki.evaluation.pace import Pace
from kumiki.evaluation.plan import Request, plan
from kumiki.evaluation.settling import Candidate, repeats
from kumiki.evaluation.spelling import folder, spelled
from kumiki.machine import environment
from kumiki.machine.load import OtherLoad
from kumiki.machine.native import Native
from kumiki.machine.topology import Machine
from kumiki.results import files
from kumiki.results.row import Row
from kumiki.suites.model import Point, Suite

SEEDS = 2**32
HANGS_BEFORE_GIVING_UP = 2


class Audience(Protocol):
    """A listener that is informed about the progress of the evaluation."""

    def begin(self, points: Sequence[Point]) -> None: ...
    def extends(self, point: Point) -> None:
        """The point will be measured again, in addition to the plan."""

    def point_begins(self, point: Point) -> None: ...
    def point_ends(self, outcome: Outcome) -> None: ...
    def suite_ends(self, suite: Suite, rows: Sequence[Row]) -> None: ...
    def settles(self, suite: Suite, rows: Sequence[Row]) -> None:
        """These rows of the suite have more samples than when it ended."""

    def end(self) -> None: ...


def open_folder(request: Request, machine: Machine, native: Native) -> files.Folder:
    """The folder for the results: a new evaluation's, or with --resume the existing one."""
    here = environment.describe(machine, native, request.hosts, request.peers)
    if not request.resume:
        seed = secrets.randbelow(SEEDS) if request.seed is None else request.seed
        return files.create(request.output, request.arguments(), seed, here)
    content = files.load(request.output)
    if content["arguments"] != request.arguments():
        raise UserError(
            f"--resume: {request.output} was begun with other arguments; continue it with: "
            + spelled(content["arguments"], content["environment"], f"{folder(request.output)} --resume")
        )
    if request.seed not in (None, content["seed"]):
        raise UserError(f"--resume: {request.output} was begun with --seed {content['seed']}; leave --seed out")
    begun = content["environment"]
    if differing := environment.machine_differences(begun, here) + environment.build_differences(begun, here):
        raise UserError(
            f"--resume: {request.output} was begun on another machine or build: {'; '.join(differing)}; "
            "start again without --resume"
        )
    return files.reopen(request.output, content)


def evaluate(request: Request, folder: files.Folder, machine: Machine, native: Native, audience: Audience) -> ExitCode:
    """Measures the missing points; INTERRUPTED after Ctrl-C, FAILED if a point or a validation failed."""
    cores = request.cores(machine)
    stages = plan(request, cores, folder.content["seed"])
    known = folder.measured_keys()
    hung: Counter[str] = Counter()
    failed: set[object] = set()
    missing = [point for _, points in stages for point in points if point.key not in known]
    pace = Pace(missing, request.seconds)
    seconds: dict[str, float] = {}
    others = OtherLoad(machine)

    def take(point: Point) -> None:
        if point.key in known or point.setting in failed:
            return
        audience.point_begins(point)
        outcome = _measure(point, hung, request.time_limit, native, cores, folder.log)
        hung[point.program] += outcome.hung
        seconds.setdefault(point.setting, outcome.seconds)
        failed.update({point.setting} if outcome.failed else ())
        folder.add(outcome, others.so_far())
        audience.point_ends(outcome)

    audience.begin(missing)
    try:
        for suite, points in stages:
            for point in points:
                take(pace.next(point))
            audience.suite_ends(suite, [row for row in folder.rows() if row.suite == suite.name])
        if not request.quick:
            candidates = [
                Candidate(suite, point, seconds.get(point.setting, point.estimated_seconds))
                for suite, points in stages
                for point in points
            ]
            again: list[Candidate] = []
            for each in repeats(candidates, folder.open_rows, pace.spare):
                audience.extends(each.point)
                take(each.point)
                again.append(each)
            for suite, _ in stages:
                if points := [each.point for each in again if each.suite is suite]:
                    audience.settles(suite, folder.rows_of(points))
        folder.finish()
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    finally:
        audience.end()
    wrong = any(row.failed or row.validated is False for row in folder.rows())
    return ExitCode.FAILED if wrong else ExitCode.OK


def _measure(
    point: Point,
    hung: Counter[str],
    time_limit: float | None,
    native: Native,
    cores: int,
    log: Callable[[str], None],
) -> Outcome:
    """Measures a point, unless its program has hung so often that it would only cost the others time."""
    if hung[point.program] >= HANGS_BEFORE_GIVING_UP:
        return Outcome(point, failed=f"{point.key}: was not started, because {point.program} hung before")
    return measure(point, native, cores, point.limit(time_limit), log)
