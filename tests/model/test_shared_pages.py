"""The protocol of shared arrays, checked by spin in every interleaving of a small job; spin must find mistakes, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from spinning import expect_mistake, expect_no_mistake, needs_spin

pytestmark = needs_spin
MODEL = "shared_pages.pml"


@pytest.mark.parametrize(("intervals", "accesses"), [(3, 2), (1, 3)])
def test_no_byte_is_lost_or_old_and_nobody_waits_for_ever(tmp_path: Path, intervals: int, accesses: int) -> None:
    expect_no_mistake(MODEL, tmp_path, INTERVALS=intervals, ACCESSES=accesses)


@pytest.mark.parametrize(("accesses", "drops"), [(2, 1), (3, 0)])
def test_updates_reach_all_copies(tmp_path: Path, accesses: int, drops: int) -> None:
    expect_no_mistake(MODEL, tmp_path, UPDATE=1, INTERVALS=2, ACCESSES=accesses, DROPS=drops)


@pytest.mark.parametrize(
    ("mistake", "found", "intervals", "accesses", "drops"),
    [
        ("NO_NOTE_OF_HOLDER", "invalid end state", 2, 2, 1),
        ("ANY_BARRIER", "assertion violated", 3, 2, 1),
        ("OPEN_WITHOUT_LOOK", "assertion violated", 2, 3, 0),
        ("SENT_TO_FETCHERS", "assertion violated", 2, 3, 0),
    ],
)
def test_the_model_of_updates_finds(
    tmp_path: Path, mistake: str, found: str, intervals: int, accesses: int, drops: int
) -> None:
    size = {"INTERVALS": intervals, "ACCESSES": accesses, "DROPS": drops}
    expect_mistake(MODEL, tmp_path, found, "-O1", "-DT_REVERSE", UPDATE=1, **size, **{mistake: 1})


@pytest.mark.parametrize(
    ("mistake", "found"),
    [
        ("NO_FENCE_AT_HOME", "assertion violated"),
        ("MARK_AFTER_COPY", "assertion violated"),
        ("NEWS_BEFORE_MARK", "assertion violated"),
        ("NO_ACKNOWLEDGEMENT", "assertion violated"),
        ("NO_NOTICE_OF_HOME", "assertion violated"),
        ("PROTECTED_TOO_EARLY", "assertion violated"),
        ("WORD_DIFFERENCES", "assertion violated"),
        ("NO_ANSWER", "invalid end state"),
    ],
)
def test_the_model_finds(tmp_path: Path, mistake: str, found: str) -> None:
    expect_mistake(MODEL, tmp_path, found, "-O0", **{mistake: 1})


def test_the_model_finds_a_copy_that_a_later_fetch_has_hidden(tmp_path: Path) -> None:
    size = {"INTERVALS": 1, "ACCESSES": 3}
    expect_mistake(MODEL, tmp_path, "assertion violated", "-O0", **size, PROTECTED_THOUGH_MARKED=1)
