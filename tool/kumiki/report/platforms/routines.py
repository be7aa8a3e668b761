"""Which routine of an MPI, or of Kumiki, moves a message of which size best (after section 2 of the JAMSTEC paper)."""

from __future__ import annotations

from itertools import groupby

from kumiki.report.compare import best
from kumiki.report.model import Results, Row
from kumiki.report.palette import title
from kumiki.report.quantity import enumerate_words, size_text

SUITE = "mpi"


def best_routines(results: Results) -> dict[str, dict[int, Row]]:
    """The row of the highest bandwidth by size, for each implementation; empty where the suite was not measured."""
    sizes: dict[str, dict[int, list[Row]]] = {}
    for row in results.suite(SUITE):
        if row.usable and row.unit == "GB/s" and "routine" in row.parameters and "bytes" in row.parameters:
            sizes.setdefault(row.implementation, {}).setdefault(row.count("bytes"), []).append(row)
    return {
        name: {size: top for size in sorted(by_size) if (top := best(by_size[size]))} for name, by_size in sizes.items()
    }


def sentence(results: Results) -> tuple[str, list[Row]] | None:
    """Which routine to use up to which size, and the rows that say so."""
    found = best_routines(results)
    alike: dict[str, list[str]] = {}
    for name, rows in found.items():
        alike.setdefault(_thresholds(rows), []).append(title(name))
    if not alike:
        return None
    words = [f"with {enumerate_words(names)} {thresholds}" for thresholds, names in alike.items()]
    return f"Send {'; '.join(words)}.", [row for rows in found.values() for row in rows.values()]


def _thresholds(rows: dict[int, Row]) -> str:
    """Neighbouring sizes of one routine run together: 'by send up to 64 KiB, by sendrecv above'."""
    runs = [(routine, list(group)) for routine, group in groupby(rows.values(), lambda r: r.text("routine"))]
    if len(runs) == 1:
        return f"by {runs[0][0]} at every size"
    words = [f"by {routine} up to {size_text(group[-1].count('bytes'))}" for routine, group in runs[:-1]]
    return enumerate_words([*words, f"by {runs[-1][0]} above"])
