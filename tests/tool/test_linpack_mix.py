"""The process mix of the TSUBAME paper (F42, F45): counts, layouts, cores, and the command with fake programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_native import Native as Prefix
from kumiki.errors import UserError
from kumiki.linpack.mix import Mix, accelerated_by, host_part, mix_of, without_device
from kumiki.linpack.model import Setting

LAUNCHER = """#!/bin/sh
while :; do
    case "$1" in
        --rankfile) while read -r line; do echo "$line"; done < "$2" > LOG.ranks; shift 2 ;;
        -n|-t|--bind) shift 2 ;;
        *) break ;;
    esac
done
exec "$@"
"""
LINPACK = """#!/bin/sh
echo "$*" >> LOG
printf 'WR10R2R8%12s %5s %5s %5s %18.2f    %19s\\n' 500 64 1 3 1.5 8.0000e+01
"""
ROW = (
    '{"metric": "dgemm.rate", "implementation": "%s", "parameters": {}, "unit": "GFLOP/s", "better": "higher", '
    '"samples": [%s, %s, %s]}'
)


def test_counts_of_the_paper() -> None:
    # 27 GFLOPS of the board at the sizes of the runs, 8.6 of a host process; 38 is the board's best rate.
    assert accelerated_by(27, 8.6) == 3 and accelerated_by(38, 8.6) == 4 and accelerated_by(5, 8.6) == 0


def test_layouts_of_the_paper() -> None:
    fine, coarse = host_part("fine", 16), host_part("coarse", 16)
    assert (fine.hosts, fine.threads) == (7, 2) and (coarse.hosts, coarse.threads) == (2, 7)
    assert Mix(7, 2, 3).ranks == 10 and str(Mix(7, 2, 3)) == "7x2+3" and mix_of("7x2+3") == Mix(7, 2, 3)
    assert Mix(2, 7, 1).each == "7,7,1"


@pytest.mark.parametrize("cores", range(2, 70))
@pytest.mark.parametrize("kind", ["fine", "coarse"])
def test_layouts_leave_a_core_for_the_device(kind: str, cores: int) -> None:
    part = host_part(kind, cores)
    assert part.hosts >= 1 and part.threads >= 1 and part.hosts * part.threads < cores
    lines = Mix(part.hosts, part.threads, 3).rankfile(range(cores)).splitlines()
    own = [core for line in lines[:-3] for core in line.partition("cores=")[2].split(",")]
    assert len(own) == len(set(own)) == part.hosts * part.threads
    assert not {line.partition("cores=")[2] for line in lines[-3:]} & set(own)


def test_a_rankfile_of_hosts_names_them() -> None:
    assert Mix(1, 2, 1).rankfile([4, 5, 6], "a") == "a threads=2 cores=4,5\na threads=1 cores=6\n"
    assert Mix(2, 2, 1).rankfile(None, "b") == "b threads=2\nb threads=2\nb threads=1\n"
    with pytest.raises(UserError, match="2 threads, but there are 1 cores on a"):
        Mix(1, 2, 1).rankfile([0], "a")


@pytest.mark.parametrize("wrong", ["", "7", "7x2", "0x2+1", "7x0+1", "7x2+", "a mix"])
def test_a_wrong_mix_is_a_sentence(wrong: str) -> None:
    with pytest.raises(UserError, match="such as 7x2"):
        mix_of(wrong)
    with pytest.raises(UserError, match="there is 1"):
        host_part("fine", 1)
    with pytest.raises(UserError, match="have 14 threads, but there are 4 cores"):
        Mix(7, 2, 3).rankfile(range(4))


def test_the_setting_says_which_ranks_use_the_device() -> None:
    assert Setting(9, 3, 1, 3, 1, None, "opencl", 2).arguments()[-4:] == [
        "--device",
        "opencl",
        "--device-processes",
        "2",
    ]


@pytest.fixture
def programs(native: Prefix) -> Prefix:
    """A device of 27 GFLOP/s beside a process of 8.6."""
    log = str(native.prefix / "log")
    native.command("kumiki-run", LAUNCHER.replace("LOG", log))
    native.command("kumiki-linpack", LINPACK.replace("LOG", log))
    native.program("linpack", program_that_measures(35.6, 27))
    return native


def program_that_measures(together: float, device: float) -> str:
    """Prints the rates of products, as `linpack --product --device`: unless the offload form is asked for, the device
    may have all of them."""

    def rows(bound: float) -> str:
        return "\n".join(f"echo '{ROW % (name, *[rate] * 3)}'" for name, rate in (("bound", bound), ("device", device)))

    return f"case $form in offload)\n{rows(together)} ;;\n*)\n{rows(device)} ;;\nesac\n"


def test_the_command_chooses_the_number_of_processes(programs: Prefix) -> None:
    ended = programs.kumiki("linpack", "--mix", "fine", "--device", "opencl", "-N", "500", "--block", "64")
    assert ended.returncode == 0, ended.stderr
    rates = "the device has 27 GFLOP/s in products of blocks of 64, a host process 8.6"
    assert f"and 3 on the device: {rates}" in ended.stdout
    assert "--device opencl --device-processes 3" in (programs.prefix / "log").read_text()
    assert Path(f"{programs.prefix}/log.ranks").read_text().count("threads=1") >= 3
    assert "--weights" not in (programs.prefix / "log").read_text(), "all shares are equal"


def test_a_device_that_is_slower_than_a_process_is_left_out(programs: Prefix) -> None:
    programs.program("linpack", program_that_measures(9.6, 1))
    ended = programs.kumiki("linpack", "--mix", "coarse", "--device", "opencl", "-N", "500", "--block", "64")
    assert ended.returncode == 0, ended.stderr
    assert "and none on the device, which is slower than one of them: the device has 1 GFLOP/s" in ended.stdout
    assert "--device-processes 0" in (programs.prefix / "log").read_text()


def test_without_products_of_the_host_there_is_nothing_to_compare(programs: Prefix) -> None:
    programs.program("linpack", program_that_measures(27, 27))
    ended = programs.kumiki("linpack", "--mix", "fine", "--device", "opencl", "-N", "500", "--block", "64")
    assert ended.returncode == 1 and "the threads beside opencl computed no products" in ended.stderr


def test_without_the_device_a_layout_takes_all_cores() -> None:
    assert without_device("coarse", 8) == Mix(2, 4, 0) and without_device("coarse", 9) == Mix(2, 4, 0)
    assert without_device("fine", 7) == Mix(7, 1, 0) and without_device("fine", 9) == Mix(4, 2, 0)


def test_a_grid_that_does_not_fit_the_mix_is_refused_before_trials(programs: Prefix) -> None:
    ended = programs.kumiki("linpack", "--mix", "1x1+1", "--device", "opencl", "--grid", "1x1")
    assert ended.returncode == 2 and "--grid 1x1 is no grid of 2 processes: --mix 1x1+1" in ended.stderr
    assert not (programs.prefix / "log").exists()


def test_a_dry_run_prints_a_command_that_can_be_run(programs: Prefix) -> None:
    """The file of the cores is gone when the command has ended."""
    words = ("--mix", "1x1+1", "--device", "opencl", "-N", "500", "--block", "64", "--grid", "1x2")
    ended = programs.kumiki("linpack", *words, "--dry-run")
    assert ended.returncode == 0, ended.stderr
    assert f"# kumiki linpack {' '.join(words)}\n" in ended.stdout and "--rankfile" not in ended.stdout


def test_a_mix_needs_a_device(programs: Prefix) -> None:
    ended = programs.kumiki("linpack", "--mix", "fine")
    assert ended.returncode == 2 and "give --device" in ended.stderr.replace("\n", " ")
