"""The cost of synchronisation, and the amount of work between two barriers that makes it worthwhile."""

from __future__ import annotations

from kumiki.report.advisers.again import again
from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.analysis.compare import against, best, better, clearly_better, equal, settled, stake, untold, within
from kumiki.report.analysis.growth import growth
from kumiki.report.analysis.model import Results
from kumiki.report.quantity import amount, enumerate_words, factor, percent, plural, quantity
from kumiki.results.row import Row

GRAIN = 100
"""If the work between two barriers takes this many times as long as one, synchronisation takes 1 % of the time."""


def advise(results: Results) -> list[Advice]:
    pieces = [
        _threads(results),
        _threads_against_libraries(results),
        _ranks(results),
        _growth(results),
        _ranks_against_mpi(results),
        _split_phase(results),
        _shuffle_exchange(results),
        _crowded(results),
    ]
    return [piece for piece in pieces if piece]


def _threads(results: Results) -> Advice | None:
    row = _largest(results.where("thread_barrier.time", "kumiki"), "threads")
    return _grain("Thread barrier", row, "threads") if row and settled(row) else None


def _ranks(results: Results) -> Advice | None:
    row = _largest(results.where("rank_barrier.time", "kumiki", form="plain"), "ranks")
    return _grain("Rank barrier", row, "ranks") if row and settled(row) else None


def _grain(heading: str, row: Row, members: str) -> Advice:
    work = quantity(GRAIN * row.value, row.unit, 2)
    text = (
        f"A barrier of {row.count(members)} {members} costs {amount(row)}: give each of them at least {work} of work "
        f"({GRAIN} times as long) between two barriers, so that synchronisation takes less than 1 % of the time. With "
        f"{amount(row)} of work it takes half of the time."
    )
    return say("barrier", heading, text, [row])


def _threads_against_libraries(results: Results) -> Advice | None:
    ours = _largest(results.where("thread_barrier.time", "kumiki"), "threads")
    if ours is None:
        return None
    names = {"pthread": "pthread_barrier", "std": "std::barrier", "openmp": "OpenMP"}
    rows = [
        r for r in results.where("thread_barrier.time", threads=ours.threads) if r.implementation in names and r.usable
    ]
    fastest = best(rows)
    if fastest is None:
        return None
    other = f"the best library barrier ({names[fastest.implementation]}, {amount(fastest)})"
    text = f"Kumiki's thread barrier is {against(ours, fastest, other)}"
    slowest = max(rows, key=lambda row: row.value)
    if better(ours, slowest) and slowest.value >= 2 * ours.value and slowest is not fastest:
        text += f"; avoid {names[slowest.implementation]}, which costs {amount(slowest)}"
    return say("barrier", "Thread barrier", text + ".", [ours, fastest, slowest], stake((ours, fastest)))


def _growth(results: Results) -> Advice | None:
    """How the cost grows with the number of ranks: a barrier in rounds of doubling distance needs log2 P rounds."""
    rows = results.where("rank_barrier.time", "kumiki", form="plain")
    line = growth({row.ranks: row for row in rows if not row.oversubscribed})
    if line is None or not line.fits or not better(line.rows[0], line.rows[-1]):
        return None  # time slices of the scheduler follow no law, and growth must be shown before it is described
    unit = line.rows[0].unit
    sign = "−" if line.fixed < 0 else "+"
    text = (
        f"Kumiki's barrier of P ranks costs about {quantity(line.doubling, unit, 2)} × log2 P {sign} "
        f"{quantity(abs(line.fixed), unit, 2)}; the medians for "
        f"{enumerate_words([str(ranks) for ranks in line.members])} ranks deviate from it by at most "
        f"{percent(line.miss)}"
    )
    return say("barrier", "Rank barrier", text + ".", list(line.rows))


def _ranks_against_mpi(results: Results) -> Advice | None:
    ours = _largest(results.where("rank_barrier.time", "kumiki", form="plain"), "ranks")
    if ours is None:
        return None
    rows = results.where("rank_barrier.time", ranks=ours.ranks, form="plain")
    rows = [row for row in rows if row.implementation in results.mpis and row.usable]
    fastest = best(rows)
    if fastest is None:
        return None
    other = f"the best MPI_Barrier ({fastest.title}, {amount(fastest)})"
    text = f"With {ours.ranks} ranks Kumiki's barrier is {against(ours, fastest, other)}."
    return say("barrier", "Rank barrier", text, [ours, fastest], stake((ours, fastest)))


