"""Latency and bandwidth of moving data between two ranks (after Figures 4 and 5 of the COMPaS paper)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy

from kumiki.report.analysis.caches import COPIES, levels
from kumiki.report.analysis.compare import best
from kumiki.report.analysis.fragments import longest_by_length
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import OWN_RULE, by_bytes, in_order, network_rows, transfer_bound
from kumiki.report.figures.canvas import HOLLOW, WIDE, Picture, Sheet, decades, draw, log_axis
from kumiki.report.palette import Look, colour, looks
from kumiki.report.quantity import quantity as quantity_text
from kumiki.report.quantity import size_text, tick
from kumiki.results.row import Row

DASHES = {"put": "solid", "get": "dashed", "send": "dotted", "atomic": "dashdot", "message from a region": "dashed"}
MEMORIES = {"own": "message", "region": "message from a region"}
"""Where the data of a message are, in the words of a legend."""
_OPERATIONS = ("put", "get", "send", "atomic", "active_message")

Curves = dict[tuple[str, str], dict[int, Row]]
"""Rows by size of (implementation, operation)."""


def one_sided(results: Results, figure: str) -> Curves:
    """The bandwidth of remote memory, and of its peers' sends."""
    return _curves((operation, row) for operation in _OPERATIONS for row in results.where(f"{operation}.{figure}"))


def two_sided(results: Results, fabric: str) -> Curves:
    """The bandwidth of messages, separately for data in own memory and in regions."""
    return _curves(
        (words, row)
        for memory, words in MEMORIES.items()
        for row in results.where("message.bandwidth", fabric=fabric, memory=memory)
    )


def _curves(entries: Iterable[tuple[str, Row]]) -> Curves:
    """Only series with at least two sizes form a curve; those of one implementation are adjacent."""
    found: dict[tuple[str, str], list[Row]] = {}
    for operation, row in entries:
        found.setdefault((row.implementation, operation), []).append(row)
    names = in_order(name for name, _ in found)
    curves = {key: by_bytes(found[key]) for name in names for key in found if key[0] == name}
    return {key: rows for key, rows in curves.items() if len(rows) > 1}


@dataclass(frozen=True)
class Quantity:
    """The quantity that is drawn over message size, and its source."""

    axis: str
    unit: str
    rows: str
    """The figure of the metrics from which it is drawn."""
    derived: bool = False
    """Whether it is the time of one transfer, size divided by bandwidth."""

    def of(self, row: Row) -> tuple[float, float, float]:
        """The value, and the ends of its interval."""
        low, high = row.interval
        if not self.derived:
            return row.value, low, high
        microseconds = row.count("bytes") / 1e3
        return microseconds / row.value, microseconds / high, microseconds / low


BANDWIDTH = Quantity("bandwidth", "GB/s", "bandwidth")
LATENCY = Quantity("time of one operation", "us", "latency")
TRANSFER_TIME = Quantity("time of one transfer (size ÷ bandwidth)", "us", "bandwidth", derived=True)


def over_size(
    name: str, results: Results, quantity: Quantity, found: Curves, between_hosts: bool = False
) -> Picture | None:
    """Log-log, median with its 95 % band, and the bound; None without a curve."""
    if not found:
        return None

    def paint(sheet: Sheet) -> None:
        known = looks(row.implementation for row in results.rows)
        for (implementation, operation), rows in found.items():
            look = Look(known[implementation].role, known[implementation].marker, DASHES.get(operation, "solid"))
            paint_curve(sheet, rows, look, quantity, 1.9 if implementation == "kumiki" else 1.4)
            sheet.key(f"{results.title(implementation)} {operation.replace('_', ' ')}", look)
        paint_frame(sheet, quantity, found, _bound(sheet, results, quantity, between_hosts))
        if quantity.rows == "bandwidth" and not between_hosts:
            _caches(sheet, results)

    return draw(name, f"{quantity.axis} over message size, between two ranks, with the bound", paint)


def paint_curve(sheet: Sheet, rows: dict[int, Row], look: Look, quantity: Quantity, width: float) -> None:
    sizes = list(rows)
    points = [quantity.of(row) for row in rows.values()]
    sheet.curve(sizes, [middle for middle, _, _ in points], look, width)
    sheet.axes.fill_between(
        sizes,
        [low for _, low, _ in points],
        [high for _, _, high in points],
        color=look.colour,
        alpha=0.18,
        linewidth=0,
        zorder=2,
    )
    for (size, row), (middle, _, _) in zip(rows.items(), points, strict=True):
        sheet.point(size, row, look, middle, size=3.4)


