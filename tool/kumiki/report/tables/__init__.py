"""The paper's tables for this machine, as cells that the page lays out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kumiki.report.analysis.beyond import beyond
from kumiki.report.analysis.bound import share
from kumiki.report.analysis.compare import best, equal
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.peers import best_mpi, best_openmp
from kumiki.report.analysis.routines import best_routines
from kumiki.report.analysis.select import Problem, in_order, network_rows, option, problems
from kumiki.report.quantity import (
    amount,
    common_scale,
    factor,
    percent,
    plural,
    significant,
    size_text,
    tolerance,
    unit_text,
)
from kumiki.results.implementation import MPIS, UCX
from kumiki.results.row import Row

OPERATIONS = {
    "read": "read",
    "write": "write",
    "copy": "copy",
    "memcpy": "memcpy",
    "nontemporal": "non-temporal copy",
}


@dataclass(frozen=True)
class Cell:
    """One figure of a table. `bar` is its share of the table's largest, drawn as a bar behind it."""

    text: str
    note: str = ""
    pad: str = ""
    bar: float | None = None
    row: int | None = None
    crowded: bool = False
    best: bool = False
    """Whether it is the best of its line, or equal to that."""


@dataclass(frozen=True)
class Line:
    head: str
    cells: list[Cell]
    crowded: bool = False
    role: str = ""


@dataclass(frozen=True)
class Column:
    title: str
    unit: str = ""
    noted: bool = False
    """Whether its cells carry notes, over which the heading must not extend."""


@dataclass(frozen=True)
class Table:
    corner: str
    columns: list[Column]
    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Sentences on what its figures show."""


NOTHING = Cell("–")
OF_BOUND = "of bound"
NOTED_COLUMNS = 6
"""A table with more columns has no space for intervals beside the figures; they are in the full table."""


def memory_bus(results: Results) -> Table | None:
    """Table 1: rates by threads, the sum over all threads."""
    found = {
        name: {row.threads: row for row in results.where(f"memory.{operation}") if row.usable}
        for operation, name in OPERATIONS.items()
    }
    return _grid("threads", {name: rows for name, rows in found.items() if rows}, bars=True)


def thread_barrier(results: Results) -> Table | None:
    """Table 2: the time of a thread barrier by implementation."""
    order = ("kumiki", "bound", "central", "pthread", "std", "openmp")
    rows = [row for row in results.where("thread_barrier.time") if row.usable]
    names = in_order((row.implementation for row in rows), order)
    heads = {name: "bare flags" if name == "bound" else results.title(name) for name in names}
    return _grid("threads", {heads[n]: {r.threads: r for r in rows if r.implementation == n} for n in names})


def rank_barrier_series(results: Results) -> dict[str, dict[int, Row]]:
    """Rows by ranks under the name of implementation and form: Kumiki's forms first, then the bound, then the MPIs."""
    order = ("kumiki", "bound", *results.mpis)
    forms = ("", "plain", "split-phase", "shuffle-exchange")

    def place(row: Row) -> tuple[int, str, int]:
        known = order.index(row.implementation) if row.implementation in order else len(order)
        return known, row.implementation, forms.index(row.text("form")) if row.text("form") in forms else len(forms)

    found: dict[str, dict[int, Row]] = {}
    for row in sorted((row for row in results.where("rank_barrier.time") if row.trusted), key=place):
        name = "bare flags" if row.implementation == "bound" else row.title
        form = row.text("form")
        silent = form in ("", "plain") and row.implementation != "kumiki"
        name = name if silent else f"{name}, {form}"
        between = ", over the network" if row.text("fabric") == "network" else ""
        found.setdefault(name + between, {})[row.ranks] = row
    return found


def rank_barrier(results: Results) -> Table | None:
    """Tables 3 and 4: the time of a barrier over ranks, by form and beside MPI."""
    return _grid("ranks", rank_barrier_series(results))


NETWORK_OPERATIONS = {
    "put": "put and signal, half a round trip",
    "active_message": "active message, half a round trip",
    "send": "send, half a round trip",
    "get": "get, a round trip",
    "atomic": "atomic, a round trip",
}


def network_latency(results: Results) -> Table | None:
    """8 bytes between two hosts: a line for each operation, a column for each implementation."""
    rows = network_rows(results, "network.latency")
    order = ("kumiki", "tcp", UCX, *MPIS)
    names = in_order((row.implementation for row in rows), order)
    cells = {(row.text("operation"), row.implementation): row for row in rows}
    lines = [
        Line(words, [_amount(cells.get((operation, name))) for name in names])
        for operation, words in NETWORK_OPERATIONS.items()
        if any((operation, name) in cells for name in names)
    ]
    heads = ["plain TCP (bound)" if name == "tcp" else results.title(name) for name in names]
    return Table("operation", [Column(head, noted=True) for head in heads], lines) if lines else None


