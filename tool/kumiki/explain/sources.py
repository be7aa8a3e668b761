"""Source lines and variables at addresses of the program, by kumiki-lines (libdw)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kumiki.machine.native import Native

SECONDS = 120
PROGRAM = "kumiki-lines"
NOT_THE_USERS = ("/usr/include/", "/usr/lib/", "include/kumiki/")
"""Parts of the paths of headers whose functions are put into the user's."""


@dataclass(frozen=True)
class Place:
    """Where an instruction comes from."""

    function: str = ""
    file: str = ""
    line: int = 0

    @property
    def text(self) -> str:
        """`laplace.c:42`, or the function, or nothing."""
        if self.file:
            return f"{Path(self.file).name}:{self.line}"
        return f"in {self.function}" if self.function else ""


def with_preposition(preposition: str, text: str) -> str:
    """A place's text in a sentence: "at laplace.c:42", but "in relax" where only the function is known."""
    return text if text.startswith("in ") else f"{preposition} {text}"


@dataclass(frozen=True)
class Variable:
    name: str
    begin: int
    bytes: int


@dataclass
class Sources:
    """The sources of one process."""

    native: Native
    maps: Path

    @cached_property
    def available(self) -> bool:
        return self.native.has(self.native.program(PROGRAM))

    def places(self, addresses: Iterable[int]) -> dict[int, Place]:
        """The place of each instruction in the user's code; addresses of which nothing is known have an empty one."""
        wanted = sorted({address for address in addresses if address})
        said = self._ask([f"code {address:x}" for address in wanted])
        return {address: _place(said[i] if i < len(said) else {}, address) for i, address in enumerate(wanted)}

    def variables(self, address: int) -> list[Variable]:
        """All variables of the file in which this address lies, by address."""
        said = self._ask([f"data {address:x}"])
        found = [Variable(each["name"], each["begin"], each["bytes"]) for each in (said[0] if said else [])]
        return sorted(found, key=lambda each: each.begin)

    def _ask(self, questions: list[str]) -> list[Any]:
        if not questions or not self.available:
            return []
        try:
            ended = subprocess.run(
                [self.native.program(PROGRAM), self.maps],
                input="\n".join(questions) + "\n",
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
            return [json.loads(line) for line in ended.stdout.splitlines()]
        except (OSError, subprocess.TimeoutExpired, ValueError):
            return []


def _place(said: dict[str, Any], address: int) -> Place:
    frames = [frame for frame in said.get("frames", []) if frame.get("file")]
    chosen = next((f for f in frames if not any(part in f["file"] for part in NOT_THE_USERS)), None)
    if chosen is None and frames:
        chosen = frames[0]
    function = said.get("function", "")
    if chosen is None:
        return Place(function or f"{address:#x}")
    return Place(chosen.get("function") or function, chosen["file"], chosen["line"])


def is_users(place: Place) -> bool:
    return bool(place.file) and not any(part in place.file for part in NOT_THE_USERS)