def _bound(sheet: Sheet, results: Results, quantity: Quantity, between_hosts: bool) -> list[float]:
    """Draws the bound of the curves and returns its values over the size."""
    look = Look("bound", "", "dashed")
    if quantity is LATENCY:
        line = best(row for row in results.where("bound.cacheline_pingpong") if row.usable)
        if line is not None:
            sheet.axes.axhline(line.value, color=look.colour, linestyle="dotted", linewidth=1.2, zorder=2)
            sheet.key("bound: one cache line", Look("bound", "", "dotted"), marker=False)
            sheet.note("The dotted grey line is the bound: one cache line transferred from core to core.")
    name, rows = transfer_bound(results, between_hosts)
    values = [quantity.of(row)[0] for row in rows.values()] if quantity.rows == "bandwidth" else []
    if values:
        sheet.curve(list(rows), values, look, 1.3)
        sheet.key(f"bound: {name}", look, marker=False)
        sheet.note(f"The dashed grey line is the bound: {name}.")
    return values


def _caches(sheet: Sheet, results: Results) -> None:
    """Vertical lines at the largest transfers that each level of cache holds."""
    axes = sheet.axes
    low, high = axes.get_xlim()
    ends = {name: size / COPIES for name, size in levels(results).items() if low < size / COPIES < high}
    for name, end in ends.items():
        axes.axvline(end, color=colour("muted"), linestyle=(0, (1, 3)), linewidth=0.9, zorder=1)
        axes.annotate(
            name,
            (end, 1),
            xycoords=("data", "axes fraction"),
            xytext=(-3, -2),
            textcoords="offset points",
            ha="right",
            va="top",
            fontsize=7.5,
            color=colour("muted"),
        )
    if ends:
        sheet.note(
            f"To the left of a vertical dotted line ({', '.join(ends)}) that cache holds the data, which are moved "
            "repeatedly: the rates are those of the cache, not of memory."
        )


def paint_frame(sheet: Sheet, quantity: Quantity, found: Curves, above: Iterable[float] = ()) -> None:
    """Axes that contain the medians and all other drawn elements."""
    axes = sheet.axes
    sizes = sorted({size for rows in found.values() for size in rows})
    middles = [quantity.of(row)[0] for rows in found.values() for row in rows.values()]
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    powers = [2**e for e in range(0, 40, 4) if sizes[0] <= 2**e <= sizes[-1]]
    log_axis(axes.xaxis, powers if len(powers) > 1 else sizes, lambda size: size_text(int(size)))
    # The medians set the scale: a very wide interval may extend beyond the figure, but must not shrink it.
    low, high = min(middles) / 2, max([*middles, *above]) * 2
    axes.set_ylim(low, high)
    log_axis(axes.yaxis, decades(low, high), lambda value: tick(value, quantity.unit))
    axes.set_xlabel("message size")
    axes.set_ylabel(quantity.axis)


def by_fragment(name: str, results: Results, fabric: str) -> Picture | None:
    """Bandwidth of long messages over fragment length, compared with the library's own rule."""
    rows = longest_by_length(results, fabric)
    own = rows.pop(OWN_RULE, None)
    if len(rows) < 2:
        return None

    def paint(sheet: Sheet) -> None:
        look = Look("kumiki")
        paint_curve(sheet, rows, look, BANDWIDTH, 1.9)
        sheet.key("fragments of one length", look)
        if own:
            rule = Look("kumiki", dash="dashed")
            sheet.axes.axhline(own.value, color=rule.colour, linestyle=rule.dash, linewidth=1.2, zorder=2)
            sheet.key("the library's own rule", rule, marker=False)
        limits = [row.value for row in (own, _fragment_bound(sheet, results, fabric, rows)) if row]
        paint_frame(sheet, BANDWIDTH, {("kumiki", ""): rows}, limits)
        sheet.axes.set_xlabel("fragment length")

    return draw(name, "bandwidth of long messages over the length of their fragments", paint)


def _fragment_bound(sheet: Sheet, results: Results, fabric: str, rows: dict[int, Row]) -> Row | None:
    """Draws the bound of a message of this size, or of the largest size below it."""
    name, bounds = transfer_bound(results, fabric == "network")
    size = next(iter(rows.values())).count("bytes")
    row = next((row for of, row in sorted(bounds.items(), reverse=True) if of <= size), None)
    if row is not None:
        look = Look("bound", dash="dotted")
        sheet.axes.axhline(row.value, color=look.colour, linestyle=look.dash, linewidth=1.2, zorder=2)
        sheet.key(f"bound: {name}", look, marker=False)
        sheet.note(f"The dotted grey line is the bound: {name} at {size_text(row.count('bytes'))}.")
    return row


