"""The doctor's line about launchers: which exist, and whether the library could join their jobs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fake_native import Native


def launchers(native: Native) -> dict[str, Any]:
    told = json.loads(native.kumiki("doctor", "--format", "json").stdout)
    found = [finding for finding in told["findings"] if finding["subject"] == "launchers"]
    assert len(found) == 1
    assert isinstance(found[0], dict)
    return found[0]


def add_module(native: Native) -> None:
    module = native.prefix / "lib" / "kumiki-pmix.so"
    module.parent.mkdir()
    module.touch()


def add_srun(native: Native, body: str) -> None:
    script = native.prefix / "path" / "srun"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o755)


LIST = "printf 'MPI plugin types are...\\n\\tpmix\\n\\tnone\\n\\tpmi2\\n' >&2"


def test_nothing_there(bare: Native) -> None:
    finding = launchers(bare)
    assert (finding["state"], finding["sentence"], finding["mend"]) == (
        "optional",
        "There is none.",
        "unset KUMIKI_PREFIX",
    )


def test_open_mpi_needs_the_module(native: Native) -> None:
    finding = launchers(native)
    assert finding["state"] == "optional"
    assert finding["sentence"].startswith(
        "Jobs can be started by kumiki-run. The library cannot join under Open MPI mpirun (PMIx)."
    )
    assert "libpmix-dev" in finding["mend"]
    add_module(native)
    finding = launchers(native)
    assert finding["state"] == "good"
    assert finding["sentence"] == "Jobs can be started by kumiki-run, Open MPI mpirun (PMIx)."


def test_all_of_them(native: Native) -> None:
    native.mpi("mpich", "HYDRA")
    add_module(native)
    add_srun(native, LIST)
    assert launchers(native)["sentence"] == (
        "Jobs can be started by kumiki-run, Open MPI mpirun (PMIx), MPICH mpirun (PMI), "
        "srun --mpi=pmix, srun --mpi=pmi2."
    )


def test_srun_without_the_module(bare: Native) -> None:
    add_srun(bare, LIST)
    finding = launchers(bare)
    assert finding["state"] == "optional"
    assert "started by srun --mpi=pmi2. The library cannot join under srun --mpi=pmix." in finding["sentence"]


@pytest.mark.parametrize("body", ["exit 1", "echo none", f"{LIST}; exit 1"])
def test_a_srun_of_no_use(native: Native, body: str) -> None:
    add_module(native)
    add_srun(native, body)
    finding = launchers(native)
    assert finding["state"] == "good"  # kumiki-run and mpirun exist
    assert "The library cannot join under srun (it names neither" in finding["sentence"]
