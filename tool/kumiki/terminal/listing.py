"""Other output of commands: the plan, the suites, warnings, the advice."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from kumiki import suites
from kumiki.doctor import State, disturbances
from kumiki.errors import complain
from kumiki.evaluation.plan import Request
from kumiki.machine import mpi
from kumiki.machine.native import Native
from kumiki.machine.topology import Machine
from kumiki.suites.model import Point, Program, Suite
from kumiki.terminal.display import console
from kumiki.terminal.formats import Format, TableOrJson
from kumiki.terminal.quantity import counted, duration


def print_plan(stages: Sequence[tuple[Suite, list[Point]]], native: Native, cores: int, format: Format) -> None:
    """The points in order with their estimates and commands."""
    points = [point for _, members in stages for point in members]
    if format is not Format.TABLE:
        _print_planned(points, native, cores, format)
        return
    for suite, members in stages:
        print(f"{suite.name}: {suite.title}")
        for point in members:
            absent = point.absence(native)
            print(
                f"  {point.estimated_seconds:5.1f} s  {f'absent: {absent}' if absent else point.command(native, cores)}"
            )
    total = sum(point.estimated_seconds for point in points if point.absence(native) is None)
    print(f"{len(points)} points on {cores} cores, about {duration(total)}; nothing was run")


def _print_planned(points: Sequence[Point], native: Native, cores: int, format: Format) -> None:
    planned = [
        {
            "suite": point.suite,
            "ranks": point.launcher.ranks,
            "threads": point.launcher.threads,
            "estimated_seconds": round(point.estimated_seconds, 2),
            "command": str(point.command(native, cores)),
            "absent": point.absence(native),
        }
        for point in points
    ]
    _write(planned, format)


def _write(planned: Sequence[dict[str, Any]], format: Format) -> None:
    if format is Format.JSON:
        for entry in planned:
            print(json.dumps(entry))
    else:
        names = dict.fromkeys(name for entry in planned for name in entry)
        writer = csv.DictWriter(sys.stdout, list(names), lineterminator="\n")
        writer.writeheader()
        writer.writerows(planned)


def print_runs(points: Sequence[Point], native: Native, cores: int, format: Format) -> None:
    """The settings of the user's own program with their commands and number of runs; their duration is unknown."""
    counts = Counter(point.setting for point in points if not point.warm_up)
    settings = {point.setting: point for point in points if not point.warm_up}
    planned: list[dict[str, Any]] = [
        {**point.parameters, "runs": counts[setting], "command": str(point.command(native, cores))}
        for setting, point in sorted(settings.items(), key=lambda item: (item[1].total, item[1].place))
    ]
    if format is not Format.TABLE:
        _write(planned, format)
        return
    for entry in planned:
        print(f"  {counted(entry['runs'], 'run')}  {entry['command']}")
    print(
        f"{counted(len(points), 'run')} with the warm-up, in random order on {counted(cores, 'core')}; nothing was run"
    )


def print_left_out(request: Request) -> None:
    """Prints what the default evaluation leaves out, and how to measure it; nothing if the user chose the suites."""
    if request.suites is not None or request.own is not None:
        return
    over_hosts = request.hosts is not None
    if over_hosts:
        within = ", ".join(suite.name for suite in suites.left_out(over_hosts))
        complain(f"left out over hosts, because they measure within a host: {within}")
    names = [suite.name for suite in suites.only_by_name(over_hosts)]
    complain(
        f"not measured, because they take longer: {', '.join(names)}; name the suites that you want, as in "
        f"--suite {names[-1]}, or measure everything with --suite {suites.EVERY}"
    )


def print_suites(native: Native, format: TableOrJson) -> None:
    """Every suite: what it measures, which programs it needs, and whether they are installed."""
    entries = [_described(suite, native) for suite in suites.ALL]
    if format is TableOrJson.JSON:
        print(json.dumps(entries, indent=1))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("suite", "measures", "programs"):
        table.add_column(name)
    for suite, entry in zip(suites.ALL, entries, strict=True):
        programs = Text("\n").join(
            Text(program["name"], style="green")
            if program["present"]
            else Text(f"{program['name']} (missing)", style="red")
            for program in entry["programs"]
        )
        by_name = "\nonly on request: --suite" if suite.by_name else ""
        table.add_row(suite.name, f"{suite.sentence}\n{', '.join(suite.headline)}{by_name}", programs)
        table.add_row()
    console().print(table)


def _described(suite: Suite, native: Native) -> dict[str, Any]:
    programs = [
        {"name": program.name, "present": native.has(native.program(program.name)) and _startable(program)}
        for program in suite.programs
    ]
    return {
        "name": suite.name,
        "title": suite.title,
        "measures": suite.sentence,
        "metrics": list(suite.headline),
        "by_name": suite.by_name,
        "programs": programs,
    }


def _startable(program: Program) -> bool:
    return not isinstance(program.peer, mpi.Mpi) or mpi.launcher(program.peer) is not None


def print_warnings(machine: Machine) -> None:
    """One line for each disturbance of the coming measurement that can be fixed."""
    for finding in disturbances(machine):
        if finding.state is State.DISTURBS:
            complain(f"warning: {finding.sentence} kumiki doctor shows the fix.")
