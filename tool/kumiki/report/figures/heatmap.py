"""Parallel efficiency over ranks x threads."""

from __future__ import annotations

from matplotlib.patches import Rectangle

from kumiki.report.analysis.beyond import beyond
from kumiki.report.analysis.select import Problem
from kumiki.report.figures.canvas import TALL, WIDTH, Picture, Sheet, draw
from kumiki.report.palette import colour
from kumiki.report.quantity import significant
from kumiki.results.row import Row

_GAP = 0.035
_DARK = 0.62
"""Cells darker than this carry light figures."""


def efficiency(name: str, problem: Problem) -> Picture | None:
    cells = {s: (row, share) for s, row in problem.hybrid.items() if (share := problem.efficiency(row)) is not None}
    if len(cells) < 2:
        return None
    ranks, threads = sorted({s[0] for s in cells}), sorted({s[1] for s in cells})

    def paint(sheet: Sheet) -> None:
        for (r, t), (row, share) in cells.items():
            _cell(sheet, threads.index(t), ranks.index(r), row, share)
        axes = sheet.axes
        axes.set_xlim(0, len(threads))
        axes.set_ylim(len(ranks), 0)
        axes.set_xticks([i + 0.5 for i in range(len(threads))], [str(t) for t in threads])
        axes.set_yticks([i + 0.5 for i in range(len(ranks))], [str(r) for r in ranks])
        for sentence in beyond(problem, (row for row, _ in cells.values())):
            sheet.note(sentence)
        if any(row.oversubscribed for row, _ in cells.values()):
            sheet.note("Dashed empty cells are oversubscribed: with more threads than cores the ideal is impossible.")
        if threads[0] == 1 and len(ranks) > 1:
            sheet.note("The first column has ranks only.")
        if ranks[0] == 1 and len(threads) > 1:
            sheet.note("The first row has threads only.")
        axes.set_xlabel("threads per rank")
        axes.set_ylabel("ranks")
        axes.tick_params(length=0)
        axes.grid(visible=False)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)

    return draw(name, f"{problem.title}: parallel efficiency by ranks and threads per rank", paint, WIDTH, TALL)


def _cell(sheet: Sheet, column: int, line: int, row: Row, share: float) -> None:
    depth = min(max(share, 0.0), 1.0) ** 1.5
    place = {"xy": (column + _GAP, line + _GAP), "width": 1 - 2 * _GAP, "height": 1 - 2 * _GAP}
    if row.oversubscribed:
        face = {"facecolor": "none", "edgecolor": colour("muted"), "linewidth": 0.9, "linestyle": (0, (3, 2))}
    else:
        face = {"facecolor": colour("heat"), "alpha": 0.08 + 0.92 * depth, "linewidth": 0}
    sheet.cited[row.id] = row
    sheet.axes.add_patch(Rectangle(**place, **face, url=f"#row-{row.id}"))  # type: ignore[arg-type]
    light = not row.oversubscribed and depth > _DARK
    sheet.axes.text(
        column + 0.5,
        line + 0.5,
        f"{significant(share * 100, 2 if share < 0.995 else 3)} %",
        ha="center",
        va="center",
        fontsize=11,
        color=colour("on-heat" if light else "muted" if row.oversubscribed else "ink"),
        clip_on=True,
    )
