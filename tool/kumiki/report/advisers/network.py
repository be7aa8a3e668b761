"""The network between hosts: its cost, the message size from which it is efficient, and the programs it limits."""

from __future__ import annotations

from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.advisers.sizes import half_peak
from kumiki.report.analysis.compare import against, best, better, gain, stake, untold
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import BETWEEN, PROGRAMS, by_bytes, network_rows, principal, setting_words
from kumiki.report.quantity import amount, factor, percent, plural, size_text
from kumiki.results.row import Row
from kumiki.results.statistics import FEWEST_SAMPLES

HEADING = "The network"
LIMITING = 0.5
"""The share of time in communication and synchronisation from which the network limits a program."""
UNEVEN = 1.5
"""A pair is reported if its latency is this many times that of the fastest pair."""


def advise(results: Results) -> list[Advice]:
    pieces = [_latency(results), _against_memory(results), _bandwidth(results), _half(results), _uneven(results)]
    pieces += _limits(results)
    return [piece for piece in pieces if piece]


def _operation(results: Results, implementation: str, operation: str) -> Row | None:
    rows = network_rows(results, "network.latency")
    return best(row for row in rows if row.implementation == implementation and row.text("operation") == operation)


def _latency(results: Results) -> Advice | None:
    put, tcp = _operation(results, "kumiki", "put"), _operation(results, "tcp", "send")
    if put is None:
        return None
    text = f"A put of 8 B with its signal reaches another host after {amount(put)}"
    if tcp is not None:
        times = f"{factor(put.value / tcp.value)} times the latency of plain TCP ({amount(tcp)})"
        text += f", {against(put, tcp, f'plain TCP ({amount(tcp)})') if untold(put, tcp) else times}"
    rivals = [row for name in results.peers if (row := _operation(results, name, "put"))]
    rival = best(rivals)
    if rival is not None:
        other = f"the fastest put of its peers ({rival.title}, {amount(rival)})"
        text += f"; it is {against(put, rival, other)}"
    return say("network", HEADING, text + ".", [put, tcp, *rivals], stake(*([(put, rival)] if rival else [])))


def _against_memory(results: Results) -> Advice | None:
    put = _operation(results, "kumiki", "put")
    near = best(row for row in results.where("put.latency", "kumiki") if row.usable)
    if put is None or near is None or not better(near, put):
        return None
    text = (
        f"Within a host a put takes {amount(near)}; to another host it takes {factor(put.value / near.value)} times as "
        f"long ({amount(put)}): if the work is small, prefer more threads or ranks on a host to more hosts."
    )
    return say("network", HEADING, text, [near, put])


def _curve(results: Results, implementation: str) -> dict[int, Row]:
    rows = [row for row in network_rows(results, "network.bandwidth") if row.implementation == implementation]
    usual = "send" if implementation == "tcp" else "put"
    return by_bytes(row for row in rows if row.text("operation") == usual)


def _bandwidth(results: Results) -> Advice | None:
    ours, tcp = _curve(results, "kumiki"), _curve(results, "tcp")
    sizes = sorted(set(ours) & set(tcp))
    if not sizes:
        return None
    size = sizes[-1]
    text = (
        f"In pieces of {size_text(size)}, puts transfer {amount(ours[size])} to another host, "
        f"{against(ours[size], tcp[size], f'plain TCP on the same link ({amount(tcp[size])})')}."
    )
    return say("network", HEADING, text, [ours[size], tcp[size]])


def _half(results: Results) -> Advice | None:
    found = half_peak(_curve(results, "kumiki"))
    if found is None:
        return None
    half_size, half, peak_size, peak = found
    text = (
        f"Send at least {size_text(half_size)} at once between hosts: from this size on, a put reaches half of its "
        "highest "
        f"bandwidth ({amount(half)} of {amount(peak)} at {size_text(peak_size)})."
    )
    return say("network", HEADING, text, [half, peak])


def _uneven(results: Results) -> Advice | None:
    pairs = [row for row in results.where("network.latency") if row.usable and set(BETWEEN) <= set(row.parameters)]
    if len(pairs) < 3:
        return None
    fastest = min(pairs, key=lambda row: row.value)
    ways = {(row.count("from"), row.count("to")): row for row in pairs}
    far = [row for row in pairs if _far(row, fastest) and _far(ways.get((row.count("to"), row.count("from"))), fastest)]
    slowest = max(far, key=lambda row: row.value, default=None)
    if slowest is None:
        return None
    text = (
        f"The hosts are not equally distant from each other: from host {slowest.count('from')} to host "
        f"{slowest.count('to')} a put takes {amount(slowest)}, {factor(slowest.value / fastest.value)} times as long "
        f"as from host {fastest.count('from')} to host {fastest.count('to')} ({amount(fastest)})."
    )
    return say("network", HEADING, text, [slowest, fastest])


def _far(row: Row | None, fastest: Row) -> bool:
    """Whether a pair is certainly more distant. A single slow direction was disturbed, so both must be slow."""
    return row is not None and gain(fastest, row).low >= UNEVEN


def _limits(results: Results) -> list[Advice]:
    """The share of its time that each program spends outside computation at its best setting over hosts."""
    pieces = []
    for program in PROGRAMS:
        problem = principal(results, program)
        over = [row for row in problem.hybrid.values() if row.count("hosts") > 1] if problem else []
        fitting = best(row for row in over if not row.oversubscribed)
        if problem is None or fitting is None:
            continue
        parts, share = problem.parts(fitting), problem.shared(fitting) or 0.0
        if share < LIMITING or fitting.n < FEWEST_SAMPLES:
            continue
        where = setting_words((fitting.ranks, fitting.threads))
        text = (
            f"{problem.title} is limited by the network: on {plural(fitting.count('hosts'), 'host')} ({where}) "
            f"{percent(share)} of its time is communication and synchronisation. A faster network, a larger problem or "
            "fewer hosts will help; more processors will not."
        )
        pieces.append(say("network", HEADING, text, [fitting, *parts.values()]))
    return pieces
