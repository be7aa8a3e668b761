"""The file of a page that a command leaves in a folder of the user's: it never takes the place of a foreign file."""

from __future__ import annotations

from pathlib import Path

from kumiki.errors import UserError
from kumiki.replacement import replace

PAGE = "index.html"
HEAD_BYTES = 1024
"""The mark is among the first bytes of a page."""
OUTPUT = "--output"


def check(directory: Path, command: str, option: str = OUTPUT) -> None:
    """Raises UserError if the page of this command would replace a foreign file; `option` names the folder."""
    from kumiki.results.files import RESULTS  # the library of schemas, which `kumiki run` must not wait for

    page = directory / PAGE
    another = f"name another folder with {option}"
    if directory.exists() and not directory.is_dir():
        raise UserError(f"{directory} is not a folder; {another}")
    if (directory / RESULTS).exists():
        raise UserError(f"{directory} contains results itself; {another}")
    try:
        ours = not page.exists() or _mark(command) in page.read_bytes()[:HEAD_BYTES]
    except OSError as error:
        raise UserError(f"{page} cannot be read ({error.strerror}); {another}") from None
    if not ours:
        raise UserError(f"{page} is not a page of {command}; {another}")


def write(directory: Path, content: str, option: str = OUTPUT, name: str = PAGE) -> Path:
    """Writes the page, or a file beside it, into the folder, which is created if necessary; raises UserError if this is
    impossible.
    """
    file = directory / name
    try:
        directory.mkdir(parents=True, exist_ok=True)
        replace(file, content, errors="backslashreplace")
    except OSError as error:
        raise UserError(f"{file} cannot be written ({error.strerror}); name another folder with {option}") from None
    return file


def _mark(command: str) -> bytes:
    """What the templates write to distinguish the pages of a command from foreign files."""
    return f'<meta name="generator" content="{command}">'.encode()
