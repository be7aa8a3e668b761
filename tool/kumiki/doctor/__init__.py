"""The doctor: what is missing, what would disturb a measurement, and the commands that mend it."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import Any

from kumiki import environment
from kumiki.doctor.disturbances import disturbances
from kumiki.doctor.finding import Finding, State
from kumiki.doctor.parts import parts
from kumiki.machine import Machine
from kumiki.native import Native

__all__ = ["Diagnosis", "Finding", "State", "disturbances", "examine"]

ASKING_SECONDS = 20


@dataclass(frozen=True)
class Diagnosis:
    """All that the doctor found."""

    environment: dict[str, Any]
    topology: dict[str, Any] | None
    """What kumiki-topology --json says; None without it."""
    findings: tuple[Finding, ...]

    @property
    def usable(self) -> bool:
        """Whether nothing that is needed is missing."""
        return all(finding.state is not State.MISSING for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        return {
            "usable": self.usable,
            "environment": self.environment,
            "topology": self.topology,
            "findings": [finding.as_dict() for finding in self.findings],
        }


def examine(machine: Machine, native: Native) -> Diagnosis:
    """Looks at everything; takes no measurement."""
    return Diagnosis(environment.describe(machine, native), _topology(native), (*parts(native), *disturbances(machine)))


def _topology(native: Native) -> dict[str, Any] | None:
    path = native.command("kumiki-topology")
    if not native.has(path):
        return None
    try:
        asked = subprocess.run([path, "--json"], capture_output=True, text=True, timeout=ASKING_SECONDS, check=True)
        said = json.loads(asked.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return said if isinstance(said, dict) else None
