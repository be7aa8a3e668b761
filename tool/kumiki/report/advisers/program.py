"""How to run each program: its best setting, what it gains from, what limits it, how its peers do."""

from __future__ import annotations

from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.compare import against, best, better, equal, speed
from kumiki.report.model import Results, Row
from kumiki.report.palette import title
from kumiki.report.quantity import amount, enumerate_words, factor, percent, plural
from kumiki.report.select import PROGRAMS, Problem, Setting, option, principal

WORTH_NAMING = 0.05
"""A loss against the ideal below this share of the time needs no explanation."""


def advise(results: Results) -> list[Advice]:
    pieces: list[Advice | None] = []
    for program in PROGRAMS:
        problem = principal(results, program)
        pieces += of_problem(problem) if problem else []
    return [piece for piece in pieces if piece]


def of_problem(problem: Problem) -> list[Advice]:
    """All that there is to say of one program at one size."""
    if problem.best_hybrid is None:
        return []
    pieces = (_best_setting(problem), _threads_or_ranks(problem), _limit(problem), _peers(problem))
    return [piece for piece in pieces if piece]


def parallel_pays(problem: Problem) -> bool:
    """Whether the best setting beats the base case beyond the intervals, as far as any parallel one was measured."""
    if problem.best_hybrid is None:
        return False
    base, top = problem.base, problem.best_hybrid[1]
    if base is None or (base is not problem.sequential and not _wider(problem, base)):
        return True
    return better(top, base)


def _wider(problem: Problem, base: Row) -> dict[Setting, Row]:
    """The settings that use more than the base case."""
    return {setting: row for setting, row in problem.hybrid.items() if row.processors > base.processors}


def shared_time(problem: Problem, row: Row) -> float:
    """Seconds of `row` that went into communication and synchronisation."""
    return sum(part.value for name, part in problem.parts(row).items() if name != "computation")


def _best_setting(problem: Problem) -> Advice | None:
    if problem.best_hybrid is None:
        return None
    setting, row = problem.best_hybrid
    if not parallel_pays(problem):
        return _do_not_parallelise(problem, setting, row)
    same = [other for other, peer in problem.hybrid.items() if other != setting and equal(peer, row)]
    equals = (
        f"; {enumerate_words([problem.option(s) for s in same])} equal within the confidence intervals" if same else ""
    )
    text = f"{problem.title}: use {problem.command(setting)}, {amount(row)}{_gain(problem, row)}{equals}."
    return say("program", problem.program.title, text, [row, problem.base, *(problem.hybrid[s] for s in same)])


def _gain(problem: Problem, row: Row) -> str:
    base, gain, share = problem.base, problem.speedup(row), problem.efficiency(row)
    if base is None or base is row or gain is None or share is None:
        return ""
    form = "sequentially" if base is problem.sequential else problem.base_place
    efficiency = "" if row.oversubscribed else f", efficiency {percent(share)}"
    processors = plural(row.processors, "processor")
    ratio = factor(gain / base.processors)
    return f" against {amount(base)} {form}: {ratio} times as fast on {processors}{efficiency}"


def _do_not_parallelise(problem: Problem, setting: Setting, row: Row) -> Advice | None:
    base = problem.base
    if base is None:
        return None
    wider = _wider(problem, base)
    if wider and setting not in wider:
        setting, row = max(wider.items(), key=lambda item: speed(item[1]))
    slower = "takes longer" if row.better == "lower" else "is slower"
    relation = "is only equal to it within the confidence intervals" if equal(row, base) else slower
    form = "The sequential form" if base is problem.sequential else f"A run {problem.base_place}"
    text = (
        f"{problem.title}: do not parallelise at this size. {form} {_verb(row, 's')} {amount(base)}; the best "
        f"parallel setting measured, {problem.option(setting)}, {relation} ({amount(row)})."
    )
    shared = shared_time(problem, row)
    if shared > 0:
        text += f" {percent(shared / row.value)} of that is communication and synchronisation."
    parts = [part for name, part in problem.parts(row).items() if name != "computation"]
    return say("program", problem.program.title, text, [base, row, *parts])


def _verb(row: Row, ending: str = "") -> str:
    """What a program does with a figure: it takes a time, and reaches a rate."""
    return f"take{ending}" if row.better == "lower" else f"reach{'e' if ending else ''}{ending}"


