"""`kumiki run --explain`, and runs with KUMIKI_SHARED_CHECK: runs the program as without them, and then says what
shared memory has cost, or which races there were."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kumiki import page_file
from kumiki.errors import ExitCode, UserError, complain
from kumiki.explain import races
from kumiki.interrupts import heeded
from kumiki.machine.native import Native

OPTION = "--explain"
VARIABLE = "KUMIKI_EXPLAIN"
FOLDER = "explain"
FIGURES = "explain.json"
COMMAND = "kumiki run --explain"
"""The name of this command, as its pages have it."""
INFORMATION = frozenset(("-h", "--help", "--version"))
ANOTHER = f"{OPTION}=DIR"
PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def asked(arguments: Sequence[str]) -> tuple[Path | None, list[str]]:
    """The folder for the explanation if the first argument asks for one, and the other arguments."""
    if arguments and arguments[0] == OPTION:
        return Path(FOLDER), list(arguments[1:])
    if arguments and arguments[0].startswith(f"{OPTION}="):
        return Path(arguments[0].removeprefix(f"{OPTION}=") or FOLDER), list(arguments[1:])
    return None, list(arguments)


def run(launcher: Path, arguments: Sequence[str], output: Path | None, native: Native) -> int:
    """Runs the job, says which races there were if it has looked for them, and explains it if there is a folder for
    that. Returns the exit code of the launcher, or that of races: an explanation that cannot be given does not make a
    run fail. Raises UserError before the run if the explanation would replace foreign files."""
    if output is not None:
        _check_folder(output)
    with_records = Path(tempfile.mkdtemp(prefix="kumiki-explain-"))
    try:
        with_records.chmod(0o755)
        code = _run([str(launcher), *arguments], {**os.environ, VARIABLE: str(with_records)})
        if not _has_begun(with_records, arguments, code):
            return code
        try:
            if races.asked() and _tell_races(with_records, native) and races.fails() and code == ExitCode.OK:
                code = ExitCode.RACES
            if output is not None:
                _explain(with_records, arguments, output, native)
        except UserError as problem:
            complain(problem.sentence)
        except Exception as error:  # a defective explanation must not affect the run
            complain(f"the run cannot be explained ({type(error).__name__}: {error})")
        return code
    finally:
        shutil.rmtree(with_records, ignore_errors=True)


def _has_begun(records: Path, arguments: Sequence[str], code: int) -> bool:
    """Whether there may have been a run to tell of: after --help, wrong usage or a failed start there was none. Where
    it was the program that ended in this way, it has left no record either."""
    refused = code in (ExitCode.USAGE, ExitCode.ENVIRONMENT) or not INFORMATION.isdisjoint(arguments)
    return not refused or any(records.iterdir())


def _run(command: Sequence[str], environment: dict[str, str]) -> int:
    """Signals go to the launcher, which has its own way to end; a terminal sends Ctrl-C to both. What comes while it is
    being started waits until it is there."""
    sys.stdout.flush()
    child: subprocess.Popen[bytes] | None = None
    waiting: list[int] = []

    def pass_on(number: int, frame: object) -> None:
        if child is None:
            waiting.append(number)
        else:
            child.send_signal(number)

    # What this process ignores the launcher must ignore, too, but a handler would not be inherited as that.
    before = {number: signal.signal(number, pass_on) for number in heeded(PASSED_ON)}
    for number in heeded([signal.SIGINT]):
        before[number] = signal.signal(number, lambda number, frame: None)
    try:
        child = subprocess.Popen(command, env=environment)
        for early in waiting:
            child.send_signal(early)
        code = child.wait()
        return code if code >= 0 else 128 - code
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell_races(records: Path, native: Native) -> bool:
    """Returns whether there were any."""
    sys.stdout.flush()
    found = races.load(records, native)
    if found is None:
        complain(
            f"{races.VARIABLE}: nothing has been compared, because the program had no shared arrays over several "
            "ranks, or ended before the end of its check"
        )
        return False
    for sentence in races.sentences(found):
        complain(sentence)
    return bool(found.races)


def _check_folder(output: Path) -> None:
    """Raises UserError if the explanation would replace foreign files."""
    page_file.check(output, COMMAND, ANOTHER)
    figures = output / FIGURES
    try:
        known = json.loads(figures.read_bytes())
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError(f"{figures} cannot be read ({error.strerror}); name another folder with {ANOTHER}") from None
    except (ValueError, RecursionError):
        known = None
    if not isinstance(known, dict) or not {"command", "ranks", "findings"} <= known.keys():
        raise UserError(f"{figures} is not of {COMMAND}; name another folder with {ANOTHER}")


def _explain(records: Path, arguments: Sequence[str], output: Path, native: Native) -> None:
    from kumiki.explain.analysis import explain
    from kumiki.explain.view import print_explanation
    from kumiki.terminal.display import console

    sys.stdout.flush()
    explained = explain(records, arguments, native)
    out = console(stderr=True)
    print_explanation(explained.explanation, out)
    if not explained.explanation.ranks:
        return
    page_file.write(output, json.dumps(explained.explanation.as_dict(), indent=1) + "\n", ANOTHER, FIGURES)
    from kumiki.explain.page import render  # matplotlib is slow to load

    report = page_file.write(output, render(explained), ANOTHER)
    out.print(f"Report: {report}", soft_wrap=True, highlight=False, markup=False)
