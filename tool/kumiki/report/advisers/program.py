"""How to run each program: its best setting, what it gains from, what limits it, and how it compares with its peers."""

from __future__ import annotations

from kumiki.report.advisers.again import again
from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.advisers.limits import limit
from kumiki.report.analysis.compare import against, best, better, equal, no_worse, settled, speed, stake, untold, within
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.peers import best_mpi, best_openmp
from kumiki.report.analysis.select import PROGRAMS, Problem, Setting, option, principal
from kumiki.report.quantity import amount, enumerate_words, factor, percent, plural, tolerance
from kumiki.results.row import Row

MOST_NAMED = 3
"""If more settings than this cannot be distinguished, they are counted instead of named."""


def advise(results: Results) -> list[Advice]:
    pieces: list[Advice] = []
    for program in PROGRAMS:
        problem = principal(results, program)
        pieces += of_problem(problem) if problem else []
    return pieces


def of_problem(problem: Problem) -> list[Advice]:
    """All advice on one program at one size."""
    if problem.best_hybrid is None:
        return []
    pieces = (_best_setting(problem), _threads_or_ranks(problem), limit(problem), _peers(problem))
    return [piece for piece in pieces if piece]


def parallel_pays(problem: Problem) -> bool | None:
    """Whether any parallel setting is better than the base case; None if the samples do not show it.

    True if no parallel setting was measured besides the base case, because nothing speaks against one.
    """
    base, candidates = problem.base, _candidates(problem)
    if base is None:
        return True if problem.fastest and settled(problem.fastest) else None
    if not candidates:
        return True
    if any(better(row, base) for row in candidates.values()):
        return True
    return False if all(no_worse(base, row) for row in candidates.values()) else None


def _candidates(problem: Problem) -> dict[Setting, Row]:
    """The settings with which the base case is compared: those on more processors."""
    fewest = problem.base.processors if problem.base else 1
    return {setting: row for setting, row in problem.fitting.items() if row.processors > fewest}


def is_parallel(problem: Problem) -> bool:
    """Whether the program was run on several processors at all, with a core for each."""
    return any(row.processors > 1 and not row.oversubscribed for row in problem.hybrid.values())


def _best_setting(problem: Problem) -> Advice | None:
    if problem.best_hybrid is None:
        return None
    pays = parallel_pays(problem)
    if pays is None:
        return _not_told(problem)
    if not pays:
        return _do_not_parallelise(problem)
    setting, row = problem.best_hybrid
    if problem.sequential and not is_parallel(problem):
        return _on_one_core(problem, row, problem.sequential)
    others = {other: peer for other, peer in problem.fitting.items() if other != setting}
    same = {other: peer for other, peer in others.items() if equal(peer, row)}
    near = {other: peer for other, peer in others.items() if untold(peer, row)}
    equals = ""
    if same:
        names = [f"{problem.option(other)} {within((peer, row))}" for other, peer in same.items()]
        equals = f"; equal to it: {enumerate_words(names)}"
    text = f"{problem.title}: use {problem.command(setting)}, {amount(row)}{_gain(problem, row)}{equals}."
    if near:
        text += f" These samples do not show whether {_named(problem, near)} would be as good."
    return say("program", problem.program.title, text, [row, problem.base, *same.values(), *near.values()])


def _on_one_core(problem: Problem, row: Row, base: Row) -> Advice:
    relation = against(row, base, f"the sequential form ({amount(base)})")
    text = f"{problem.title} on one core: under Kumiki ({amount(row)}) it is {relation}."
    return say("program", problem.program.title, text, [row, base])


def _named(problem: Problem, settings: dict[Setting, Row]) -> str:
    if len(settings) > MOST_NAMED:
        return f"{len(settings)} other settings"
    return enumerate_words([f"{problem.option(setting)} ({amount(row)})" for setting, row in settings.items()])


def _gain(problem: Problem, row: Row) -> str:
    base, gain, share = problem.base, problem.speedup(row), problem.efficiency(row)
    if base is None or base is row or gain is None or share is None:
        return ""
    form = "sequentially" if base is problem.sequential else problem.base_place
    if not better(row, base):
        return f" against {amount(base)} {form}"
    ratio = factor(gain / base.processors)
    where = f"on {plural(row.processors, 'processor')}, efficiency {percent(share)}"
    if row.oversubscribed:
        where = f"with {plural(row.processors, 'thread')}, more than there are cores"
    return f" against {amount(base)} {form}: {ratio} times as fast {where}"


def _not_told(problem: Problem) -> Advice | None:
    """The samples show neither that parallel settings gain nor that they do not."""
    base, row = problem.base, problem.fastest
    if base is None or row is None:
        return None
    candidates = _candidates(problem)
    row = best(candidates.values()) or row
    text = (
        f"{problem.title}: these samples do not show whether it gains from running in parallel. {_form(problem, base)} "
        f"{_verb(row, 's')} {_spread(base)}; the best parallel setting measured, "
        f"{problem.option((row.ranks, row.threads))}, {_verb(row, 's')} {_spread(row)}. "
        f"{again(problem.results, [problem.program.suite])}"
    )
    return say("program", problem.program.title, text, [base, *candidates.values()])


