"""The contents of `--peer NAME=PREFIX`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kumiki.errors import UserError
from kumiki.results.implementation import RESERVED, title

NAME = re.compile(r"[a-z][a-z0-9._-]{0,31}")


@dataclass(frozen=True)
class Named:
    """A name for rows, and the folder below which the software is installed."""

    name: str
    prefix: Path
    """Absolute; links in it are not resolved, because the user chose them."""


def named(words: Iterable[str]) -> tuple[Named, ...]:
    """The values of all options, in their order; raises UserError if a value is malformed or a name occurs twice."""
    found: list[Named] = []
    for word in words:
        one = _read(word)
        if one.name in (other.name for other in found):
            raise UserError(
                f"--peer {word}: the name {one.name} is given twice; give each installation a different name"
            )
        found.append(one)
    return tuple(found)


def _read(word: str) -> Named:
    name, equals, prefix = word.partition("=")
    if not equals:
        raise UserError(f"--peer {word}: also give it a name: --peer NAME={word}")
    if not NAME.fullmatch(name):
        raise UserError(
            f"--peer {word}: '{name}' is not a valid name; a name begins with a lower-case letter and consists of at "
            "most 32 lower-case letters, digits and . _ -, such as openmpi5"
        )
    if name in RESERVED:
        raise UserError(f"--peer {word}: the name {name} stands for {title(name)} in every report; choose another")
    if not prefix:
        raise UserError(f"--peer {word}: name the folder in which it is installed, as in --peer {name}=/opt/{name}")
    return Named(name, Path(os.path.abspath(os.path.expanduser(prefix))))
