"""Asking hosts what they are, before anything is measured over them: one that cannot be reached is told here."""

from __future__ import annotations

import os
from dataclasses import replace

from kumiki import process
from kumiki.hosts.model import Hosts
from kumiki.native import Native
from kumiki.problem import ExitCode, Problem

LIMIT_SECONDS = 120.0
BOOT_ID = "/proc/sys/kernel/random/boot_id"
QUESTION = f'read -r boot <{BOOT_ID}; echo "$KUMIKI_THREADS $boot"'
"""Of a rank that is alone on its host: how many cores it has, and which machine it is."""


def asked(hosts: Hosts, native: Native) -> Hosts:
    """The hosts with what they say of their cores; raises Problem where kumiki-run cannot start a job over them."""
    launcher = native.require(native.command("kumiki-run"))
    words = (str(launcher), *hosts.launcher_options, "-n", str(len(hosts)), "sh", "-c", QUESTION)
    environment = {name: value for name, value in os.environ.items() if name != "KUMIKI_THREADS"}
    answers: list[str] = []
    ended = process.run(words, environment, LIMIT_SECONDS, answers.append, lambda line: None)
    if ended.code != 0:
        raise Problem(
            f"nothing can be started over {hosts.name}: {' | '.join(ended.last_errors) or 'no answer'}",
            ExitCode.ENVIRONMENT,
        )
    cores, boots = zip(*(answer.split(maxsplit=1) for answer in answers), strict=True)
    shared = len(set(boots)) < len(hosts)
    return replace(hosts, cores=None if shared else min(map(int, cores)))
