"""The page: the template with all content in place, which loads nothing from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from kumiki.report.advisers import Advice, derive
from kumiki.report.advisers.kinds import ALERT
from kumiki.report.analysis.caches import holding
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import cores
from kumiki.report.figures.canvas import Key
from kumiki.report.headlines import headlines
from kumiki.report.own import section as own
from kumiki.report.own.problem import asked
from kumiki.report.page import environment as surroundings
from kumiki.report.palette import looks
from kumiki.report.quantity import common_scale, digits_of, parameters_text, significant
from kumiki.report.sections import build
from kumiki.report.sections.overview import overview
from kumiki.results.row import Row

LONG_CODE = 36
"""The number of characters that do not fit into a line of a narrow page."""
_TEMPLATES = Path(__file__).parent / "templates"
_SCRIPTS = ("fold.js", "sort.js")


@dataclass(frozen=True)
class Topic:
    """The advice of one heading."""

    heading: str
    kind: str
    pieces: list[Advice]


@dataclass(frozen=True)
class Listing:
    """A row of the full table, as text."""

    row: Row
    implementation: str
    role: str
    parameters: str
    median: str
    unit: str
    interval: str
    span: str
    state: str
    """`wrong`, `failed`, `absent` or empty."""
    cache: str
    """The cache that served it instead of memory; empty otherwise."""


def render(results: Results) -> str:
    """The whole page as one string of HTML."""
    advice = derive(results)
    chosen = headlines(advice)
    sections = own.sections(results) if asked(results) else build(results)
    return page(
        "report.html.j2",
        machine=surroundings.machine(results.environment),
        host=results.environment.get("hostname") or "",
        date=surroundings.date(results.environment),
        cores=cores(results),
        alerts=[piece for piece in advice if piece.kind == ALERT],
        headlines=chosen,
        overview=overview(results, sections),
        topics=topics(piece for piece in advice if piece.kind != ALERT) if len(advice) > len(chosen) else [],
        sections=sections,
        listings=_listings(results),
        groups=surroundings.groups(results),
        own=bool(asked(results)),
        measured=sum(row.median is not None for row in results.rows),
    )


def page(template: str, **content: Any) -> str:
    """A template filled with this content, in the style of all pages."""
    style, *scripts = (Markup((_TEMPLATES / name).read_text(encoding="utf-8")) for name in ("style.css", *_SCRIPTS))
    return _environment().get_template(template).render(style=style, script=Markup("\n").join(scripts), **content)


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code"] = code
    environment.filters["swatch"] = _swatch
    environment.filters["ranges"] = _ranges
    return environment


def topics(pieces: Iterable[Advice]) -> list[Topic]:
    """Groups pieces by heading, in the order in which the headings first appear."""
    found: dict[str, Topic] = {}
    for piece in pieces:
        found.setdefault(piece.heading, Topic(piece.heading, piece.kind, [])).pieces.append(piece)
    return list(found.values())


def _listings(results: Results) -> list[Listing]:
    known = looks(row.implementation for row in results.rows)
    return [_listing(results, row, known[row.implementation].role) for row in results.rows]


def _listing(results: Results, row: Row, role: str) -> Listing:
    samples = results.samples.get(row.id, ())
    digits = max(3, digits_of(row)) if row.measured else 3
    scale, unit = common_scale([row])
    low, high = (value * scale for value in (row.interval if row.measured else (0.0, 0.0)))
    return Listing(
        row=row,
        implementation=row.title,
        role=role,
        parameters=parameters_text(row),
        median=significant(row.value * scale, digits) if row.median is not None else "–",
        unit=unit,
        interval=f"{significant(low, digits)} – {significant(high, digits)}"
        if row.measured and row.low is not None
        else "",
        span=f"{significant(min(samples) * scale)} – {significant(max(samples) * scale)}" if samples else "",
        state="wrong" if row.validated is False else "failed" if row.failed else "absent" if row.absent else "",
        cache=holding(results, row) if row.measured else "",
    )


def code(text: str) -> Markup:
    """Text whose parts between backticks are set as code; only a long command may be broken into lines."""
    return Markup(re.sub(r"`([^`]+)`", _span, str(escape(text))))


def _span(match: re.Match[str]) -> str:
    kind = ' class="long"' if len(match[1]) >= LONG_CODE else ""
    return f"<code{kind}>{match[1]}</code>"


def _ranges(ids: list[int]) -> list[tuple[int, int]]:
    """Cited rows as ranges of adjacent ids: [3, 4, 5, 9] becomes [(3, 5), (9, 9)]."""
    runs: list[tuple[int, int]] = []
    for number in sorted(set(ids)):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


_SHAPES = {
    "o": '<circle cx="12" cy="6" r="3.6"/>',
    "s": '<path d="M8.7 2.7h6.6v6.6h-6.6z"/>',
    "D": '<path d="M12 1.6 16.4 6 12 10.4 7.6 6z"/>',
    "^": '<path d="M12 2l4.3 7.4H7.7z"/>',
    "v": '<path d="M12 10l4.3-7.4H7.7z"/>',
    "P": '<path d="M10.6 2h2.8v2.6H16v2.8h-2.6V10h-2.8V7.4H8V4.6h2.6z"/>',
    "p": '<path d="M12 1.8l4.2 3-1.6 5H9.4l-1.6-5z"/>',
    "X": '<path d="M8.4 3.8 9.8 2.4 12 4.6l2.2-2.2 1.4 1.4L13.4 6l2.2 2.2-1.4 1.4L12 7.4 9.8 9.6 8.4 8.2 10.6 6z"/>',
    "*": '<path d="M12 1l1.5 3.3 3.6.4-2.7 2.4.8 3.6L12 8.9l-3.2 1.8.8-3.6L6.9 4.7l3.6-.4z"/>',
    "_": '<path d="M8 5h8v2H8z"/>',
    "<": '<path d="M8 6l7.4-4.3v8.6z"/>',
    ">": '<path d="M16 6 8.6 1.7v8.6z"/>',
    "d": '<path d="M12 1.6 15 6l-3 4.4L9 6z"/>',
    "h": '<path d="M12 2l3.5 2v4L12 10 8.5 8V4z"/>',
}
_STROKES = {"dashed": "4 2.5", "dotted": "1.2 2.2", "dashdot": "5 2 1.2 2"}


def _swatch(key: Key) -> Markup:
    """The sample of a legend entry: the line with its marker, or a block for a bar."""
    if key.marker == "|":
        return Markup(
            '<svg class="swatch" viewBox="0 0 24 12"><path d="M11 0h2v12h-2z" fill="var(--{})"/></svg>'
        ).format(key.role)
    if key.marker == "bar":
        return Markup(
            '<svg class="swatch" viewBox="0 0 24 12"><path d="M6 1h12v10H6z" fill="var(--{})"/></svg>'
        ).format(key.role)
    if key.dash == "none":
        return Markup('<svg class="swatch" viewBox="0 0 24 12" fill="var(--{})">{}</svg>').format(
            key.role, Markup(_SHAPES.get(key.marker, ""))
        )
    stroke = f' stroke-dasharray="{_STROKES[key.dash]}"' if key.dash in _STROKES else ""
    return Markup(
        '<svg class="swatch" viewBox="0 0 24 12" fill="var(--{0})"><path d="M1 6h22" stroke="var(--{0})" '
        'stroke-width="1.6" fill="none"{1}/>{2}</svg>'
    ).format(key.role, Markup(stroke), Markup(_SHAPES.get(key.marker, "")))