MESSAGE_FIGURES = {
    "message.latency": "8 B, half a round trip",
    "message.rate": "8 B, many in flight at once",
    "message.interleaving": "a short one sent after a long one, as a share of its time",
}


def messages(results: Results, fabric: str) -> Table | None:
    """Two-sided messages: a line for each figure that is of one size, a column for each implementation."""
    rows = [row for metric in MESSAGE_FIGURES for row in results.where(metric, fabric=fabric) if row.usable]
    names = in_order(row.implementation for row in rows)
    cells = {(row.metric, row.implementation): (row, tolerance(row)) for row in rows}
    lines = [
        ranked(words, [cells.get((metric, name)) for name in names])
        for metric, words in MESSAGE_FIGURES.items()
        if any((metric, name) in cells for name in names)
    ]
    return Table("message", [Column(results.title(name), noted=True) for name in names], lines) if lines else None


def routines(results: Results) -> Table | None:
    """The best routine of each implementation: a line for each size."""
    found = best_routines(results)
    sizes = sorted({size for rows in found.values() for size in rows})
    lines = [
        ranked(
            size_text(size),
            [(rows[size], rows[size].text("routine")) if size in rows else None for rows in found.values()],
        )
        for size in sizes
    ]
    return Table("size", [Column(results.title(name), noted=True) for name in found], lines) if lines else None


def ranked(head: str, entries: Sequence[tuple[Row, str] | None], linked: bool = True) -> Line:
    """A line of rows with their notes; the best row and those equal to it are marked."""
    rows = [entry[0] for entry in entries if entry]
    winner = best(rows) if len(rows) > 1 else None

    def one(row: Row, note: str) -> Cell:
        marked = winner is not None and (row is winner or equal(row, winner))
        return Cell(
            amount(row), note, row=row.id if linked else None, crowded=row.oversubscribed and linked, best=marked
        )

    cells = [one(*entry) if entry else NOTHING for entry in entries]
    return Line(head, cells, any(cell.crowded for cell in cells))


def waiting(results: Results) -> Table | None:
    """The share of a core that each wait policy uses, and its wake-up time."""
    rows = [row for name in ("wait.cpu", "wait.wakeup") for row in results.where(name) if row.trusted]
    policies = list(dict.fromkeys(row.text("policy") for row in rows))
    heads: dict[str, list[Row]] = {}
    for row in rows:
        later = row.count("after_ms", 0)
        share = f"share after {later} ms" if later else "share of a core"
        name = "time to continue" if row.metric == "wait.wakeup" else share
        heads.setdefault(name, []).append(row)
    lines = [
        Line(
            policy,
            [_amount(next((r for r in column if r.text("policy") == policy), None)) for column in heads.values()],
        )
        for policy in policies
    ]
    return Table("policy", [Column(name, noted=True) for name in heads], lines) if lines else None


def _grid(corner: str, columns: dict[str, dict[int, Row]], bars: bool = False) -> Table | None:
    counts = sorted({count for rows in columns.values() for count in rows})
    if not counts:
        return None
    unit = unit_text(next(row.unit for rows in columns.values() for row in rows.values()))
    top = max(row.value for rows in columns.values() for row in rows.values())
    formats = {name: Format.of([row for row in rows.values() if row.usable]) for name, rows in columns.items()}
    lines = []
    for count in counts:
        cells = [
            cell(rows[count], formats[name], rows[count].value / top if bars else None) if count in rows else NOTHING
            for name, rows in columns.items()
        ]
        lines.append(Line(str(count), cells, any(c.crowded for c in cells)))
    noted = len(columns) <= NOTED_COLUMNS
    return Table(corner, [Column(name, unit, noted) for name in columns], lines)


@dataclass(frozen=True)
class Format:
    """How the figures of one column are written, so that their decimal points are aligned."""

    decimals: int
    fixed: bool
    """Figures of similar size show the same number of decimals; figures far apart only their significant digits."""
    scale: float = 1.0

    @staticmethod
    def of(rows: list[Row], scale: float = 1.0) -> Format:
        values = [row.value * scale for row in rows]
        texts = [significant(value) for value in values]
        fixed = max(values, default=1.0) < 20 * min(values, default=1.0)
        return Format(max((len(text.partition(".")[2]) for text in texts), default=0), fixed, scale)

    def text(self, row: Row) -> tuple[str, str]:
        """The figure, and invisible decimals that pad it."""
        value = row.value * self.scale
        if self.fixed:
            return f"{value:.{self.decimals}f}", ""
        text = significant(value)
        shown = len(text.partition(".")[2])
        return text, ("." if not shown and self.decimals else "") + "0" * (self.decimals - shown)


