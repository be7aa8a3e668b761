"""Readers of the values of options, which refuse what is no such value."""

from __future__ import annotations

import math

import typer

YEAR = 365 * 86400


def counts(text: str) -> tuple[int, ...]:
    """Reads a list of counts: 1,2,4."""
    try:
        found = tuple(int(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or min(found) < 1:
        raise typer.BadParameter(f"'{text}' is not a list of whole numbers of at least 1, such as 1,2,4")
    return tuple(dict.fromkeys(found))


def names(text: str) -> tuple[str, ...]:
    """Reads a list of names: memory,cg."""
    found = tuple(part.strip() for part in text.split(","))
    if not all(found):
        raise typer.BadParameter(f"'{text}' is not a list of names, such as memory,cg")
    return found


def positive(value: float | None) -> float | None:
    if value is not None and not value > 0:
        raise typer.BadParameter(f"{value:g} is not above 0")
    if value is not None and value == math.inf:
        raise typer.BadParameter(f"{value:g} is not a finite number")
    return value


def seconds(value: float | None) -> float | None:
    if positive(value) and value is not None and value > YEAR:
        raise typer.BadParameter(f"{value:g} is more than {YEAR}, the seconds of a year")
    return value
