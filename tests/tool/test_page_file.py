"""Files that commands leave in folders of the user's."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import kumiki.report as report
import pytest
from kumiki import page_file
from kumiki.errors import UserError

LONG = "x" * 100_000


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Files can be no longer than this, as on a disk that is nearly full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_page_for_which_there_is_no_room_leaves_the_old_one(tmp_path: Path) -> None:
    page = page_file.write(tmp_path, "old")
    with room_for(1000), pytest.raises(UserError, match="cannot be written"):
        page_file.write(tmp_path, LONG)
    assert page.read_text() == "old" and list(tmp_path.iterdir()) == [page]


def test_a_report_for_which_there_is_no_room_leaves_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text("{}")
    page = report.write(tmp_path)
    old = page.read_text()
    with room_for(1000), pytest.raises(OSError):
        report.write(tmp_path)
    assert page.read_text() == old and len(list(tmp_path.iterdir())) == 2