def _spread(row: Row) -> str:
    """A figure with its uncertainty."""
    half = tolerance(row)
    return f"{amount(row)} ({plural(row.n, 'sample')}{f', {half}' if half else ''})"


def _form(problem: Problem, base: Row) -> str:
    return "The sequential form" if base is problem.sequential else f"A run {problem.base_place}"


def _do_not_parallelise(problem: Problem) -> Advice | None:
    base, row = problem.base, best(_candidates(problem).values())
    if base is None or row is None:
        return None
    setting = row.ranks, row.threads
    slower = "takes longer" if row.better == "lower" else "is slower"
    relation = f"is only equal to it {within((row, base))}" if equal(row, base) else slower
    text = (
        f"{problem.title}: do not parallelise at this size. {_form(problem, base)} {_verb(row, 's')} {amount(base)}; "
        f"the best parallel setting measured, {problem.option(setting)}, {relation} ({amount(row)})."
    )
    shared = problem.shared(row)
    if shared:
        text += f" {percent(shared)} of its time is communication and synchronisation."
    parts = [part for name, part in problem.parts(row).items() if name != "computation"]
    return say("program", problem.program.title, text, [base, row, *parts])


def _verb(row: Row, ending: str = "") -> str:
    """The verb for a figure: a program takes a time and reaches a rate."""
    return f"take{ending}" if row.better == "lower" else f"reach{'e' if ending else ''}{ending}"


def _threads_or_ranks(problem: Problem) -> Advice | None:
    """Compares the gain from threads alone with that from ranks alone, at settings with a core for every thread."""
    one = problem.hybrid.get((1, 1))
    threads = _best_of({s: r for s, r in problem.hybrid.items() if s[0] == 1 and s[1] > 1})
    ranks = _best_of({s: r for s, r in problem.hybrid.items() if s[0] > 1 and s[1] == 1})
    if one is None or threads is None or ranks is None:
        return None
    (t, by_threads), (r, by_ranks) = threads, ranks
    if untold(by_threads, one) or untold(by_ranks, one):
        return None
    figures = (
        f"{plural(r[0], 'rank')} with one thread each {_verb(one)} {amount(by_ranks)}, one rank with "
        f"{plural(t[1], 'thread')} {_verb(one, 's')} {amount(by_threads)}, and one rank with one thread {amount(one)}"
    )
    gains = (better(by_threads, one), better(by_ranks, one))
    if gains == (True, True):
        verdict = _more_from(by_threads, by_ranks)
    elif any(gains):
        verdict = "gains from threads but not from ranks" if gains[0] else "gains from ranks but not from threads"
    else:
        verdict = "gains neither from threads nor from ranks"
    return say(
        "program", problem.program.title, f"{problem.program.title} {verdict}: {figures}.", [by_ranks, by_threads, one]
    )


def _more_from(by_threads: Row, by_ranks: Row) -> str:
    if equal(by_threads, by_ranks):
        return f"gains equally from threads and from ranks ({within((by_threads, by_ranks))})"
    if untold(by_threads, by_ranks):
        return "gains from threads and from ranks, and these samples do not show from which more"
    more, less = ("threads", "ranks") if better(by_threads, by_ranks) else ("ranks", "threads")
    return f"gains more from {more} than from {less}"


def _best_of(rows: dict[Setting, Row]) -> tuple[Setting, Row] | None:
    fitting = {setting: row for setting, row in rows.items() if not row.oversubscribed}
    return max(fitting.items(), key=lambda item: speed(item[1]), default=None)


def _peers(problem: Problem) -> Advice | None:
    if problem.best_hybrid is None:
        return None
    setting, row = problem.best_hybrid
    mpi, openmp = best_mpi(problem), best_openmp(problem)
    peers = []
    if mpi:
        words = f"{mpi.title}, {plural(mpi.ranks, 'rank')}, {amount(mpi)}"
        peers.append((mpi, f"plain MPI at its best ({words})"))
    if openmp:
        peers.append((openmp, f"OpenMP at its best ({plural(openmp.threads, 'thread')}, {amount(openmp)})"))
    if not peers:
        return None
    ours = f"{problem.program.title} under Kumiki at its best ({option(setting)}, {amount(row)})"
    told = [against(row, peer, name) for peer, name in peers if not untold(row, peer)]
    unknown = [name for peer, name in peers if untold(row, peer)]
    text = f"{ours} is {enumerate_words(told)}." if told else ""
    if unknown:
        subject = "it" if told else ours
        text += f" These samples do not show how {subject} compares with {enumerate_words(unknown)}."
    weighed = stake(*((row, peer) for peer, _ in peers))
    return say("program", problem.program.title, text.strip(), [row, mpi, openmp], weighed)
