"""The description of a machine in a file (machine.toml): read, checked, written."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from kumiki.errors import UserError, nearest
from kumiki.linpack.model import grid_of
from kumiki.predict.linpack.machine import Kind, Machine, Rate, Run
from kumiki.predict.parameters import setting_of, toml_of

T = TypeVar("T")
PUBLISHED = "tsubame.toml"
RUN_SETTINGS = ("n", "block", "grid")
"""What --set changes in every run; what was known of the run is then forgotten."""
LINK_SETTINGS = ("link_rate", "link_latency")
MOST = 10**7
"""No matrix is larger, and no grid has more ranks in a row."""


def machine_of(path: Path | None, settings: Iterable[str]) -> Machine:
    """The machine of a file, or of the paper, with these settings. Raises UserError, naming what is wrong."""
    text = None if path else resources.files("kumiki.predict.linpack").joinpath(PUBLISHED).read_text("utf-8")
    where = str(path or PUBLISHED)
    content = toml_of(path) if path else toml_of(text or "", where)
    for name, value in map(setting_of, settings):
        _set(content, name, value)
    return _Table(content, where).whole(_machine)


def _set(content: dict[str, Any], name: str, value: Any) -> None:
    if name in LINK_SETTINGS:
        content[name] = value
    elif name in RUN_SETTINGS:
        runs = content.get("runs")
        for run in runs if isinstance(runs, list) else []:
            run[name] = value
        content.pop("crossings", None)
    else:
        known = [*RUN_SETTINGS, *LINK_SETTINGS]
        raise UserError(
            f"--set: there is no parameter '{name}'{nearest(name, known)}; there are {', '.join(known)}; "
            "rates are changed in the file of a machine (--machine)"
        )
    for run in content.get("runs") or []:
        run.pop("known", None)
        run.pop("chosen", None)


class _Table:
    """A table of the file, of which each value is taken once and checked."""

    def __init__(self, values: Any, where: str) -> None:
        if not isinstance(values, dict):
            raise UserError(f"{where}: this is no table of values, but {values!r}")
        self._values, self._where = dict(values), where

    def whole(self, read: Callable[[_Table], T]) -> T:
        """What `read` makes of the table; raises UserError if it leaves a value."""
        known = list(self._values)
        found = read(self)
        for name in self._values:
            rest = [each for each in known if each != name]
            raise UserError(f"{self._where}: '{name}' is unknown here{nearest(name, rest)}")
        return found

    def text(self, name: str, default: str | None = None) -> str:
        value = self._take(name, default)
        if not isinstance(value, str):
            raise self._wrong(name, "a text", value)
        return value

    def number(self, name: str, default: float | None = None, least: float = 0.0) -> float:
        """A number above 0, or of at least `least`."""
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
            raise self._wrong(name, "a number", value)
        if value < least or (value == 0 and not default == 0):
            raise self._wrong(name, f"a number {f'of at least {least:g}' if least else 'above 0'}", value)
        return float(value)

    def count(self, name: str, default: int | None = None) -> int:
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
            raise self._wrong(name, f"a whole number from 1 to {MOST}", value)
        return value

    def grid(self, name: str) -> tuple[int, int]:
        """Rows and columns of processes."""
        value = self.text(name)
        try:
            return grid_of(value)
        except UserError:  # it names the option of another command
            raise self._wrong(name, "a grid of process rows x columns such as 2x3", value) from None

    def texts(self, name: str) -> dict[str, str]:
        values = self._take(name, {})
        if not isinstance(values, dict) or not all(isinstance(each, str) for each in values.values()):
            raise self._wrong(name, "a table of texts", values)
        return values

    def numbers(self, name: str) -> tuple[float, ...]:
        values = self._take(name, [])
        if not isinstance(values, list) or not all(_positive(each) for each in values):
            raise self._wrong(name, "a list of numbers above 0", values)
        return tuple(map(float, values))

    def words(self, name: str) -> tuple[str, ...]:
        values = self._take(name, None)
        if not isinstance(values, list) or not values or not all(isinstance(each, str) for each in values):
            raise self._wrong(name, 'a list of names such as ["host"]', values)
        return tuple(values)

    def points(self, name: str) -> tuple[tuple[float, float], ...]:
        """A number, or a list of rows and rates, in ascending order of rows."""
        value = self._take(name, None)
        if _positive(value):
            return ((1.0, float(value)),)
        pairs: list[Any] = value if isinstance(value, list) else []
        good = all(isinstance(each, list) and len(each) == 2 and all(map(_positive, each)) for each in pairs)
        if not pairs or not good or any(one[0] >= other[0] for one, other in pairwise(pairs)):
            raise self._wrong(name, "a number, or a list of [rows, rate] in ascending order of rows", value)
        return tuple((float(rows), float(rate)) for rows, rate in pairs)

    def rate(self, name: str) -> Rate | None:
        """A table of a rate, or its points alone; None if it is not there."""
        if name not in self._values:
            return None
        if not isinstance(self._values[name], dict):
            return Rate(self.points(name))
        return _Table(self._values.pop(name), f"{self._where}, {name}").whole(_rate)

    def tables(self, name: str) -> Iterator[_Table]:
        """The tables of a list, [[name]]."""
        values = self._values.pop(name, [])
        if not isinstance(values, list):
            raise self._wrong(name, f"a list of tables, [[{name}]]", values)
        for number, each in enumerate(values, 1):
            yield _Table(each, f"{self._where}, {name} {number}")

    def named(self, name: str) -> Iterator[tuple[str, _Table]]:
        """The tables [name.x], [name.y]."""
        values = self._take(name, None)
        if not isinstance(values, dict) or not values:
            raise self._wrong(name, f"a table for each, [{name}.NAME]", values)
        for key, each in values.items():
            yield key, _Table(each, f"{self._where}, {name}.{key}")

    def _take(self, name: str, default: Any) -> Any:
        if name not in self._values and default is None:
            raise UserError(f"{self._where}: '{name}' is missing")
        return self._values.pop(name, default)

    def _wrong(self, name: str, wanted: str, value: Any) -> UserError:
        return UserError(f"{self._where}: {name} is {wanted}, not {value!r}")


def _positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


def _machine(table: _Table) -> Machine:
    kinds = {name: each.whole(_kind) for name, each in table.named("kinds")}
    runs = tuple(each.whole(lambda run: _run(run, kinds)) for each in table.tables("runs"))
    names = [run.name for run in runs]

    def crossing(one: _Table) -> tuple[str, str, float]:
        found = one.text("faster"), one.text("than"), one.number("known")
        for name in found[:2]:
            if name not in names:
                raise UserError(f"crossings: there is no run '{name}'{nearest(name, names)}")
        return found

    return Machine(
        name=table.text("name"),
        source=table.text("source"),
        kinds=kinds,
        runs=runs,
        link_rate=table.number("link_rate", math.inf),
        link_latency=table.number("link_latency", 0),
        crossings=tuple(each.whole(crossing) for each in table.tables("crossings")),
        origins=table.texts("origins"),
    )


def _kind(table: _Table) -> Kind:
    product, panel = table.rate("product"), table.rate("panel")
    if product is None or panel is None:
        raise UserError(f"{table._where}: a kind of processes needs 'product' and 'panel'")
    return Kind(
        product=product,
        panel=panel,
        solve=table.rate("solve") or product,
        exchange=table.rate("exchange"),
        narrow=table.rate("narrow"),
        solution=table.rate("solution"),
        threads=table.count("threads", 1),
        resident=_resident(table),
        bus=table.number("bus", math.inf),
    )


def _resident(table: _Table) -> bool:
    form = table.text("form", "host")
    if form not in ("host", "resident"):
        raise UserError(f"{table._where}: form is 'host' or 'resident', not '{form}'")
    return form == "resident"


def _rate(table: _Table) -> Rate:
    return Rate(
        points=table.points("rate"),
        bandwidth=table.number("bandwidth", math.inf),
        shared=table.count("shared", 1),
        variation=table.numbers("variation"),
    )


def _run(table: _Table, kinds: Mapping[str, Kind]) -> Run:
    rows, columns = table.grid("grid")
    run = Run(
        name=table.text("name"),
        n=table.count("n"),
        block=table.count("block"),
        rows=rows,
        columns=columns,
        kinds=table.words("kinds"),
        known=table.number("known") if "known" in table._values else None,
        chosen=table.text("chosen", ""),
    )
    for name in run.kinds:
        if name not in kinds:
            raise UserError(f"{table._where}: there is no kind '{name}'{nearest(name, list(kinds))}")
    return run


def text_of(machine: Machine) -> str:
    """The content of a file that machine_of() reads."""
    return "\n".join([*_head(machine), *_kinds(machine.kinds), *_runs(machine.runs), ""])


def _head(machine: Machine) -> Iterator[str]:
    yield f"name = {json.dumps(machine.name)}"
    yield f"source = {json.dumps(machine.source)}"
    if machine.link_rate < math.inf:
        yield f"link_rate = {machine.link_rate:.6g} # MB/s"
        yield f"link_latency = {machine.link_latency:.6g} # us"


def _kinds(kinds: Mapping[str, Kind]) -> Iterator[str]:
    for name, kind in kinds.items():
        yield f"\n[kinds.{json.dumps(name)}]"
        yield f"threads = {kind.threads}"
        if kind.resident:
            yield 'form = "resident"'
        if kind.bus < math.inf:
            yield f"bus = {kind.bus:.6g} # MB/s"
        for what, rate in kind.rates.items():
            yield f"{what} = {_written(rate)}"


def _written(rate: Rate) -> str:
    points = _list(f"[{rows:g}, {speed:.5g}]" for rows, speed in rate.points)
    more = f", bandwidth = {rate.bandwidth:.6g}" if rate.bandwidth < math.inf else ""
    more += f", shared = {rate.shared}" if rate.shared > 1 else ""
    more += f", variation = {_list(f'{each:.4g}' for each in rate.variation)}" if rate.variation else ""
    return f"{{ rate = {points}{more} }}" if more else points


def _runs(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        yield "\n[[runs]]"
        yield f"name = {json.dumps(run.name)}"
        yield f"n = {run.n}"
        yield f"block = {run.block}"
        yield f'grid = "{run.rows}x{run.columns}"'
        yield f"kinds = {json.dumps(run.kinds)}"
        if run.known is not None:
            yield f"known = {run.known:.6g} # GFLOP/s"


def _list(values: Iterable[str]) -> str:
    return f"[{', '.join(values)}]"
