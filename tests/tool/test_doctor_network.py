"""The doctor's line on the way of long puts and gets between hosts."""

from __future__ import annotations

import json
from typing import Any

from fake_native import Native

PROGRAM = "kumiki-network-route"


def found(native: Native) -> list[dict[str, Any]]:
    told = json.loads(native.kumiki("doctor", "--format", "json").stdout)
    return [finding for finding in told["findings"] if finding["subject"] == "network between hosts"]


def test_each_way_is_told_with_its_reason(native: Native) -> None:
    routes = {"put": {"direct": True, "why": "UCX uses rc_mlx5"}, "get": {"direct": False, "why": "UCX emulates gets"}}
    native.program(PROGRAM, f"echo '{json.dumps(routes)}'")
    (finding,) = found(native)
    assert finding["state"] == "good"
    assert finding["sentence"] == (
        "Long puts go directly to the memory of the other host, without its processor (UCX uses rc_mlx5). "
        "Long gets go by messages, which the other host's processor places (UCX emulates gets)."
    )


def test_a_build_without_ucx_has_no_such_line(native: Native) -> None:
    assert found(native) == []


def test_an_engine_that_does_not_start_is_told_of(native: Native) -> None:
    native.program(PROGRAM, f"echo '{PROGRAM}: the network engine (UCX) cannot start' >&2; exit 3")
    (finding,) = found(native)
    assert finding["state"] == "optional"
    assert finding["sentence"] == "Jobs of several hosts cannot run: the network engine (UCX) cannot start."
    native.program(PROGRAM, "echo nonsense")
    (finding,) = found(native)
    assert finding["state"] == "optional"
    assert PROGRAM in finding["sentence"]
