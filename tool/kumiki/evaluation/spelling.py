"""The command line of an evaluation, from what results.json records of it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kumiki import suites
from kumiki.own import program as own


def folder(path: Path) -> str:
    """The option that names the folder of an evaluation."""
    return f"--output {shlex.quote(str(path))}"


def spelled(arguments: Mapping[str, Any], environment: Mapping[str, Any], more: str) -> str:
    """The command with these recorded arguments, and with more options before the user's own command."""
    command = arguments.get("command")
    options = ["kumiki evaluate", *_places(arguments, environment)]
    options += ["--quick"] if arguments.get("quick") else []
    every = [suite.name for suite in suites.chosen(None, _has_hosts(arguments))]
    if not command and arguments.get("suites", every) != every:
        options.append(f"--suite {','.join(arguments['suites'])}")
    for name in ("ranks", "threads"):
        if arguments.get(name):
            options.append(f"--{name} {','.join(str(count) for count in arguments[name])}")
    options += [f"--peer {name}={shlex.quote(prefix)}" for name, prefix in (arguments.get("peers") or {}).items()]
    options += own.spelled(command) if command else []
    return " ".join([*options, more, *(("--", shlex.join(command["words"])) if command else ())])


def _has_hosts(arguments: Mapping[str, Any]) -> bool:
    return bool(arguments.get("cluster") or arguments.get("hosts"))


def _places(arguments: Mapping[str, Any], environment: Mapping[str, Any]) -> list[str]:
    """The options that name the hosts."""
    if cluster := arguments.get("cluster"):
        return [f"--cluster {cluster}"]
    if hosts := arguments.get("hosts"):
        # That of `kumiki run` also has the remote shell. An allocation of Slurm is named by its hosts.
        option = str((environment.get("cluster") or {}).get("option") or "")
        return [option if option.startswith("--hosts ") else f"--hosts {','.join(hosts)}"]
    return []
