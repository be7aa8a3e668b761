"""`kumiki evaluate --peer NAME=PREFIX`: what is refused, built and measured, and what the results contain."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from fake_native import Native, results_of
from fake_peers import MPICH, builds, executable, install_mpi, install_ucx, with_sources
from kumiki.errors import ExitCode, UserError
from kumiki.evaluation.plan import Request, plan
from kumiki.machine import library, mpi
from kumiki.machine import native as machine
from kumiki.machine.peer import UCX, Installation, Peer
from kumiki.peers import programs
from kumiki.peers.named import named

USAGE, ENVIRONMENT = ExitCode.USAGE, ExitCode.ENVIRONMENT

WRONG_WORDS = [
    ("/opt/openmpi", "--peer NAME=/opt/openmpi"),
    ("", "--peer NAME="),
    ("=/opt/openmpi", "'' is not a valid name"),
    ("Open=/opt/openmpi", "'Open' is not a valid name"),
    ("5=/opt/openmpi", "'5' is not a valid name"),
    ("a b=/opt/openmpi", "'a b' is not a valid name"),
    ("a/b=/opt/openmpi", "'a/b' is not a valid name"),
    (f"{'a' * 33}=/opt/openmpi", "is not a valid name"),
    ("openmpi=/opt/openmpi", "stands for Open MPI"),
    ("ucx=/opt/ucx", "stands for UCX"),
    ("kumiki=/opt/kumiki", "stands for Kumiki"),
    ("bound=/opt/openmpi", "stands for bound"),
    ("command=/opt/openmpi", "stands for command"),
    ("mine=", "--peer mine=/opt/mine"),
]


@pytest.mark.parametrize(("word", "words"), WRONG_WORDS)
def test_what_is_no_peer_is_refused(word: str, words: str) -> None:
    with pytest.raises(UserError) as refusal:
        named([word])
    assert words in refusal.value.sentence and refusal.value.code == USAGE


def test_a_name_is_given_once() -> None:
    with pytest.raises(UserError, match="the name a is given twice"):
        named(["a=/opt/one", "b=/opt/two", "a=/opt/three"])


def test_a_prefix_may_be_relative_or_below_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    assert [each.prefix for each in named(["a=mpi/", "b=~/mpi"])] == [tmp_path / "mpi", Path("/home/me/mpi")]


@pytest.fixture
def peered(native: Native) -> Native:
    """A native part with its sources, and installations that are complete or incomplete."""
    with_sources(native)
    install_mpi(native.prefix / "openmpi-5")
    install_mpi(native.prefix / "mpich-5", MPICH, "5.0.2")
    install_mpi(native.prefix / "stranger", "mpirun of nobody")
    install_mpi(native.prefix / "no-wrapper")
    (native.prefix / "no-wrapper" / "bin" / "mpicxx").unlink()
    install_mpi(native.prefix / "fails")
    executable(native.prefix / "fails" / "bin" / "mpirun", "#!/bin/sh\necho cannot find libprrte >&2; exit 127\n")
    install_mpi(native.prefix / "no-program")
    executable(native.prefix / "no-program" / "bin" / "mpirun", "#!/no/such/shell\n")
    install_ucx(native.prefix / "ucx")
    install_ucx(native.prefix / "ucx-without-headers")
    (native.prefix / "ucx-without-headers" / "include" / "ucp" / "api" / "ucp.h").unlink()
    (native.prefix / "nothing").mkdir()
    (native.prefix / "file").write_text("")
    return native


def test_installations_that_cannot_be_used(peered: Native, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each causes its documented exit code and one sentence, and leaves nothing behind."""
    monkeypatch.setattr(library, "own_words", lambda path, kind, variables: None if path.parts[-3] == "ucx" else "1.2")
    before = set(peered.prefix.iterdir())
    wrong = []
    for arguments, code, words in (
        ("--peer a=nowhere", USAGE, "there is no such folder"),
        ("--peer a=file", USAGE, "there is no such folder"),
        ("--peer a=nothing", USAGE, "neither an MPI (bin/mpirun) nor UCX (lib/libucp.so)"),
        ("--peer a=stranger", USAGE, "neither Open MPI nor MPICH"),
        ("--peer a=no-wrapper", ENVIRONMENT, "bin/mpicxx is missing"),
        ("--peer a=fails", ENVIRONMENT, "cannot find libprrte"),
        ("--peer a=no-program", ENVIRONMENT, "cannot be run"),
        ("--peer a=ucx", ENVIRONMENT, "cannot be loaded"),
        ("--peer a=ucx-without-headers", ENVIRONMENT, "include/ucp/api/ucp.h is missing"),
        ("--peer a=openmpi-5 --suite memory", USAGE, "of the suites memory none measures beside Open MPI"),
        ("--peer a=openmpi-5 -- sleep {threads}", USAGE, "--peer"),
    ):
        ended = peered.kumiki("evaluate", "--output", "out", *shlex.split(arguments))
        if ended.returncode != code or words not in ended.stderr or "Traceback" in ended.stderr:
            wrong.append(f"{arguments}: exit code {ended.returncode}, {ended.stderr}")
    assert not wrong, "\n".join(wrong)
    assert {path.name for path in set(peered.prefix.iterdir()) - before} == {"stdout", "stderr"}


