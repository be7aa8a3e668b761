"""The network between hosts: bandwidth over size compared with plain TCP, and figures for every pair of hosts."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.patches import Rectangle

from kumiki.report.analysis.compare import speed
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import BETWEEN, network_rows
from kumiki.report.figures.canvas import TALL, WIDTH, Picture, Sheet, draw
from kumiki.report.figures.message import BANDWIDTH, DASHES, paint_curve, paint_frame
from kumiki.report.palette import Look, colour, looks
from kumiki.results.row import Row

_GAP = 0.035
_DARK = 0.62
"""Cells darker than this carry light figures."""


def bandwidth(name: str, results: Results) -> Picture | None:
    """Log-log, median with its 95 % band; plain TCP is the bound."""
    curves: dict[tuple[str, str], dict[int, Row]] = {}
    for row in network_rows(results, "network.bandwidth"):
        curves.setdefault((row.implementation, row.text("operation")), {})[row.count("bytes")] = row
    curves = {key: dict(sorted(rows.items())) for key, rows in curves.items() if len(rows) > 1}
    if not curves:
        return None

    def paint(sheet: Sheet) -> None:
        known = looks(row.implementation for row in results.rows)
        for (implementation, operation), rows in curves.items():
            look = known[implementation]
            bound = implementation == "tcp"
            dash = "dashed" if bound else DASHES.get(operation, "solid")
            look = Look(look.role, look.marker, dash)
            paint_curve(sheet, rows, look, BANDWIDTH, 1.9 if implementation == "kumiki" else 1.4)
            sheet.key(
                "bound: plain TCP" if bound else f"{results.title(implementation)} {operation}", look, marker=not bound
            )
            if bound:
                sheet.note("The dashed grey line is the bound: plain TCP on the same link.")
        paint_frame(sheet, BANDWIDTH, curves)

    return draw(name, "bandwidth over message size, between two hosts, with plain TCP as bound", paint)


def between_hosts(name: str, description: str, rows: list[Row], words: Callable[[Row], str]) -> Picture | None:
    """A cell for every pair of hosts: rows from, columns to; a stronger colour is better."""
    cells = {
        (row.count("from"), row.count("to")): row for row in rows if row.usable and set(BETWEEN) <= set(row.parameters)
    }
    if len(cells) < 3:
        return None
    hosts = sorted({host for pair in cells for host in pair})
    best = max(speed(row) for row in cells.values())

    def paint(sheet: Sheet) -> None:
        for (here, there), row in cells.items():
            _cell(sheet, hosts.index(there), hosts.index(here), row, speed(row) / best, words(row))
        axes = sheet.axes
        axes.set_xlim(0, len(hosts))
        axes.set_ylim(len(hosts), 0)
        places = [place + 0.5 for place in range(len(hosts))]
        axes.set_xticks(places, [str(host) for host in hosts])
        axes.set_yticks(places, [str(host) for host in hosts])
        axes.set_xlabel("to host")
        axes.set_ylabel("from host")
        axes.tick_params(length=0)
        axes.grid(visible=False)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)

    return draw(name, description, paint, WIDTH, TALL)


def _cell(sheet: Sheet, column: int, line: int, row: Row, share: float, text: str) -> None:
    sheet.cited[row.id] = row
    depth = share**1.5
    place = (column + _GAP, line + _GAP)
    shade = Rectangle(
        place, 1 - 2 * _GAP, 1 - 2 * _GAP, facecolor=colour("heat"), alpha=0.08 + 0.92 * depth, linewidth=0
    )
    shade.set_url(f"#row-{row.id}")
    sheet.axes.add_patch(shade)
    ink = colour("on-heat" if depth > _DARK else "ink")
    sheet.axes.text(column + 0.5, line + 0.5, text, ha="center", va="center", fontsize=9, color=ink, clip_on=True)
