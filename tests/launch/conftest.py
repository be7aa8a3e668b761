"""The launcher under test, and its hosts. All of them are this machine: the remote shell is a script that ignores their
names.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from launching import Launcher, find_command, remote_shell_script

REMOTE_SHELLS = {
    "between": 'shift; "$@"',  # stays between the supervisor and the host daemon, as ssh does
    "replaced": 'shift; exec "$@"',  # as `ip netns exec` does
}


@pytest.fixture
def launcher() -> Iterator[Launcher]:
    launcher = Launcher(find_command("kumiki-run"))
    yield launcher
    launcher.end()


@pytest.fixture
def remote_shell(tmp_path: Path) -> str:
    return remote_shell_script(tmp_path, REMOTE_SHELLS["between"])


@pytest.fixture(params=REMOTE_SHELLS)
def any_remote_shell(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """For tests of the remote shells themselves."""
    return remote_shell_script(tmp_path, REMOTE_SHELLS[request.param])


@pytest.fixture(params=["one-host", "two-hosts"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, ...]:
    """Options for the place of a job, for behaviour that must be the same everywhere."""
    if request.param == "one-host":
        return ()
    return ("--hosts", "a,b", "--remote-shell", remote_shell_script(tmp_path, REMOTE_SHELLS["between"]))