def test_what_a_build_says_when_it_fails(native: Native) -> None:
    with_sources(native, fails_at="KUMIKI_PEER=broken")
    install_mpi(native.prefix / "openmpi-5")
    ended = native.kumiki("evaluate", "--suite", "message", "--peer", "broken=openmpi-5", "--output", "out")
    assert ended.returncode == ENVIRONMENT and "Traceback" not in ended.stderr
    assert "programs for broken cannot be compiled (CMake Error at KumikiPeer.cmake:3 (message): | mpicxx is" in (
        ended.stderr
    )
    log = Path(ended.stderr.strip().rpartition("the whole log: ")[2])
    assert "mpicxx is broken" in log.read_text()
    assert not (native.prefix / "out").exists()


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("path/cmake", "cmake is missing"),
        ("share/kumiki/source/CMakeLists.txt", "the sources of the measuring programs are not installed"),
    ],
)
def test_what_builds_them_must_be_there(native: Native, missing: str, words: str) -> None:
    with_sources(native)
    install_mpi(native.prefix / "openmpi-5")
    (native.prefix / missing).unlink()
    ended = native.kumiki("evaluate", "--suite", "message", "--peer", "a=openmpi-5", "--output", "out")
    assert ended.returncode == ENVIRONMENT and words in ended.stderr and "Traceback" not in ended.stderr


MEASURED = ("evaluate", "--suite", "message", "--quick", "--output", "out")


def test_peers_are_built_once_measured_and_named(peered: Native) -> None:
    peers = ("--peer", "openmpi5=openmpi-5", "--peer", f"mpich5={peered.prefix / 'mpich-5'}")
    ended = peered.kumiki(*MEASURED, *peers)
    assert ended.returncode == 0, ended.stderr
    assert "compiling 1 program for openmpi5 (Open MPI in" in ended.stderr
    content = results_of(peered.prefix / "out")
    medians = {row["implementation"]: row["median"] for row in content["rows"] if row["metric"] == "message.latency"}
    assert medians["openmpi5"] == medians["mpich5"] == medians["openmpi"] == pytest.approx(0.4)
    prefix = str(peered.prefix / "openmpi-5")
    assert content["environment"]["peers"]["openmpi5"] == {
        "kind": "openmpi",
        "title": "Open MPI",
        "version": "5.0.9",
        "prefix": prefix,
    }
    assert content["arguments"]["peers"] == {"openmpi5": prefix, "mpich5": str(peered.prefix / "mpich-5")}
    page = (peered.prefix / "out" / "index.html").read_text()
    assert "Open MPI 5.0.9 (openmpi5)" in page and "MPICH 5.0.2 (mpich5)" in page and "Open MPI 4.1.4" in page

    build = next(line for line in builds(peered) if "KUMIKI_PEER=openmpi5" in line)
    assert f"-DKUMIKI_PEER_PREFIX={prefix}" in build and "-DKUMIKI_PEER_KIND=openmpi" in build
    assert sum(line.endswith("--target message-openmpi5") for line in builds(peered)) == 1
    before = len(builds(peered))
    again = peered.kumiki(*MEASURED, *peers)
    assert again.returncode == 0 and "compiling" not in again.stderr and len(builds(peered)) == before

    more = peered.kumiki("evaluate", "--suite", "message,rank-barrier", "--quick", "--output", "more", *peers[:2])
    assert more.returncode == 0 and "compiling 1 program for openmpi5" in more.stderr
    assert builds(peered)[-1].endswith("--target message-openmpi5 rank-barrier-openmpi5")

    compared = peered.kumiki("compare", "out", "more")
    assert compared.returncode == 0, compared.stderr


