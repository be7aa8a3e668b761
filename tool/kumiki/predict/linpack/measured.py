"""The machine that an evaluation measured, for the model: from the rows of the suite linpack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path

from kumiki.linpack.model import grid_of, has_settings
from kumiki.predict.linpack.description import text_of
from kumiki.predict.linpack.devices import devices_of_rows
from kumiki.predict.linpack.machine import Kind, Machine, Rate, Run
from kumiki.predict.linpack.place import Place, Samples, mean_rate
from kumiki.replacement import replace
from kumiki.results import files
from kumiki.results.row import Row

NAME = files.MACHINE
PIECES = ("product", "panel", "exchange", "solution")
NARROW = "narrow"
"""A further piece, which older evaluations did not measure."""
MOST_VARIATION = 50
"""Times that are kept of a rate's variation."""


def write(directory: Path) -> Path | None:
    """Writes the machine of an evaluation's folder; None if it did not measure what the model needs."""
    content = files.load(directory)
    rows = [Row.parse(row) for row in content["rows"]]
    samples = {int(number): taken for number, taken in (files.load_samples(directory) or {}).items()}
    machine = machine_of_rows(rows, samples)
    if machine is None:
        return None
    path = directory / NAME
    replace(path, text_of(machine))
    return path


def machine_of_rows(rows: Sequence[Row], samples: Samples) -> Machine | None:
    """The machine that these rows describe, with the runs that were measured on it; None without the parts of a step.

    Runs are those with equal shares, in the places (ranks, threads, grid, block) whose parts were measured.
    """
    linpack = [row for row in rows if row.suite == "linpack" and row.usable and has_settings(row.parameters)]
    found: dict[Place, dict[str, list[Row]]] = {}
    for row in linpack:
        piece = row.metric.partition(".")[2]
        if piece in (*PIECES, NARROW):
            found.setdefault(Place.of(row), {}).setdefault(piece, []).append(row)
    places = {place: pieces for place, pieces in found.items() if set(PIECES) <= set(pieces)}
    if not places:
        return None
    kinds = {place.name: _kind(place, pieces, samples) for place, pieces in places.items()}
    runs = [row for row in linpack if row.metric == "linpack.rate" and row.text("weights") == "equal"]
    devices = devices_of_rows(rows, kinds, samples)
    rate, latency = _link(rows) if any(place.hosts > 1 for place in places) else (inf, 0.0)
    return Machine(
        name="this machine",
        source="this evaluation",
        kinds=kinds | devices.kinds,
        runs=(*_runs(runs, places), *devices.runs),
        link_rate=rate,
        link_latency=latency,
    )


def _kind(place: Place, pieces: Mapping[str, Sequence[Row]], samples: Samples) -> Kind:
    rows, _ = grid_of(place.grid)

    def rate(piece: str, part: float, variation: tuple[float, ...] = ()) -> Rate:
        """By the size of the matrix, times `part`: the rows of a process."""
        by_size = {max(row.count("n") * part, 1.0): mean_rate(row, samples) for row in pieces[piece]}
        return Rate(tuple(sorted(by_size.items())), variation=variation)

    # The step of a matrix of N updates what is behind its first block; to the logarithm of N that is N.
    return Kind(
        product=rate("product", 1 / rows, tuple(_variation(pieces["product"], samples))),
        panel=rate("panel", 1 / rows),
        solve=rate("product", 1 / rows),
        exchange=rate("exchange", 1 / rows),
        narrow=rate(NARROW, 1 / rows) if NARROW in pieces else None,
        solution=rate("solution", 1.0),
        threads=place.threads,
    )


def _variation(rows: Iterable[Row], samples: Samples) -> Iterator[float]:
    """The times of the product of the largest matrix, each divided by their mean."""
    largest = max(rows, key=lambda row: row.count("n"))
    taken = sorted(samples.get(largest.id, ()))
    for rate in taken[:: 1 + len(taken) // MOST_VARIATION]:
        yield mean_rate(largest, samples) / rate


def _runs(rows: Iterable[Row], places: Iterable[Place]) -> Iterator[Run]:
    for row in sorted(rows, key=lambda row: (row.ranks, row.threads, row.count("n"))):
        place = Place.of(row)
        if place in places:
            grid_rows, columns = grid_of(place.grid)
            name = f"{place.name}, N = {row.count('n')}"
            yield Run(name, row.count("n"), place.block, grid_rows, columns, (place.name,), row.value)


def _link(rows: Iterable[Row]) -> tuple[float, float]:
    """MB/s and microseconds of the network, where the suite `network` measured them; else as if there were none."""
    own = [row for row in rows if row.implementation == "kumiki" and row.text("operation") == "put" and row.usable]
    rates = [1000 * row.value for row in own if row.metric == "network.bandwidth"]
    times = [row.value for row in own if row.metric == "network.latency"]
    return max(rates, default=inf), min(times, default=0.0)