def shortest(name: str, results: Results, candidates: Iterable[Row]) -> Picture | None:
    """The shortest operations side by side: median, 95 % interval, and a faint line to the 99th percentile."""
    rows = _shortest_rows(candidates)
    if len(rows) < 2:
        return None

    def paint(sheet: Sheet) -> None:
        known = looks(row.implementation for row in results.rows)
        axes = sheet.axes
        for line, row in enumerate(rows):
            look = Look("bound", "|") if _is_bound(row) else known[row.implementation]
            tail = _tail(results, row)
            if tail:
                sheet.note("A faint line extends from the smallest sample to the 99th percentile.")
                axes.plot(tail, [line, line], color=look.colour, linewidth=1.0, alpha=0.45, zorder=2)
            axes.plot(row.interval, [line, line], color=look.colour, linewidth=3.5, alpha=0.55, zorder=3)
            sheet.cited[row.id] = row
            _dot(sheet, line, row, look)
        bound = next((row for row in rows if row.metric == "bound.cacheline_pingpong" or _is_tcp(row)), None)
        if bound is not None:
            axes.axvline(bound.value, color=colour("bound"), linestyle="dashed", linewidth=1.0, zorder=1)
            what = "plain TCP over the same link" if _is_tcp(bound) else "one cache line transferred from core to core"
            sheet.note(f"The dashed line is the bound: {what}.")
        if any(row.metric == "bound.remote_load" for row in rows):
            sheet.note("No get is faster than a bare load.")
        axes.set_xscale("log")
        axes.margins(x=0.12)
        low, high = axes.get_xlim()
        log_axis(axes.xaxis, decades(low, high), lambda value: tick(value, "us"))
        axes.set_xlim(low, high)
        axes.set_yticks(range(len(rows)), [_name(row) for row in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel("time of one operation")
        axes.grid(axis="y", visible=False)
        axes.spines["left"].set_visible(False)

    return draw(
        name,
        "latency of the shortest operations between two ranks, with the cache line as bound",
        paint,
        WIDE,
        0.9 + 0.2 * len(rows),
    )


def message_latencies(results: Results, fabric: str) -> list[Row]:
    """The bandwidth of messages and of this library's put, and the bound of both."""
    rows = results.where("message.latency", fabric=fabric)
    if fabric == "network":
        beside = [("kumiki", "put"), ("tcp", "send")]
        others = network_rows(results, "network.latency")
        return rows + [row for row in others if (row.implementation, row.text("operation")) in beside]
    return rows + results.where("put.latency", "kumiki") + results.where("bound.cacheline_pingpong", lines=1)


def _dot(sheet: Sheet, line: int, row: Row, look: Look) -> None:
    if row.oversubscribed:
        sheet.note(HOLLOW)
    sheet.axes.plot(
        [row.value],
        [line],
        marker=look.marker,
        markersize=11 if look.marker == "|" else 6,
        color=look.colour,
        markerfacecolor=colour("surface") if row.oversubscribed else look.colour,
        markeredgewidth=1.6 if look.marker == "|" else 1.0,
        linestyle="none",
        zorder=4,
        url=f"#row-{row.id}",
    )
    sheet.axes.annotate(
        quantity_text(row.value, row.unit, 3),
        (row.value, line),
        xytext=(4, 6),
        textcoords="offset points",
        ha="left",
        fontsize=7.5,
        color=colour("muted"),
    )


def _shortest_rows(candidates: Iterable[Row]) -> list[Row]:
    """Latencies and their bounds in order of time; for one operation at several sizes, the size closest to a word."""
    found: dict[tuple[str, ...], Row] = {}
    for row in candidates:
        latency = row.metric.endswith(".latency") or row.metric.startswith("bound.")
        if not (latency and row.usable and row.unit in ("us", "ns")):
            continue
        key = (row.metric, row.implementation, _details(row))
        if key not in found or abs(row.count("bytes", 8) - 8) < abs(found[key].count("bytes", 8) - 8):
            found[key] = row
    return sorted(found.values(), key=lambda row: row.value)


def _is_tcp(row: Row) -> bool:
    return row.implementation == "tcp"


def _is_bound(row: Row) -> bool:
    return row.metric.startswith("bound.") or _is_tcp(row)


def _details(row: Row) -> str:
    """The parameters that distinguish two rows of one metric: 'adjacent', 'contention both', '2 lines'."""
    words = {"placement": "{}", "lines": "{} lines", "contention": "contention {}"}
    silent = {("lines", 1), ("contention", "none")}
    parts = [
        words.get(name, f"{name} {{}}").format(value)
        for name, value in row.parameters.items()
        if name not in ("ranks", "bytes", "threads", "hosts", "fabric", "operation") and (name, value) not in silent
    ]
    return ", ".join(parts)


def _name(row: Row) -> str:
    operation, _, figure = row.metric.partition(".")
    operation = row.text("operation") or operation
    if operation == "bound":
        name = {"cacheline_pingpong": "cache line"}.get(figure, figure.replace("_", " ")) + " (bound)"
    else:
        name = f"{row.title} {operation.replace('_', ' ')}"
        name += f" {size_text(row.count('bytes'))}" if row.count("bytes", 8) != 8 else ""
    details = _details(row)
    return f"{name}, {details}" if details else name


def _tail(results: Results, row: Row) -> tuple[float, float] | None:
    samples: Iterable[float] = results.samples.get(row.id, ())
    values = numpy.asarray(list(samples))
    if values.size < 2:
        return None
    return float(values.min()), float(numpy.percentile(values, 99))
