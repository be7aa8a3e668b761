"""Bad input to the native commands, as a table: each case is one sentence and a documented code, and starts nothing."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from launching import ENVIRONMENT, USAGE, Launcher, find_command

OPTIONS = [
    ("-n 0", "-n 0"),
    ("-n -1", "-n -1"),
    ("-n 4097", "-n 4097"),
    ("-n 99999999999999999999", "-n 99999999999999999999"),
    ("-n 1.5", "-n 1.5"),
    ("-n 0x2", "-n 0x2"),
    ("-n ''", "-n"),
    ("-n ' 2'", "-n"),
    ("-n 2 -n", "-n touch"),
    ("-t -1", "-t -1"),
    ("-t 4097", "-t 4097"),
    ("-t 1.5", "-t 1.5"),
    ("-t x", "-t x"),
    ("-t ''", "-t"),
    ("-t 4,,2", "-t 4,,2"),
    ("-t 4,2,", "-t 4,2,"),
    ("-t 4,4097", "-t 4,4097"),
    ("-n 2 -t 4,2,2", "-t 4,2,2 is for 3 ranks"),
    ("--rankfile nowhere", "nowhere"),
    ("--rankfile ''", "--rankfile"),
    ("--rankfile /", "cannot read the rankfile /: Is a directory"),
    ("--rankfile {binary}", "line 1: the name of a host contains a character"),
    ("--devices ''", "--devices"),
    ("--devices some", "--devices some"),
    ("--homes somewhere", "--homes somewhere is not usable: it must be first, owner, block, cyclic, next or relocated"),
    ("--map a=block", "--map is of use only together with --openmp"),
    ("--openmp --map a", "--map a is not usable"),
    ("--openmp --map =block", "--map =block is not usable"),
    ("--openmp --map a=rank", "it must be first, rank:NUMBER, block"),
    ("--openmp --map a=rank:-1", "--map a=rank:-1"),
    ("--openmp --map a=block:4", "--map a=block:4"),
    ("--openmp --map a=cyclic:0", "--map a=cyclic:0"),
    ("--openmp --map 'a=[*:4][*:4]'", "no dimension of it is block or cyclic"),
    ("--openmp --map 'a=[block]'", "--map a=[block]"),
    ("--openmp --map 'a=[block:0]'", "--map a=[block:0]"),
    (
        "--schedule affinity",
        "--schedule affinity is not usable: it must be threads, measured, monotonic, affinity:NAME[ROWS]",
    ),
    ("--schedule affinity:a[0]", "--schedule affinity:a[0]"),
    ("--schedule affinity:a[5:2]", "--schedule affinity:a[5:2]"),
    ("--schedule guided", "--schedule guided"),
    ("--wait", "--wait touch"),
    ("--wait Spin", "--wait Spin"),
    ("--wait ''", "--wait"),
    ("--bind socket", "--bind socket"),
    ("--bind ''", "--bind"),
    ("--fragment -1", "--fragment -1"),
    ("--fragment 4k", "--fragment 4k"),
    ("--fragment best", "--fragment best"),
    ("--fragment 99999999999999999999999", "--fragment"),
    ("--hosts ''", "--hosts"),
    ("--hosts ,", "--hosts"),
    ("--hosts a,,b", "--hosts a,,b"),
    ("--hosts a:0", "a:0"),
    ("--hosts a:-1", "a:-1"),
    ("--hosts a:x", "a:x"),
    ("--hosts a:4097", "a:4097"),
    ("--hosts a,a", "a"),
    ("--hosts a:2,b:2 -n 5", "5"),
    ("--hosts -a,b", "-a"),
    ("--hosts 'a b,c'", "contains a character"),
    ("--hostfile nowhere", "nowhere"),
    ("--hostfile /", "cannot read the hostfile /: Is a directory"),
    ("--hostfile /dev/null", "/dev/null"),
    ("--hostfile {slots_zero}", "line 1: slots=0 is not usable"),
    ("--hostfile {slots_word}", "line 1: slots=many is not usable"),
    ("--hostfile {unknown_word}", "colour=red"),
    ("--hostfile {binary}", "line 1: the name of a host contains a character"),
    ("--hosts a,b --hostfile {good}", "--hostfile"),
    ("--hosts a,b --remote-shell ''", "--remote-shell"),
    ("""--hosts a,b --remote-shell "ssh 'x" """, "--remote-shell"),
    ("--remote-shell ssh", "--remote-shell"),
    ("-x", "-x touch"),
    ("-x =1", "-x =1 is not usable: it must begin with the name of a variable"),
    ("-x ''", "-x"),
    ("--nosuch", "--nosuch"),
    ("--labl", "--labl"),
    ("-z", "-z"),
]

VARIABLES = [
    ("KUMIKI_WAIT", "long"),
    ("KUMIKI_WAIT", ""),
    ("KUMIKI_THREADS", "-1"),
    ("KUMIKI_THREADS", "many"),
    ("KUMIKI_THREADS", "5000"),
    ("KUMIKI_BIND", "all"),
    ("KUMIKI_FRAGMENT", "-5"),
    ("KUMIKI_FRAGMENT", "large"),
    ("KUMIKI_TIMEOUT", "0"),
    ("KUMIKI_TIMEOUT", "soon"),
    ("KUMIKI_ARENA", "-1"),
    ("KUMIKI_ARENA", "big"),
    ("KUMIKI_SPIN", "-1"),
]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Hostfiles; all but one of them are wrong."""
    content = {
        "good": b"a\nb\n",
        "slots_zero": b"a slots=0\n",
        "slots_word": b"a slots=many\n",
        "unknown_word": b"a colour=red\n",
        "binary": b"\x00\x01\x00\n",
    }
    for name, text in content.items():
        (tmp_path / f"{name}.hostfile").write_bytes(text)
    return {name: tmp_path / f"{name}.hostfile" for name in content}


@pytest.mark.parametrize(("options", "words"), OPTIONS)
def test_a_wrong_option(launcher: Launcher, files: dict[str, Path], options: str, words: str) -> None:
    for name, path in files.items():
        options = options.replace(f"{{{name}}}", str(path))
    result = launcher.run(*shlex.split(options), "touch", str(files["good"].with_name("started")))
    assert result.returncode == USAGE, (result.returncode, result.stderr)
    assert result.stderr.startswith("kumiki-run: ") and words in result.stderr
    assert result.stderr.count("\n") == 1 and result.stdout == ""
    assert not files["good"].with_name("started").exists()


@pytest.mark.parametrize(("name", "value"), VARIABLES)
def test_a_wrong_variable(launcher: Launcher, name: str, value: str) -> None:
    result = launcher.run("true", environment={name: value})
    assert result.returncode == USAGE, (result.returncode, result.stderr)
    assert f"{name}={value} is not usable" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["kumiki-topology", "kumiki-run"])
def test_output_that_is_lost_is_no_success(command: str) -> None:
    for argument in ("--help", "--version"):
        with Path("/dev/full").open("w") as full:
            ended = subprocess.run([find_command(command), argument], stdout=full, stderr=subprocess.PIPE, text=True)
        assert ended.returncode == ENVIRONMENT
        assert "standard output cannot be written (No space left on device)" in ended.stderr


@pytest.mark.parametrize("description", ["zzz", "pack:x", "core:0", ""])
def test_a_description_that_describes_nothing(launcher: Launcher, description: str) -> None:
    environment = launcher.environment({"HWLOC_SYNTHETIC": description})
    ended = subprocess.run([find_command("kumiki-topology")], env=environment, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (ENVIRONMENT, "")
    assert f"HWLOC_SYNTHETIC={description} describes no machine" in ended.stderr
