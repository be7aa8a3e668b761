"""`kumiki evaluate --cluster`: which points run over which hosts, how they are started, and what is recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from fake_native import Native as Prefix
from fake_native import results_of
from kumiki import suites
from kumiki.errors import UserError
from kumiki.evaluation.plan import Request, plan
from kumiki.hosts import Hosts, cluster
from kumiki.machine import environment, mpi
from kumiki.machine.native import Native
from kumiki.machine.topology import Machine
from kumiki.suites.model import Grid, KumikiRun, Mpirun, Point

LAB = Hosts("lab", ("kumiki-lab-0", "kumiki-lab-1"), ("ip", "netns", "exec"), "eth0", "100mbit", 100_000_000)
FOUR = replace(LAB, names=tuple(f"kumiki-lab-{number}" for number in range(4)))
KERNELS = ("laplace", "matmul", "radix-sort", "cg")
ENTRANCE = '#!/bin/sh\nshift 3\nexec "$@"\n'
OVER_HOSTS = """#!/bin/sh
while :; do
    case "$1" in
        -n) FAKE_RANKS=$2; shift 2 ;;
        --host|--bind-to) shift 2 ;;
        --mca) shift 3 ;;
        -*) shift ;;
        *) break ;;
    esac
done
export FAKE_RANKS
exec "$@"
"""


def points(request: Request, cores: int = 2) -> list[Point]:
    return [point for _, members in plan(request, cores, 1) for point in members]


def over(which: Hosts = LAB, **request: object) -> list[Point]:
    return points(Request(hosts=which, **request))  # type: ignore[arg-type]


@pytest.fixture
def lab(native: Prefix, monkeypatch: pytest.MonkeyPatch) -> Prefix:
    """The fake native part, and a cluster `lab` that need not be made."""
    native.launcher_over_hosts()
    native.program("network-openmpi", "row network.latency openmpi us lower 20,21,20,20\n")
    for name, body in (("ip", ENTRANCE), ("mpirun.openmpi", OVER_HOSTS)):
        tool = native.prefix / "path" / name
        tool.write_text(body)
        tool.chmod(0o755)
    monkeypatch.setattr(cluster, "of_cluster", lambda name: replace(LAB, name=name))
    return native


def test_only_suites_that_say_something_of_several_hosts() -> None:
    assert [suite.name for suite in suites.chosen(None, over_hosts=True)] == ["rank-barrier", "network", *KERNELS]
    assert "network" not in [suite.name for suite in suites.chosen(None)]
    with pytest.raises(UserError, match="memory measures within a host"):
        suites.chosen(["memory"], over_hosts=True)
    with pytest.raises(UserError, match="network measures between hosts: name a cluster"):
        suites.chosen(["network"])


def test_one_and_two_ranks_on_each_host() -> None:
    assert Grid(2, hosts=LAB).pairs_over_hosts() == [(2, 1), (2, 2), (4, 1)]
    assert Grid(2, hosts=FOUR).pairs_over_hosts() == [(4, 1)]
    assert Grid(16, hosts=LAB).pairs_over_hosts()[-1] == (4, 8)
    assert Grid(2, quick=True, hosts=LAB).pairs_over_hosts() == [(2, 1)]
    assert Grid(2, ranks=(8,), threads=(4,), hosts=LAB).pairs_over_hosts() == [(8, 4)]


def test_barriers_go_up_to_sixteen_ranks_and_mpi_to_twice_the_cores() -> None:
    found = over(suites=("rank-barrier",))
    ours = {point.launcher.ranks for point in found if isinstance(point.launcher, KumikiRun)}
    theirs = {point.launcher.ranks for point in found if isinstance(point.launcher, Mpirun)}
    assert (ours, theirs) == ({2, 4, 8, 16}, {2, 4})
    assert {point.parameters["fabric"] for point in found} == {"network"}


@pytest.mark.parametrize("which", [LAB, FOUR], ids=["two hosts", "four hosts"])
def test_every_point_is_named_once_and_says_its_hosts(which: Hosts) -> None:
    found = over(which)
    assert len({point.key for point in found}) == len(found)
    for point in found:
        used = point.launcher.hosts
        assert used and len(used) == min(point.launcher.ranks, len(which))
        assert point.location == ({"hosts": len(used)} if len(used) > 1 else {})
        assert "kumiki-lab" not in point.key


def words(point: Point) -> str:
    return " ".join(point.command(Native.installed(), cores=2).arguments)


def one(found: list[Point], holds: Callable[[Point], bool]) -> Point:
    (point,) = (point for point in found if holds(point))
    return point


def test_kumiki_run_is_told_hosts_remote_shell_and_interface() -> None:
    point = one(over(FOUR, suites=("network",)), lambda point: point.program == "network")
    expected = f"--hosts {','.join(FOUR.names)} --remote-shell ip netns exec --interface eth0 -n 4 -t 1 "
    assert expected in words(point)
    barrier = one(
        over(FOUR, suites=("rank-barrier",)), lambda p: p.implementation == "kumiki" and p.launcher.ranks == 2
    )
    assert "--hosts kumiki-lab-0,kumiki-lab-1 --remote-shell" in words(barrier)


def test_mpi_is_started_on_the_first_host_and_kept_from_shared_memory() -> None:
    found = over(suites=("rank-barrier",), ranks=(4,))
    for point in found:
        command = words(point)
        if point.implementation == mpi.OPENMPI.name:
            assert command.startswith("ip netns exec kumiki-lab-0 ")
            assert "--host kumiki-lab-0:2,kumiki-lab-1:2" in command and "--bind-to none" in command
            assert "--mca btl tcp,self " in command and "--mca btl_tcp_if_include eth0 " in command
            assert "--mca plm_rsh_agent" in command and "libexec/kumiki/remote-shell" in command
        elif point.implementation == mpi.MPICH.name:
            assert command.startswith("ip netns exec kumiki-lab-0 ")
            assert "-hosts kumiki-lab-0,kumiki-lab-1 -ppn 2 -launcher ssh" in command and "-bind-to" not in command
            assert point.command(Native.installed(), 2).variables["UCX_TLS"] == "tcp,self"


def test_rows_and_environment_tell_the_cluster(lab: Prefix) -> None:
    ended = lab.kumiki("evaluate", "--cluster", "lab", "--suite", "network,cg", "--quick", "--output", "out")
    assert ended.returncode == 0, ended.stderr
    content = results_of(lab.prefix / "out")
    assert content["arguments"]["cluster"] == "lab"
    assert content["environment"]["cluster"] == LAB.as_dict()
    rows = content["rows"]
    latencies = {row["implementation"]: row for row in rows if row["metric"] == "network.latency"}
    assert latencies["kumiki"]["parameters"]["hosts"] == 2
    assert latencies["openmpi"]["median"] == 20
    assert latencies["ucx"]["median"] is None and latencies["ucx"]["parameters"]["hosts"] == 2
    times = {row["parameters"]["form"]: row for row in rows if row["metric"] == "cg.time"}
    assert times["hybrid"]["parameters"]["hosts"] == 2
    assert "hosts" not in times["sequential"]["parameters"]


def test_what_is_left_out_is_said(lab: Prefix) -> None:
    ended = lab.kumiki("evaluate", "--cluster", "lab", "--quick", "--dry-run")
    assert ended.returncode == 0, ended.stderr
    assert "left out" in ended.stderr and "memory, thread-barrier, wait, remote-memory" in ended.stderr
    assert (
        "message, mpi, himeno, pi, is, diffusion, laplace-sor, cavity, lu, linpack, shared, openmp, overlap; "
        in ended.stderr
    )
    assert lab.started == []
    named = lab.kumiki("evaluate", "--cluster", "lab", "--suite", "network", "--dry-run")
    assert named.stderr == ""


def test_resume_asks_for_the_same_cluster(lab: Prefix) -> None:
    first = lab.kumiki("evaluate", "--cluster", "lab", "--suite", "network", "--output", "out")
    assert first.returncode == 0, first.stderr
    ended = lab.kumiki("evaluate", "--suite", "cg", "--output", "out", "--resume")
    assert ended.returncode == 2
    assert "kumiki evaluate --cluster lab --suite network --output out --resume" in ended.stderr


def test_two_rates_are_two_machines() -> None:
    slow, fast = (
        environment.describe(Machine(), Native.installed(), replace(LAB, rate=rate)) for rate in ("100mbit", None)
    )
    assert environment.machine_differences(slow, slow) == []
    assert environment.machine_differences(slow, fast) == ["link rate (100mbit, full speed)"]
    alone = environment.describe(Machine(), Native.installed())
    assert "hosts (2, 1)" in environment.machine_differences(slow, alone)


def test_programs_of_the_maestro_paper_run_in_messages_on_a_growing_number_of_hosts() -> None:
    for suite in ("is", "cg"):
        found = [point for point in over(FOUR, suites=(suite,)) if point.parameters["form"] in ("message", "mpi")]
        hosts = {
            (point.implementation, len(point.launcher.hosts or ())) for point in found if point.launcher.threads == 1
        }
        wanted = {(name, count) for name in ("kumiki", "openmpi", "mpich") for count in (2, 4)}
        assert wanted <= hosts
        first_two = one(found, lambda point: point.implementation == "kumiki" and point.launcher.ranks == 2)
        assert first_two.launcher.hosts and first_two.launcher.hosts.names == FOUR.names[:2]
    assert not [point for point in points(Request(suites=("cg",))) if point.parameters["form"] == "message"]


def test_the_radix_sort_tells_what_each_rank_sends_over_hosts() -> None:
    assert all("--messages" in point.arguments for point in over(suites=("radix-sort",)))