def test_another_version_below_the_same_prefix_is_built_anew(peered: Native) -> None:
    peer = ("--peer", "openmpi5=openmpi-5")
    assert peered.kumiki(*MEASURED, *peer).returncode == 0
    begun = peered.prefix / "out"
    install_mpi(peered.prefix / "openmpi-5", version="5.0.10")
    resumed = peered.kumiki(*MEASURED, *peer, "--resume")
    assert resumed.returncode == USAGE and "compiling 1 program" in resumed.stderr
    assert "openmpi5 (Open MPI 5.0.9, Open MPI 5.0.10)" in resumed.stderr
    assert peered.kumiki(*MEASURED, *peer).returncode == 0
    assert results_of(begun)["environment"]["peers"]["openmpi5"]["version"] == "5.0.10"


def test_resuming_takes_the_same_peers(peered: Native) -> None:
    assert peered.kumiki(*MEASURED, "--peer", "mine=openmpi-5").returncode == 0
    other = peered.kumiki(*MEASURED, "--peer", "mine=mpich-5", "--resume")
    assert other.returncode == USAGE and f"--peer mine={peered.prefix / 'openmpi-5'}" in other.stderr
    assert peered.kumiki(*MEASURED, "--peer", "mine=openmpi-5", "--resume").returncode == 0


def test_a_plan_names_them_and_builds_nothing(peered: Native, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "own_words", lambda path, kind, variables: "1.22.0")
    ended = peered.kumiki(*MEASURED, "--dry-run", "--peer", "openmpi5=openmpi-5", "--peer", "new=ucx")
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    ours = next(line for line in lines if "message-openmpi5" in line)
    assert f"{peered.prefix}/openmpi-5/bin/mpirun -n 2" in ours
    assert f"LD_LIBRARY_PATH={peered.prefix}/openmpi-5/lib" in ours
    assert f"{peered.prefix}/.cache/kumiki/peers/openmpi5-" in ours
    assert any("bin/kumiki-run -n 2" in line and "message-new" in line for line in lines)
    assert builds(peered) == [] and not (peered.prefix / ".cache").exists()


def given(name: str, like: Peer) -> Peer:
    return replace(like, name=name, installation=Installation(Path("/opt") / name, "9.9", Path("/cache"), {}))


def test_a_peer_is_measured_wherever_its_kind_is() -> None:
    peers = (given("new-openmpi", mpi.OPENMPI), given("new-mpich", mpi.MPICH), given("new-ucx", UCX))
    usual = [point for _, points in plan(Request(suites=("all",)), 4, 1) for point in points]
    points = [point for _, points in plan(Request(suites=("all",), peers=peers), 4, 1) for point in points]

    def of(implementation: str) -> set[tuple[object, ...]]:
        return {
            (each.suite, each.metric, each.place, tuple(sorted(each.parameters.items())), each.seconds)
            for each in points
            if each.implementation == implementation
        }

    for peer in peers:
        assert of(peer.name) == of(peer.kind) != set()
    # Points that exist without peers are measured in the same way with them, for the same time.
    assert {(each.key, each.seconds) for each in usual} < {(each.key, each.seconds) for each in points}
    assert len(points) == len(usual) + sum(len(of(peer.name)) for peer in peers)


