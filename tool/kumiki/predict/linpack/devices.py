"""The kinds of processes with a device, for the model: from the rows of the suite linpack."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from kumiki.linpack.model import USUAL, grid_of, has_settings
from kumiki.predict.linpack.machine import Kind, Rate, Run
from kumiki.predict.linpack.place import Place, Samples, mean_rate
from kumiki.results.row import Row

RESIDENT = "resident"
BUS = re.compile(r"\bbus=([^,]+)")
"""What the description of an emulated device says of its bus, in GB/s."""


@dataclass(frozen=True)
class Devices:
    """Processes with a device, and their runs."""

    kinds: dict[str, Kind]
    runs: tuple[Run, ...]


def device_name(row: Row) -> str:
    """The name of the kind of processes that a row with a device is about."""
    return f"{Place.of(row).name}, with {row.text('device')}, {row.text('form') or 'offload'}"


def bus_of(device: str) -> float:
    """MB/s of the bus that the description of a device sets; infinite where it sets none."""
    found = BUS.search(device)
    rate = float(found[1]) if found else 0.0
    return 1000 * rate if rate > 0 else inf


def devices_of_rows(rows: Sequence[Row], kinds: Mapping[str, Kind], samples: Samples) -> Devices:
    """The kinds whose product was measured with a device, in places whose parts were measured without it."""
    rest = {name: value for name, value in USUAL.items() if name not in ("device", "form")}
    mine = [
        row
        for row in rows
        if row.suite == "linpack"
        and row.usable
        and has_settings(row.parameters, rest)
        and row.text("device") not in ("", USUAL["device"])
        and Place.of(row).name in kinds
    ]
    products: dict[str, list[Row]] = {}
    for row in mine:
        if row.metric == "dgemm.rate" and row.implementation == "bound":
            products.setdefault(device_name(row), []).append(row)
    found = {name: _kind(kinds[Place.of(each[0]).name], each, samples) for name, each in products.items()}
    return Devices(found, tuple(_runs([row for row in mine if row.metric == "linpack.rate"], found)))


def _kind(alone: Kind, products: Sequence[Row], samples: Samples) -> Kind:
    """As without the device, but for the product; where the matrix lives on it, the device does all but the panel."""
    rows, _ = grid_of(Place.of(products[0]).grid)
    points = sorted((max(row.count("n") / rows, 1.0), mean_rate(row, samples)) for row in products)
    product = Rate(tuple(points))
    if products[0].text("form") != RESIDENT:
        return replace(alone, product=product)
    return Kind(
        product=product,
        panel=alone.panel,
        # U is the product of an inverse and the rows that have come: twice the operations of a solve.
        solve=Rate(tuple((rows, rate / 2) for rows, rate in points)),
        solution=alone.solution,
        resident=True,
        bus=bus_of(products[0].text("device")),
    )


def _runs(rows: Sequence[Row], kinds: Mapping[str, Kind]) -> Iterator[Run]:
    for row in sorted(rows, key=lambda row: row.count("n")):
        name = device_name(row)
        if name in kinds and row.text("weights") == "equal":
            grid_rows, columns = grid_of(row.text("grid"))
            run = f"{name}, N = {row.count('n')}"
            yield Run(run, row.count("n"), row.count("block"), grid_rows, columns, (name,), row.value)
