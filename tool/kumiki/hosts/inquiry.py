"""Queries hosts before anything is measured over them, and reports any that cannot be reached."""

from __future__ import annotations

import os
import re
from dataclasses import replace

from kumiki.errors import ExitCode, UserError
from kumiki.evaluation import process
from kumiki.hosts.model import Equipment, Hosts
from kumiki.machine.native import Native

LIMIT_SECONDS = 120.0
BOOT_ID = "/proc/sys/kernel/random/boot_id"
QUESTION = (
    f"read -r boot <{BOOT_ID}; "
    'free=$("$1" --free) || exit; '
    "set -- /sys/devices/system/node/node[0-9]*; "
    'echo "$KUMIKI_THREADS $boot $((free / 1024)) $#"'
)
"""A script for a rank that is alone on its host; it prints the number of cores, identifies the machine, and prints the
free memory in KiB, as kumiki-topology, its argument, tells it, and the number of memory nodes (1 if the system does not
list any)."""
ANSWER = re.compile(r"(?P<cores>\d+) (?P<boot>\S+) (?P<free_kib>\d+) (?P<memories>\d+)")
WHAT_COUNTS = ("cores", "free_kib", "memories")


def asked(hosts: Hosts, native: Native) -> Hosts:
    """The hosts with what they have; raises UserError if kumiki-run cannot start a job over them."""
    launcher = native.require(native.command("kumiki-run"))
    topology = str(native.require(native.command("kumiki-topology")))
    question = ("sh", "-c", QUESTION, "sh", topology)
    words = (str(launcher), *hosts.launcher_options, "-n", str(len(hosts)), *question)
    environment = {name: value for name, value in os.environ.items() if name != "KUMIKI_THREADS"}
    lines: list[str] = []
    try:
        ended = process.run(words, environment, LIMIT_SECONDS, lines.append, lambda line: None)
    except KeyboardInterrupt:
        raise UserError("interrupted before anything was measured", ExitCode.INTERRUPTED) from None
    answers = [answer for answer in map(ANSWER.fullmatch, lines) if answer]
    if ended.code != 0 or len(answers) != len(hosts):
        said = " | ".join(ended.last_errors) or f"{len(answers)} of {len(hosts)} hosts have responded"
        raise UserError(f"nothing can be started over {hosts.name}: {said}", ExitCode.ENVIRONMENT)
    if len({answer["boot"] for answer in answers}) < len(hosts):
        return hosts
    cores, free_kib, memories = (min(int(answer[name]) for answer in answers) for name in WHAT_COUNTS)
    return replace(hosts, each=Equipment(cores, free_kib << 10, memories))
