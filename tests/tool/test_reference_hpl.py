"""Reference HPL beside Kumiki's Linpack: it is found by itself, gets its input file, and its lines become rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kumiki.evaluation.measure import measure
from kumiki.linpack.hpl_dat import MOST_VALUES
from kumiki.machine import mpi
from kumiki.machine.native import Native
from kumiki.results.statistics import FEWEST_SAMPLES
from kumiki.suites import reference_hpl
from kumiki.suites.model import Grid

XHPL = """#!/bin/sh
[ "$OPENBLAS_NUM_THREADS" = 1 ] || exit 4
sizes=$(sed -n 6p FILE | sed 's/Ns.*//')
for size in $sizes; do
    echo "WR10R2R4 $size 64 1 2 1.00 $((size / 100)).000e+00"
    echo "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= 0.0036 ...... VERDICT"
done > OUTPUT
"""
MPIRUN = """#!/bin/sh
echo "$PWD" > LOG
while [ $# -gt 1 ]; do shift; done
exec "$1"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is alone on the PATH but for the system's, with a launcher and an ldd."""
    script(tmp_path, "ldd", "#!/bin/sh\necho '    libmpi.so.40 => /usr/lib/libmpi.so.40 (0x0)'\n")
    script(tmp_path, "mpirun", MPIRUN.replace("LOG", str(tmp_path / "log")))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(mpi, "launcher", lambda peer: str(tmp_path / "mpirun") if peer.name == "openmpi" else None)
    monkeypatch.setattr("shutil.which", lambda name: str(tmp_path / name) if (tmp_path / name).exists() else None)
    reference_hpl.found.cache_clear()
    yield tmp_path
    reference_hpl.found.cache_clear()


def script(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def xhpl(folder: Path, name: str = "xhpl", verdict: str = "PASSED") -> None:
    output = "/dev/stdout" if name == "xhpl" else "hpccoutf.txt"
    text = XHPL.replace("FILE", reference_hpl.FILES[name]).replace("OUTPUT", output).replace("VERDICT", verdict)
    script(folder, name, text)


@pytest.mark.parametrize("name", ["xhpl", "hpcc"])
def test_its_lines_become_a_row_for_each_size(folder: Path, name: str) -> None:
    xhpl(folder, name)
    (point,) = reference_hpl.points(Grid(2), (500, 900), 64)
    outcome = measure(point, Native(folder), 2, 30, lambda text: None)
    assert outcome.failed is None
    assert [(row.parameters["n"], row.samples) for row in outcome.rows] == [(500, (5.0,) * 6), (900, (9.0,) * 6)]
    assert all(row.validated and row.implementation == "hpl" and row.note == name for row in outcome.rows)
    assert not Path((folder / "log").read_text().strip()).exists(), "its folder is removed"


def test_a_wrong_solution_is_said(folder: Path) -> None:
    xhpl(folder, verdict="FAILED")
    (point,) = reference_hpl.points(Grid(2), (500,), 64)
    outcome = measure(point, Native(folder), 2, 30, lambda text: None)
    assert [row.validated for row in outcome.rows] == [False]


def test_a_program_that_fails_is_said(folder: Path) -> None:
    script(folder, "xhpl", "#!/bin/sh\necho no luck >&2\nexit 7\n")
    (point,) = reference_hpl.points(Grid(2), (500,), 64)
    outcome = measure(point, Native(folder), 2, 30, lambda text: None)
    assert outcome.failed is not None and "exit code 7" in outcome.failed and "no luck" in outcome.failed


def test_without_it_and_in_a_quick_evaluation_nothing_is_planned(folder: Path) -> None:
    assert reference_hpl.points(Grid(2), (500,), 64) == []
    reference_hpl.found.cache_clear()
    xhpl(folder)
    assert len(reference_hpl.points(Grid(2), (500,), 64)) == 1
    assert reference_hpl.points(Grid(2, quick=True), (500,), 64) == []
    reference_hpl.found.cache_clear()
    script(folder, "ldd", "#!/bin/sh\necho '    not a dynamic executable'\n")
    assert reference_hpl.points(Grid(2), (500,), 64) == []


def test_every_size_has_enough_runs_for_a_verdict(folder: Path) -> None:
    xhpl(folder)
    points = reference_hpl.points(Grid(2), (500, 600, 700, 800), 64)
    assert len({point.key for point in points}) == len(points) == 2
    rows = [row for point in points for row in measure(point, Native(folder), 2, 30, lambda text: None).rows]
    assert {row.parameters["n"]: len(row.samples) for row in rows} == dict.fromkeys(
        (500, 600, 700, 800), FEWEST_SAMPLES
    )
    values = [line for point in points for line in point.command(Native(folder), 2).arguments[4].splitlines()]
    assert all(len(line.split("Ns")[0].split()) <= MOST_VALUES for line in values if line.endswith("Ns"))
