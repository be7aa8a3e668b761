"""Pages that a home lends and compares, checked by spin in every interleaving of a small job: and its mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from spinning import expect_mistake, expect_no_mistake, needs_spin

pytestmark = needs_spin
MODEL = "shared_lent.pml"


@pytest.mark.parametrize(
    ("accesses", "releases", "evictions", "intervals"),
    [(3, 0, 0, 3), (2, 1, 0, 2), (3, 1, 0, 1), (4, 0, 1, 1)],
)
def test_no_byte_is_lost_or_old(tmp_path: Path, accesses: int, releases: int, evictions: int, intervals: int) -> None:
    size = {"ACCESSES": accesses, "RELEASES": releases, "EVICTIONS": evictions, "INTERVALS": intervals}
    expect_no_mistake(MODEL, tmp_path, **size)


@pytest.mark.parametrize(
    ("mistake", "accesses", "releases", "intervals"),
    [
        ("NO_MARK", 3, 0, 2),
        ("NO_LOOK_AT_MARK", 3, 0, 2),
        ("MARK_BEFORE_ONLY", 4, 0, 2),
        ("ANNOUNCED_TAKES_CHANGES", 3, 1, 1),
        ("LEND_THE_KEPT_ONLY", 3, 1, 1),
        ("USED_AFTER_COPY", 4, 0, 2),
        ("NO_MARK_WITHOUT_PLACE", 3, 0, 1),
        ("NO_FENCE_AT_HOME", 2, 0, 1),
    ],
)
def test_the_model_of_lent_pages_finds(
    tmp_path: Path, mistake: str, accesses: int, releases: int, intervals: int
) -> None:
    size = {"ACCESSES": accesses, "RELEASES": releases, "INTERVALS": intervals}
    expect_mistake(MODEL, tmp_path, "assertion violated", "-O1", **size, **{mistake: 1})
