"""What each platform is good for, derived from its figures and those of the others (after section 5 of P3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumiki.report.advisers import Advice, derive, routines
from kumiki.report.advisers.kinds import say
from kumiki.report.advisers.program import parallel_pays
from kumiki.report.analysis.compare import better, equal, speed, untold
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import PROGRAMS, principal
from kumiki.report.own.problem import own_problems
from kumiki.report.platforms.model import Contest, Platform
from kumiki.report.quantity import enumerate_words, factor, percent

KIND = "platform"
GOOD = 0.8
"""The efficiency from which the JAMSTEC paper calls a program well parallelised."""
_TAKEN_OVER = ("setting", "memory", "occupancy", "network")
"""The kinds of advice whose first piece becomes a guideline."""


@dataclass(frozen=True)
class Guidelines:
    """The sentences of one platform; their rows are rows of its own results."""

    label: str
    pieces: list[Advice]


def guidelines(platforms: Sequence[Platform], contests: Sequence[Contest]) -> list[Guidelines]:
    return [Guidelines(platform.label, _of(platform, contests)) for platform in platforms]


def _of(platform: Platform, contests: Sequence[Contest]) -> list[Advice]:
    results = platform.results
    first: dict[str, Advice] = {}
    for piece in derive(results):
        first.setdefault(piece.kind, piece)
    own = [first[kind] for kind in ("program", "own") if kind in first] if own_problems(results) else []
    pieces = [
        _among(platform, contests),
        *own,
        first.get("setting"),
        _scaling(results),
        *(first.get(kind) for kind in _TAKEN_OVER if kind != "setting"),
        _routine(results),
    ]
    return [piece for piece in pieces if piece]


def _among(platform: Platform, contests: Sequence[Contest]) -> Advice | None:
    """For which programs it is the fastest, for which as fast as the fastest, and how much slower it is otherwise."""
    fastest, same, slower, unknown, rows = [], [], [], [], []
    for contest in contests:
        tops = [(entrant, top) for entrant in contest.entrants if (top := entrant.top)]
        mine = next((top for entrant, top in tops if entrant.platform is platform), None)
        others = [(entrant, top) for entrant, top in tops if entrant.platform is not platform]
        if mine is None or not others:
            continue
        rows.append(mine)
        rival, other = max(others, key=lambda item: speed(item[1]))
        name = contest.problem.name
        if better(mine, other):
            fastest.append(name)
        elif equal(mine, other):
            same.append(f"{name} ({rival.platform.label})")
        elif untold(mine, other):
            unknown.append(f"{name} ({rival.platform.label})")
        else:
            slower.append(f"{name} ({factor(speed(other) / speed(mine))} times as long as {rival.platform.label})")
    words = [f"is the fastest for {enumerate_words(fastest)}"] if fastest else []
    words += [f"is as fast as the fastest for {enumerate_words(same)}"] if same else []
    words += [f"is slower than the fastest for {enumerate_words(slower)}"] if slower else []
    words += [f"cannot be distinguished from the fastest for {enumerate_words(unknown)}"] if unknown else []
    if not words:
        return None
    return say(
        KIND, platform.label, f"With every program at its best setting, this platform {enumerate_words(words)}.", rows
    )


def _scaling(results: Results) -> Advice | None:
    """Which programs are worth running on all processors that were measured, which on some, and which on one."""
    well, poorly, alone, unknown, rows = [], [], [], [], []
    for program in PROGRAMS:
        problem = principal(results, program)
        wide = problem.best_by_processors() if problem else []
        if problem is None or problem.base is None or not wide or wide[-1].processors == 1:
            continue
        share = problem.efficiency(wide[-1]) or 0.0
        entry = f"{problem.name} ({percent(share)} on {wide[-1].processors})"
        rows += [problem.base, wide[-1]]
        pays = parallel_pays(problem)
        if pays is None:
            unknown.append(problem.name)
        elif not pays:
            alone.append(problem.name)
        elif share >= GOOD:
            well.append(entry)
        else:
            poorly.append(entry)
    words = [f"{enumerate_words(well)} {'scales' if len(well) == 1 else 'scale'} well"] if well else []
    words += [f"{enumerate_words(poorly)} {'scales' if len(poorly) == 1 else 'scale'} less well"] if poorly else []
    words += [f"{enumerate_words(alone)} should stay sequential"] if alone else []
    words += [f"for {enumerate_words(unknown)} these samples leave it open"] if unknown else []
    if not words:
        return None
    text = f"Judged by the efficiency on the most processors ({percent(GOOD)} counts as good), {'; '.join(words)}."
    return say(KIND, "Scaling", text, rows)


def _routine(results: Results) -> Advice | None:
    found = routines.sentence(results)
    return say(KIND, "Messages", *found) if found else None
