"""`kumiki linpack`: the choice, and the command with a program that prints HPL's output."""

from __future__ import annotations

import re
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from fake_native import Native as Prefix
from hpls_own import HPLS_OWN
from kumiki.linpack import hpl_dat
from kumiki.linpack.beside import summary
from kumiki.linpack.choice import RUN_SECONDS, Room, Wishes, choose
from kumiki.linpack.memory import bytes_of_rank, largest_size
from kumiki.linpack.model import Result, Setting, near_square, operations, results
from kumiki.linpack.work import figures

LINPACK = """#!/bin/sh
echo "kumiki-linpack ranks=$FAKE_RANKS threads=$FAKE_THREADS $*" >> LOG
while [ $# -gt 0 ]; do
    case "$1" in
        -N) size=$2 ;;
        --block) blocks=$2 ;;
        --threshold) [ "$2" = 0 ] && trial=yes ;;
    esac
    shift
done
[ -n "$trial" ] || CODE
for block in $(IFS=,; echo $blocks); do
    case $block in 192) rate=8.0000e+01 ;; *) rate=4.0000e+01 ;; esac
    printf 'WR10R2R8%12s %5s %5s %5s %18.2f    %19s\\n' $size $block 1 2 1.5 $rate
done
"""


def test_results_are_read_as_hpl_prints_them() -> None:
    line = "WR11C2R4       15000   256     1     2              17.25             1.3048e+02"
    assert results(["# a remark", line, "WR is no result"]) == [Result(15000, 256, 17.25, 130.48)]


def test_the_room_on_a_device_is_read_from_the_remark_before_a_result() -> None:
    line = "WR10R2R8        1000   {}     1     1              17.25             1.3048e+02"
    room = "# the matrix lives on the device, which has room for N = 8832 in blocks of 128"
    found = results([room, "# another remark", line.format(128), line.format(192)])
    assert [(each.block, each.device_room) for each in found] == [(128, 8832), (192, None)]


FAILED = "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   4.49301556e+03 ...... FAILED"


def test_a_result_whose_residual_is_too_large_has_failed() -> None:
    line = "WR11C2R4       15000   256     1     2              17.25             1.3048e+02"
    passed = FAILED.replace("FAILED", "PASSED")
    assert [result.failed for result in results([line, "---", FAILED, line, passed, line])] == [True, False, False]


def test_memory_of_all_ranks_covers_the_matrix_and_grows_with_it() -> None:
    setting = Setting(10000, 256, 2, 2, 1)
    assert bytes_of_rank(setting) * 4 >= 8 * 10000 * 10001
    assert bytes_of_rank(setting) * 4 < 1.5 * 8 * 10000 * 10001
    largest = largest_size(setting, 8 << 30)
    assert largest % 256 == 0
    assert (
        4 * bytes_of_rank(setting.with_size(largest)) <= 8 << 30 < 4 * bytes_of_rank(setting.with_size(largest + 256))
    )


def test_a_block_that_is_wider_than_the_matrix_takes_no_more_memory() -> None:
    assert bytes_of_rank(Setting(10, 8000, 1, 1, 1)) == bytes_of_rank(Setting(10, 11, 1, 1, 1)) < 1 << 14


def test_over_hosts_each_rank_has_a_copy_of_the_rows_of_all_process_rows() -> None:
    """linpack/swap_board.cpp: pieces for two steps, of 2 B rows, by process row."""
    setting = Setting(10000, 256, 8, 1, 1)
    more = bytes_of_rank(replace(setting, hosts=8)) - bytes_of_rank(setting)
    assert more == 7 * 8 * 2 * (2 * 256) * 10001
    wide = Setting(10000, 256, 1, 8, 1)
    assert bytes_of_rank(replace(wide, hosts=8)) == bytes_of_rank(wide), "rows of one process row stay where they are"


def test_grids_are_as_square_as_can_be() -> None:
    assert [near_square(ranks) for ranks in (1, 2, 4, 6, 7, 12)] == [(1, 1), (1, 2), (2, 2), (2, 3), (1, 7), (3, 4)]


