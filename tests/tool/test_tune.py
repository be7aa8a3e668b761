"""`kumiki tune`: the choice, the file, and the command against fake programs."""

from __future__ import annotations

import re
import signal
import time
from pathlib import Path

import pytest
from fake_native import Native as Prefix
from kumiki.errors import UserError
from kumiki.hosts import Hosts
from kumiki.suites.fragments import LONGEST_OVER_HOSTS, OWN_RULE, PAPER
from kumiki.tune import store, view
from kumiki.tune.choice import choose
from kumiki.tune.sweep import LENGTHS, Sweep

LAB = Hosts("lab", ("a", "b", "c"), ("ssh",), "eth0")
LAUNCHER = """#!/bin/sh
while :; do
    case "$1" in
        --fragment) export KUMIKI_FRAGMENT=$2; shift 2 ;;
        -*) shift 2 ;;
        *) break ;;
    esac
done
exec "$@"
"""
FRAGMENT = """row fragment.bandwidth kumiki GB/s higher \
$(case $KUMIKI_FRAGMENT in 0) echo 4,4.1,4;; 16384) echo 8,8.1,8;; 65536) echo 8.05,8,8;; *) echo 1,1.1,1;; esac)
"""
BOX = "box,2,48k"


@pytest.fixture
def tunable(bare: Prefix) -> Prefix:
    """A native part whose messages are the fastest in fragments of 16 and 64 KiB."""
    bare.command("kumiki-run", LAUNCHER)
    bare.command("kumiki-topology", f"#!/bin/sh\n[ $1 = --key ] && echo {BOX}\n")
    bare.program("fragment", FRAGMENT)
    return bare


def around(middle: float, width: float = 0.01) -> list[float]:
    return [middle * (1 + width * (each - 3.5) / 3.5) for each in range(8)]


def test_the_shortest_that_is_as_good_as_the_fastest() -> None:
    found = choose({OWN_RULE: around(4), 223: around(1), 4048: around(7.98), 65536: around(8), 1048528: around(6)})
    assert (found.length, found.fastest) == (4048, 65536)
    assert found.certainty == 1
    assert found.loss == pytest.approx(0.5, abs=0.01) and found.loss_is_real


def test_slow_beside_the_fastest_in_each_round_is_not_as_good() -> None:
    found = choose({OWN_RULE: around(4), 223: around(7, 0.5), 4048: around(8, 0.5)})
    assert (found.length, found.certainty) == (4048, 1)


def test_noise_is_told() -> None:
    noise = around(8, 0.5)
    found = choose({OWN_RULE: around(7.5, 0.5), 223: noise[::-1], 4048: noise})
    assert found.length == 223
    assert 0.5 <= found.certainty < 0.9 and not found.loss_is_real
    assert "as good" in " ".join(view.sentences(found))


def test_a_faster_rule_is_told() -> None:
    said = " ".join(view.sentences(choose({OWN_RULE: around(10), 223: around(1), 4048: around(8)})))
    assert "Best: 4048 bytes" in said and "own rule is 25% faster" in said


def test_every_length_once_in_each_round() -> None:
    sweep = Sweep(None)
    order = list(sweep.order(1))
    rounds = [order[at : at + len(sweep.lengths)] for at in range(0, len(order), len(sweep.lengths))]
    assert len(rounds) >= 6 and all(sorted(each) == sweep.lengths for each in rounds)
    assert rounds[0] != rounds[1] and order != list(sweep.order(2))
    assert set(PAPER) <= set(Sweep(None, quick=True).lengths) and set(LENGTHS) < set(sweep.lengths)


def test_the_link_and_its_first_two_hosts() -> None:
    assert Sweep(None).link == "memory" and Sweep(LAB).link == "network:eth0"
    assert Sweep(Hosts("x", ("a", "b"), ("ssh",))).link == "network"
    launcher = Sweep(LAB).point(4048).launcher
    assert launcher.hosts is not None and launcher.hosts.names == ("a", "b")


def test_others_stay_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "tuned"
    file.write_text(f"# old\nother memory 4048\n{BOX} memory 223\ndamaged line\n{BOX} network 512\n")
    store.store(file, [store.Entry(BOX, "memory", 65536)])
    assert file.read_text().splitlines() == [
        store.HEADER,
        "other memory 4048",
        f"{BOX} memory 65536",
        f"{BOX} network 512",
    ]
    assert list(tmp_path.iterdir()) == [file]


