"""Asks a native program about this machine."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from kumiki.machine.native import Native

PATIENCE_SECONDS = 20


class NoAnswer(Exception):
    """The program gave none; the text says why."""


def ask(native: Native, name: str) -> dict[str, Any]:
    """The JSON object that a program of the native part prints. Raises NoAnswer."""
    try:
        asked = subprocess.run(
            [native.program(name)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        if asked.returncode == 0:
            told: dict[str, Any] = json.loads(asked.stdout)
            return told
    except (OSError, subprocess.TimeoutExpired, ValueError) as problem:
        raise NoAnswer(f"{name}: {problem}") from problem
    raise NoAnswer(asked.stderr.strip().removeprefix(f"{name}: ") or f"{name} has exit code {asked.returncode}")
