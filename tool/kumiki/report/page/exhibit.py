"""A section of the page, and the numbered tables and figures in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from kumiki.report.analysis.model import Results
from kumiki.report.figures.canvas import Picture
from kumiki.report.quantity import plural
from kumiki.report.tables import Table
from kumiki.results.row import Row
from kumiki.suites.described import COMPAS


@dataclass(frozen=True)
class Exhibit:
    """A numbered table or figure with its caption."""

    kind: str
    """`Table` or `Figure`."""
    title: str
    shows: str
    reading: str
    paper: str = ""
    """Its counterpart in the paper `source`; empty if there is none."""
    base: str = ""
    picture: Picture | None = None
    table: Table | None = None
    wide: bool = False
    number: int = 0
    """Its position among the tables or figures of the page; 0 on the first screen, which repeats one."""
    source: str = COMPAS
    lead: bool = False
    """Whether it is the leading figure of its section, which the first screen may show."""

    @property
    def notes(self) -> list[str]:
        """The notes of its picture and its table."""
        return [*(self.picture.notes if self.picture else ()), *(self.table.notes if self.table else ())]


@dataclass
class Section:
    id: str
    title: str
    intro: str
    exhibits: list[Exhibit] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    """Sentences about figures that could not be measured."""
    validation: str = ""
    wrong: list[Row] = field(default_factory=list)

    @property
    def tried(self) -> bool:
        """Whether any of it was measured or attempted; otherwise the page omits the section."""
        return bool(self.exhibits or self.gaps or self.wrong)

    @staticmethod
    def of(results: Results, suite: str, heading: str, intro: str, exhibits: Iterator[Exhibit]) -> Section:
        """The section of a suite: its exhibits, and the gaps and validation of its rows; empty without rows."""
        rows = results.suite(suite)
        checked = [row for row in rows if row.validated is not None]
        wrong = [row for row in checked if not row.validated]
        gaps = list(dict.fromkeys(row.failed or row.absent for row in rows if row.failed or row.absent))
        verdict = ""
        if checked and not wrong:
            verdict = f"All {plural(len(checked), 'row')} with a result to check were validated and are correct."
        return Section(suite, heading, intro, list(exhibits) if rows else [], gaps, verdict, wrong)


def numbered(sections: Iterable[Section]) -> list[Section]:
    """The sections that appear on the page, with their tables and figures numbered throughout."""
    counts = {"Table": 0, "Figure": 0}
    found = [section for section in sections if section.tried]
    for section in found:
        for place, exhibit in enumerate(section.exhibits):
            counts[exhibit.kind] += 1
            section.exhibits[place] = replace(exhibit, number=counts[exhibit.kind])
    return found
