"""The file in which the library finds the lengths (src/settings/tuned.hpp reads it)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kumiki.problem import Problem

HEADER = "# Lengths of message fragments by `kumiki tune`, a line for each: machine, link, bytes."


@dataclass(frozen=True)
class Entry:
    """The length for a link of a kind of machine."""

    machine: str
    link: str
    length: int

    def __str__(self) -> str:
        return f"{self.machine} {self.link} {self.length}"

    @staticmethod
    def parse(line: str) -> Entry | None:
        """None when the line is none."""
        words = line.split()
        if line.startswith("#") or len(words) != 3 or not words[2].isdecimal():
            return None
        return Entry(words[0], words[1], int(words[2]))


def usual_file() -> Path:
    """Where the library looks: in the user's configuration, by the XDG specification."""
    folder = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return (folder if folder.is_absolute() else Path.home() / ".config") / "kumiki" / "tuned"


def check(file: Path) -> None:
    """Raises Problem where no file can be written there, before a minute is spent on measuring."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryDirectory(dir=file.parent).cleanup()
    except OSError as error:
        raise _unwritable(file, error) from None
    if file.is_dir():
        raise Problem(f"{file} is a folder; name a file with --output")


def store(file: Path, entries: Iterable[Entry]) -> None:
    """Puts the entries into the file, in the place of older ones; all others stay.

    The file is replaced as a whole, so that whoever starts or interrupts meanwhile finds the old one or the new one.
    """
    new = {(entry.machine, entry.link): entry for entry in entries}
    kept = {(entry.machine, entry.link): entry for entry in _entries(file)}
    text = "\n".join([HEADER, *map(str, {**kept, **new}.values())]) + "\n"
    try:
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=f".{file.name}-") as folder:
            made = Path(folder) / file.name
            made.write_text(text)
            os.replace(made, file)
    except OSError as error:
        raise _unwritable(file, error) from None


def _entries(file: Path) -> list[Entry]:
    try:
        lines = file.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _unwritable(file, error) from None
    return [entry for entry in map(Entry.parse, lines) if entry]


def _unwritable(file: Path, error: OSError) -> Problem:
    return Problem(f"{file} cannot be written ({error.strerror}); name another file with --output")
