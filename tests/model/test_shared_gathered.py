"""Updates that are gathered, checked by spin in every interleaving of a small job: and its mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from spinning import expect_mistake, expect_no_mistake, needs_spin

pytestmark = needs_spin
MODEL = "shared_gathered.pml"
HOME, OTHER, NOBODY = 0, 1, 3


@pytest.mark.parametrize(
    ("accesses", "acquires", "intervals", "owner"),
    [(3, 0, 1, NOBODY), (2, 1, 1, NOBODY), (2, 0, 2, NOBODY), (3, 0, 1, OTHER), (3, 0, 1, HOME)],
)
def test_no_update_is_lost(tmp_path: Path, accesses: int, acquires: int, intervals: int, owner: int) -> None:
    size = {"ACCESSES": accesses, "ACQUIRES": acquires, "INTERVALS": intervals, "OWNER": owner}
    expect_no_mistake(MODEL, tmp_path, **size)


@pytest.mark.parametrize(
    ("mistake", "acquires", "owner"),
    [
        ("TWIN_STAYS", 0, NOBODY),
        ("STORES_UNNOTICED", 0, OTHER),
        ("DIFFERENCE_FIRST", 0, OTHER),
        ("PLAIN_ADDITION", 0, NOBODY),
        ("GATHERED_ONLY_UNTOLD", 0, NOBODY),
        ("DROPPED_WITHOUT_CHANGES", 1, NOBODY),
        ("NO_RELEASE_BEFORE", 0, NOBODY),
        ("OWN_DRAW_UNTOLD", 0, NOBODY),
        ("CHANGED_HERE", 0, NOBODY),
    ],
)
def test_the_model_of_gathered_updates_finds(tmp_path: Path, mistake: str, acquires: int, owner: int) -> None:
    size = {"ACCESSES": 2, "ACQUIRES": acquires, "INTERVALS": 1, "OWNER": owner}
    expect_mistake(MODEL, tmp_path, "assertion violated", "-O1", **size, **{mistake: 1})
