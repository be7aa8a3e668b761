"""What results measure, apart from machine and build: which program with which arguments, and under which load."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from kumiki.doctor.disturbances import BUSY_LOAD_PER_CORE

_OWN = {"metric": "figure", "scaling": "scaling", "size": "size", "power": "power", "sequential": "sequential form"}
"""The other options that define a figure of the user's program, in words."""


def subject_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Sentences that say why two results do not measure the same thing, to be read before any verdict."""
    yield from _programs(*(content["arguments"].get("command") or {} for content in (before, after)))
    quick = [bool(content["arguments"].get("quick")) for content in (before, after)]
    if quick[0] != quick[1]:
        which = "first" if quick[0] else "second"
        yield f"the {which} was measured with --quick and the other was not: it had shorter budgets and fewer samples"
    yield from _loads(before["environment"], after["environment"])


def _programs(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[str]:
    if not first or not second:
        return
    words = [shlex.join(command["words"]) for command in (first, second)]
    if words[0] != words[1]:
        yield (
            f"these are two programs, or one with different arguments: the first result is of `{words[0]}`, the "
            "second of "
            f"`{words[1]}`. The figures below compare the two programs and show no change in either"
        )
    for name, meaning in _OWN.items():
        if first.get(name) != second.get(name):
            yield f"the {meaning} is not the same ({_shown(first.get(name))}, {_shown(second.get(name))})"


def _loads(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[str]:
    for which, environment in (("first", first), ("second", second)):
        if sentence := other_load(environment):
            yield f"the {which} {sentence}, so its figures are slower"


def other_load(environment: Mapping[str, Any]) -> str:
    """The load beside which a result was measured, as the end of a sentence; empty if there was none."""
    load, cores = environment["load"], environment["cpu"]["usable_cores"]
    if "end" in load:  # an older result: load averages, which hold its own build
        return ""
    busy = load.get("during", load["start"])
    if busy <= BUSY_LOAD_PER_CORE * cores:
        return ""
    return f"ran beside other load (other processes kept {busy:g} of {cores} cores busy)"


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(value.get("regex") or value.get("name"))
    return shlex.join(value) if isinstance(value, list) else str(value or "none")
