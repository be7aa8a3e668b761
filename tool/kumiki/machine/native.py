"""The native part: the location of its programs, and the record of its build."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kumiki.errors import ExitCode, UserError

PREFIX_VARIABLE = "KUMIKI_PREFIX"


def named_prefix() -> str:
    """Where the user has said that the native part is; empty if it is sought beside the tool."""
    return os.environ.get(PREFIX_VARIABLE, "")


def mend() -> str:
    """What brings the native part."""
    if named_prefix():
        return f"{PREFIX_VARIABLE} names the prefix {named_prefix()}: correct the variable, or unset it"
    return "run ./kumiki once in the source folder, or pip install ."


@dataclass(frozen=True)
class Native:
    """The native part below one installation prefix."""

    prefix: Path

    @staticmethod
    def installed() -> Native:
        """The native part that came with this tool, or the one that KUMIKI_PREFIX names."""
        return Native(Path(named_prefix() or sys.prefix))

    @property
    def programs_folder(self) -> Path:
        return self.prefix / "libexec" / "kumiki"

    def program(self, name: str) -> Path:
        """The path of the measuring program `name` (docs/rows.md), whether it exists or not."""
        return self.programs_folder / name

    def command(self, name: str) -> Path:
        """The path of the command `name` (kumiki-run, kumiki-topology), whether it exists or not."""
        return self.prefix / "bin" / name

    def has(self, path: Path) -> bool:
        return path.is_file() and os.access(path, os.X_OK)

    def require(self, path: Path) -> Path:
        """The path itself if it can be run; otherwise raises a UserError that says how to get it."""
        if not self.has(path):
            raise UserError(f"the native part is not installed: {path} is missing; {mend()}", ExitCode.ENVIRONMENT)
        return path

    def build(self) -> dict[str, Any] | None:
        """The contents of share/kumiki/build.json (compiler, flags, version, git revision); None without it."""
        try:
            said = json.loads((self.prefix / "share" / "kumiki" / "build.json").read_text())
        except (OSError, ValueError, RecursionError):
            return None
        return said if isinstance(said, dict) else None


def replace_process(path: Path, arguments: list[str]) -> None:
    """Replaces this process by the native command `path`, which then owns signals, terminal and exit code."""
    sys.stdout.flush()
    os.execv(path, [str(path), *arguments])
