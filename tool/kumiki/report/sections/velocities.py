"""The velocities of a flow, compared with published ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import Program
from kumiki.report.figures.velocities import centre_line
from kumiki.report.page.exhibit import Exhibit
from kumiki.report.quantity import enumerate_words
from kumiki.results.row import Row

LINES = {"u": "on the vertical centre line", "v": "on the horizontal centre line"}
USUAL_REYNOLDS = 100


def velocities(results: Results, program: Program) -> Iterator[Exhibit]:
    """Figures of the velocities; nothing if the rows contain none."""
    for component, words in LINES.items():
        flows = _flows(results, program, component)
        picture = centre_line(f"{program.suite}-{component}", component, flows)
        if picture:
            yield Exhibit(
                "Figure",
                f"{program.title}: the velocity {component} {words} and the published one",
                f"The steady flow on {_sizes(flows)} points, by Reynolds number; the crosses are those of "
                f"{program.paper.velocities}.",
                f"The largest difference is {_differences(flows)}. Each is within the limit that the program allows "
                "(otherwise "
                "its rows would be marked as wrong): our second-order error plus the error of the published tables, "
                "from which spectral methods differ as much.",
                picture=picture,
            )


def _flows(results: Results, program: Program, component: str) -> dict[int, list[Row]]:
    """The velocities in the order of their places, by Reynolds number."""
    rows = results.where(program.metric("velocity"), component=component)
    rows = [row for row in rows if "published" in row.parameters]
    flows: dict[int, list[Row]] = {}
    for row in sorted(rows, key=lambda row: float(row.text("place"))):
        flows.setdefault(row.count("reynolds", USUAL_REYNOLDS), []).append(row)
    return dict(sorted(flows.items()))


def _sizes(flows: dict[int, list[Row]]) -> str:
    sizes = sorted({row.count("size") for rows in flows.values() for row in rows})
    return enumerate_words([f"{size} × {size}" for size in sizes])


def _differences(flows: dict[int, list[Row]]) -> str:
    return enumerate_words([f"{_difference(rows):.4f} at Re = {reynolds}" for reynolds, rows in flows.items()])


def _difference(rows: Sequence[Row]) -> float:
    return max(abs(row.value - float(row.text("published"))) for row in rows)
