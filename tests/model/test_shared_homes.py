"""Homes of shared pages that move, checked by spin in every interleaving of a small job; it must find mistakes, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from spinning import expect_mistake, expect_no_mistake, needs_spin

pytestmark = needs_spin
MODEL = "shared_homes.pml"


@pytest.mark.parametrize(
    ("accesses", "acquires", "barriers", "reopened", "served"),
    [(2, 2, 2, 0, 0), (3, 2, 1, 0, 0), (3, 0, 2, 0, 0), (3, 0, 2, 1, 0), (2, 1, 1, 0, 1), (2, 0, 2, 0, 1)],
)
def test_a_page_has_one_home_and_loses_no_byte(
    tmp_path: Path, accesses: int, acquires: int, barriers: int, reopened: int, served: int
) -> None:
    size = {"ACCESSES": accesses, "ACQUIRES": acquires, "BARRIERS": barriers, "REOPENED": reopened, "SERVED": served}
    expect_no_mistake(MODEL, tmp_path, **size)


@pytest.mark.parametrize(
    ("mistake", "accesses", "acquires", "barriers"),
    [
        ("STAND_IN_PASSES_OVER", 2, 2, 1),
        ("LEAVE_UNTRACKED", 2, 2, 1),
        ("NO_FETCH", 2, 2, 1),
        ("FETCH_OVER_OWN", 2, 2, 1),
        ("NO_MEETING_BEFORE", 3, 2, 1),
        ("LOSER_DROPS", 2, 0, 1),
        ("NO_MEETING_AFTER", 2, 0, 1),
        ("MARK_IS_LOST", 3, 0, 2),
        ("WANTED_BY_SEVERAL", 3, 0, 2),
    ],
)
def test_the_model_of_homes_finds(tmp_path: Path, mistake: str, accesses: int, acquires: int, barriers: int) -> None:
    size = {"ACCESSES": accesses, "ACQUIRES": acquires, "BARRIERS": barriers}
    expect_mistake(MODEL, tmp_path, "assertion violated", "-O1", **size, **{mistake: 1})


@pytest.mark.parametrize(
    ("mistake", "accesses", "acquires", "barriers"), [("NEWS_ARE_LOST", 3, 0, 2), ("NO_FLUSH_BEFORE", 2, 1, 1)]
)
def test_the_model_of_homes_with_releases_in_barriers_finds(
    tmp_path: Path, mistake: str, accesses: int, acquires: int, barriers: int
) -> None:
    size = {"ACCESSES": accesses, "ACQUIRES": acquires, "BARRIERS": barriers, "SERVED": 1}
    order = ("-DT_REVERSE", "-DREVERSE")
    expect_mistake(MODEL, tmp_path, "assertion violated", "-O1", *order, **size, **{mistake: 1})


@pytest.mark.parametrize(("accesses", "acquires", "barriers", "early"), [(2, 1, 2, 1), (1, 2, 2, 1), (1, 0, 3, 2)])
def test_a_page_that_is_requested_ahead_of_a_barrier_is_as_new_as_any(
    tmp_path: Path, accesses: int, acquires: int, barriers: int, early: int
) -> None:
    size = {"ACCESSES": accesses, "ACQUIRES": acquires, "BARRIERS": barriers, "EARLY": early}
    expect_no_mistake(MODEL, tmp_path, **size)


@pytest.mark.parametrize(
    ("mistake", "accesses", "acquires", "barriers", "early"),
    [
        ("ANSWERED_AT_ONCE", 1, 0, 2, 1),
        ("NO_FORGETTING", 1, 2, 2, 1),
        ("NO_MARK_EARLY", 1, 0, 3, 1),
        ("LENT_BY_ANYBODY", 2, 0, 2, 1),
        ("ANY_BARRIER", 1, 0, 3, 2),
    ],
)
def test_the_model_of_requests_ahead_of_a_barrier_finds(
    tmp_path: Path, mistake: str, accesses: int, acquires: int, barriers: int, early: int
) -> None:
    size = {"ACCESSES": accesses, "ACQUIRES": acquires, "BARRIERS": barriers, "EARLY": early}
    expect_mistake(MODEL, tmp_path, "assertion violated", "-O1", **size, **{mistake: 1})


@pytest.mark.parametrize(("accesses", "acquires", "barriers"), [(2, 2, 1), (1, 1, 2)])
def test_a_page_that_is_requested_ahead_of_an_access_is_as_new_as_any(
    tmp_path: Path, accesses: int, acquires: int, barriers: int
) -> None:
    expect_no_mistake(MODEL, tmp_path, ACCESSES=accesses, ACQUIRES=acquires, BARRIERS=barriers, AHEAD=1)


@pytest.mark.parametrize(("acquires", "barriers"), [(2, 1), (0, 2)])
def test_the_model_of_requests_ahead_of_an_access_finds_that_nobody_waits_for_one(
    tmp_path: Path, acquires: int, barriers: int
) -> None:
    size = {"ACCESSES": 1, "ACQUIRES": acquires, "BARRIERS": barriers, "AHEAD": 1}
    expect_mistake(MODEL, tmp_path, "assertion violated", "-O1", **size, NO_WAIT=1)
