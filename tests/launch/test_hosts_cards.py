"""Cards, which ranks of several hosts exchange through the launcher."""

from __future__ import annotations

import re
import time

import pytest
from launching import ENVIRONMENT, Launcher, lines, rank_program


@pytest.mark.parametrize("size", [0, 1, 300, 65536])
def test_every_rank_gets_the_cards_of_all(launcher: Launcher, remote_shell: str, size: int) -> None:
    result = launcher.run(
        "--hosts", "a,b,c", "-n", "7", "--remote-shell", remote_shell, rank_program(), "cards", str(size)
    )
    assert lines(result) == ["7 cards of 7"] * 7


def test_a_card_that_is_too_long_names_the_rank(launcher: Launcher, remote_shell: str) -> None:
    result = launcher.run("--hosts", "a,b", "--remote-shell", remote_shell, rank_program(), "cards", "65537")
    assert result.returncode == ENVIRONMENT
    assert re.search(r"kumiki-run: rank [01] sent a card of 65537 bytes; the most is 65536", result.stderr)
    assert launcher.nothing_left(0.5)


def test_sixty_four_ranks_find_each_other_quickly(launcher: Launcher, remote_shell: str) -> None:
    begin = time.monotonic()
    result = launcher.run(
        "--hosts", "a,b,c,d", "-n", "64", "--remote-shell", remote_shell, rank_program(), "cards", "300"
    )
    took = time.monotonic() - begin
    assert lines(result) == ["64 cards of 64"] * 64
    assert took < 3.0
