"""The launcher under test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from launching import Launcher, find_command


@pytest.fixture
def launcher() -> Iterator[Launcher]:
    launcher = Launcher(find_command("kumiki-run"))
    yield launcher
    launcher.end()
