"""The command lines of the MPIs beside which Kumiki is measured, where their versions differ."""

from __future__ import annotations

import pytest
from kumiki.hosts import Hosts
from kumiki.machine import mpi

NAMESPACES = Hosts("lab", ("kumiki-lab-0", "kumiki-lab-1"), ("ip", "netns", "exec"), "eth0")


@pytest.mark.parametrize(("version", "named"), [("4.1.4", True), ("5.0.7", False), ("10.0", False), (None, True)])
def test_open_mpi_5_does_not_know_what_open_mpi_4_makes_windows_of(
    monkeypatch: pytest.MonkeyPatch, version: str | None, named: bool
) -> None:
    monkeypatch.setattr(mpi, "version", lambda _: version)
    words = " ".join(mpi.OPENMPI.arguments_over(NAMESPACES, 2, "remote-shell"))
    assert ("--mca osc pt2pt" in words) is named
    assert "--mca pml ob1" in words and "--mca btl tcp,self" in words


def test_more_ranks_than_cores_are_allowed_in_the_words_of_both_launchers() -> None:
    assert mpi.OPENMPI.environment["OMPI_MCA_rmaps_base_oversubscribe"] == "1"
    assert mpi.OPENMPI.environment["PRTE_MCA_rmaps_default_mapping_policy"] == "slot:oversubscribe"
