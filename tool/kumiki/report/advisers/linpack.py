"""Linpack: what the machine delivers, and what of it unequal cores, a device and ways to wait take or give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kumiki.report.advisers.again import again
from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.analysis import linpack
from kumiki.report.analysis.compare import better, gain, stake
from kumiki.report.analysis.model import Results
from kumiki.report.quantity import amount, enumerate_words, factor, percent
from kumiki.results.row import Row

HEADING = "Linpack"


def advise(results: Results) -> list[Advice]:
    return [piece for find in (_best, _reference, _unequal, _device, _look_ahead, _crowded) for piece in find(results)]


def _best(results: Results) -> Iterator[Advice]:
    """The sentence for the owner of the machine: its best rate, and the bound."""
    best = linpack.best(results)
    if best is None:
        return
    where = f"with N = {best.count('n')}, block {best.count('block')}, on {linpack.place(best)} ranks x threads"
    text = f"The best rate of Linpack is {amount(best)}, {where}"
    bound = linpack.bounds(results).get(linpack.place(best))
    if bound is None:
        yield _say(f"{text}.", [best])
        return
    share = best.value / bound.value
    text += f": {percent(share)} of the product of matrices that its updates consist of."
    if share < 0.9 and _grows(results, best):
        text += " The rate still grows with N: `kumiki linpack` chooses the N that fits the memory and the time."
    yield _say(text, [best, bound])


def _grows(results: Results, best: Row) -> bool:
    """Whether this row has the largest N in its place, and is better than that with the next smaller one."""
    curve = next((list(rows.values()) for rows in linpack.by_size(results).values() if best in rows.values()), [])
    return len(curve) > 1 and best == curve[-1] and better(best, curve[-2])


def _reference(results: Results) -> Iterator[Advice]:
    """Beside reference HPL, at the largest N of both."""
    reference = linpack.reference(results)
    both = [size for rows in linpack.full_places(results).values() for size in rows if size in reference]
    if not both:
        return
    size = max(both)
    ours = max((rows[size] for rows in linpack.full_places(results).values() if size in rows), key=_value)
    theirs = reference[size]
    text = f"Reference HPL has {amount(theirs)} with N = {size}, Kumiki {amount(ours)} on {linpack.place(ours)}"
    if better(ours, theirs) or better(theirs, ours):
        text += f": {factor(gain(ours, theirs).ratio)} times its rate."
    else:
        text += "; the samples do not tell which is faster."
    yield _say(text, [ours, theirs], stake((ours, theirs)))


def _unequal(results: Results) -> Iterator[Advice]:
    found = linpack.unequal(results)
    if found is None:
        return
    rows = found.ways
    of = f", of a sum of the DGEMM rates of {amount(found.bound)}" if found.bound else ""
    facts = enumerate_words([f"{way} {amount(row)}" for way, row in rows.items()])
    text = f"With one core at half its speed: {facts}{of}."
    equal, others = rows[linpack.EQUAL], [way for way in rows if way != linpack.EQUAL]
    winners = [way for way in others if better(rows[way], equal)]
    above = [way for way in rows if found.bound and better(rows[way], found.bound)]
    if above:
        text += (
            f" That {enumerate_words(above)} is above this sum cannot be: other programs took the processors from the "
            f"one more than from the other. Nothing follows. {again(results, [linpack.SUITE])}"
        )
        winners = []
    elif winners:
        best = max(winners, key=lambda way: rows[way].value)
        how = {linpack.BY_SPEED: " (`--weights measured`)", linpack.TILES: " (one rank for all cores, `-n 1`)"}
        times = factor(gain(rows[best], equal).ratio)
        text += f" On cores of different speeds use {best}{how.get(best, '')}: {times} times the rate of equal shares."
    else:
        text += " These samples do not show that any way is better than equal shares."
    yield _say(text, [*rows.values(), found.bound], stake(*((rows[way], equal) for way in winners)))


def _device(results: Results) -> Iterator[Advice]:
    found = linpack.with_device(results)
    if found is None or not found.together:
        return
    size = max(found.together)
    pair = found.together[size], found.alone[size]
    text = f"With `--device {found.device}`, N = {size} has {amount(pair[0])} instead of {amount(pair[1])}."
    if found.pays_from is None:
        text += " The device does not pay at any N that was measured."
    elif found.pays_from > min(found.together):
        text += f" The device pays from N = {found.pays_from} on; for smaller ones the threads are as fast alone."
    else:
        text += " It pays at every N that was measured."
    yield _say(text, pair, stake(pair))


def _look_ahead(results: Results) -> Iterator[Advice]:
    for _, rows in linpack.studies(results, ("look_ahead",)):
        kinds = {row.text("look_ahead"): row for row in rows}
        if "tiles" not in kinds:
            continue
        tiles, others = kinds["tiles"], [row for row in rows if row.text("look_ahead") != "tiles"]
        facts = enumerate_words([f"{row.text('look_ahead')} {amount(row)}" for row in rows])
        text = f"Look-ahead with blocks of {tiles.count('block')}: {facts}."
        slower = [row.text("look_ahead") for row in others if better(tiles, row)]
        faster = [row.text("look_ahead") for row in others if better(row, tiles)]
        if faster:
            text += (
                f" Faster than tiles, the usual one, here: {enumerate_words(faster)} (`kumiki-linpack --look-ahead`)."
            )
        elif slower:
            text += f" Tiles, the usual one, is faster than {enumerate_words(slower)}."
        else:
            text += " These samples do not tell them apart."
        yield _say(text, rows, stake(*((tiles, row) for row in others)))


def _crowded(results: Results) -> Iterator[Advice]:
    """Ways to wait with more ranks than cores, beside the best of them with as many ranks as cores."""
    sets = [rows for _, rows in linpack.studies(results, ("wait",))]
    crowded = next((rows for rows in sets if rows[0].oversubscribed), None)
    if crowded is None:
        return
    facts = enumerate_words([f"{row.text('wait')} {amount(row)}" for row in crowded])
    text = f"With {crowded[0].ranks} ranks, more than there are cores, by the way in which they wait: {facts}."
    best, worst = (choose(crowded, key=_value) for choose in (max, min))
    cited = list(crowded)
    enough = next((rows for rows in sets if not rows[0].oversubscribed), None)
    if enough is not None:
        top = max(enough, key=_value)
        cited.append(top)
        text += f" The best of them has {percent(best.value / top.value)} of the best rate with a rank for each core"
        text += "; more ranks get more of a machine that others use." if better(best, top) else "."
    if better(best, worst):
        text += f" Never let more ranks than cores wait with `--wait {worst.text('wait')}`."
    yield _say(text, cited, stake((best, worst)))


def _value(row: Row) -> float:
    return row.value


def _say(text: str, rows: Iterable[Row | None], stakes: float = 1.0) -> Advice:
    return say("linpack", HEADING, text, rows, stakes)
