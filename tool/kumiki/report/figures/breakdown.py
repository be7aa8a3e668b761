"""Where the time of a program goes: computation, communication, synchronisation (after the paper's Figure 13)."""

from __future__ import annotations

from kumiki.report.analysis.select import Problem
from kumiki.report.figures.canvas import TALL, WIDTH, Picture, Sheet, draw
from kumiki.report.palette import Look, colour
from kumiki.report.quantity import enumerate_words, percent, quantity
from kumiki.results.row import Row

ROLES = {"product": "computation", "vectors": "vectors", "exchange": "communication", "sums": "synchronisation"}
"""Colours of the parts that only one program distinguishes; the other parts have the name of their colour."""
WORDS = {
    "product": "matrix-vector product",
    "vectors": "vector additions, inner products",
    "exchange": "exchange of the vector",
    "sums": "sums over all workers",
}
COMPUTING = ("computation", "product", "vectors")
_BARS = 14
"""More bars than this are not readable at the size of a figure."""


def breakdown(name: str, problem: Problem) -> Picture | None:
    names = problem.part_names
    bars = [(label, row, parts) for label, row in _bars(problem) if (parts := problem.parts(row, names))]
    if not bars:
        return None

    def paint(sheet: Sheet) -> None:
        for line, (_, row, parts) in enumerate(bars):
            _bar(sheet, line, row, parts)
        axes = sheet.axes
        axes.set_yticks(range(len(bars)), [label for label, _, _ in bars])
        axes.set_ylim(len(bars) - 0.4, -0.6)
        longest = max(max(row.value, sum(p.value for p in parts.values())) for _, row, parts in bars)
        axes.set_xlim(0, longest * 1.06)
        axes.xaxis.set_major_formatter(lambda value, _: quantity(value, "s", 2) if value else "0")
        axes.set_xlabel("time, maximum over ranks")
        axes.grid(axis="y", visible=False)
        axes.spines["left"].set_visible(False)
        for part in names:
            if any(part in parts and parts[part].value > 0 for _, _, parts in bars):
                sheet.key(WORDS.get(part, part), Look(ROLES.get(part, part), "bar"))

    return draw(name, f"{problem.title}: time in {enumerate_words(list(names))}", paint, WIDTH, TALL)


def _bars(problem: Problem) -> list[tuple[str, Row]]:
    """The sequential form, the hybrid settings, the peers; if there are too many, the best and largest of each kind."""
    hybrid = [(f"{r} × {t}", row) for (r, t), row in problem.hybrid.items()]
    peers = [[(f"messages {r} × {t}", row) for (r, t), row in problem.messages.items()]]
    peers += [[(f"OpenMP {t}", row) for (_, t), row in problem.openmp.items()]]
    peers += [
        [(f"{problem.results.title(n)} {r}", row) for (r, _), row in rows.items()] for n, rows in problem.mpi.items()
    ]
    sequential = [("sequential", problem.sequential)] if problem.sequential else []
    if len(hybrid) + sum(map(len, peers)) >= _BARS:
        peers = [bars[-1:] for bars in peers]
        hybrid = _chosen(hybrid, _BARS - 1 - len(peers))
    return [*sequential, *hybrid, *(bar for bars in peers for bar in bars)]


def _chosen(bars: list[tuple[str, Row]], room: int) -> list[tuple[str, Row]]:
    """The first and the last, which the paper shows too, and the fastest of the others, in their order."""
    if len(bars) <= room:
        return bars
    fastest = sorted(bars[1:-1], key=lambda bar: bar[1].value)[: room - 2]
    return [bar for bar in bars if bar in (bars[0], bars[-1]) or bar in fastest]


def _bar(sheet: Sheet, line: int, row: Row, parts: dict[str, Row]) -> None:
    start = 0.0
    for name, part in parts.items():
        if part.value <= 0:
            continue
        sheet.cited[part.id] = part
        sheet.axes.barh(
            line,
            part.value,
            left=start,
            height=0.62,
            color=colour("surface") if row.oversubscribed else colour(ROLES.get(name, name)),
            edgecolor=colour(ROLES.get(name, name)),
            linewidth=1.1 if row.oversubscribed else 0.4,
            hatch="////" if row.oversubscribed else None,
            url=f"#row-{part.id}",
        )
        start += part.value
        if row.oversubscribed:
            sheet.note("Hatched bars are oversubscribed: more threads than cores.")
    shared = sum(part.value for name, part in parts.items() if name not in COMPUTING)
    if start > 0 and shared / start >= 0.01:
        sheet.note("The number beside a bar is the share of time outside computation.")
        sheet.axes.annotate(
            percent(shared / start),
            (start, line),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            color=colour("muted"),
        )