def test_the_words_of_libraries() -> None:
    for words, title, version in (
        ("Open MPI v5.0.11, package: Open MPI user@host Distribution, ident: 5.0.11", "Open MPI", "5.0.11"),
        ("MPICH Version:      5.0.2\nMPICH Release date: Fri Sep 25", "MPICH", "5.0.2"),
        ("MVAPICH2 Version      :\t2.3.7", "MVAPICH2", "2.3.7"),
        ("Intel(R) MPI Library 2021.9 for Linux* OS", "Intel(R) MPI", "2021.9"),
        ("Open MPI v4.1.7a1, package", "Open MPI", "4.1.7a1"),
    ):
        found = programs.OWN_WORDS.match(words)
        assert found and (found["title"], found["version"]) == (title, version)
    assert programs.OWN_WORDS.match("1.22.0") is None


TRACED = """
\tlinux-vdso.so.1 (0x00007f570fc5d000)
\tlibmpi.so.40 => {} (0x00007f570f800000)
\tlibmpi_cxx.so.40 => /other/libmpi_cxx.so.40 (0x00007f570f800000)
\tlibucp.so.0 => /other/libucp.so.0 (0x00007f570f620000)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f570f21e000)
"""


@pytest.fixture
def built(peered: Native, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """Makes programs whose library the loader finds at `path`."""
    where: dict[str, str] = {}

    def said(command: list[str], variables: Mapping[str, str]) -> str:
        if library.TRACE.items() <= variables.items():
            return TRACED.format(where["path"])
        return "Fork of Open MPI v5.0.9rc1, package: none"

    monkeypatch.setattr(library, "_said", said)
    return where


def test_the_library_of_the_prefix_says_what_it_is(peered: Native, built: dict[str, str]) -> None:
    built["path"] = str(peered.prefix / "openmpi-5" / "lib" / "libmpi.so.40")
    assert peered.kumiki(*MEASURED, "--peer", "mine=openmpi-5").returncode == 0
    told = results_of(peered.prefix / "out")["environment"]["peers"]["mine"]
    assert (told["title"], told["version"]) == ("Fork of Open MPI", "5.0.9rc1")


def test_a_library_from_elsewhere_is_not_measured(peered: Native, built: dict[str, str]) -> None:
    for path, words in (
        (Path("/usr/lib/libmpi.so.40"), "taken from /usr/lib/libmpi.so.40"),
        ("not found", "not found"),
    ):
        built["path"] = path  # type: ignore[assignment]
        ended = peered.kumiki(*MEASURED, "--peer", "mine=openmpi-5")
        assert ended.returncode == ENVIRONMENT and f"libmpi.so.40 is {words}" in ended.stderr
        assert not (peered.prefix / "out").exists()


def test_a_prefix_may_hold_links_to_its_libraries(peered: Native, built: dict[str, str]) -> None:
    real = peered.prefix / "store" / "libmpi.so.40"
    real.parent.mkdir()
    real.write_text("")
    (peered.prefix / "openmpi-5" / "lib" / "libmpi.so.40").symlink_to(real)
    built["path"] = str(real)
    assert peered.kumiki(*MEASURED, "--peer", "mine=openmpi-5").returncode == 0


def test_programs_that_hold_their_library_are_what_the_launcher_says(peered: Native) -> None:
    peer = given("mine", mpi.OPENMPI)
    points = [point for _, points in plan(Request(suites=("cg",), peers=(peer,)), 2, 1) for point in points]
    assert {point.absence(machine.Native(peered.prefix)) for point in points if point.installation} == {None}
