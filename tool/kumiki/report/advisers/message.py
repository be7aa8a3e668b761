"""Messages between ranks: the cost of a short one, and the size from which memory or the network limits them."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.advisers.sizes import beside, best_by_size, ranges
from kumiki.report.analysis.compare import against, best, better, equal, no_worse, settled, stake, untold, within
from kumiki.report.analysis.fragments import longest_by_length
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import FABRICS, OWN_RULE, by_bytes, network_rows, transfer_bound
from kumiki.report.quantity import amount, enumerate_words, factor, percent, size_text
from kumiki.results.row import Row
from kumiki.results.statistics import FEWEST_SAMPLES

HEADING = "Messages"
LIMITED = 0.5
"""A message that reaches this share of its bound is limited by it."""


def advise(results: Results) -> list[Advice]:
    return [piece for fabric in FABRICS for piece in _on(results, fabric) if piece]


def _on(results: Results, fabric: str) -> Iterator[Advice | None]:
    yield _short(results, fabric)
    yield _message_or_put(results, fabric)
    yield _bandwidth(results, fabric)
    yield _limit(results, fabric)
    yield _region(results, fabric)
    yield _overtaking(results, fabric)
    yield _independence(results, fabric)
    yield _fragments(results, fabric)


def _figure(results: Results, figure: str, fabric: str, implementation: str = "kumiki") -> Row | None:
    return best(row for row in results.where(f"message.{figure}", implementation, fabric=fabric) if row.usable)


def _of_peers(results: Results, figure: str, fabric: str) -> list[Row]:
    return [row for name in results.peers if (row := _figure(results, figure, fabric, name))]


def _curve(results: Results, fabric: str, implementation: str = "kumiki", memory: str = "own") -> dict[int, Row]:
    return by_bytes(results.where("message.bandwidth", implementation, fabric=fabric, memory=memory))


def _short(results: Results, fabric: str) -> Advice | None:
    latency, rate = _figure(results, "latency", fabric), _figure(results, "rate", fabric)
    if latency is None:
        return None
    text = f"A message of {size_text(latency.count('bytes'))} {FABRICS[fabric]} arrives after {amount(latency)}"
    rivals = _of_peers(results, "latency", fabric)
    rival = best(rivals)
    if rival:
        other = f"the fastest of its peers ({rival.title}, {amount(rival)})"
        text += f", {against(latency, rival, other)}"
    if rate:
        text += f"; with many in flight at once a rank sends {factor(rate.value)} million per second"
    return say("message", HEADING, text + ".", [latency, *rivals, rate], stake(*([(latency, rival)] if rival else [])))


def _message_or_put(results: Results, fabric: str) -> Advice | None:
    """Whether a message or a put is faster for short data, if both were measured."""
    message = _figure(results, "latency", fabric)
    puts = results.where("put.latency", "kumiki")
    if fabric == "network":
        puts = [row for row in network_rows(results, "network.latency") if row.implementation == "kumiki"]
        puts = [row for row in puts if row.text("operation") == "put"]
    put = best(row for row in puts if row.usable and message and row.count("bytes") == message.count("bytes"))
    if message is None or put is None:
        return None
    figures = f"a put with its signal takes {amount(put)}, a message {amount(message)}"
    where = f"For short data {FABRICS[fabric]}"
    if equal(message, put):
        text = (
            f"{where}, puts and messages are equal {within((message, put))} ({figures}): use the one that reads better."
        )
    elif better(put, message):
        text = f"{where}, use puts if the destination at the receiver is known: {figures}."
    elif untold(message, put):
        return None
    else:
        text = f"{where}, messages cost less than puts: {figures}."
    return say("message", HEADING, text, [put, message])


def _bandwidth(results: Results, fabric: str) -> Advice | None:
    ours = _curve(results, fabric)
    found = beside(ours, best_by_size(ours, [_curve(results, fabric, name) for name in results.peers]))
    if found is None:
        return None
    verdict, rows = found
    text = f"Compared with the best peer at each size, the bandwidth of messages {FABRICS[fabric]} is {verdict}"
    return say("message", HEADING, text, rows)


def _limit(results: Results, fabric: str) -> Advice | None:
    """The size from which the bound limits a message: it and all longer messages reach a good share of the bound."""
    name, bounds = transfer_bound(results, fabric == "network")
    ours = _curve(results, fabric)
    shares = {size: row.value / bounds[size].value for size, row in ours.items() if size in bounds}
    low = [size for size, share in shares.items() if share < LIMITED]
    limited = [size for size in shares if not low or size > low[-1]]
    if not limited:
        return None
    what = "the network" if fabric == "network" else "memory"
    first, least = limited[0], min(limited, key=lambda size: shares[size])
    text = (
        f"From {size_text(first)} on, {what} limits messages {FABRICS[fabric]}: they reach at least "
        f"{percent(shares[least])} of the bandwidth of {name} at the same size."
    )
    if low:
        share = percent(shares[low[-1]])
        text += f" Overheads limit shorter messages ({share} at {size_text(low[-1])}): combine several into one."
    rows = [row for size in (first, least, *low[-1:]) for row in (ours[size], bounds[size])]
    return say("message", HEADING, text, rows) if all(map(settled, rows)) else None


def _region(results: Results, fabric: str) -> Advice | None:
    """Whether it pays off to keep the data of messages in regions."""
    own, region = _curve(results, fabric), _curve(results, fabric, memory="region")
    sizes = [size for size in own if size in region]
    faster = [better(region[size], own[size]) for size in sizes]
    if not any(faster):
        return None
    widest = max(sizes, key=lambda size: region[size].value / own[size].value)
    gain = factor(region[widest].value / own[widest].value)
    text = (
        f"Messages {FABRICS[fabric]} are faster from regions at {ranges(sizes, faster)}, up to {gain} times as "
        f"fast ({size_text(widest)}: {amount(region[widest])} against {amount(own[widest])}): allocate data that is "
        "sent repeatedly in regions."
    )
    return say("message", HEADING, text, [row for size in sizes for row in (region[size], own[size])])


def _overtaking(results: Results, fabric: str) -> Advice | None:
    ours = _figure(results, "interleaving", fabric)
    if ours is None:
        return None
    text = (
        f"The reply to a short message {FABRICS[fabric]} that is sent right after one of "
        f"{size_text(ours.count('bytes'))} "
        f"arrives after {amount(ours)} of the time that the long one takes"
    )
    rivals = _of_peers(results, "interleaving", fabric)
    if rivals:
        text += f" ({enumerate_words([f'{row.title}: {amount(row)}' for row in rivals])})"
    low, high = ours.interval
    if ours.n >= FEWEST_SAMPLES and high < 100 * LIMITED:
        text += ": there is no need to hold it back"
    elif ours.n >= FEWEST_SAMPLES and low > 100 * LIMITED:
        text += ": send the short one first"
    return say("message", HEADING, text + ".", [ours, *rivals])


def _independence(results: Results, fabric: str) -> Advice | None:
    """Whether a long message waits for a receiver that computes."""
    rows = [row for row in results.where("message.independent", fabric=fabric) if row.usable]
    ours = {row.parameters["receive"]: row for row in rows if row.implementation == "kumiki"}
    if not {"posted", "later"} <= set(ours):
        return None
    rivals = [row for row in rows if row.implementation != "kumiki" and row.parameters["receive"] == "posted"]
    text = (
        f"A message of {size_text(ours['posted'].count('bytes'))} {FABRICS[fabric]} to a rank that computes is "
        f"complete at its sender after {amount(ours['posted'])} where the receive was posted before, and after "
        f"{amount(ours['later'])} where it is posted later"
    )
    if rivals:
        text += f" (posted before, {enumerate_words([f'{row.title}: {amount(row)}' for row in rivals])})"
    return say("message", HEADING, text + ".", [ours["posted"], ours["later"], *rivals])


def _fragments(results: Results, fabric: str) -> Advice | None:
    """Whether a fixed fragment length is better than the library's own rule."""
    lengths = longest_by_length(results, fabric)
    own = lengths.pop(OWN_RULE, None)
    top = best(lengths.values())
    if own is None or top is None:
        return None
    subject = f"messages of {size_text(own.count('bytes'))} {FABRICS[fabric]}"
    length = size_text(top.count("fragment"))
    if better(top, own):
        text = (
            f"Cut into fragments of {length}, {subject} are {against(top, own, 'with the rule of the library')}: "
            "`kumiki tune` finds and saves the best length."
        )
    elif no_worse(own, top):
        text = (
            f"For {subject} no fragment length is better than the library's own rule ({amount(own)}, compared with "
            f"{amount(top)} for fragments of {length})."
        )
    else:
        return None
    return say("message", HEADING, text, [top, own])
