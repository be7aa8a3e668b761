"""The comparison of several platforms: tables and guidelines for a terminal, and a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from kumiki.report.headlines import in_turn
from kumiki.report.platforms import tables
from kumiki.report.platforms.guidelines import Guidelines, guidelines
from kumiki.report.platforms.model import Contest, Platform, contests
from kumiki.report.tables import Table

_TABLES: tuple[tuple[str, Callable[[Sequence[Platform]], Table | None]], ...] = (
    ("The memory bus at its best", tables.memory_bus),
    ("The shortest operations", tables.shortest),
    ("The highest bandwidth by size", tables.bandwidth),
    ("The routine to use by size", tables.routines),
)


@dataclass(frozen=True)
class Comparison:
    """Platforms side by side."""

    platforms: tuple[Platform, ...]

    @cached_property
    def contests(self) -> list[Contest]:
        return contests(self.platforms)

    @cached_property
    def guidelines(self) -> list[Guidelines]:
        return guidelines(self.platforms, self.contests)

    def tables(self) -> list[tuple[str, Table]]:
        """All tables with their captions, except the one of all figures."""
        found = [
            ("The platforms", tables.machines(self.platforms)),
            ("One processor", tables.one_processor(self.contests, self.platforms)),
            ("Every platform at its best", tables.at_best(self.contests, self.platforms)),
            *((contest.title, tables.by_processors(contest, self.platforms)) for contest in self.contests),
            *((caption, make(self.platforms)) for caption, make in _TABLES),
        ]
        return [(caption, table) for caption, table in found if table]

    def page(self) -> str:
        """The page as one string of HTML."""
        from kumiki.report.page.html import Topic, page  # matplotlib is slow to load
        from kumiki.report.platforms.sections import overview, sections
        from kumiki.report.sections.overview import leading

        made = sections(self.platforms, self.contests)
        return page(
            "platforms.html.j2",
            labels=[platform.label for platform in self.platforms],
            headlines=in_turn(self.guidelines),
            overview=overview(self.platforms, self.contests) or leading(made),
            topics=[Topic(guide.label, "platform", guide.pieces) for guide in self.guidelines],
            sections=made,
        )
