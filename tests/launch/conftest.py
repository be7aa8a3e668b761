"""The launcher under test, and hosts for it. All are this machine: the agent is a script that drops their names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from launching import Launcher, agent_script, find_command

AGENTS = {
    "between": 'shift; "$@"',  # stays between front and keeper, as ssh does
    "replaced": 'shift; exec "$@"',  # as `ip netns exec` does
}


@pytest.fixture
def launcher() -> Iterator[Launcher]:
    launcher = Launcher(find_command("kumiki-run"))
    yield launcher
    launcher.end()


@pytest.fixture
def agent(tmp_path: Path) -> str:
    return agent_script(tmp_path, AGENTS["between"])


@pytest.fixture(params=AGENTS)
def any_agent(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """For tests of what happens to agents themselves."""
    return agent_script(tmp_path, AGENTS[request.param])


@pytest.fixture(params=["one-host", "two-hosts"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, ...]:
    """Options for where a job runs that must be the same everywhere."""
    if request.param == "one-host":
        return ()
    return ("--hosts", "a,b", "--agent", agent_script(tmp_path, AGENTS["between"]))
