"""Numbers for people: scaled units and only the digits that the measurement supports."""

from __future__ import annotations

import math

from kumiki.results.row import Row
from kumiki.results.statistics import FEWEST_SAMPLES

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_TIME_SCALES = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
_RATE_STEPS = {"GB/s": ("GB/s", "MB/s", "kB/s"), "GFLOP/s": ("GFLOP/s", "MFLOP/s", "kFLOP/s")}
_UNIT_TEXT = {"us": "µs", "1": ""}


def unit_text(unit: str) -> str:
    return _UNIT_TEXT.get(unit, unit)


def significant(value: float, digits: int = 3) -> str:
    """`value` rounded to so many significant digits, without an exponent: 0.0712, 1.87, 92.1, 8640."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "–"
    magnitude = math.floor(math.log10(abs(value)))
    rounded = round(value, digits - 1 - magnitude)
    # Rounding may carry into the next decade (9.996 -> 10.0), which then shows one decimal less.
    magnitude = math.floor(math.log10(abs(rounded)))
    decimals = max(0, digits - 1 - magnitude)
    text = f"{rounded:.{decimals}f}"
    return f"{rounded:,.0f}".replace(",", "\u202f") if abs(rounded) >= 100_000 else text


def digits_of(row: Row) -> int:
    """Two to four digits: as many as the half width of the interval leaves standing, and one more."""
    low, high = row.interval
    half = (high - low) / 2.0
    if half <= 0 or row.value <= 0:
        return 3
    return min(4, max(2, math.ceil(math.log10(row.value / half)) + 1))


def quantity(value: float, unit: str, digits: int = 3) -> str:
    """`value` with its unit, scaled so that the number is between 1 and 1000 where the unit allows it."""
    if unit in _SECONDS:
        seconds = value * _SECONDS[unit]
        name, scale = next(
            (entry for entry in _TIME_SCALES if abs(seconds) >= entry[1] * 0.9995),
            _TIME_SCALES[-1],
        )
        return f"{significant(seconds / scale, digits)} {name}"
    if unit in _RATE_STEPS and 0 < abs(value) < 0.9995:
        step = 1 if abs(value) >= 0.9995e-3 else 2
        return f"{significant(value * 1000.0**step, digits)} {_RATE_STEPS[unit][step]}"
    if unit == "%":
        return percent(value / 100.0)
    return f"{significant(value, digits)} {unit_text(unit)}".strip()


def tick(value: float, unit: str) -> str:
    """A round value on an axis, without digits that say nothing: 5 µs, 1.5 µs, 15 µs, 300 MB/s."""
    number, _, name = quantity(value, unit, 2).partition(" ")
    return f"{number.removesuffix('.0')} {name}"


def common_scale(rows: list[Row]) -> tuple[float, str]:
    """One unit for a column of rows: the factor to it and its name, in which the shortest time is at least 1."""
    unit = rows[0].unit if rows else ""
    values = [row.value for row in rows if row.median is not None and row.median > 0]
    if unit in _SECONDS and values:
        shortest = min(values) * _SECONDS[unit]
        name, scale = next((entry for entry in _TIME_SCALES if shortest >= entry[1]), _TIME_SCALES[-1])
        return _SECONDS[unit] / scale, name
    if unit in _RATE_STEPS and values and max(values) < 1.0:
        return 1000.0, _RATE_STEPS[unit][1]
    return 1.0, unit_text(unit)


def amount(row: Row) -> str:
    """The median of a row with its unit, in the digits that its interval supports (at most three in a sentence)."""
    return quantity(row.value, row.unit, min(3, digits_of(row)))


def tolerance(row: Row) -> str:
    """The half width of the 95 % interval as a share of the median: '± 2 %'; empty without an interval.

    Samples that are too few for one have a range, which says less, and a single sample has not even that.
    """
    if row.low is None or row.high is None or row.median is None or row.median <= 0 or row.n < 2:
        return ""
    half = (row.high - row.low) / 2.0 / row.value
    sign = "±" if row.n >= FEWEST_SAMPLES else "range ±"
    return f"{sign} {percent(half)}" if half <= 1 else f"{sign} > 100 %"


def percent(share: float) -> str:
    value = abs(share) * 100.0
    if 0 < value < 0.1:
        return "< 0.1 %"
    sign = "−" if share < 0 else ""
    return f"{sign}{significant(value, 2 if value < 99.5 else 3)} %" if value else "0 %"


def factor(ratio: float) -> str:
    return significant(ratio, 3 if ratio < 1000 else 2)


def size_text(count: int, digits: int = 3) -> str:
    """A number of bytes in binary units: 8 B, 64 KiB, 1.5 MiB."""
    for name, scale in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            whole = count / scale
            return f"{whole:.0f} {name}" if whole == int(whole) else f"{significant(whole, digits)} {name}"
    return f"{count} B"


def parameters_text(row: Row) -> str:
    """The parameters, the form and the setting first: 'hybrid 2 × 1, size 1800'."""
    rest = dict(row.parameters)
    words = [str(rest.pop("form"))] if "form" in rest else []
    if "ranks" in rest and "threads" in rest:
        words.append(f"{rest.pop('ranks')} × {rest.pop('threads')}")
    listed = [f"{size_text(int(value))}" if name == "bytes" else f"{name} {value}" for name, value in rest.items()]
    return ", ".join(filter(None, [" ".join(words), *listed]))


def count_text(count: int) -> str:
    """A large count of things: 4 Mi (2^20), 64 Mi, 4 million, 1800."""
    if count >= 1 << 20 and count % (1 << 20) == 0:
        return f"{count >> 20} Mi"
    if count >= 1_000_000 and count % 100_000 == 0:
        return f"{count / 1e6:g} million"
    return f"{count:,}".replace(",", "\u202f") if count >= 10_000 else str(count)


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def enumerate_words(items: list[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""
