"""The locks of shared arrays, checked by spin in every interleaving of a small job; spin must find mistakes, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from spinning import expect_mistake, expect_no_mistake, needs_spin

pytestmark = needs_spin
MODEL = "shared_locks.pml"


@pytest.mark.parametrize(
    "switches",
    [
        {"ACCESSES": 2, "ACQUIRES": 2},
        {"ACCESSES": 2, "ACQUIRES": 2, "ONLY_MARKED": 1},
        {"ACCESSES": 1, "ACQUIRES": 4},
        {"ACCESSES": 1, "ACQUIRES": 2, "BARRIERS": 2},
        {"ACCESSES": 1, "ACQUIRES": 3, "CAPACITY": 1},
        {"ACCESSES": 1, "ACQUIRES": 2, "EVICTIONS": 1},
        {"ACCESSES": 1, "ACQUIRES": 2, "CHANGES": 1},
        {"ACCESSES": 1, "ACQUIRES": 1, "CHANGES": 2},
        {"ACCESSES": 1, "ACQUIRES": 1, "CHANGES": 1, "CAPACITY": 1},
        {"ACCESSES": 2, "ACQUIRES": 2, "PAGES_COME": 1},
        {"ACCESSES": 1, "ACQUIRES": 4, "PAGES_COME": 1},
        {"ACCESSES": 1, "ACQUIRES": 2, "CHANGES": 1, "PAGES_COME": 1},
        {"HOSTS": 2, "ACCESSES": 3, "ACQUIRES": 3, "PAGES_COME": 1},
        {"HOSTS": 2, "ACCESSES": 3, "ACQUIRES": 3},
        {"HOSTS": 2, "ACCESSES": 2, "ACQUIRES": 2, "EVICTIONS": 1},
        {"HOSTS": 2, "ACCESSES": 1, "ACQUIRES": 2, "CHANGES": 2, "BARRIERS": 2},
    ],
    ids=[
        "accesses",
        "marks",
        "chains",
        "barriers",
        "short-logs",
        "evictions",
        "a-change",
        "changes",
        "changes-in-short-logs",
        "pages-come",
        "pages-come-with-chains",
        "pages-come-and-a-change",
        "pages-come-two-hosts",
        "two-hosts",
        "two-hosts-evict",
        "two-hosts-change",
    ],
)
def test_who_acquires_sees_what_was_released(tmp_path: Path, switches: dict[str, int]) -> None:
    expect_no_mistake(MODEL, tmp_path, **switches)


@pytest.mark.parametrize(
    ("mistake", "switches"),
    [
        ("NO_WAIT_FOR_HOMES", {}),
        ("LOG_BEFORE_LOCK", {}),
        ("OWN_NOTICES_ONLY", {"ACQUIRES": 4}),
        ("ONE_POSITION_FOR_ALL", {"ACQUIRES": 4}),
        ("LOSS_UNNOTICED", {"CAPACITY": 1}),
        ("LOSS_NOT_TOLD", {"CAPACITY": 1, "ACQUIRES": 4}),
        ("DROP_WITHOUT_DIFFERENCE", {"ACCESSES": 2}),
        ("DROP_WITHOUT_NOTICE", {"ACCESSES": 2, "ACQUIRES": 3}),
        ("EVICT_WITHOUT_NOTICE", {"EVICTIONS": 1}),
        ("NOTICES_ONCE", {}),
        ("FETCHED_WITHOUT_NOTICE", {"ACCESSES": 2, "ONLY_MARKED": 1}),
        ("FREE_WHEN_PASSED", {}),
        ("CHANGE_AT_ONCE", {"ACQUIRES": 1, "CHANGES": 1}),
        ("CHANGE_UNTOLD", {"ACQUIRES": 1, "CHANGES": 1}),
        ("NO_RELEASE_BEFORE", {"ACQUIRES": 1, "CHANGES": 1}),
        ("NOT_AT_BARRIER", {"ACQUIRES": 1, "CHANGES": 1}),
        ("OWN_CHANGE_UNTOLD", {"ACQUIRES": 1, "CHANGES": 1}),
        ("OWN_CHANGE_OF_HOME_UNTOLD", {"CHANGES": 1}),
        ("OUT_OF_ORDER", {"HOSTS": 2}),
        ("PAGE_AS_ASKED", {"PAGES_COME": 1}),
        ("PAGE_ALTHOUGH_WRITTEN", {"PAGES_COME": 1, "ACCESSES": 2, "ACQUIRES": 3}),
    ],
)
def test_the_model_of_locks_finds(tmp_path: Path, mistake: str, switches: dict[str, int]) -> None:
    sizes = {"ACCESSES": 1, "ACQUIRES": 2, **switches}
    expect_mistake(MODEL, tmp_path, "assertion violated", "-O0", "-DT_REVERSE", **sizes, **{mistake: 1})


def test_the_model_of_locks_finds_who_waits_for_ever(tmp_path: Path) -> None:
    expect_mistake(MODEL, tmp_path, "invalid end state", "-O0", ACCESSES=1, ACQUIRES=2, QUEUE_FORGOTTEN=1)
