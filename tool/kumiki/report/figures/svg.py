"""A matplotlib drawing embedded in the page: with its own ids, the page's fonts and colours, and tooltips on points."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from kumiki.report.palette import to_variables

_OF_NO_USE = ("metadata", "style", "title", "desc")
"""Matplotlib's metadata, and style rules that would apply to the whole page."""
_NAMESPACES = ("{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}")
"""Namespaces that HTML knows and that need no prefix."""
_ROW = "row-"
"""The prefix of the row ids to which points link; these ids belong to the page and not to a drawing."""
_ID = re.compile(r"url\(#([^)]+)\)")
"""A reference to a part of the drawing, within the value of an attribute."""
_FONT = re.compile(r"font: (?:(bold|\d+) )?([\d.]+)px [^;]+")
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def inline(file: str, name: str, description: str, tooltips: Mapping[int, str]) -> str:
    """What stands in the page for an SVG file: `name` is not the name of any other drawing of it, `description` is for
    screen readers, and the point of a row shows its tooltip.
    """
    drawing = ElementTree.fromstring(_NO_XML.sub("\ufffd", file))
    for element in drawing.iter():
        _without_namespaces(element)
        for child in filter(_is_of_no_use, list(element)):
            element.remove(child)
    _rename(drawing, lambda old: f"{name}-{old}")
    for element in drawing.iter():
        for attribute, value in element.items():
            element.set(attribute, to_variables(_FONT.sub(_size, value) if attribute == "style" else value))
    for link in drawing.iter("a"):
        _tell(link, tooltips)
    view = drawing.get("viewBox", "0 0 100 100")
    drawing.attrib = {"viewBox": view, "role": "img", "aria-label": description}
    return _text(drawing)


def unlinked(svg: str) -> str:
    """The same for a page without the rows of its points; the points keep their tooltips."""
    drawing = ElementTree.fromstring(svg)
    for link in list(drawing.iter("a")):
        link.tag, link.attrib = "g", {}
    return _text(drawing)


def renamed(svg: str, old: str, new: str) -> str:
    """The same for a second position on its page, with other ids, because ids on a page are unique."""
    drawing = ElementTree.fromstring(svg)
    _rename(drawing, lambda name: new + name.removeprefix(old))
    return _text(drawing)


def _without_namespaces(element: Element) -> None:
    def plain(name: str) -> str:
        return next((name.removeprefix(space) for space in _NAMESPACES if name.startswith(space)), name)

    element.tag = plain(element.tag)
    element.attrib = {plain(name): value for name, value in element.items()}
    for part in ("text", "tail"):
        said = getattr(element, part)
        if said and said.isspace() and "\n" in said:  # the file is indented
            setattr(element, part, "\n")


def _is_of_no_use(element: Element) -> bool:
    tag = element.tag.rpartition("}")[2]
    return tag in _OF_NO_USE or (tag == "defs" and all(map(_is_of_no_use, element)))


def _rename(drawing: Element, rename: Callable[[str], str]) -> None:
    """Renames the ids that are referenced, with all references, and removes the others."""
    used = {reference for element in drawing.iter() for reference in _references(element)}
    for element in drawing.iter():
        if (own := element.attrib.pop("id", None)) in used:
            element.set("id", rename(own))
        for attribute, value in element.items():
            if attribute == "href" and value[1:] in used:
                element.set(attribute, f"#{rename(value[1:])}")
            elif attribute != "id":
                element.set(attribute, _ID.sub(lambda found: f"url(#{rename(found[1])})", value))


def _references(element: Element) -> list[str]:
    target = element.get("href", "")
    own = [target[1:]] if target.startswith("#") and not target.startswith(f"#{_ROW}") else []
    return own + [name for value in element.attrib.values() for name in _ID.findall(value)]


def _size(font: re.Match[str]) -> str:
    weight = f"font-weight: {font[1]}; " if font[1] else ""
    return f"{weight}font-size: {font[2]}px"


def _tell(link: Element, tooltips: Mapping[int, str]) -> None:
    """Removes everything but the target from the link, because it opens no window, and adds the tooltip of its row."""
    target = link.get("href", "")
    link.attrib = {"href": target}
    tooltip = tooltips.get(int(target.removeprefix(f"#{_ROW}"))) if target.startswith(f"#{_ROW}") else None
    if tooltip is not None:
        title = Element("title")
        title.text, title.tail, link.text = tooltip, link.text, None
        link.insert(0, title)


def _text(drawing: Element) -> str:
    return ElementTree.tostring(drawing, encoding="unicode")
