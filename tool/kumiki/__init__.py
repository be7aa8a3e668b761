"""Kumiki's tool: it drives the native measuring programs, does the statistics, and writes what they found."""

from __future__ import annotations

__all__ = ["version"]


def version() -> str:
    """The installed version; "uninstalled" where the tool runs straight from its sources."""
    # Loaded here, since no command that only starts a program should wait for it.
    from importlib import metadata

    try:
        return metadata.version("kumiki")
    except metadata.PackageNotFoundError:
        return "uninstalled"
