"""Names of hosts as the user lists them (docs/run.md). Numbers of slots are ignored, because an evaluation distributes
its ranks evenly.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kumiki.errors import UserError


def of_list(text: str) -> tuple[str, ...]:
    """The names in a list such as a,b:2,c."""
    return _checked([_name(word.strip()) for word in text.split(",")], f"--hosts {text}")


def of_file(path: Path) -> tuple[str, ...]:
    """The names in a file with one line per host, as kumiki-run, Open MPI and MPICH read it."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError as error:
        raise UserError(f"--hostfile: {path} cannot be read: {error.strerror}") from None
    words = [line.partition("#")[0].split() for line in lines]
    return _checked([_name(first) for first, *_ in filter(None, words)], f"--hostfile {path}")


def _name(word: str) -> str:
    """The name without its slots (`name:4`). A word with more than one colon is an IPv6 address."""
    return word.partition(":")[0] if word.count(":") == 1 else word


def _checked(names: Sequence[str], where: str) -> tuple[str, ...]:
    if not names or not all(names) or any(name.startswith("-") for name in names):
        raise UserError(f"{where}: it must name hosts, such as node1,node2 (in a file one per line)")
    if twice := [name for name in names if names.count(name) > 1]:
        raise UserError(f"{where}: host {twice[0]} is named twice")
    return tuple(names)
