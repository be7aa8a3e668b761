"""Ranks that differ: threads and cores for each of them, by option, by rankfile and by hostfile."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from described import machine
from launching import ENVIRONMENT, USAGE, Launcher, lines

CORES = len(os.sched_getaffinity(0))
EIGHT = {"HWLOC_SYNTHETIC": "pack:1 core:8 pu:1"}
SHOW = (
    "sh",
    "-c",
    "echo $KUMIKI_RANK $KUMIKI_THREADS $OMP_NUM_THREADS $KUMIKI_JOB_THREADS $KUMIKI_CPUS. $KUMIKI_CROWDED",
)


def shown(launcher: Launcher, *options: str, environment: dict[str, str] | None = None) -> list[str]:
    return lines(launcher.run(*options, *SHOW, environment={**EIGHT, **(environment or {})}))


def complaint(launcher: Launcher, *options: str, environment: dict[str, str] | None = None) -> str:
    described = environment if environment and "HWLOC_XMLFILE" in environment else {**EIGHT, **(environment or {})}
    result = launcher.run(*options, "touch", "/nowhere/started", environment=described)
    assert (result.returncode, result.stdout) == (USAGE, "")
    assert result.stderr.startswith("kumiki-run: ") and result.stderr.count("\n") == 1
    return result.stderr


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


DIFFERENT = ["0 4 4 4,2,2 0,1,2,3. no", "1 2 2 4,2,2 4,5. no", "2 2 2 4,2,2 6,7. no"]


def test_each_rank_has_its_own_number_of_threads(launcher: Launcher) -> None:
    assert shown(launcher, "-t", "4,2,2") == DIFFERENT
    assert shown(launcher, "-n", "3", "-t", "4,2,2") == DIFFERENT
    assert shown(launcher, environment={"KUMIKI_THREADS": "4,2,2"}) == DIFFERENT
    assert shown(launcher, "-t", "4,0,0") == DIFFERENT  # an equal part of what is left


def test_the_number_of_ranks_must_fit_the_list(launcher: Launcher) -> None:
    for ranks in ("2", "4"):
        said = complaint(launcher, "-n", ranks, "-t", "4,2,2")
        assert f"-t 4,2,2 is for 3 ranks, but the job has {ranks}; make the two numbers equal" in said
    assert "KUMIKI_THREADS=4,2 is for 2 ranks" in complaint(launcher, "-n", "3", environment={"KUMIKI_THREADS": "4,2"})


def test_a_rankfile_has_a_line_for_each_rank(launcher: Launcher, tmp_path: Path) -> None:
    ranks = written(tmp_path / "ranks", "# big and small\nthreads=2 cores=5-7\n\ncores=0,2 # two\nthreads=3\n")
    assert shown(launcher, "--rankfile", ranks) == [
        "0 2 2 2,2,3 5,6. no",
        "1 2 2 2,2,3 0,2. no",
        "2 3 3 2,2,3 1,3,4. no",
    ]
    assert shown(launcher, "--rankfile", ranks, "-t", "1")[1] == "1 1 1 2,1,3 0. no"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("threads=1\nthreads=1\nthreads=1\n", "has lines for 3 ranks, but the job has 2"),
        ("threads=1\n", "has lines for 1 rank, but the job has 2"),
        ("", "has no line for a rank"),
        ("threads=0\nthreads=1", "line 1: threads=0 is not usable: it must be a whole number from 1 to 4096"),
        ("threads=1\nthreads=1,2\n", "line 2: threads=1,2 are several numbers; a line of a rankfile is about one rank"),
        ("threads=1\ncores=0-\n", "line 2: cores=0- is not usable: it must be a list of numbers"),
        ("threads=1\ncores=1,1\n", "line 2: cores=1,1 is not usable: it names 1 twice"),
        ("slots=2\nthreads=1\n", "line 1: slots belong in a hostfile"),
        ("colour=red\n", 'line 1: "colour=red" is not understood'),
        ("cores=0-3\ncores=3,4\n", "ranks 0 and 1 both ask for core 3; give each rank cores of its own"),
        ("cores=0-3\ncores=7-8\n", "rank 1: there is no core 8 that this job may use; it may use cores 0-7"),
        ("-oProxyCommand=x threads=1\nb\n", '"-oProxyCommand=x" is not understood'),
        ("-v threads=1\n-v\n", "line 1: the name of host -v begins with a dash"),
        ("a threads=1\nthreads=1\n", "line 2: some lines name a host and some do not"),
        ("a threads=1\nb threads=1\na threads=1\n", "line 3: the ranks of host a are not next to each other"),
    ],
)
def test_mistakes_in_a_rankfile(launcher: Launcher, tmp_path: Path, text: str, words: str) -> None:
    assert words in complaint(launcher, "-n", "2", "--rankfile", written(tmp_path / "ranks", text))


def test_a_rankfile_that_cannot_be_read(launcher: Launcher) -> None:
    assert "cannot read the rankfile nowhere: No such file" in complaint(launcher, "--rankfile", "nowhere")
    assert "--rankfile is empty" in complaint(launcher, "--rankfile", "")


def test_a_crowded_job_is_bound_when_asked(launcher: Launcher) -> None:
    shared = shown(launcher, "--bind", "shared", "-t", "8,6,2")
    assert shared == [
        "0 8 8 8,6,2 0,0,1,1,2,2,3,3. yes",
        "1 6 6 8,6,2 4,4,5,5,6,6. yes",
        "2 2 2 8,6,2 7,7. yes",
    ]
    assert shown(launcher, "-t", "8,6,2")[0] == "0 8 8 8,6,2 . yes"
    assert shown(launcher, "--bind", "shared", "-t", "4,2,2") == DIFFERENT


def test_ranks_share_a_core_only_when_asked(launcher: Launcher, tmp_path: Path) -> None:
    ranks = written(tmp_path / "ranks", "cores=0\ncores=0\n")
    assert "both ask for core 0" in complaint(launcher, "--rankfile", ranks)
    assert shown(launcher, "--rankfile", ranks, "--bind", "shared") == ["0 1 1 1 0. yes", "1 1 1 1 0. yes"]


def test_verbose_tells_the_different_ranks(launcher: Launcher) -> None:
    told = launcher.run("-t", "4,2,2", "--verbose", "true", environment=EIGHT).stderr
    assert "3 x 4,2,2 (ranks x threads) on 8 usable cores: each thread has a core of its own" in told
    assert "rank 2: threads on processors 6,7; may use 6-7" in told
    crowded = launcher.run("-t", "9", "--bind", "shared", "--verbose", "true", environment=EIGHT).stderr
    assert "more threads than cores; threads share cores, and waiting threads give way" in crowded


AFFINITY = "echo $KUMIKI_RANK $(taskset -cp $$ | sed 's/.*: //')"


@pytest.mark.skipif(CORES < 2, reason="needs two processors")
def test_the_system_confines_each_rank_to_its_cores(launcher: Launcher, tmp_path: Path) -> None:
    """On this machine: the file names cores in the opposite order."""
    ranks = written(tmp_path / "ranks", "cores=1\ncores=0\n")
    found = [line.split()[1] for line in lines(launcher.run("--rankfile", ranks, "sh", "-c", AFFINITY))]
    assert len(set(found)) == 2
    plain = [line.split()[1] for line in lines(launcher.run("-n", "2", "-t", "1", "sh", "-c", AFFINITY))]
    assert found == plain[::-1]
    crowded = lines(launcher.run("-n", str(2 * CORES), "-t", "1", "--bind", "shared", "sh", "-c", AFFINITY))
    assert len({line.split()[1] for line in crowded}) == CORES


@pytest.mark.skipif(CORES < 2, reason="needs two processors")
def test_a_core_has_one_number_whatever_the_launcher_may_use(launcher: Launcher, tmp_path: Path) -> None:
    last = max(os.sched_getaffinity(0))
    first = written(tmp_path / "ranks", "cores=0\n")
    refused = subprocess.run(
        ["taskset", "-c", str(last), launcher.path, "--rankfile", first, "true"],
        env=launcher.environment(),
        capture_output=True,
        text=True,
    )
    assert refused.returncode == USAGE
    assert re.search(r"rank 0: there is no core 0 that this job may use; it may use cores \d+ ", refused.stderr)


# -- devices --

VARIABLES = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
DEVICES = ("sh", "-c", "echo $KUMIKI_RANK $KUMIKI_DEVICES/" + "/".join(f"${{{name}-unset}}" for name in VARIABLES))
FIRST, SECOND = (f"GPU-{number:08d}-1111-2222-3333-444444444444" for number in range(2))


def test_devices_are_divided_among_the_ranks(launcher: Launcher, tmp_path: Path) -> None:
    described = machine(tmp_path)
    assert lines(launcher.run("-n", "3", "--devices", "all", *DEVICES, environment=described)) == [
        f"0 0/{FIRST}/PCI_BUS_ID//",
        f"1 1/{SECOND}/PCI_BUS_ID//",
        "2 2//PCI_BUS_ID/0/0",
    ]
    assert lines(launcher.run("--devices", "1,0", *DEVICES, environment=described)) == [
        f"0 1,0/{SECOND},{FIRST}/PCI_BUS_ID//"
    ]
    assert lines(launcher.run("--devices", "none", *DEVICES, environment=described)) == ["0 //PCI_BUS_ID//"]
    unchanged = {**described, "CUDA_VISIBLE_DEVICES": "7", "KUMIKI_DEVICES": "5"}
    assert lines(launcher.run(*DEVICES, environment=unchanged)) == ["0 /7/unset/unset/unset"]


def test_devices_of_single_ranks(launcher: Launcher, tmp_path: Path) -> None:
    described = machine(tmp_path)
    ranks = written(tmp_path / "ranks", "threads=1 devices=1\nthreads=3\nthreads=1 devices=none\n")
    assert lines(launcher.run("--rankfile", ranks, *DEVICES, environment=described)) == [
        f"0 1/{SECOND}/PCI_BUS_ID//",
        "1 /unset/unset/unset/unset",
        "2 //PCI_BUS_ID//",
    ]
    divided = launcher.run("--rankfile", ranks, "--devices", "all", "--verbose", *DEVICES, environment=described)
    assert lines(divided)[1] == f"1 0,2/{FIRST}/PCI_BUS_ID/0/0"
    assert "rank 1: devices 0,2" in divided.stderr and "rank 0: device 1\n" in divided.stderr


def test_devices_of_hosts(launcher: Launcher, remote_shell: str, tmp_path: Path) -> None:
    described = machine(tmp_path)
    text = "a slots=2 devices=0,1\nb devices=2\nc devices=none\n"
    hosts = ("--hostfile", written(tmp_path / "hosts", text), "--remote-shell", remote_shell, "-x", "HWLOC_XMLFILE")
    assert lines(launcher.run(*hosts, *DEVICES, environment=described)) == [
        f"0 0/{FIRST}/PCI_BUS_ID//",
        f"1 1/{SECOND}/PCI_BUS_ID//",
        "2 2//PCI_BUS_ID/0/0",
        "3 //PCI_BUS_ID//",
    ]
    wrong = written(tmp_path / "wrong", "a\nb devices=3\n")
    started = tmp_path / "started"
    job = ("--hostfile", wrong, "--remote-shell", remote_shell, "touch", str(started))
    result = launcher.run(*job, environment=described)
    assert result.returncode == USAGE
    assert "host b: rank 1: there is no device 3 that this job may use; it may use devices 0-2" in result.stderr
    assert not started.exists()


@pytest.mark.parametrize(
    ("devices", "words"),
    [
        ("3", "rank 0: there is no device 3 that this job may use; it may use devices 0-2 (`kumiki topology` shows"),
        ("", "--devices  is not usable: it must be a list of numbers up to 65535, such as 0-3,8, all or none"),
        ("gpu0", "--devices gpu0 is not usable"),
        ("0,0", "--devices 0,0 is not usable: it names 0 twice"),
    ],
)
def test_mistakes_in_devices(launcher: Launcher, tmp_path: Path, devices: str, words: str) -> None:
    assert words in complaint(launcher, "--devices", devices, environment=machine(tmp_path))


# -- several hosts --


def test_threads_of_ranks_over_hosts(launcher: Launcher, remote_shell: str) -> None:
    hosts = ("--hosts", "a,b", "--remote-shell", remote_shell)
    assert shown(launcher, *hosts, "-t", "4,2,2") == DIFFERENT
    assert "-t 4,2,2 is for 3 ranks, but the job has 4" in complaint(launcher, *hosts, "-n", "4", "-t", "4,2,2")


def test_a_hostfile_says_what_the_ranks_of_a_host_get(launcher: Launcher, remote_shell: str, tmp_path: Path) -> None:
    text = "a slots=2 threads=1 cores=4-7\nb threads=3,1 cores=0-3\n"
    hosts = ("--hostfile", written(tmp_path / "hosts", text), "--remote-shell", remote_shell)
    assert shown(launcher, *hosts, "-t", "2") == [
        "0 1 1 1,1,3,1 4. no",
        "1 1 1 1,1,3,1 5. no",
        "2 3 3 1,1,3,1 0,1,2. no",
        "3 1 1 1,1,3,1 3. no",
    ]


def test_a_rankfile_over_hosts(launcher: Launcher, remote_shell: str, tmp_path: Path) -> None:
    """The hosts are one machine, so their ranks take different cores of it."""
    ranks = written(tmp_path / "ranks", "a threads=3\nb cores=7\nb threads=2\n")
    expected = ["0 3 3 3,1,2 0,1,2. no", "1 1 1 3,1,2 7. no", "2 2 2 3,1,2 3,4. no"]
    for hosts in ((), ("--hosts", "c,b,a")):
        assert shown(launcher, *hosts, "--rankfile", ranks, "--remote-shell", remote_shell) == expected
    said = complaint(launcher, "--hosts", "a,c", "--rankfile", ranks, "--remote-shell", remote_shell)
    assert "the rankfile names host b, which is not among the hosts of the job (a, c)" in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a threads=1\nb cores=8\n", "host b: rank 1: there is no core 8 that this job may use"),
        ("a cores=3\nb cores=3\n", "ranks 0 and 1 both ask for core 3"),
    ],
)
def test_cores_that_a_host_cannot_give(
    launcher: Launcher, remote_shell: str, tmp_path: Path, text: str, words: str
) -> None:
    started = tmp_path / "started"
    ranks = written(tmp_path / "ranks", text)
    job = ("--rankfile", ranks, "--remote-shell", remote_shell, "touch", str(started))
    result = launcher.run(*job, environment=EIGHT)
    assert result.returncode == USAGE, result.stderr
    assert words in result.stderr and result.stderr.count("\n") == 1
    assert not started.exists()
    assert launcher.nothing_left()


def test_hosts_of_a_file_that_has_too_few_threads(launcher: Launcher, remote_shell: str, tmp_path: Path) -> None:
    hosts = written(tmp_path / "hosts", "a slots=3 threads=2,2\n")
    said = complaint(launcher, "--hostfile", hosts, "--remote-shell", remote_shell)
    assert "host a has threads=2,2 for 2 ranks, but the job has 3" in said


def test_no_core_of_a_host(launcher: Launcher, remote_shell: str, tmp_path: Path) -> None:
    hosts = written(tmp_path / "hosts", "a cores=9\n")
    result = launcher.run("--hostfile", hosts, "--remote-shell", remote_shell, "true", environment=EIGHT)
    assert result.returncode in (USAGE, ENVIRONMENT)
    assert "host a: there is no core 9 that this job may use" in result.stderr