class Trials:
    """Trials whose fastest block is 192."""

    def __init__(self, rate: float, device_room: dict[int, int] | None = None) -> None:
        """`device_room`: by block, where the matrix lives on a device; a larger one is refused, as by the program."""
        self.rate = rate
        self.device_room = device_room or {}
        self.sizes: list[int] = []

    def __call__(self, setting: Setting, blocks: object) -> list[Result]:
        assert isinstance(blocks, list)
        self.sizes.append(setting.size)
        rates = [self.rate if block == 192 else self.rate / 2 for block in blocks]
        assert all(setting.size <= self.device_room.get(block, setting.size) for block in blocks), "no room"
        return [
            Result(setting.size, block, operations(setting.size) / 1e9 / rate, rate, False, self.device_room.get(block))
            for block, rate in zip(blocks, rates, strict=True)
        ]


def test_everything_is_chosen_with_a_reason() -> None:
    choice = choose(Wishes(), Room(1, 8, 2, 64 << 30), Trials(100))
    setting = choice.setting
    assert (setting.ranks, setting.threads, setting.rows, setting.columns, setting.block) == (2, 4, 1, 2, 192)
    assert setting.size % 192 == 0 and 0.9 * RUN_SECONDS < choice.seconds <= RUN_SECONDS
    assert [reason.split(":")[0] for reason in choice.reasons] == ["ranks", "threads", "grid", "block", "N"]
    assert "at 100 GFLOP/s" in choice.reasons[-1]


def test_the_size_keeps_within_the_memory() -> None:
    choice = choose(Wishes(), Room(1, 2, 1, 1 << 30), Trials(1000))
    assert bytes_of_rank(choice.setting) <= 0.8 * (1 << 30)
    assert "1.00 GiB that are free" in choice.reasons[-1]


def test_the_size_keeps_within_the_memory_of_the_device_on_which_the_matrix_lives() -> None:
    trials = Trials(1000, {128: 2560, 192: 2496, 256: 2304, 384: 1920})
    choice = choose(Wishes(device="cuda", form="resident"), Room(1, 2, 1, 64 << 30), trials)
    assert trials.sizes[-1] == 1920, "the trials of all blocks have room"
    assert choice.setting.block == 192 and choice.setting.size == 2496
    assert "the device, on which the matrix lives, has room" in choice.reasons[-1]


def test_what_the_user_decides_is_not_chosen() -> None:
    trials = Trials(50)
    choice = choose(Wishes(size=700, block=64, grid=(2, 3), threads=1), Room(1, 2, 1, 1 << 30), trials)
    assert choice.setting == Setting(700, 64, 2, 3, 1, "measured") and choice.reasons == ()
    assert max(trials.sizes) <= 1000


def test_a_device_reaches_the_program_and_takes_memory() -> None:
    setting = Setting(10000, 256, 1, 1, 2, None, "opencl:0")
    assert setting.arguments()[-2:] == ["--device", "opencl:0"]
    assert bytes_of_rank(setting) >= bytes_of_rank(replace(setting, device=None)) + 8 * (2 * 256 * 10000)


def test_figures_of_the_top500() -> None:
    found = [Result(1000, 64, 0.1, 20), Result(3000, 64, 1, 60), Result(9000, 64, 9, 100), Result(8000, 64, 9, 70)]
    assert figures(found) == ["Rmax: 100 GFLOP/s", "Nmax: 9000", "N1/2: about 2500"]
    assert figures(found[1:])[2] == "N1/2: not above 3000, the smallest size that was run"


def test_trials_count_for_half_the_rate_only_and_with_their_best_block() -> None:
    tried = [Result(1000, 64, 0.1, 20), Result(3000, 64, 1, 90), Result(3000, 256, 1, 10)]
    assert figures([Result(9000, 64, 9, 80)], tried) == ["Rmax: 80 GFLOP/s", "Nmax: 9000", "N1/2: about 1571"]
    assert figures([Result(500, 64, 9, 8)], tried)[2] == "N1/2: not above 500, the smallest size that was run"


@pytest.fixture
def linpack(native: Prefix) -> Prefix:
    """A native part whose Linpack reaches 80 GFLOP/s with blocks of 192."""
    return with_linpack(native, "true")


