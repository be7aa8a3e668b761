"""The rows of Linpack: its rate over N in each place and with a device, and those where one thing is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kumiki.linpack.model import USUAL, has_settings, near_square
from kumiki.predict.linpack.devices import device_name
from kumiki.predict.linpack.measured import machine_of_rows
from kumiki.predict.linpack.place import place_of
from kumiki.predict.linpack.recursion import expected
from kumiki.report.analysis.compare import better
from kumiki.report.analysis.model import Results
from kumiki.results.row import Row
from kumiki.suites import reference_hpl
from kumiki.suites.linpack import BLOCK, OFFLOAD, ONE_SLOW

SUITE = "linpack"
SHARES = ("block", "grid", "weights")
TECHNIQUES = ("look_ahead", "wait")
"""What studies change, by the names of the parameters."""


def place(row: Row) -> str:
    """Its ranks and threads."""
    return f"{row.ranks} x {row.threads}"


def by_size(results: Results) -> dict[str, dict[int, Row]]:
    """By place and N, the rows with nothing changed."""
    found: dict[str, dict[int, Row]] = {}
    for row in _rates(results):
        rows, columns = near_square(row.ranks)
        if (row.count("block"), row.text("grid"), row.text("weights")) == (BLOCK, f"{rows}x{columns}", "equal"):
            found.setdefault(place(row), {})[row.count("n")] = row
    return {name: dict(sorted(rows.items())) for name, rows in found.items()}


def best(results: Results) -> Row | None:
    """The one with the best rate, whatever its block, grid, shares and N are, without a device."""
    return max(_rates(results), key=lambda row: row.value, default=None)


def full_places(results: Results) -> dict[str, dict[int, Row]]:
    """The same of the places that use the most processors."""
    places = by_size(results)
    most = max((row.processors for rows in places.values() for row in rows.values()), default=0)
    return {name: rows for name, rows in places.items() if next(iter(rows.values())).processors == most}


def studies(results: Results, names: tuple[str, ...]) -> Iterator[tuple[str, list[Row]]]:
    """By what is changed, the rows that differ in nothing else: of each the largest such sets."""
    for name in names:
        usual = {other: value for other, value in USUAL.items() if other != name}
        alike: dict[tuple[tuple[str, int | str], ...], list[Row]] = {}
        for row in _rates(results, usual):
            rest = tuple(sorted((key, value) for key, value in row.parameters.items() if key != name))
            alike.setdefault(rest, []).append(row)
        most = max(map(len, alike.values()), default=0)
        for rows in alike.values():
            if 1 < len(rows) == most:
                yield name, sorted(rows, key=lambda row: (row.count(name), row.text(name)))


def bounds(results: Results) -> dict[str, Row]:
    """By place, the rate of the product; of the largest N of which it was measured."""
    found = sorted(_products(results, USUAL), key=lambda row: row.count("n"))
    return {place(row): row for row in found}


def reference(results: Results) -> dict[int, Row]:
    """The rows of reference HPL, by N."""
    rows = [row for row in results.where("linpack.rate", reference_hpl.NAME) if row.usable]
    return {row.count("n"): row for row in sorted(rows, key=lambda row: row.count("n"))}


@dataclass(frozen=True)
class WithDevice:
    """A place with and without a device, by N."""

    place: str
    device: str
    alone: dict[int, Row]
    together: dict[int, Row]
    products: dict[int, tuple[Row, Row]]
    """DGEMM of the threads alone, and of threads and device at the same time."""

    @property
    def pays_from(self) -> int | None:
        """The least N from which on the device makes every measured run faster; None if it never does."""
        least = None
        for size in sorted(self.together, reverse=True):
            if not better(self.together[size], self.alone[size]):
                break
            least = size
        return least


def with_device(results: Results, form: str = OFFLOAD) -> WithDevice | None:
    """The rows with an accelerator that takes part in this way beside those without it."""
    rest = {name: value for name, value in USUAL.items() if name not in ("device", "form")}

    def so(row: Row) -> bool:
        return row.text("device") not in ("", USUAL["device"]) and (row.text("form") or OFFLOAD) == form

    rows = [row for row in _rates(results, rest) if so(row)]
    if not rows:
        return None
    where, device = place(rows[0]), rows[0].text("device")
    alone = by_size(results).get(where, {})
    together = {row.count("n"): row for row in rows if row.count("n") in alone}
    products: dict[int, dict[str, Row]] = {}
    for row in _products(results, rest):
        if place(row) == where and (so(row) or row.text("device") in ("", USUAL["device"])):
            products.setdefault(row.count("n"), {})[row.text("device")] = row
    pairs = {
        size: (each[USUAL["device"]], each[device])
        for size, each in sorted(products.items())
        if device in each and USUAL["device"] in each
    }
    sizes = sorted(together)
    return WithDevice(where, device, {n: alone[n] for n in sizes}, {n: together[n] for n in sizes}, pairs)


def mixes(results: Results) -> dict[str, Row]:
    """Rates with a device at one N: where all share it (with the name of their place), and of process mixes."""
    rest = {name: value for name, value in USUAL.items() if name not in ("device", "form", "mix")}
    rows = [row for row in _rates(results, rest) if row.text("mix") not in ("", USUAL["mix"])]
    shared = with_device(results)
    if not rows or shared is None:
        return {}
    alike = shared.together.get(rows[0].count("n"))
    found = {f"{shared.place}, all share the device": alike} if alike else {}
    return found | {f"mix {row.text('mix')}": row for row in rows}


@dataclass(frozen=True)
class Unequal:
    """One core at half its speed: rates by the way in which the work is shared, and the sum of the DGEMM rates."""

    ways: dict[str, Row]
    bound: Row | None


EQUAL, BY_SPEED, MIX, TILES = "equal shares", "shares by speed", "process mix", "threads that take tiles"


def unequal(results: Results) -> Unequal | None:
    slow = {**USUAL, "cores": ONE_SLOW}
    ways: dict[str, Row] = {}
    for row in _rates(results, slow):
        if row.ranks == 1:
            ways[TILES] = row
        elif row.oversubscribed:
            ways[MIX] = row
        else:
            ways[BY_SPEED if row.text("weights") == "measured" else EQUAL] = row
    order = [way for way in (EQUAL, BY_SPEED, MIX, TILES) if way in ways]
    bound = next(iter(_products(results, slow)), None)
    return Unequal({way: ways[way] for way in order}, bound) if EQUAL in ways and len(ways) > 1 else None


def predictions(results: Results) -> dict[str, dict[int, float]]:
    """By place and N, what the model expects of the rows with nothing changed; empty if its parts were not measured."""
    machine = machine_of_rows(results.rows, results.samples)
    if machine is None:
        return {}
    expectations = {(run.kinds[0], run.n): expected(machine, run).rate for run in machine.runs}
    found: dict[str, dict[int, float]] = {}
    for name, rows in by_size(results).items():
        for size, row in rows.items():
            kind = place_of(row)
            if (kind, size) in expectations:
                found.setdefault(name, {})[size] = expectations[kind, size]
    return found


def device_predictions(results: Results, form: str) -> dict[int, float]:
    """By N, what the model expects of the rows with a device in this form; empty if its parts were not measured."""
    machine, found = machine_of_rows(results.rows, results.samples), with_device(results, form)
    if machine is None or found is None:
        return {}
    expectations = {(run.kinds[0], run.n): expected(machine, run).rate for run in machine.runs}
    names = {size: (device_name(row), size) for size, row in found.together.items()}
    return {size: expectations[name] for size, name in names.items() if name in expectations}


def _rates(results: Results, settings: Mapping[str, str] = USUAL) -> list[Row]:
    return [
        row for row in results.where("linpack.rate", "kumiki") if row.usable and has_settings(row.parameters, settings)
    ]


def _products(results: Results, settings: Mapping[str, str]) -> Iterator[Row]:
    for row in results.where("dgemm.rate", "bound"):
        if row.suite == SUITE and row.usable and has_settings(row.parameters, settings):
            yield row
