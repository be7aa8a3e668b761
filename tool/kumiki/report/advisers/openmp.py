"""OpenMP: what Kumiki's runtime costs beside others, and which programs gain from more processes."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.report.advisers.kinds import Advice, say
from kumiki.report.analysis import openmp
from kumiki.report.analysis.compare import better, no_worse, stake
from kumiki.report.analysis.model import Results
from kumiki.report.quantity import enumerate_words, factor, plural
from kumiki.suites.openmp_point import KUMIKI, LIBGOMP

HEADING = "OpenMP"


def advise(results: Results) -> list[Advice]:
    return [piece for find in (_constructs, _programs, _spread) for piece in find(results)]


def _constructs(results: Results) -> Iterator[Advice]:
    """On all threads of one process, beside the better of the two other runtimes."""
    found = [each for each in openmp.constructs(results) if each.place[:2] == (1, 1)]
    most = max((each.place[2] for each in found), default=0)
    pairs = [
        (each.name, ours, other)
        for each in found
        if each.place[2] == most and (ours := each.ours) and ours.usable and (other := each.other)
    ]
    if not pairs:
        return
    fine = [name for name, ours, other in pairs if no_worse(ours, other)]
    slower = [(name, ours, other) for name, ours, other in pairs if better(other, ours)]
    if not fine and not slower:
        return
    text = (
        f"With {plural(most, 'thread')} {len(fine)} of {plural(len(pairs), 'construct')} of OpenMP cost on Kumiki's "
        "runtime no more than on the better of the others that were measured"
    )
    if slower:
        listed = enumerate_words([f"{name} {factor(ours.value / other.value)} times" for name, ours, other in slower])
        text += f"; more cost {listed}"
    if left := len(pairs) - len(fine) - len(slower):
        text += f"; of {left} the samples do not tell"
    rows = [row for _, *both in pairs for row in both]
    yield say("openmp", HEADING, f"{text}.", rows, stake(*((other, ours) for _, ours, other in slower)))


def _programs(results: Results) -> Iterator[Advice]:
    """The same binaries on one process."""
    pairs = [
        (each.title, each.rows[KUMIKI], each.rows[LIBGOMP])
        for each in openmp.native(results)
        if {KUMIKI, LIBGOMP} <= set(each.rows)
    ]
    if not pairs:
        return
    slower = [(title, ours, other) for title, ours, other in pairs if better(other, ours)]
    text = f"Of {plural(len(pairs), 'OpenMP program')} on one process "
    listed = enumerate_words([f"{title} {factor(ours.value / other.value)} times" for title, ours, other in slower])
    text += (
        f"these take longer than on libgomp: {listed}." if slower else "none is shown to take longer than on libgomp."
    )
    rows = [row for _, *both in pairs for row in both]
    yield say("openmp", HEADING, text, rows, stake(*((other, ours) for _, ours, other in slower)))


def _spread(results: Results) -> Iterator[Advice]:
    """Over several processes, beside one of them alone."""
    found = [(each.title, each.row, each.alone) for each in openmp.spread(results) if each.alone]
    gaining = [(title, row, alone) for title, row, alone in found if better(row, alone)]
    losing = [(title, row, alone) for title, row, alone in found if better(alone, row)]
    if not gaining and not losing:
        return
    row = found[0][1]
    where = (
        f"{row.count('hosts')} hosts" if row.count("hosts") > 1 else f"{row.ranks} processes with memories of their own"
    )
    parts = [
        f"{verb} {enumerate_words([title for title, *_ in group])}"
        for verb, group in (("faster than on one are", gaining), ("slower are", losing))
        if group
    ]
    text = f"As OpenMP programs over {where} {' and '.join(parts)}."
    yield say("openmp", HEADING, text, [each for _, *both in found for each in both], stake(*(g[1:] for g in gaining)))