def with_linpack(native: Prefix, code: str) -> Prefix:
    native.command("kumiki-linpack", LINPACK.replace("CODE", code).replace("LOG", str(native.prefix / "log")))
    return native


def log(native: Prefix) -> list[str]:
    return (native.prefix / "log").read_text().splitlines()


def test_the_command_alone_chooses_runs_and_reports(linpack: Prefix) -> None:
    ended = linpack.kumiki("linpack")
    assert ended.returncode == 0, ended.stderr
    assert "# block: 192, the fastest in trials" in ended.stdout
    assert re.search(r"^# N: \d+, which ", ended.stdout, re.M)
    assert "# Rmax: 80 GFLOP/s" in ended.stdout and "# Nmax: " in ended.stdout and "# N1/2: " in ended.stdout
    assert len(re.findall(r"^WR10R2R8", ended.stdout, re.M)) == 1, "trials print nothing"
    assert "ranks=1 threads=2" in log(linpack)[-1] and log(linpack)[-1].endswith("--progress")


def test_a_dry_run_prints_memory_time_and_command(linpack: Prefix, tmp_path: Path) -> None:
    ended = linpack.kumiki("linpack", "--dry-run", "-N", "5000", "--block", "192", "--write", str(tmp_path / "new.dat"))
    assert ended.returncode == 0, ended.stderr
    assert "# memory: 0." in ended.stdout and "# time: about 1 s" in ended.stdout
    assert "kumiki-linpack -N 5000 --block 192 --grid 1x1" in ended.stdout
    assert all("--threshold 0" in line for line in log(linpack))
    written = hpl_dat.read(tmp_path / "new.dat")
    assert (written.sizes, written.blocks, written.grids) == ((5000,), (192,), ((1, 1),))


def test_a_choice_that_is_written_and_read_runs_alike(linpack: Prefix, tmp_path: Path) -> None:
    file = str(tmp_path / "new.dat")
    ended = linpack.kumiki(
        "linpack", "-N", "500", "--block", "64", "--grid", "1x2", "--weights", "2,1", "--write", file
    )
    assert ended.returncode == 0, ended.stderr
    assert linpack.kumiki("linpack", "--input", file).returncode == 0
    chosen, again = log(linpack)[-2:]
    for words in ("-N 500", "--block 64", "--grid 1x2", "--weights 2,1"):
        assert words in chosen and words in again


@pytest.mark.parametrize(
    ("weights", "shares"),
    [("2, 1", "2,1"), (" .5 ,1.", "0.5,1"), ("+1e1,0.1", "10,0.1"), ("2,1.50", "2,1.5"), ("measured", "measured")],
)
def test_weights_that_are_written_are_followed(linpack: Prefix, tmp_path: Path, weights: str, shares: str) -> None:
    """Those that the program takes, with blanks or without."""
    file = str(tmp_path / "new.dat")
    words = ("-N", "500", "--block", "64", "--grid", "1x2", "--weights", weights, "--dry-run", "--write", file)
    assert linpack.kumiki("linpack", *words).returncode == 0
    assert hpl_dat.read(Path(file)).weights == shares


def test_an_input_file_is_run_as_it_says(linpack: Prefix, tmp_path: Path) -> None:
    (tmp_path / "HPL.dat").write_text(HPLS_OWN)
    ended = linpack.kumiki("linpack", "--input", str(tmp_path / "HPL.dat"))
    assert ended.returncode == 0, ended.stderr
    assert log(linpack) == [
        "kumiki-linpack ranks=4 threads=1 -N 29,30,34,35 --block 1,2,3,4 --grid 2x2,1x4,4x1 --threshold 16 "
        "--rfact left,crout,right --ndiv 2 --pfact left,crout,right --nbmin 2,4 "
        "--broadcast 1ring --swap mix --swap-threshold 64 --progress"
    ]
    assert "HPL.dat: not followed: DEPTHs" in ended.stdout


