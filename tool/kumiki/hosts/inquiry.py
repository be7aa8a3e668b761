"""Queries hosts before anything is measured over them, and reports any that cannot be reached."""

from __future__ import annotations

import os
import re
from dataclasses import replace

from kumiki.errors import ExitCode, UserError
from kumiki.evaluation import process
from kumiki.hosts.model import Hosts
from kumiki.machine.native import Native

LIMIT_SECONDS = 120.0
BOOT_ID = "/proc/sys/kernel/random/boot_id"
QUESTION = f'read -r boot <{BOOT_ID}; echo "$KUMIKI_THREADS $boot"'
"""A command for a rank that is alone on its host; it prints the number of cores and identifies the machine."""
ANSWER = re.compile(r"(?P<cores>\d+) (?P<boot>\S+)")


def asked(hosts: Hosts, native: Native) -> Hosts:
    """The hosts with their numbers of cores; raises UserError if kumiki-run cannot start a job over them."""
    launcher = native.require(native.command("kumiki-run"))
    words = (str(launcher), *hosts.launcher_options, "-n", str(len(hosts)), "sh", "-c", QUESTION)
    environment = {name: value for name, value in os.environ.items() if name != "KUMIKI_THREADS"}
    lines: list[str] = []
    try:
        with process.termination_interrupts():
            ended = process.run(words, environment, LIMIT_SECONDS, lines.append, lambda line: None)
    except KeyboardInterrupt:
        raise UserError("interrupted before anything was measured", ExitCode.INTERRUPTED) from None
    answers = [answer for answer in map(ANSWER.fullmatch, lines) if answer]
    if ended.code != 0 or len(answers) != len(hosts):
        said = " | ".join(ended.last_errors) or f"{len(answers)} of {len(hosts)} hosts have responded"
        raise UserError(f"nothing can be started over {hosts.name}: {said}", ExitCode.ENVIRONMENT)
    shared = len({answer["boot"] for answer in answers}) < len(hosts)
    return replace(hosts, cores=None if shared else min(int(answer["cores"]) for answer in answers))
