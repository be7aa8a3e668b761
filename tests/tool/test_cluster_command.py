"""`kumiki cluster` and `kumiki run --cluster` without root: what is missing, and with a fake iproute2 that only
answers.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from fake_native import Native
from kumiki.cluster import requirements
from kumiki.errors import ExitCode, UserError

VERBS = (("create",), ("list",), ("exec", "--", "true"), ("link", "default", "0", "down"), ("delete",))
LISTED = """#!/bin/sh
case "$*" in
*netns\\ list) echo '[{"name":"other"},{"name":"kumiki-lab-1"},{"name":"kumiki-lab-0","id":3},{"name":"kumiki-lab-net"}
                   ,{"name":"kumiki-torn-0"}]' ;;
"-n kumiki-lab-net -json link show") echo '[{"ifname":"lo","flags":["LOOPBACK"]},{"ifname":"bridge","flags":["UP"]},{},
    {"ifname":"host0","flags":["BROADCAST","UP"]},{"ifname":"host1","flags":["BROADCAST"]}]' ;;
*) echo "unexpected: $*" >&2; exit 1 ;;
esac
"""
BUCKETS = """#!/bin/sh
echo '[{"kind":"noqueue","dev":"lo"},{"kind":"tbf","dev":"host0","options":{"rate":12500000,"burst":3076}}]'
"""


@pytest.fixture
def permitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretends to be root; the command line runs in a fork of this process, so this applies to it, too."""
    monkeypatch.setattr(requirements, "_permitted", lambda: True)


@pytest.fixture
def lab(native: Native, permitted: None) -> Native:
    """Beside the native part, an iproute2 that reports a cluster `lab` with two hosts and the remains of another
    cluster.
    """
    for name, body in (("ip", LISTED), ("tc", BUCKETS)):
        tool = Path(native.environment["PATH"]) / name
        tool.write_text(body)
        tool.chmod(0o755)
    native.command("kumiki-run", '#!/bin/sh\nfor a in "$@"; do echo "[$a]"; done\nexit 42\n')
    return native


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
def test_without_root(native: Native, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...]) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    ended = native.kumiki("cluster", *verb)
    assert ended.returncode == 3
    assert "needs root" in ended.stderr and "sudo kumiki cluster create" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_root_without_capabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    status = Path("/proc/self/status").read_text().splitlines()
    bare = "\n".join("CapEff:\t00000000a80425fb" if line.startswith("CapEff") else line for line in status)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(Path, "read_text", lambda _: bare)
    lack = requirements.lack()
    assert lack is not None and "CAP_SYS_ADMIN" in lack.need and lack.mend == "docker run --privileged ..."


def test_capabilities_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(requirements.shutil, "which", lambda name: f"/sbin/{name}")
    monkeypatch.setattr(Path, "read_text", lambda _: "Name:\tx\nCapAmb:\t0000000000201000\n")
    assert requirements.lack() is None
    monkeypatch.setattr(Path, "read_text", lambda _: "Name:\tx\nCapAmb:\t0000000000001000\n")
    assert requirements.lack() is not None


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
def test_without_iproute2(native: Native, permitted: None, verb: tuple[str, ...]) -> None:
    ended = native.kumiki("cluster", *verb)
    assert ended.returncode == 3
    assert "ip and tc missing" in ended.stderr and "apt install iproute2" in ended.stderr


def test_without_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "exists", lambda _: False)
    with pytest.raises(UserError, match="CONFIG_NET_NS") as problem:
        requirements.require()
    assert problem.value.code is ExitCode.ENVIRONMENT


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("create", "a_b"), "'a_b' cannot be the name of a cluster"),
        (("create", "--rate", "fast"), "'fast' is not a rate"),
        (("create", "--hosts", "0"), "--hosts"),
        (("create", "--hosts", "1001"), "--hosts"),
        (("exec",), "the command is missing"),
        (("exec", "--host", "1", "lab", "true"), "true"),
        (("link", "lab", "0", "sideways"), "sideways"),
        (("link", "lab", "2", "down"), "cluster 'lab' has no host 2; its hosts are 0 to 1"),
        (("delete", "lab", "--all"), "not both"),
        (("exec", "leb", "--", "true"), "did you mean 'lab'?"),
        (("exec", "torn", "--", "true"), "kumiki cluster delete torn"),
        (("create", "lab"), "cluster 'lab' exists already"),
        (("create", "torn"), "not complete"),
    ],
)
def test_wrong_usage(lab: Native, arguments: tuple[str, ...], words: str) -> None:
    ended = lab.kumiki("cluster", *arguments)
    assert ended.returncode == 2
    assert words in ended.stderr and "Traceback" not in ended.stderr


