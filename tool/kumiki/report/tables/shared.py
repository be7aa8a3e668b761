"""Tables of shared arrays: what single pages cost, and programs whose data are in them."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.report.analysis import shared
from kumiki.report.analysis.compare import better, equal, within
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.shared import Placed, Placements
from kumiki.report.quantity import amount, enumerate_words, factor, significant, size_text, tolerance
from kumiki.report.tables import NOTHING, Cell, Column, Line, Table
from kumiki.results.row import Row
from kumiki.suites.shared import BY_HAND


def costs(results: Results) -> Table | None:
    """A line for each figure in each place, with its ratio to the bound."""
    lines = []
    for cost in shared.costs(results):
        ratio = Cell(factor(cost.ratio)) if cost.ratio is not None else NOTHING
        cells = [Cell(_place(cost.row)), _cell(cost.row), _cell(cost.bound), ratio]
        lines.append(Line(_figure(cost.row), cells, cost.row.oversubscribed))
    columns = [Column("where"), Column("cost", noted=True), Column("bound", noted=True), Column("ratio")]
    return Table("figure", columns, lines) if lines else None


def programs(results: Results) -> Table | None:
    """A line for each program and kind of homes on as many ranks as the form with puts, with its ratios to puts and to
    threads, and the statistics of the paper."""
    lines = []
    runs = sorted(shared.placed(results), key=lambda run: _place_among(run.row))
    for run in [run for run in runs if run.puts] or runs:
        row, threads = run.row, shared.threads(results, run.row)
        cells = [
            _cell(row),
            Cell(factor(row.value / run.puts.value)) if run.puts else NOTHING,
            Cell(factor(row.value / threads.value)) if threads else NOTHING,
            *(_count(count) for count in (run.transfers, run.differences)),
            Cell(f"{significant(run.different.value)} %") if run.different else NOTHING,
        ]
        lines.append(Line(_run(row), cells, row.oversubscribed))
    columns = [
        *(Column("time", noted=True), Column("of puts"), Column("of threads")),
        *(Column("pages fetched"), Column("changes sent home"), Column("other homes")),
    ]
    return Table("program, homes", columns, lines) if lines else None


HOMES = {
    BY_HAND: "by hand",
    "first": "first touch",
    "next": "next touch",
    "relocated": "relocated",
    "block": "blocks",
    "cyclic": "cyclic",
}
"""The homes in the order in which they are compared, in words."""


def homes(results: Results) -> Table | None:
    """A line for each program, number of ranks and kind of homes, beside the placement by hand."""
    lines, notes = [], []
    for touch in ("", "one"):
        for problem in shared.placements(results, touch):
            for ranks in problem.counts:
                found = [(name, problem.at(name, ranks)) for name in HOMES]
                lines += [_beside(problem, name, ranks, run, touch) for name, run in found if run]
            notes += _said(problem, touch)
    columns = [
        *(Column("time", noted=True), Column("of by hand"), Column("pages fetched"), Column("changes sent home")),
        Column("other homes"),
    ]
    return Table("program, ranks, homes", columns, lines, notes) if lines else None


def _beside(problem: Placements, name: str, ranks: int, run: Placed, touch: str) -> Line:
    row, hand = run.row, problem.by_hand[ranks].row
    cells = [
        _cell(row),
        Cell(factor(row.value / hand.value)) if name != BY_HAND else NOTHING,
        *(_count(count) for count in (run.transfers, run.differences)),
        Cell(f"{significant(run.different.value)} %") if run.different else NOTHING,
    ]
    one = ", one rank initializes" if touch else ""
    return Line(f"{problem.program}{one}, {ranks}, {HOMES[name]}", cells, row.oversubscribed)


def _said(problem: Placements, touch: str) -> list[str]:
    """What follows for a program: how its homes compare with those by hand, and in how many pages they differ."""
    ranks = problem.telling
    if ranks is None:
        return []
    hand = problem.by_hand[ranks]
    others = [(name, run) for name in HOMES if name != BY_HAND and (run := problem.at(name, ranks))]
    if not others:
        return []
    where = ", where one rank initializes all pages," if touch else ""
    verdicts = "; ".join(_verdicts(hand.row, others))
    pages = enumerate_words([f"{_moved(run)} ({HOMES[name]})" for name, run in [(BY_HAND, hand), *others]])
    wrong = [f"{significant(run.different.value)} % ({HOMES[name]})" for name, run in others if run.different]
    different = f" Other homes than by hand have {enumerate_words(wrong)} of the pages." if wrong else ""
    return [
        f"{problem.program} on {ranks} ranks{where} takes, beside its time with homes by hand: {verdicts}. Pages that "
        f"are fetched or sent home in a run: {pages}.{different}"
    ]


def _verdicts(hand: Row, others: list[tuple[str, Placed]]) -> Iterator[str]:
    """How the times of other homes compare with that of the homes by hand; those alike are named together."""
    alike = [(name, run.row) for name, run in others if equal(run.row, hand)]
    apart = [(name, run.row) for name, run in others if not equal(run.row, hand)]
    differing = [(name, row) for name, row in apart if better(hand, row) or better(row, hand)]
    if alike:
        names = enumerate_words([HOMES[name] for name, _ in alike])
        yield f"the same time, {within(*((row, hand) for _, row in alike))}, with {names}"
    for name, row in differing:
        yield f"{factor(row.value / hand.value)} times as long with {HOMES[name]}"
    untold = [HOMES[name] for name, row in apart if (name, row) not in differing]
    if untold:
        yield f"a time that these samples do not distinguish with {enumerate_words(untold)}"


def _moved(run: Placed) -> str:
    return significant(sum(count.value for count in (run.transfers, run.differences) if count))


def _count(row: Row | None) -> Cell:
    return Cell(significant(row.value)) if row else NOTHING


def _figure(row: Row) -> str:
    words = shared.COSTS[row.metric]
    if "cached" in row.parameters and row.count("cached"):
        return f"{words}, {row.count('cached')} pages cached"
    if "changed" in row.parameters:
        return f"{words}, {size_text(row.count('changed'))} changed"
    if "protocol" in row.parameters:
        return f"{words}, {row.text('protocol')}"
    return words


def _place(row: Row) -> str:
    if row.text("copies") == "host":
        return "one memory"
    return "between hosts" if row.text("fabric") == "network" else "a copy for each rank"


def _place_among(row: Row) -> tuple[object, ...]:
    """Where its line is: those of a program together, one memory first."""
    homes = row.text("homes")
    place = list(HOMES).index(homes) if homes in HOMES else len(HOMES)
    return row.metric, row.text("copies") != "host", row.text("protocol") == "update", row.text("touch"), place


def _run(row: Row) -> str:
    homes = "homes by hand" if row.text("homes") == BY_HAND else f"{row.text('homes')} homes"
    where = "one memory" if row.text("copies") == "host" else homes
    if row.text("protocol") == "update":
        where += ", update"
    if row.text("touch") == "one":
        where += ", one rank initializes"
    return f"{row.metric.removesuffix('.time').replace('_', '-')}, {where}"


def _cell(row: Row | None) -> Cell:
    return Cell(amount(row), tolerance(row), row=row.id, crowded=row.oversubscribed) if row else NOTHING
