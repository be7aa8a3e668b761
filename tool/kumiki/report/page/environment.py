"""The recorded environment in words: a table of all of it, and the machine in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kumiki.report.analysis.model import Results
from kumiki.report.quantity import plural, size_text

_TITLES = {
    "cpu": "processor",
    "caches": "caches (of the cores in use)",
    "variables": "Kumiki variables that were set",
}


@dataclass(frozen=True)
class Group:
    """One block of the environment table: a heading and its entries in the order recorded."""

    title: str
    entries: list[tuple[str, str]]


def groups(results: Results) -> list[Group]:
    """Everything that was recorded; entries outside any group come first, under 'run'."""
    run = dict(results.arguments)
    if results.seed is not None:
        run["seed of the order"] = results.seed
    environment = results.environment
    loose = {key: value for key, value in environment.items() if not _nested(value)}
    found = [Group("run", _entries({**loose, **run}))]
    found += [
        Group(_TITLES.get(key, words(key)), _entries(value)) for key, value in environment.items() if _nested(value)
    ]
    return [group for group in found if group.entries]


def machine(environment: Mapping[str, Any]) -> str:
    """The machine in one line, from the recorded facts."""
    cpu, memory = environment.get("cpu") or {}, environment.get("memory") or {}
    cores, size = cpu.get("usable_cores"), memory.get("bytes")
    facts = [
        str(cpu.get("model") or ""),
        plural(cores, "core") if isinstance(cores, int) else "",
        f"{size_text(size, 3)} of memory" if isinstance(size, int) else "",
        str((environment.get("system") or {}).get("kernel") or ""),
    ]
    return ", ".join(fact for fact in facts if fact) or "a machine that was not recorded"


def date(environment: Mapping[str, Any]) -> str:
    """The start of the evaluation to the minute."""
    stamp = str(environment.get("date") or "")
    match = re.match(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)", stamp)
    return f"{match[1]} {match[2]} UTC" if match else stamp


def text(value: Any, key: str = "") -> str:
    """A recorded value for people: yes or no, bytes in binary units, lists with commas."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and key.endswith("bytes"):
        return size_text(value, 3)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(text(entry, key) for entry in value) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{words(str(name))} {text(entry, str(name))}" for name, entry in value.items()) or "none"
    return str(value)


def words(key: str) -> str:
    return (re.sub(r"_?bytes$", "", key) or "size").replace(".", ", ").replace("_", " ")


def _nested(value: Any) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list) and any(isinstance(entry, Mapping) for entry in value)
    )


def _entries(value: Any) -> list[tuple[str, str]]:
    if isinstance(value, list):
        return [_cache(entry) if "level" in entry else (str(number), text(entry)) for number, entry in enumerate(value)]
    return [(words(path), text(leaf, path)) for path, leaf in _leaves(value)]


def _cache(entry: Mapping[str, Any]) -> tuple[str, str]:
    kind = "" if entry.get("type") == "unified" else f" {entry.get('type', '')}"
    size = f"{entry.get('count', 1)} × {text(entry.get('bytes'), 'bytes')}"
    line = entry.get("line_bytes")
    return f"L{entry['level']}{kind}", size + (f", lines of {line} B" if line else "")


def _leaves(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, entry in value.items():
        path = f"{prefix}.{key}" if prefix else str(key)
        if isinstance(entry, Mapping) and entry:
            yield from _leaves(entry, path)
        else:
            yield path, entry
