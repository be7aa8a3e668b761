"""The doctor: what is missing, what would disturb a measurement, and the commands that fix it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kumiki.doctor.disturbances import disturbances
from kumiki.doctor.finding import Finding, State
from kumiki.doctor.parts import parts
from kumiki.doctor.shared_faults import faults
from kumiki.machine import environment
from kumiki.machine.native import Native
from kumiki.machine.topology import Machine

__all__ = ["Diagnosis", "Finding", "State", "disturbances", "examine"]


@dataclass(frozen=True)
class Diagnosis:
    """All that the doctor found."""

    environment: dict[str, Any]
    topology: dict[str, Any] | None
    """The output of kumiki-topology --json; None without it."""
    findings: tuple[Finding, ...]

    @property
    def usable(self) -> bool:
        """Whether nothing required is missing."""
        return all(finding.state is not State.MISSING for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        return {
            "usable": self.usable,
            "environment": self.environment,
            "topology": self.topology,
            "findings": [finding.as_dict() for finding in self.findings],
        }


def examine(machine: Machine, native: Native) -> Diagnosis:
    """Examines everything; measures nothing."""
    topology = None if machine.topology is None else dict(machine.topology)
    findings = (*parts(native), *faults(machine, native), *disturbances(machine))
    return Diagnosis(environment.describe(machine, native), topology, findings)
