"""The sentences of the advice about a made-up machine."""

from __future__ import annotations

from typing import Any

import kumiki.report as report
from kumiki.report import Advice
from synthetic import Host


def said(host: Host, kind: str, *words: str) -> Advice:
    """The one piece of advice of a kind that contains all these words."""
    pieces = [p for p in report.advice(host.results) if p.kind == kind and all(word in p.text for word in words)]
    assert len(pieces) == 1, f"{len(pieces)} pieces hold {words}: {[p.text for p in report.advice(host.results)]}"
    return pieces[0]


def unsaid(host: Host, *words: str) -> bool:
    return not any(all(word in piece.text for word in words) for piece in report.advice(host.results))


def cited(host: Host, piece: Advice) -> list[dict[str, Any]]:
    return [row for row in host.rows if row["id"] in piece.rows]
