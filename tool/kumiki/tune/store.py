"""The file in which the library finds the lengths (src/settings/tuned.hpp reads it)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kumiki.errors import UserError

HEADER = "# Lengths of message fragments by `kumiki tune`, a line for each: machine, link, bytes."


@dataclass(frozen=True)
class Entry:
    """The length for a link and a kind of machine."""

    machine: str
    link: str
    length: int

    def __str__(self) -> str:
        return f"{self.machine} {self.link} {self.length}"

    @staticmethod
    def parse(line: str) -> Entry | None:
        """The entry in a line; None if the line is malformed."""
        words = line.split()
        if line.startswith("#") or len(words) != 3 or not words[2].isdecimal():
            return None
        return Entry(words[0], words[1], int(words[2]))


def usual_file() -> Path:
    """Where the library looks: in the user's configuration, by the XDG specification."""
    folder = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return (folder if folder.is_absolute() else Path.home() / ".config") / "kumiki" / "tuned"


def check(file: Path) -> None:
    """Raises UserError if the file cannot be written, before a minute is spent on measuring.

    All but the last step of writing is done: an older file is read, and a new one made beside it.
    """
    if file.is_dir():
        raise UserError(f"{file} is a folder; name a file with --output")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with _made_beside(file, _entries(file)):
            pass
    except OSError as error:
        raise _unwritable(file, error) from None


def store(file: Path, entries: Iterable[Entry]) -> None:
    """Writes the entries to the file, replacing older ones; all others are kept.

    The file is replaced as a whole, so that a job that starts meanwhile, or an interrupt, finds the old one or the new.
    """
    new = {(entry.machine, entry.link): entry for entry in entries}
    kept = {(entry.machine, entry.link): entry for entry in _entries(file)}
    _replace(file, {**kept, **new}.values())


def forget(file: Path, links: Collection[tuple[str, str]]) -> bool:
    """Removes the entries for these (machine, link) from the file; returns whether there were any."""
    entries = _entries(file)
    kept = [entry for entry in entries if (entry.machine, entry.link) not in links]
    if len(kept) < len(entries):
        _replace(file, kept)
    return len(kept) < len(entries)


def _replace(file: Path, entries: Iterable[Entry]) -> None:
    try:
        with _made_beside(file, entries) as made:
            os.replace(made, file)
    except OSError as error:
        raise _unwritable(file, error) from None


@contextmanager
def _made_beside(file: Path, entries: Iterable[Entry]) -> Iterator[Path]:
    """A file with these entries in a folder beside `file`; the folder is removed at the end with its contents."""
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=f".{file.name}-") as folder:
        made = Path(folder) / file.name
        made.write_text("\n".join([HEADER, *map(str, entries)]) + "\n")
        yield made


def _entries(file: Path) -> list[Entry]:
    try:
        lines = file.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _unwritable(file, error) from None
    return [entry for entry in map(Entry.parse, lines) if entry]


def _unwritable(file: Path, error: OSError) -> UserError:
    return UserError(f"{file} cannot be written ({error.strerror}); name another file with --output")
