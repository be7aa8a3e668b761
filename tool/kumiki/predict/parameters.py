"""The parameters of a model: declared with unit, meaning and origin; changed by options or by a file in TOML."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from kumiki.errors import UserError, nearest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

M = TypeVar("M")
OPTION, GIVEN = "option", "set by you"


@dataclass(frozen=True)
class Parameter:
    """One parameter as it is displayed."""

    name: str
    value: float | int
    unit: str
    meaning: str
    origin: str


def parameter(
    default: float | int, unit: str, meaning: str, origin: str, least: float = 0.0, most: float = math.inf
) -> Any:
    """A field of a model's dataclass. Integer defaults mean integer values; all must be above 0 and within bounds."""
    bounds = {"least": least, "most": most}
    return field(default=default, metadata={"unit": unit, "meaning": meaning, "origin": origin, **bounds})


def described(machine: Any) -> list[Parameter]:
    """All parameters of a model's dataclass; the origin of a value that differs from the default is the user."""
    return [
        Parameter(
            each.name,
            value := getattr(machine, each.name),
            each.metadata["unit"],
            each.metadata["meaning"],
            each.metadata["origin"] if value == each.default else GIVEN,
        )
        for each in fields(machine)
    ]


def changed(machine: M, path: Path | None, settings: Iterable[str]) -> M:
    """The machine with the values of the file and then of the settings (NAME=VALUE). Raises UserError, naming both."""
    values: dict[str, Any] = {}
    known = {each.name: each for each in fields(machine)}  # type: ignore[arg-type]
    for name, value in (toml_of(path) if path else {}).items():
        values[name] = _checked(known, name, value, str(path))
    for name, value in map(setting_of, settings):
        values[name] = _checked(known, name, value, "--set")
    return replace(machine, **values)  # type: ignore[type-var]


def setting_of(text: str) -> tuple[str, Any]:
    """The name and the value of a setting NAME=VALUE: a number where it is one, else a text. Raises UserError."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name:
        raise UserError(f"--set {text}: a setting is NAME=VALUE, such as burst=1")
    for number in (int, float):
        try:
            return name, number(value)
        except ValueError:
            continue
    return name, value


def toml_of(source: Path | str, name: str = "") -> dict[str, Any]:
    """The content of a file, or of a text called `name`. Raises UserError if it is not TOML."""
    try:
        return tomllib.loads(source if isinstance(source, str) else source.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(
            f"the machine in {name or source} cannot be read ({error}); it must be a file in TOML"
        ) from None


def _checked(known: Mapping[str, Field[Any]], name: str, value: Any, where: str) -> float | int:
    if name not in known:
        raise UserError(f"{where}: there is no parameter '{name}'{nearest(name, list(known))}")
    declared = known[name]
    whole = isinstance(declared.default, int)
    least, most = declared.metadata["least"], declared.metadata["most"]
    try:
        if isinstance(value, bool):
            raise ValueError
        number = int(value) if whole and not isinstance(value, float) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or not number > 0 or not least <= number <= most or (whole and number != int(number)):
        kind = "a whole number" if whole else "a number"
        bounds = f" of at least {least:g}" if least else " above 0"
        bounds += f" and at most {most:g}" if most < math.inf else ""
        raise UserError(f"{where}: {name} is {kind}{bounds}, not {value!r}")
    return int(number) if whole else number
