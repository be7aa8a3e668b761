"""Linpack: the rate over N, with and without a device, and what one change makes of it."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.report.advisers.linpack import advise
from kumiki.report.analysis import linpack as rows
from kumiki.report.analysis.model import Results
from kumiki.report.figures import linpack as figures
from kumiki.report.page.exhibit import Exhibit, Section
from kumiki.report.tables import linpack as tables
from kumiki.suites.described import TSUBAME


def linpack(results: Results) -> Section:
    found = next((piece.text for piece in advise(results)), "")
    intro = (
        f"{found} A dense system of equations is solved by LU with partial pivoting as the Linpack benchmark does; "
        "each solution is checked by the residual of HPL."
    )
    return Section.of(results, rows.SUITE, "Linpack", intro.strip(), _exhibits(results))


def _exhibits(results: Results) -> Iterator[Exhibit]:
    yield from _over_size(results)
    yield from _device(results)
    yield from _mixes(results)
    yield from _unequal(results)
    table = tables.changes(results, rows.TECHNIQUES)
    if table:
        yield Exhibit(
            "Table",
            "Techniques on and off",
            "Look-ahead: what is done while the next panel is made. `tiles`: threads take pieces of the update one "
            "after another, `thread`: each makes one product while a thread of its own waits for the panel, "
            "`chopped`: a block of columns at a time until the panel is there, as HPL does, `none`: the panel is made "
            "afterwards. Wait: how ranks wait, with a rank for each core and with twice as many.",
            "Higher is better. Chopping costs more where blocks are small, because short products are slow. With more "
            "ranks than cores, waiting by `spin` takes the cores from the ranks that compute.",
            "Figure 6",
            table=table,
            wide=True,
            source=TSUBAME,
        )
    table = tables.changes(results, rows.SHARES)
    if table:
        yield Exhibit(
            "Table",
            "What block, grid and shares change",
            "The rate with one thing changed at a time. Weights: the shares of the process columns; `measured` are by "
            "the speed that was measured.",
            "Higher is better. On processors of one speed equal shares are the best, and a share of two for one "
            "process column shows what a wrong share costs.",
            table=table,
            wide=True,
        )


def _over_size(results: Results) -> Iterator[Exhibit]:
    picture = figures.over_size("linpack-over-size", results)
    if picture:
        yield Exhibit(
            "Figure",
            "The rate of Linpack over N",
            "Operations per second of the whole solution, by ranks and threads. The bound is the product of matrices "
            "that an update consists of, on all threads at once.",
            "Higher is better. The rate approaches the bound as N grows, because the factorisation of panels and the "
            "transfers grow more slowly than the updates.",
            "Figure 5",
            picture=picture,
            source=TSUBAME,
        )
    table = tables.over_size(results)
    if table:
        yield Exhibit(
            "Table",
            "The rate of Linpack by N",
            "The figures of the drawing above; the last line is the product alone.",
            "Higher is better.",
            table=table,
            wide=True,
        )


def _device(results: Results) -> Iterator[Exhibit]:
    picture = figures.device("linpack-device", results)
    if picture:
        yield Exhibit(
            "Figure",
            "Linpack with and without a device",
            "Half of the cores alone, and together with an emulated accelerator, whose products the other cores "
            "compute at a set rate and behind a set bus: which gets products of the updates, or on which the matrix "
            "lives, so that the host only factors panels.",
            "Higher is better. The device pays from that N on where its products are long enough to hide the bus; for "
            "smaller ones it is left out, and both curves are the same.",
            "Figure 5",
            picture=picture,
            source=TSUBAME,
        )
    table = tables.device(results)
    if table:
        yield Exhibit(
            "Table",
            "Linpack with and without a device by N",
            "The figures of the drawing above. DGEMM: products at the shape of an update, of the threads alone and of "
            "threads and device at the same time.",
            "Higher is better.",
            table=table,
            wide=True,
        )


def _mixes(results: Results) -> Iterator[Exhibit]:
    table = tables.mixes(results)
    if table:
        yield Exhibit(
            "Table",
            "Processes and a device: fine and coarse",
            "The same cores and the same device. All share it: threads and device take pieces of each product. Mix "
            "HxT+S: H host processes of T threads, which do not use the device, and S processes whose products it "
            "computes, all with equal shares of the matrix, as in the TSUBAME paper.",
            "Higher is better. A mix is as fast as its slowest process allows, for all have equal shares.",
            "Figure 7",
            table=table,
            wide=True,
            source=TSUBAME,
        )


def _unequal(results: Results) -> Iterator[Exhibit]:
    table = tables.unequal(results)
    if table:
        yield Exhibit(
            "Table",
            "Unequal cores",
            "The last core has half of its speed, because a thread computes beside it all the time. Process mix: two "
            "processes for each core but one for the slow one, all with equal shares, as the TSUBAME paper balances by "
            "numbers of processes only.",
            "Higher is better. With equal shares all cores wait for the slow one.",
            "Figure 4",
            table=table,
            wide=True,
            source=TSUBAME,
        )
