"""What results are figures of, beside machine and build: which program with which arguments, and beside which load."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from kumiki.doctor.disturbances import BUSY_LOAD_PER_CORE

_OWN = {"metric": "figure", "scaling": "scaling", "size": "size", "power": "power", "sequential": "sequential form"}
"""What else decides what a figure of the user's program is, in words."""


def subject_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Sentences that say in what two results are not figures of the same thing, to be read before any verdict."""
    yield from _programs(*(content["arguments"].get("command") or {} for content in (before, after)))
    quick = [bool(content["arguments"].get("quick")) for content in (before, after)]
    if quick[0] != quick[1]:
        which = "first" if quick[0] else "second"
        yield f"the {which} was measured with --quick, the other was not: shorter budgets, fewer samples"
    yield from _loads(before["environment"], after["environment"])


def _programs(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[str]:
    if not first or not second:
        return
    words = [shlex.join(command["words"]) for command in (first, second)]
    if words[0] != words[1]:
        yield (
            f"these are two programs, or one with different arguments: the first is of `{words[0]}`, the second of "
            f"`{words[1]}`. What follows sets the one beside the other, and is no change of either"
        )
    for name, meaning in _OWN.items():
        if first.get(name) != second.get(name):
            yield f"the {meaning} is not the same ({_shown(first.get(name))}, {_shown(second.get(name))})"


def _loads(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[str]:
    for which, environment in (("first", first), ("second", second)):
        if sentence := other_load(environment):
            yield f"the {which} {sentence}, and its figures are slower for that"


def other_load(environment: Mapping[str, Any]) -> str:
    """What a result was taken beside, as the end of a sentence about it; empty where the machine was its own."""
    load, cores = environment["load"], environment["cpu"]["usable_cores"]
    if "end" in load:  # an older result: load averages, which hold its own build
        return ""
    busy = load.get("during", load["start"])
    if busy <= BUSY_LOAD_PER_CORE * cores:
        return ""
    return f"was taken beside other load (others kept {busy:g} of {cores} cores busy)"


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(value.get("regex") or value.get("name"))
    return shlex.join(value) if isinstance(value, list) else str(value or "none")
