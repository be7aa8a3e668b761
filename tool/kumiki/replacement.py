"""Files are replaced as a whole: a reader, a crash or a full disk leaves the old one or the new one."""

from __future__ import annotations

import os
from pathlib import Path


def replace(file: Path, text: str, errors: str = "strict") -> None:
    """Writes the text (UTF-8; `errors` as in str.encode) beside the file, and then puts it in its place."""
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8", errors=errors)
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)
