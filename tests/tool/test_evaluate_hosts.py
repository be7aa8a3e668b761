"""`kumiki evaluate` over hosts that the user names or Slurm has allocated: how they are reached, what goes wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_native import Native as Prefix
from fake_native import results_of
from kumiki.errors import UserError
from kumiki.evaluation.plan import Request, plan
from kumiki.hosts import Hosts, Origin, listed
from kumiki.hosts.model import Equipment
from kumiki.machine import mpi
from kumiki.machine.native import Native
from kumiki.suites.model import Grid, KumikiRun, Mpirun

SSH = ("ssh", "-o", "BatchMode=yes")
REAL = Hosts("node1, node2", ("node1", "node2"), SSH, origin=Origin.USER, each=Equipment(8, 8 << 30))
SCONTROL = "#!/bin/sh\necho node1; echo node2\n"
ALLOCATED = {"SLURM_JOB_ID": "17", "SLURM_JOB_NODELIST": "node[1-2]"}
EVALUATE = ("evaluate", "--suite", "laplace", "--quick", "--output", "out")


def put_tool(native: Prefix, name: str, body: str) -> None:
    tool = native.prefix / "path" / name
    tool.write_text(body)
    tool.chmod(0o755)


@pytest.fixture
def site(native: Prefix) -> Prefix:
    """A site with Slurm, whose nodes can all be reached."""
    native.launcher_over_hosts("8 boot-of-a 9000000 2", "6 boot-of-b 9000000 2")
    put_tool(native, "scontrol", SCONTROL)
    (native.prefix / "path" / "mpirun.openmpi").unlink()
    return native


def test_an_allocation_is_measured_over_its_nodes(site: Prefix) -> None:
    ended = site.kumiki(*EVALUATE, **ALLOCATED)
    assert ended.returncode == 0, ended.stderr
    assert all(
        "--hosts node1" in line and "--remote-shell srun --unbuffered --overlap" in line for line in site.launched
    )
    assert all("--nodelist -n " in line for line in site.launched)
    content = results_of(site.prefix / "out")
    assert content["arguments"]["hosts"] == ["node1", "node2"]
    cluster = content["environment"]["cluster"]
    assert (cluster["origin"], cluster["name"], cluster["option"]) == ("slurm", "Slurm job 17", "--slurm")
    assert (cluster["hosts"], cluster["cores"]) == (2, 6)


def test_hosts_with_cores_of_their_own_are_all_used(site: Prefix) -> None:
    """The smallest of their answers counts: 6 cores on each of two hosts."""
    ended = site.kumiki(*EVALUATE, "--dry-run", **ALLOCATED)
    assert ended.returncode == 0, ended.stderr
    for counts in ("-n 2 -t 1", "-n 2 -t 6", "-n 4 -t 2"):
        assert counts in ended.stdout
    assert "-n 4 -t 4" not in ended.stdout


def test_hosts_that_are_one_machine_share_its_cores(site: Prefix) -> None:
    site.launcher_over_hosts("1 the-boot 9000000 1", "1 the-boot 9000000 1")
    ended = site.kumiki(*EVALUATE, "--dry-run", "--hosts", "a,b", "--remote-shell", "enter 'the host'")
    assert ended.returncode == 0, ended.stderr
    assert "--remote-shell 'enter '\"'\"'the host'\"'\"''" in ended.stdout
    assert Grid(2, hosts=Hosts("x", ("a", "b"), ("x",))).all_cores == 2


def test_one_node_measures_itself(site: Prefix) -> None:
    put_tool(site, "scontrol", "#!/bin/sh\necho node1\n")
    one = {**ALLOCATED, "SLURM_JOB_NODELIST": "node1"}
    here = site.kumiki(*EVALUATE, "--dry-run", **one, SLURMD_NODENAME="node1")
    assert here.returncode == 0 and "--hosts" not in here.stdout
    elsewhere = site.kumiki(*EVALUATE, "--dry-run", **one)
    assert elsewhere.returncode == 3
    assert "Slurm job 17 has one node, node1, and this is another host" in elsewhere.stderr
    network = site.kumiki("evaluate", "--suite", "network", "--dry-run", **one, SLURMD_NODENAME="node1")
    assert network.returncode == 2 and "allocation of two nodes or more" in network.stderr


def test_alone_in_an_allocation(site: Prefix) -> None:
    ended = site.kumiki(*EVALUATE, "--dry-run", "--alone", **ALLOCATED)
    assert ended.returncode == 0 and "--hosts" not in ended.stdout
    within = site.kumiki("evaluate", "--suite", "memory", "--dry-run", **ALLOCATED)
    assert within.returncode == 2 and "measure it with --alone" in within.stderr


@pytest.mark.parametrize(
    ("wanted", "variables", "sentence", "code"),
    [
        ((), {**ALLOCATED, "SLURM_STEP_NUM_TASKS": "4"}, "srun has started kumiki evaluate 4 times", 2),
        ((), {"OMPI_COMM_WORLD_SIZE": "3"}, "Open MPI's mpirun has started kumiki evaluate 3 times", 2),
        ((), {"PMI_SIZE": "2"}, "or with --hostfile FILE", 2),
        (("--hosts", "a"), {}, "--hosts a names one host", 2),
        (("--hosts", "a,,b"), {}, "it must name hosts", 2),
        (("--hosts", "a,a:2"), {}, "host a is named twice", 2),
        (("--hostfile", "nowhere"), {}, "nowhere cannot be read: No such file", 2),
        (("--hosts", "a,b", "--cluster", "lab"), {}, "exclude each other", 2),
        (("--hosts", "a,b", "--alone"), {}, "exclude each other", 2),
        (("--remote-shell", "ssh"), {}, "--remote-shell needs --hosts or --hostfile", 2),
        (("--hosts", "a,b", "--remote-shell", "sh -c 'x"), {}, "the quotes do not match", 2),
    ],
)
def test_what_cannot_be(
    site: Prefix, wanted: tuple[str, ...], variables: dict[str, str], sentence: str, code: int
) -> None:
    ended = site.kumiki(*EVALUATE, *wanted, **variables)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert sentence in ended.stderr
    assert not (site.prefix / "out").exists()


def test_slurm_without_its_commands(native: Prefix) -> None:
    ended = native.kumiki(*EVALUATE, **ALLOCATED)
    assert ended.returncode == 3
    assert "Slurm's commands (srun, scontrol) are not here" in ended.stderr


def test_slurm_that_does_not_know_the_nodes(site: Prefix) -> None:
    put_tool(site, "scontrol", "#!/bin/sh\necho 'no such cluster' >&2; exit 1\n")
    ended = site.kumiki(*EVALUATE, **ALLOCATED)
    assert ended.returncode == 3 and "cannot list the nodes of Slurm job 17: no such cluster" in ended.stderr


def test_hosts_that_cannot_be_reached(site: Prefix) -> None:
    site.command("kumiki-run", "#!/bin/sh\necho 'kumiki-run: host b cannot be reached' >&2; exit 3\n")
    ended = site.kumiki(*EVALUATE, "--hosts", "a,b")
    assert ended.returncode == 3
    assert "nothing can be started over a, b: kumiki-run: host b cannot be reached" in ended.stderr
    assert not (site.prefix / "out").exists()


@pytest.mark.parametrize("answers", [("8 one 9000000 1",), ("8 one 9000000 1", "command not found")])
def test_hosts_that_do_not_say_what_they_are(site: Prefix, answers: tuple[str, ...]) -> None:
    site.launcher_over_hosts(*answers)
    ended = site.kumiki(*EVALUATE, "--hosts", "a,b")
    assert ended.returncode == 3 and "1 of 2 hosts have responded" in ended.stderr


def test_a_file_of_hosts(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("# all\nnode1\n\nnode2 slots=4\nnode3:4  # the last\nfe80::1\n")
    assert listed.of_file(path) == ("node1", "node2", "node3", "fe80::1")
    assert listed.of_list("a:2, b") == ("a", "b")
    path.write_text("# nothing\n")
    with pytest.raises(UserError, match="it must name hosts"):
        listed.of_file(path)


def test_mpi_chooses_its_own_network_between_machines() -> None:
    points = [point for _, members in plan(Request(suites=("laplace",), hosts=REAL), 8, 1) for point in members]
    for point in points:
        command = point.command(Native.installed(), 8)
        words = " ".join(command.arguments)
        if isinstance(point.launcher, Mpirun):
            assert "btl" not in words and "-iface" not in words and "UCX_TLS" not in command.variables
            assert command.variables["REMOTE_SHELL"] == "ssh -o BatchMode=yes"
            assert words.partition(" ")[0].endswith(f"mpirun.{point.launcher.mpi.name}")  # here: hosts can reach it
    assert {point.implementation for point in points} == {"kumiki", *(each.name for each in mpi.ALL)}
    sequential = next(point for point in points if point.parameters["form"] == "sequential")
    assert isinstance(sequential.launcher, KumikiRun) and sequential.launcher.hosts == REAL.for_ranks(1)


def test_run_over_the_nodes_of_an_allocation(site: Prefix) -> None:
    ended = site.kumiki("run", "--slurm", "-n", "4", "sh", **ALLOCATED)
    assert ended.returncode == 0, ended.stderr
    assert site.launched[0].startswith("kumiki-run --hosts node1,node2 --remote-shell srun")
    assert site.launched[0].endswith("-n 4 sh")
    outside = site.kumiki("run", "--slurm", "-n", "4", "sh")
    assert outside.returncode == 2 and "this is not a Slurm allocation" in outside.stderr


def test_resume_names_the_hosts(site: Prefix) -> None:
    assert site.kumiki(*EVALUATE, **ALLOCATED).returncode == 0
    ended = site.kumiki("evaluate", "--suite", "cg", "--output", "out", "--resume", **ALLOCATED)
    assert ended.returncode == 2
    assert "kumiki evaluate --hosts node1,node2 --quick --suite laplace --output out --resume" in ended.stderr