def _split_phase(results: Results) -> Advice | None:
    plain, split = _forms(results, "split-phase")
    if plain is None or split is None:
        return None
    hidden = _same_place(results, "rank_barrier.hidden", split)
    if better(split, plain):
        left = f"{amount(split)} of it remain" if split.usable else "none of it remains"
        share = f" ({percent(hidden.value / 100)} is hidden)" if hidden and 0 < hidden.value <= 100 else ""
        text = (
            f"If there is work to do between arriving and waiting, use the split-phase rank barrier: {left} visible"
            f"{share}, compared with {amount(plain)} for the plain one."
        )
    elif untold(split, plain):
        text = (
            f"These samples do not show whether the split-phase rank barrier ({amount(split)}) hides any part of the "
            "plain "
            f"one ({amount(plain)}). {again(results, ['rank-barrier'])}"
        )
    else:
        same = equal(split, plain)
        relation = f"equal to the plain one {within((split, plain))}" if same else "more expensive than the plain one"
        verdict = "no part of it is hidden" if same else "it does not pay off on this machine"
        text = f"The split-phase rank barrier ({amount(split)}) is {relation} ({amount(plain)}): {verdict}."
    return say("barrier", "Rank barrier", text, [plain, split, hidden])


def _same_place(results: Results, metric: str, row: Row) -> Row | None:
    rows = results.where(metric, row.implementation)
    return next((other for other in rows if other.parameters == row.parameters and other.trusted), None)


def _shuffle_exchange(results: Results) -> Advice | None:
    plain, shuffle = _forms(results, "shuffle-exchange")
    if plain is None or shuffle is None or not shuffle.usable or not better(shuffle, plain):
        return None
    text = (
        f"With {plain.ranks} ranks the shuffle-exchange barrier ({amount(shuffle)}) is faster than the plain one "
        f"({amount(plain)})."
    )
    return say("barrier", "Rank barrier", text, [plain, shuffle])


def _crowded(results: Results) -> Advice | None:
    """Which implementations still synchronise in reasonable time when there are more ranks than cores."""
    crowded = [
        r
        for r in results.where("rank_barrier.time")
        if r.oversubscribed and r.usable and r.text("form") == "plain" and r.implementation != "bound"
    ]
    ours = max((r for r in crowded if r.implementation == "kumiki"), key=lambda row: row.ranks, default=None)
    if ours is None or not settled(ours):
        return None
    slow = [r for r in crowded if r.ranks == ours.ranks and clearly_better(ours, r) and r.value > 10 * ours.value]
    names = " and ".join(f"{r.title}'s costs {amount(r)}" for r in slow)
    text = f"With {plural(ours.ranks, 'rank')}, more than there are cores, Kumiki's barrier costs {amount(ours)}"
    if slow:
        worst = factor(max(r.value for r in slow) / ours.value)
        text += f"; {names}, up to {worst} times as much: do not start more ranks than cores under that MPI"
    return say("barrier", "Rank barrier", text + ".", [ours, *slow], stake(*((ours, row) for row in slow)))


def _forms(results: Results, form: str) -> tuple[Row | None, Row | None]:
    """The plain barrier and another form of it, for the largest number of ranks with a core each that both have."""
    plain = {r.ranks: r for r in _fitting(results, "plain") if r.usable}
    other = {r.ranks: r for r in _fitting(results, form)}
    ranks = max(set(plain) & set(other) - {1}, default=None)
    return (plain[ranks], other[ranks]) if ranks is not None else (None, None)


def _fitting(results: Results, form: str) -> list[Row]:
    rows = results.where("rank_barrier.time", "kumiki", form=form)
    return [row for row in rows if row.trusted and not row.oversubscribed]


def _largest(rows: list[Row], members: str) -> Row | None:
    """The row with the most members that still have a core each; a single member never waits."""
    fitting = [row for row in rows if row.usable and not row.oversubscribed and row.count(members) > 1]
    return max(fitting, key=lambda row: row.count(members), default=None)