def test_a_device_is_used_in_trials_and_runs(linpack: Prefix, tmp_path: Path) -> None:
    assert linpack.kumiki("linpack", "-N", "100", "--device", "emulated:rate=5").returncode == 0
    runs = log(linpack)
    assert runs and all("--device emulated:rate=5" in run for run in runs)
    file = tmp_path / "HPL.dat"
    file.write_text(HPLS_OWN)
    assert linpack.kumiki("linpack", "--input", str(file), "--device", "opencl").returncode == 0
    assert log(linpack)[-1].endswith("--device opencl --progress")


def test_runs_that_failed_give_no_figures(linpack: Prefix) -> None:
    program = linpack.prefix / "bin/kumiki-linpack"
    program.write_text(program.read_text() + f'[ -n "$trial" ] || echo "{FAILED}"\n')
    ended = linpack.kumiki("linpack", "-N", "500", "--block", "64")
    assert "no Rmax: no run has passed" in ended.stdout and "Rmax: 40" not in ended.stdout


def test_the_exit_code_is_that_of_the_run(native: Prefix) -> None:
    ended = with_linpack(native, "exit 1").kumiki("linpack", "-N", "500", "--block", "64")
    assert ended.returncode == 1


@pytest.mark.parametrize(("code", "expected"), [(1, 1), (2, 2), (3, 3), (9, 1)])
def test_a_failing_trial_is_a_sentence(native: Prefix, code: int, expected: int) -> None:
    native.command("kumiki-linpack", f"#!/bin/sh\necho kumiki-linpack: no luck >&2\nexit {code}\n")
    ended = native.kumiki("linpack")
    assert ended.returncode == expected
    assert "a trial with N = 1000 failed: kumiki-linpack: no luck" in ended.stderr


REFERENCE = """#!/bin/sh
[ "$OPENBLAS_NUM_THREADS" = 1 ] || exit 4
while read -r value meaning; do
    case "$meaning" in Ns) size=$value ;; NBs) block=$value ;; esac
done < HPL.dat
echo "$PWD $1 $size $block" >> LOG
echo 'WR11R2R4         500    64     1     2               1.00             5.0000e+01'
"""


def test_beside_reference_hpl_both_run_in_turns(linpack: Prefix) -> None:
    linpack.command("xhpl", REFERENCE.replace("LOG", str(linpack.prefix / "log")))
    xhpl = f"{linpack.prefix / 'bin/xhpl'} {{ranks}}"
    ended = linpack.kumiki("linpack", "-N", "500", "--block", "192", "--beside", xhpl, "--pairs", "2")
    assert ended.returncode == 0, ended.stderr
    assert "# kumiki / reference: 1.600, ratio of the medians (1.600 to 1.600 by pair)" in ended.stdout
    assert ended.stdout.count("# pair ") == 2
    runs = log(linpack)[-4:]
    assert [line.startswith("kumiki-linpack") for line in runs] == [False, True, False, True]
    folder, *asked = runs[0].split()
    assert asked == ["2", "500", "192"], "two threads of Kumiki are two processes of HPL"
    assert not Path(folder).exists()


def test_a_reference_that_fails_is_a_sentence(linpack: Prefix) -> None:
    ended = linpack.kumiki(
        "linpack", "-N", "500", "--block", "192", "--beside", "/bin/sh -c 'echo no {ranks} >&2; exit 3'"
    )
    assert ended.returncode == 1
    assert "failed: no 2" in ended.stderr
    ended = linpack.kumiki("linpack", "-N", "500", "--block", "192", "--beside", "no-such-xhpl {ranks}")
    assert ended.returncode == 2
    assert "--beside: no-such-xhpl cannot be started (No such file or directory)" in ended.stderr


