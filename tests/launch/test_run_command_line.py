"""How kumiki-run interprets its command line and settings in the environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from launching import ENVIRONMENT, USAGE, Launcher

SETTINGS_PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-n", "0", "true"], "-n 0 is not usable: it must be a whole number from 1 to 4096"),
        (["-n", "-2", "true"], "-n -2 is not usable"),
        (["-n", "two", "true"], "-n two is not usable"),
        (["-n", "2x", "true"], "-n 2x is not usable"),
        (["-n", "4097", "true"], "-n 4097 is not usable"),
        (["-n"], "the option -n needs a value"),
        (["-t", "-1", "true"], "-t -1 is not usable"),
        (["-t", "many", "true"], "-t many is not usable"),
        (["--wait", "long", "true"], "--wait long is not usable: it must be adaptive, spin, yield or sleep"),
        (["--bind", "socket", "true"], "--bind socket is not usable: it must be core, shared or none"),
        (["--unknown", "true"], "there is no option --unknown"),
        (["-n", "2", "--unknown", "--", "true"], "there is no option --unknown"),
        (["-n", "2"], "no program to run is given"),
        (["-n", "2", "--"], "no program to run is given"),
        ([""], "the name of the program is empty"),
    ],
)
def test_wrong_usage_is_one_sentence_and_code_2(launcher: Launcher, arguments: list[str], complaint: str) -> None:
    result = launcher.run(*arguments)
    assert result.returncode == USAGE
    assert result.stderr.startswith(f"kumiki-run: {complaint}")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_a_bad_setting_in_the_environment_names_the_variable(launcher: Launcher) -> None:
    result = launcher.run("true", environment={"KUMIKI_WAIT": "long"})
    assert result.returncode == USAGE
    assert "KUMIKI_WAIT=long is not usable: it must be adaptive, spin, yield or sleep" in result.stderr


def test_an_option_wins_over_a_bad_variable(launcher: Launcher) -> None:
    result = launcher.run("--wait", "sleep", "sh", "-c", "echo $KUMIKI_WAIT", environment={"KUMIKI_WAIT": "long"})
    assert (result.returncode, result.stdout) == (0, "sleep\n")


def test_an_unknown_variable_gets_one_remark_with_the_nearest_name(launcher: Launcher) -> None:
    result = launcher.run("-n", "2", "true", environment={"KUMIKI_WIAT": "spin"})
    assert result.returncode == 0
    assert result.stderr.count("KUMIKI_WIAT") == 1
    assert "did you mean KUMIKI_WAIT?" in result.stderr


@pytest.mark.parametrize("marker", [[], ["--"]])
def test_what_follows_the_program_is_the_programs_own(launcher: Launcher, marker: list[str]) -> None:
    theirs = ["-n", "7", "--label", "--", "--bogus", "", "a b", "-t", "--help", "++"]
    result = launcher.run("-n", "1", *marker, "printf", "<%s>", *theirs)
    assert result.stdout == "".join(f"<{word}>" for word in theirs)


def test_the_last_of_a_repeated_option_counts(launcher: Launcher) -> None:
    assert launcher.run("-n", "3", "-n", "2", "echo", "rank").stdout == "rank\nrank\n"


def test_a_value_may_stick_to_its_option(launcher: Launcher) -> None:
    assert launcher.run("-n2", "--bind=none", "echo", "rank").stdout == "rank\nrank\n"


def test_help_names_every_option_and_the_exit_codes(launcher: Launcher) -> None:
    result = launcher.run("--help")
    assert result.returncode == 0
    for word in (
        "-n RANKS",
        "-t",
        "--bind core|shared|none",
        "--wait adaptive|spin|yield|sleep",
        "--label",
        "Exit codes",
    ):
        assert word in result.stdout


def test_version(launcher: Launcher) -> None:
    result = launcher.run("--version")
    assert result.returncode == 0
    assert result.stdout.startswith("kumiki-run ")


def test_the_page_of_settings_is_what_the_launcher_prints(launcher: Launcher) -> None:
    assert launcher.run("--settings").stdout == SETTINGS_PAGE.read_text()


def test_a_program_that_is_nowhere(launcher: Launcher) -> None:
    result = launcher.run("-n", "3", "no-such-program-anywhere")
    assert result.returncode == ENVIRONMENT
    assert result.stderr == "kumiki-run: cannot run no-such-program-anywhere: there is no such program on PATH\n"


def test_a_program_that_cannot_be_run(launcher: Launcher, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("echo hello\n")
    orphan = tmp_path / "orphan"
    orphan.write_text("#!/no/such/interpreter\n")
    orphan.chmod(0o755)
    for program, why in (
        (tmp_path, "it is a folder"),
        (plain, f"it is not executable (chmod +x {plain})"),
        (tmp_path / "absent", "there is no such file"),
        (orphan, "it is there, but the interpreter"),
    ):
        result = launcher.run("-n", "2", str(program))
        assert result.returncode == ENVIRONMENT
        assert result.stderr.startswith(f"kumiki-run: cannot run {program}: {why}")
        assert result.stderr.count("\n") == 1
    assert launcher.nothing_left()


def test_a_program_of_this_folder_needs_its_path(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "here-only"
    script.write_text("#!/bin/sh\necho found\n")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert "write ./here-only" in launcher.run("here-only").stderr
    assert launcher.run("./here-only").stdout == "found\n"
