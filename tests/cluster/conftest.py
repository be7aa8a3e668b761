"""Fixtures: clusters of network namespaces. If none can be made, tests that use one are skipped, and say why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from clustering import Hosts, lacking, namespaces_of, new_cluster, unique_name
from joining_jobs import Starter, build
from kumiki.cluster import making

HOSTS = 4


@pytest.fixture
def possible() -> None:
    """Skips the test if no cluster can be made."""
    if (reason := lacking()) is not None:
        pytest.skip(reason)


@pytest.fixture
def name(possible: None) -> Iterator[str]:
    """A name for a cluster, which is removed whatever the test does."""
    name = unique_name()
    yield name
    making.delete(name)
    assert not namespaces_of(name)


@pytest.fixture
def make_cluster(possible: None) -> Iterator[Callable[..., Hosts]]:
    """Makes clusters, `make_cluster(hosts, rate=None)`; all are removed after the test."""
    with ExitStack() as stack:
        yield lambda hosts, rate=None: stack.enter_context(new_cluster(hosts, rate))


@pytest.fixture
def cluster(make_cluster: Callable[..., Hosts]) -> Hosts:
    """A cluster of four hosts at full speed."""
    return make_cluster(HOSTS)


@pytest.fixture
def starter() -> Iterator[Starter]:
    """Starts jobs by other launchers; processes that they leave are ended after the test."""
    starter = Starter()
    yield starter
    starter.end()


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program to join with, without MPI."""
    return str(build(tmp_path_factory.mktemp("alone")))