def cell(row: Row, shape: Format, bar: float | None = None) -> Cell:
    if row.value <= 0:
        return Cell("≈ 0", row=row.id, crowded=row.oversubscribed)
    text, pad = shape.text(row)
    return Cell(text, tolerance(row), pad, bar, row.id, row.oversubscribed)


def settings(problem: Problem) -> Table | None:
    """Every setting and peer of a problem: time, speed-up, efficiency, shared time, rate (for the product, Table 5)."""
    entries = _entries(problem)
    if not entries:
        return None
    rates = [rate for _, _, row in entries if (rate := problem.rate(row))]
    scale, unit = common_scale([row for _, _, row in entries])
    times = Format.of([row for _, _, row in entries], scale)
    columns: list[tuple[Column, Callable[[Row], Cell]]] = [
        (Column("time", unit, noted=True), lambda row: cell(row, times)),
        (Column("speed-up"), lambda row: derived(problem.speedup(row), factor, row)),
        (Column("efficiency"), lambda row: derived(problem.efficiency(row), percent, row)),
        (Column("shared time"), lambda row: derived(problem.shared(row), percent, row)),
    ]
    if rates:
        shape = Format.of(rates)
        columns.append((Column("rate", rates[0].unit, noted=True), lambda row: _rate_cell(problem, row, shape)))
    if problem.bounds:
        columns.append((Column(OF_BOUND), lambda row: derived(share(problem, row), percent, row)))
    fastest = min((row for _, _, row in entries), key=lambda row: row.value)
    lines = [
        Line(text, [fill(row) for _, fill in columns], row.oversubscribed, role + (" best" if row is fastest else ""))
        for text, role, row in entries
    ]
    return Table("setting", [column for column, _ in columns], lines, beyond(problem, (row for _, _, row in entries)))


def _entries(problem: Problem) -> list[tuple[str, str, Row]]:
    found = [("sequential", "sequential", problem.sequential)] if problem.sequential else []
    found += [(f"Kumiki {r} × {t}", "kumiki", row) for (r, t), row in problem.hybrid.items()]
    found += [(f"Kumiki messages {r} × {t}", "kumiki", row) for (r, t), row in problem.messages.items()]
    found += [(f"OpenMP, {plural(t, 'thread')}", "openmp", row) for (_, t), row in problem.openmp.items()]
    for name, rows in problem.mpi.items():
        found += [(f"{problem.results.title(name)}, {plural(r, 'rank')}", name, row) for (r, _), row in rows.items()]
    found += [(f"library, {row.title}", row.implementation, row) for row in problem.library]
    return found


def derived(value: float | None, words: Callable[[float], str], row: Row) -> Cell:
    return NOTHING if value is None else Cell(words(value), row=row.id, crowded=row.oversubscribed)


def _rate_cell(problem: Problem, row: Row, shape: Format) -> Cell:
    rate = problem.rate(row)
    return cell(rate, shape) if rate and rate.measured else NOTHING


def other_problems(results: Results, chosen: Problem) -> Table | None:
    """The other sizes and variants of a program, one line each."""
    lines = []
    for problem in problems(results, chosen.program):
        if (problem.size == chosen.size and problem.variant == chosen.variant) or not problem.rows:
            continue
        lines.append(Line(problem.label, _summary(problem)))
    heads = {
        "base case": True,
        "best Kumiki": True,
        "setting": False,
        "speed-up": False,
        "best MPI": True,
        "best OpenMP": True,
        OF_BOUND: False,
    }
    return Table("problem", [Column(head, noted=noted) for head, noted in heads.items()], lines) if lines else None


def _summary(problem: Problem) -> list[Cell]:
    top = problem.best_hybrid
    row = top[1] if top else None
    gain = problem.speedup(row) if row else None
    return [
        _amount(problem.base),
        _amount(row),
        Cell(option(top[0]).strip("`")) if top else NOTHING,
        Cell(f"{factor(gain)}") if gain else NOTHING,
        _amount(best_mpi(problem)),
        _amount(best_openmp(problem)),
        derived(share(problem, row), percent, row) if row else NOTHING,
    ]


def _amount(row: Row | None) -> Cell:
    return Cell(amount(row), tolerance(row), row=row.id, crowded=row.oversubscribed) if row else NOTHING