def _threads_or_ranks(problem: Problem) -> Advice | None:
    """Gains from threads alone beside gains from ranks alone, at settings with a core for everyone."""
    one = problem.hybrid.get((1, 1))
    threads = _best_of({s: r for s, r in problem.hybrid.items() if s[0] == 1 and s[1] > 1})
    ranks = _best_of({s: r for s, r in problem.hybrid.items() if s[0] > 1 and s[1] == 1})
    if one is None or threads is None or ranks is None:
        return None
    (t, by_threads), (r, by_ranks) = threads, ranks
    figures = (
        f"{plural(r[0], 'rank')} of one thread {_verb(one)} {amount(by_ranks)}, one rank of "
        f"{plural(t[1], 'thread')} {amount(by_threads)}, one of one {amount(one)}"
    )
    gains = (better(by_threads, one), better(by_ranks, one))
    if gains == (True, True):
        if equal(by_threads, by_ranks):
            verdict = "gains equally from threads and from ranks"
        else:
            more, less = ("threads", "ranks") if better(by_threads, by_ranks) else ("ranks", "threads")
            verdict = f"gains more from {more} than from {less}"
    elif any(gains):
        verdict = "gains from threads but not from ranks" if gains[0] else "gains from ranks but not from threads"
    else:
        verdict = "gains neither from threads nor from ranks"
    return say(
        "program", problem.program.title, f"{problem.program.title} {verdict}: {figures}.", [by_ranks, by_threads, one]
    )


def _best_of(rows: dict[Setting, Row]) -> tuple[Setting, Row] | None:
    fitting = {setting: row for setting, row in rows.items() if not row.oversubscribed}
    return max(fitting.items(), key=lambda item: speed(item[1]), default=None)


def _limit(problem: Problem) -> Advice | None:
    """What the time lost against the ideal went into, at the best setting that has a core for everyone."""
    found = _best_of({s: r for s, r in problem.hybrid.items() if r.processors > 1})
    if found is None or problem.base is None:
        return None
    setting, row = found
    parts = problem.parts(row)
    if "computation" not in parts or len(parts) < 2:
        return None
    shared = shared_time(problem, row)
    growth, grown = _growth(problem, row)
    text = (
        f"{problem.program.title} at {option(setting)} spends {percent(shared / row.value)} of its time in "
        f"communication and synchronisation{growth}: {_cause(problem, row, problem.base)}."
    )
    return say("program", problem.program.title, text, [row, *parts.values(), problem.base, *grown])


def _cause(problem: Problem, row: Row, base: Row) -> str:
    """The largest cause of the loss against the ideal, in words."""
    lost = row.value - base.value / row.processors
    shared = shared_time(problem, row)
    shares = {name: part.value for name, part in problem.parts(row).items() if name != "computation"}
    larger = max(shares, key=lambda name: shares[name])
    if shared > row.value / 2:
        return f"it is bound by {larger}, and fewer ranks, larger problems or overlap help where more cores do not"
    if lost <= WORTH_NAMING * row.value:
        nothing = "next to nothing is lost against the ideal"
        if shared - lost <= WORTH_NAMING * row.value:
            return nothing
        return f"the computation takes so much less than its share of the base case that {nothing}"
    loss = f"of the {percent(lost / row.value)} lost against the ideal"
    if shared > lost / 2:
        return f"{loss} most is {larger}, which limits it"
    return f"{loss} most is slower computation: the cores share memory bus, caches and clock"


def _growth(problem: Problem, top: Row) -> tuple[str, list[Row]]:
    """How the share grows with ranks: from the fewest (more than one) to the most that have a core each."""
    fitting = {
        ranks: min(
            (r for (n, _), r in problem.hybrid.items() if n == ranks), key=lambda row: (row.oversubscribed, row.value)
        )
        for ranks in sorted({n for n, _ in problem.hybrid if n > 1})
    }
    fitting = {ranks: row for ranks, row in fitting.items() if not row.oversubscribed and len(problem.parts(row)) > 1}
    if not fitting:
        return "", []
    few, many = fitting[min(fitting)], fitting[max(fitting)]
    if few is many is top:
        return "", []
    at_few, at_many = (
        f"{percent(shared_time(problem, row) / row.value)} at {option((row.ranks, row.threads))}" for row in (few, many)
    )
    words = f" ({at_few})" if few is many else f" (by ranks: {at_few}, {at_many})"
    return words, [part for row in (few, many) for part in (row, *problem.parts(row).values())]


def _peers(problem: Problem) -> Advice | None:
    if problem.best_hybrid is None:
        return None
    setting, row = problem.best_hybrid
    mpi = best(peer for rows in problem.mpi.values() for peer in rows.values())
    openmp = best(problem.openmp.values())
    words = []
    if mpi:
        other = f"plain MPI at its best ({title(mpi.implementation)}, {plural(mpi.ranks, 'rank')}, {amount(mpi)})"
        words.append(against(row, mpi, other))
    if openmp:
        other = f"OpenMP at its best ({plural(openmp.threads, 'thread')}, {amount(openmp)})"
        words.append(against(row, openmp, other))
    if not words:
        return None
    text = f"{problem.program.title} under Kumiki at its best ({option(setting)}) is {enumerate_words(words)}."
    return say("program", problem.program.title, text, [row, mpi, openmp])
