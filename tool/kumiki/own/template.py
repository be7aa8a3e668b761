"""A command with placeholders for the numbers of a point: `mpirun -n {ranks} ./heat {size}`."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kumiki import suites
from kumiki.errors import UserError, nearest

PLACEHOLDERS = ("ranks", "threads", "processors", "size")
"""`processors` is ranks times threads."""
OMP_NUM_THREADS = "OMP_NUM_THREADS"
_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Template:
    """The words of a command; braces around anything but a placeholder belong to the command."""

    words: tuple[str, ...]

    def __str__(self) -> str:
        return shlex.join(self.words)

    @property
    def placeholders(self) -> set[str]:
        return {name for word in self.words for name in _PLACE.findall(word)} & set(PLACEHOLDERS)

    @property
    def sets_threads(self) -> bool:
        """Whether the command itself sets the number of OpenMP threads."""
        return any(OMP_NUM_THREADS in word for word in self.words)

    def filled(self, values: Mapping[str, int]) -> tuple[str, ...]:
        """The command of a point; `values` has a number for each placeholder."""

        def number(place: re.Match[str]) -> str:
            return str(values[place[1]]) if place[1] in values else place[0]

        return tuple(_PLACE.sub(number, word) for word in self.words)


def template(words: Sequence[str]) -> Template:
    """Reads a command; raises UserError if it cannot be started or contains a misspelt placeholder."""
    for word in words:
        for name in _PLACE.findall(word):
            if name not in PLACEHOLDERS and (hint := nearest(name, PLACEHOLDERS)):
                raise UserError(f"there is no placeholder {{{name}}}{hint}; the placeholders are {_listed()}")
    found = Template(tuple(words))
    program = words[0]
    if shutil.which(program) is None and (" " in program or not _PLACE.search(program)):
        raise UserError(f"there is no program '{program}' to run{_hint(words)}")
    return found


def _hint(words: Sequence[str]) -> str:
    """A hint for a command whose program does not exist."""
    if words[0] in (suite.name for suite in suites.ALL):
        return f"; to measure the suite of this name use --suite {words[0]}"
    if len(words) == 1 and " " in words[0]:
        return f"; do not quote the command as a whole: -- {words[0]}"
    return "; give its folder (./program), or name a program in PATH"


def _listed() -> str:
    return ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
