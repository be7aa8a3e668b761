"""The sizes of a program as series, and the table of their rates."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.report.analysis.meshes import Family, by_sendrecv, families
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import Program, cores
from kumiki.report.figures.meshes import by_mesh
from kumiki.report.page.exhibit import Exhibit
from kumiki.report.tables.by_size import agreement, by_size

_BASE = "Base case of each line: the sequential form of the same problem."


def meshes(results: Results, program: Program) -> Iterator[Exhibit]:
    """Figures by size; nothing if fewer than two sizes were measured."""
    for family in families(results, program):
        yield from _of_family(results, program, family)
    yield from _by_sendrecv(results, program)
    if program.paper.by_size:
        yield from _rates_by_size(results, program)


def _of_family(results: Results, program: Program, family: Family) -> Iterator[Exhibit]:
    words = f", {family.words}" if family.words else ""
    name = "-".join([program.suite, *(str(value) for _, value in family.variant)])
    what = "size" if len({mesh.problem.size for mesh in family.meshes}) > 1 else "method"
    for figure, text, counterpart in (
        ("speedup", "How many times as fast as its base case each one is", program.paper.speedup),
        ("efficiency", "Speed-up divided by the number of processors used", program.paper.efficiency),
    ):
        heading = f"{program.title}{words}: {'speed-up' if figure == 'speedup' else figure} by {what}"
        picture = by_mesh(f"{name}-{figure}-meshes", heading, family.meshes, figure, cores(results))  # type: ignore[arg-type]
        if picture:
            yield Exhibit(
                "Figure",
                heading,
                f"{text}, by total processors; one line per {what}, with the best of Kumiki's settings at each "
                "number of processors.",
                "A larger problem has more computation between communications: where its line is higher, communication "
                "limits the smaller problem; where it is lower, the smaller problem fits into the caches.",
                counterpart,
                _BASE,
                picture,
            )


def _by_sendrecv(results: Results, program: Program) -> Iterator[Exhibit]:
    for name, lines in by_sendrecv(results, program).items():
        heading = f"{program.title} by MPI_Sendrecv, {results.title(name)}: rate by size"
        picture = by_mesh(f"{program.suite}-{name}-sendrecv", heading, lines, "rate", cores(results))
        if picture:
            yield Exhibit(
                "Figure",
                heading,
                "MFLOPS by number of processes, one line per size, for the paper's own form, which cuts the grid in "
                "one direction and exchanges planes with MPI_Sendrecv only.",
                "Higher is better. A line flattens when more processes spend their time exchanging planes, or saturate "
                "the memory bus.",
                program.paper.rate,
                picture=picture,
            )


def _rates_by_size(results: Results, program: Program) -> Iterator[Exhibit]:
    table = by_size(results, program)
    if table:
        yield Exhibit(
            "Table",
            f"{program.title} by size",
            "MFLOPS of the sequential program, of the memory bound (all cores move the bytes of a sweep, nothing "
            "computed), "
            "of Kumiki's best setting and of the form with MPI_Sendrecv; the counted bytes of one of its messages; and "
            "gosa, the sum of squared residuals of the last sweep.",
            f"Higher is better. {agreement(results, program)}",
            program.paper.by_size,
            table=table,
            wide=True,
        )
