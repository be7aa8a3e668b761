"""The doctor's line on faults of shared arrays."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

import pytest
from fake_native import Native
from kumiki.doctor import shared_faults
from kumiki.machine import native as native_part
from kumiki.machine import topology

PROGRAM = "kumiki-shared-faults"
PROFILE_FORBIDS = "this process may not use userfaultfd (Operation not permitted)"


def found(fake: Native, subject: str = "faults of shared arrays") -> list[dict[str, Any]]:
    told = json.loads(fake.kumiki("doctor", "--format", "json").stdout)
    return [finding for finding in told["findings"] if finding["subject"] == subject]


def answers(fake: Native, mechanism: str, why: str, system_calls: str = "") -> None:
    told = {"mechanism": mechanism, "why": why, "system_calls": system_calls}
    fake.program(PROGRAM, f"echo '{json.dumps(told)}'")


def test_userfaultfd_is_good(native: Native) -> None:
    answers(native, "userfaultfd", "")
    (finding,) = found(native)
    assert finding["state"] == "good"
    assert "userfaultfd, without privileges" in finding["sentence"] and platform.release() in finding["sentence"]


def test_the_fallback_is_told_with_its_reason(native: Native) -> None:
    answers(native, "protection", PROFILE_FORBIDS)
    (finding,) = found(native)
    assert finding["state"] == "optional"
    assert "mprotect" in finding["sentence"] and PROFILE_FORBIDS in finding["sentence"]


@pytest.mark.parametrize(
    ("container", "release", "mend"),
    [(True, "6.18.44", shared_faults.PROFILE), (True, "6.1.0-18-amd64", None), (False, "6.18.44", None)],
)
def test_only_a_container_on_a_new_kernel_is_mended_by_a_profile(
    monkeypatch: pytest.MonkeyPatch, container: bool, release: str, mend: str | None
) -> None:
    monkeypatch.setattr(platform, "release", lambda: release)
    monkeypatch.setattr(topology.Machine, "container", lambda self: container)
    monkeypatch.setattr(native_part.Native, "has", lambda self, path: True)
    told = {"mechanism": "protection", "why": PROFILE_FORBIDS, "system_calls": ""}
    monkeypatch.setattr(shared_faults, "ask", lambda *_: told)
    machine = topology.Machine()
    (finding,) = shared_faults.faults(machine, native_part.Native(Path("/")))
    assert finding.mend == mend


def test_system_calls_that_would_fail_are_told_of(native: Native) -> None:
    answers(native, "userfaultfd", "")
    assert found(native, shared_faults.CALLS) == []
    answers(native, "userfaultfd", "", "this process may not filter system calls")
    (finding,) = found(native, shared_faults.CALLS)
    assert finding["state"] == "optional"
    assert "EFAULT" in finding["sentence"] and "may not filter" in finding["sentence"]


def test_no_native_part_no_line(native: Native) -> None:
    assert found(native) == []


def test_a_program_that_fails_is_told_of(native: Native) -> None:
    native.program(PROGRAM, f"echo '{PROGRAM}: KUMIKI_SHARED_FAULTS=x' >&2; exit 3")
    (finding,) = found(native)
    assert finding["state"] == "optional" and "KUMIKI_SHARED_FAULTS=x" in finding["sentence"]