def test_where_the_file_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/a")
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert store.usual_file() == Path("/home/a/.config/kumiki/tuned")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/etc/a")
    assert store.usual_file() == Path("/etc/a/kumiki/tuned")


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for bad in (tmp_path, tmp_path / "file" / "tuned"):
        with pytest.raises(UserError, match="--output"):
            store.check(bad)


def test_the_whole_command(tunable: Prefix) -> None:
    ended = tunable.kumiki("tune", "--quick")
    assert ended.returncode == 0, ended.stderr
    assert "Best: 16384 bytes, 8.00 GB/s" in ended.stdout
    assert "own rule loses 50%" in ended.stdout
    assert (tunable.prefix / ".config/kumiki/tuned").read_text().endswith(f"{BOX} memory 16384\n")


AS_GOOD_AS_THE_RULE = "row fragment.bandwidth kumiki GB/s higher 4,4.1,4,4.05\n"


def test_nothing_is_written_where_the_own_rule_is_as_good(tunable: Prefix) -> None:
    tunable.program("fragment", AS_GOOD_AS_THE_RULE)
    ended = tunable.kumiki("tune", "--quick", "--output", "tuned")
    assert ended.returncode == 0, ended.stderr
    assert "Nothing is saved" in ended.stdout and not (tunable.prefix / "tuned").exists()


def test_an_older_length_goes_where_the_own_rule_is_as_good(tunable: Prefix) -> None:
    tunable.program("fragment", AS_GOOD_AS_THE_RULE)
    (tunable.prefix / "tuned").write_text(f"other memory 1\n{BOX} memory 223\n")
    ended = tunable.kumiki("tune", "--quick", "--output", "tuned")
    assert ended.returncode == 0, ended.stderr
    assert "from tuned;" in ended.stdout
    assert (tunable.prefix / "tuned").read_text() == f"{store.HEADER}\nother memory 1\n"


def test_no_length_above_the_limit_between_hosts() -> None:
    for quick in (False, True):
        assert max(Sweep(LAB, quick).lengths) == LONGEST_OVER_HOSTS
    assert max(Sweep(None).lengths) > LONGEST_OVER_HOSTS
    engine = (Path(__file__).parents[2] / "src/fabric/ucx/transport.cpp").read_text()
    burst = re.search(r"over_tcp\{\.burst = (\d+), \.part = std::size_t\{2\} \* (\d+)\};", engine)
    assert burst and burst[1] == burst[2]
    assert 2 * int(burst[1]) == LONGEST_OVER_HOSTS


def test_an_older_file_that_cannot_be_read_is_found_before_measuring(tunable: Prefix) -> None:
    (tunable.prefix / "tuned").symlink_to("tuned")
    ended = tunable.kumiki("tune", "--quick", "--output", "tuned")
    assert ended.returncode == 2 and "--output" in ended.stderr
    assert tunable.started == []


def test_dry_run_leaves_nothing(tunable: Prefix) -> None:
    ended = tunable.kumiki("tune", "--dry-run", "--output", "there/tuned")
    assert ended.returncode == 0, ended.stderr
    assert all(f"--fragment {length} " in ended.stdout for length in PAPER)
    assert not (tunable.prefix / "there").exists() and tunable.started == []


def test_a_length_that_fails_leaves_the_old_file(tunable: Prefix) -> None:
    tunable.program("fragment", "echo broken >&2; exit 1\n")
    (tunable.prefix / "tuned").write_text("other memory 1\n")
    ended = tunable.kumiki("tune", "--quick", "--output", "tuned")
    assert ended.returncode == 1
    assert "could not be measured" in ended.stderr and "broken" in ended.stderr
    assert (tunable.prefix / "tuned").read_text() == "other memory 1\n"


def test_an_interrupt_leaves_the_old_file(tunable: Prefix) -> None:
    tunable.program("fragment", "exec sleep 100\n")
    (tunable.prefix / "tuned").write_text("other memory 1\n")
    command = tunable.start("tune", "--output", "tuned")
    while not tunable.started:
        time.sleep(0.02)
    command.send_signal(signal.SIGINT)
    _, errors = command.communicate(timeout=30)
    assert command.returncode == 130 and "tuned is unchanged" in errors
    assert (tunable.prefix / "tuned").read_text() == "other memory 1\n"


def test_without_a_native_part(bare: Prefix) -> None:
    ended = bare.kumiki("tune")
    assert ended.returncode == 3 and "kumiki-run is missing" in ended.stderr