def test_the_summary_is_that_of_the_medians() -> None:
    assert summary([60, 90, 66], [50, 60, 55]).startswith(
        "kumiki / reference: 1.200, ratio of the medians (1.200 to 1.5"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--beside", "mpirun -n 2 xhpl"), "has no {ranks}; write, for instance"),
        (("--beside", "mpirun '{ranks}"), "is not a command"),
        (("--beside", "xhpl {ranks}", "--input", "HPL.dat"), "leave --input out"),
        (("--grid", "2by2"), "--grid 2by2 is not a grid"),
        (("--grid", "2x2", "-n", "3"), "2x2 needs 4 ranks, not 3"),
        (("--grid", "1x2", "-n", "3"), "1x2 needs 2 ranks, not 3"),
        (("--input", "HPL.dat", "-N", "5"), "leave -N, --block, --grid and --weights out"),
        (("--input", "/no/such/HPL.dat"), "/no/such/HPL.dat cannot be read"),
        (("--weights", "2,fast"), "'fast' is no share; give numbers such as 2,1, or 'measured'"),
        (("--weights", "0,0"), "all are 0"),
        (("-N", "-1"), "greater than or equal to 0"),
    ],
)
def test_wrong_usage(linpack: Prefix, words: tuple[str, ...], sentence: str) -> None:
    ended = linpack.kumiki("linpack", *words)
    assert ended.returncode == 2
    assert sentence in " ".join(ended.stderr.split())


def test_more_than_the_memory_is_refused_before_the_run(linpack: Prefix) -> None:
    ended = linpack.kumiki("linpack", "-N", "3000000", "--block", "192")
    assert ended.returncode == 3
    assert "N = 3000000 needs" in ended.stderr and "are free; choose a smaller -N" in ended.stderr


def test_the_memory_is_what_the_control_groups_leave(linpack: Prefix) -> None:
    """As kumiki-topology says, which knows them (tests/launch/control_group_test.cpp)."""
    topology = linpack.prefix / "bin/kumiki-topology"
    topology.write_text(topology.read_text().replace("\n", f'\n[ "$1" = --free ] && echo {1 << 30} && exit\n', 1))
    ended = linpack.kumiki("linpack", "-N", "12000", "--block", "192")
    assert ended.returncode == 3 and "but only 1.0 GiB are free" in ended.stderr


def test_an_input_file_that_needs_more_than_the_memory_is_refused(linpack: Prefix, tmp_path: Path) -> None:
    (tmp_path / "HPL.dat").write_text(HPLS_OWN.replace("29 30 34 35", "29 3000000 34 35"))
    words = ("linpack", "--input", str(tmp_path / "HPL.dat"))
    ended = linpack.kumiki(*words)
    assert ended.returncode == 3 and "N = 3000000 needs" in ended.stderr
    assert not (linpack.prefix / "log").exists()
    ended = linpack.kumiki(*words, "--dry-run")
    assert ended.returncode == 0, ended.stderr
    assert re.search(r"^# memory: .* together, for N = 3000000 on \d x \d ranks, the largest$", ended.stdout, re.M)


def over_hosts(linpack: Prefix, *words: str) -> str:
    linpack.launcher_over_hosts("8 boot-of-a 1048576 4", "6 boot-of-b 8388608 2")
    ended = linpack.kumiki("linpack", "--hosts", "a,b", *words)
    assert ended.returncode in (0, 3), ended.stderr
    return ended.stdout + ended.stderr


def test_over_hosts_the_least_of_what_each_has_counts(linpack: Prefix) -> None:
    """Four ranks: on each host one for each of two memory nodes; 6 cores and 1 GiB on each host."""
    said = over_hosts(linpack, "--dry-run")
    assert "ranks: 4, one for each memory node" in said and "threads: 3 for each rank, as there are 12 cores" in said
    assert "which needs 80 % of the 2.00 GiB that are free" in said
    assert "--hosts a,b" in linpack.launched[-1] and "-n 4 -t 3" in linpack.launched[-1]


def test_over_hosts_more_than_the_least_memory_is_refused(linpack: Prefix) -> None:
    assert "N = 20000 needs 3." in over_hosts(linpack, "-N", "20000", "--block", "192")
    assert "kumiki-linpack" not in over_hosts(linpack, "-N", "14000", "--block", "192")


def test_an_interrupt_leaves_nothing_behind(native: Prefix) -> None:
    running = with_linpack(native, "sleep 60").start("linpack", "-N", "500", "--block", "64")
    native.wait_for("sleep 60", running)
    running.send_signal(signal.SIGTERM)
    _, errors = running.communicate(timeout=30)
    assert running.returncode == 130 and "interrupted" in errors
