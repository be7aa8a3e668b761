"""How a drawing of matplotlib becomes part of a page."""

from __future__ import annotations

from xml.etree import ElementTree

from kumiki.report.figures import svg
from kumiki.report.palette import colour

FILE = f"""<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="4in" viewBox="0 0 4 3" xmlns="http://www.w3.org/2000/svg">
 <metadata>made by somebody</metadata>
 <defs><style type="text/css">*{{stroke-linejoin: round}}</style></defs>
 <g id="unused">
  <defs><path id="dot" d="M 0 0"/></defs>
  <a xlink:href="#row-7" target="_blank"><use xlink:href="#dot" style="fill: {colour("kumiki")}"/></a>
  <text style="font: bold 8.5px 'DejaVu Sans', sans-serif; text-anchor: middle">a &lt; b \x01</text>
  <g clip-path="url(#clip)"/>
 </g>
 <defs><clipPath id="clip"/></defs>
</svg>"""
WHOLE = svg.inline(FILE, "bus", 'rates of "memory"', {7: "12 & more"})
PARTS = ElementTree.fromstring(WHOLE)


def test_what_the_page_needs_stays_and_nothing_else() -> None:
    assert PARTS.attrib == {"viewBox": "0 0 4 3", "role": "img", "aria-label": 'rates of "memory"'}
    assert not [name for name in ("metadata", "style") if PARTS.find(f".//{name}") is not None]
    assert "xmlns" not in WHOLE and "xlink" not in WHOLE and "target" not in WHOLE and "unused" not in WHOLE
    text = next(PARTS.iter("text"))
    assert (text.text, text.get("style")) == (
        "a < b \ufffd",
        "font-weight: bold; font-size: 8.5px; text-anchor: middle",
    )


def test_ids_are_the_drawings_own() -> None:
    assert [part.get("id") for part in PARTS.iter() if part.get("id")] == ["bus-dot", "bus-clip"]
    assert 'href="#bus-dot"' in WHOLE and "url(#bus-clip)" in WHOLE and "var(--kumiki)" in WHOLE


def test_a_point_leads_to_its_row_and_tells_it() -> None:
    link = next(PARTS.iter("a"))
    assert (link.attrib, link.findtext("title")) == ({"href": "#row-7"}, "12 & more")


def test_a_drawing_stands_twice_on_a_page_under_two_names() -> None:
    assert svg.renamed(WHOLE, "bus", "first") == WHOLE.replace("bus-", "first-")


def test_a_page_without_rows_keeps_the_tooltips() -> None:
    left = ElementTree.fromstring(svg.unlinked(WHOLE))
    assert left.find(".//a") is None and left.findtext(".//g/title") == "12 & more"
