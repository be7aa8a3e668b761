"""Which way long puts and gets between hosts would take on this machine, and why."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

from kumiki.doctor.finding import Finding, State
from kumiki.machine.native import Native

SUBJECT = "network between hosts"
PROGRAM = "kumiki-network-route"
PATIENCE_SECONDS = 20


def network(native: Native) -> Iterator[Finding]:
    """One finding; none when Kumiki was built without UCX, which the finding on UCX states."""
    program = native.program(PROGRAM)
    if not native.has(program):
        return
    try:
        asked = subprocess.run(
            [program], capture_output=True, text=True, errors="replace", timeout=PATIENCE_SECONDS, check=False
        )
        told = json.loads(asked.stdout) if asked.returncode == 0 else None
    except (OSError, subprocess.TimeoutExpired, ValueError) as problem:
        yield Finding(SUBJECT, State.OPTIONAL, f"Jobs of several hosts cannot run: {PROGRAM}: {problem}.")
        return
    if told is None:
        words = asked.stderr.strip().removeprefix(f"{PROGRAM}: ") or f"{PROGRAM} has exit code {asked.returncode}"
        yield Finding(SUBJECT, State.OPTIONAL, f"Jobs of several hosts cannot run: {words}.")
        return
    yield Finding(SUBJECT, State.GOOD, " ".join(_sentence(kind, told[kind]) for kind in ("put", "get")))


def _sentence(kind: str, route: dict[str, object]) -> str:
    if route["direct"]:
        return f"Long {kind}s go directly to the memory of the other host, without its processor ({route['why']})."
    return f"Long {kind}s go by messages, which the other host's processor places ({route['why']})."