def test_list_tells_what_the_system_tells(lab: Native) -> None:
    told = {
        cluster["name"]: cluster for cluster in json.loads(lab.kumiki("cluster", "list", "--format", "json").stdout)
    }
    assert set(told) == {"lab", "torn"}
    assert told["lab"]["complete"] is True and told["torn"]["complete"] is False
    assert (told["lab"]["rate"], told["lab"]["bits_per_second"]) == ("100mbit", 10**8)
    assert [(host["namespace"], host["address"], host["linked"]) for host in told["lab"]["hosts"]] == [
        ("kumiki-lab-0", "10.77.0.1", True),
        ("kumiki-lab-1", "10.77.0.2", False),
    ]
    table = lab.kumiki("cluster", "list").stdout
    assert "cut off: host 1" in table and "not complete" in table and "100mbit" in table


@pytest.mark.parametrize("option", [("--cluster", "lab"), ("--cluster=lab",)])
def test_run_on_a_cluster_hands_everything_else_on(lab: Native, option: tuple[str, ...]) -> None:
    own = ["-n", "2", "--help", "--", "a b", "", "--cluster", "x", "-x=1"]
    ended = lab.kumiki("run", *option, *own)
    hosts = ["--hosts", "kumiki-lab-0,kumiki-lab-1", "--remote-shell", "ip netns exec", "--interface", "eth0"]
    assert ended.stdout.splitlines() == [f"[{argument}]" for argument in hosts + own]
    assert ended.returncode == 42


def test_run_without_a_cluster_asks_nothing(lab: Native) -> None:
    (Path(lab.environment["PATH"]) / "ip").unlink()
    assert lab.kumiki("run", "program", "--cluster", "lab").stdout.splitlines() == ["[program]", "[--cluster]", "[lab]"]


@pytest.mark.parametrize(
    ("name", "words"), [("nowhere", "kumiki cluster create nowhere"), ("torn", "not complete"), ("a b", "name")]
)
def test_run_on_a_cluster_that_is_none(lab: Native, name: str, words: str) -> None:
    ended = lab.kumiki("run", "--cluster", name, "program")
    assert ended.returncode == 2
    assert words in ended.stderr and ended.stdout == ""


def test_run_on_a_cluster_without_root(native: Native, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    ended = native.kumiki("run", "--cluster", "lab", "program")
    assert ended.returncode == 3
    assert "needs root" in ended.stderr


def test_what_the_system_refuses_is_a_sentence(lab: Native) -> None:
    ended = lab.kumiki("cluster", "create", "new")
    assert ended.returncode == 3
    assert ended.stderr == "kumiki: 'ip netns add kumiki-new-net' failed: unexpected: netns add kumiki-new-net\n"


def test_an_iproute2_without_json_is_a_sentence(lab: Native) -> None:
    (Path(lab.environment["PATH"]) / "ip").write_text("#!/bin/sh\necho 'kumiki-lab-0 (id: 3)'\n")
    ended = lab.kumiki("cluster", "list")
    assert ended.returncode == 3
    assert ended.stderr == "kumiki: 'ip -json netns list' does not print JSON; a newer iproute2 is needed\n"


def test_the_doctor_knows(native: Native, monkeypatch: pytest.MonkeyPatch) -> None:
    def finding() -> dict[str, str]:
        told = json.loads(native.kumiki("doctor", "--format", "json").stdout)
        return next(finding for finding in told["findings"] if finding["subject"] == "clusters in namespaces")

    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    without_root = finding()
    assert (without_root["state"], without_root["mend"]) == ("optional", "sudo kumiki cluster create")
    assert "root" in without_root["sentence"]
    monkeypatch.setattr(requirements, "_permitted", lambda: True)
    assert finding()["mend"] == "sudo apt install iproute2"
    for name in requirements.COMMANDS:
        (Path(native.environment["PATH"]) / name).symlink_to("/bin/true")
    assert finding()["state"] == "good"
