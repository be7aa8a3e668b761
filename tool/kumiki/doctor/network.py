"""Which way long puts and gets between hosts would take on this machine, and why."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.doctor.answer import NoAnswer, ask
from kumiki.doctor.finding import Finding, State
from kumiki.machine.native import Native

SUBJECT = "network between hosts"
PROGRAM = "kumiki-network-route"


def network(native: Native) -> Iterator[Finding]:
    """One finding; none when Kumiki was built without UCX, which the finding on UCX states."""
    if not native.has(native.program(PROGRAM)):
        return
    try:
        told = ask(native, PROGRAM)
    except NoAnswer as problem:
        yield Finding(SUBJECT, State.OPTIONAL, f"Jobs of several hosts cannot run: {problem}.")
        return
    yield Finding(SUBJECT, State.GOOD, " ".join(_sentence(kind, told[kind]) for kind in ("put", "get")))


def _sentence(kind: str, route: dict[str, object]) -> str:
    if route["direct"]:
        return f"Long {kind}s go directly to the memory of the other host, without its processor ({route['why']})."
    return f"Long {kind}s go by messages, which the other host's processor places ({route['why']})."
