"""Figures in readable form."""

from __future__ import annotations

import math

SIGNIFICANT_DIGITS = 3
FEWEST_DECIMALS_EXPONENT = -5


def figure(value: float) -> str:
    """A number with three significant digits, without an exponent unless it is very small."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    exponent = math.floor(math.log10(abs(value)))
    if exponent < FEWEST_DECIMALS_EXPONENT:
        return f"{value:.{SIGNIFICANT_DIGITS - 1}e}"
    return f"{value:.{max(0, SIGNIFICANT_DIGITS - 1 - exponent)}f}"


def binary(count: int) -> str:
    """A count of bytes or keys with the largest binary prefix that divides it: 4096 is 4 Ki."""
    for power, prefix in ((30, "Gi"), (20, "Mi"), (10, "Ki")):
        if count and count % 2**power == 0:
            return f"{count >> power} {prefix}"
    return str(count)


def duration(seconds: float) -> str:
    """A length of time, to the second."""
    whole = round(seconds)
    return f"{whole} s" if whole < 120 else f"{whole // 60} min {whole % 60:02} s"


def counted(count: int, noun: str) -> str:
    """A count with its noun: 1 core, 2 cores."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
