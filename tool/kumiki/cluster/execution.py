"""Running a command on hosts of a cluster."""

from __future__ import annotations

import errno
import os
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, NoReturn

from kumiki.cluster import plan, system
from kumiki.cluster.inspection import Cluster, Host
from kumiki.errors import ExitCode, UserError, complain
from kumiki.machine.native import replace_process

GRACE_SECONDS = 2.0
"""How long commands may take to end before they are killed."""
DRAIN_SECONDS = 1.0
"""How long to wait for output after the last command has ended, because processes it left may hold the pipes open."""
PIECE_BYTES = 1 << 16
LONGEST_LINE = 1 << 24
"""A longer line is cut, because endless output must not fill the memory."""
OVER_A_LIMIT = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)


def become(host: Host, command: Sequence[str]) -> NoReturn:
    """Replaces this process by the command on one host, which then owns signals, terminal and exit code."""
    _require_program(command[0])
    program, *arguments = plan.inside(host.namespace, command)
    path = shutil.which(program)
    assert path is not None, "requirements.require has found it"
    replace_process(Path(path), arguments)
    raise AssertionError("execv does not return")


def run_everywhere(cluster: Cluster, command: Sequence[str]) -> int:
    """Runs the command on all hosts at the same time, with each line of output labelled with its host.

    Processes that it leaves running are not ended. Returns 0, or the exit code on the first host (by number) where it
    failed, or 128 plus the signal's number if it was killed there. An exception, such as an interrupt, ends the
    commands. Raises UserError.
    """
    _require_program(command[0])
    running: list[subprocess.Popen[bytes]] = []
    restore_limit = _raise_limit_of_open_files()
    try:
        for host in cluster.hosts:
            running.append(_start(host, command, restore_limit))
        _copy_output(cluster.hosts, running)
    except BaseException as error:
        with system.interrupts_held():
            _end(running)
        if isinstance(error, OSError) and error.errno in OVER_A_LIMIT:
            sentence = f"cannot run the command on {len(cluster.hosts)} hosts at once: {error.strerror}"
            raise UserError(f"{sentence} (ulimit -n, ulimit -u)", ExitCode.ENVIRONMENT) from error
        raise
    codes = [process.wait() for process in running]
    codes = [code if code >= 0 else 128 - code for code in codes]
    for host, code in zip(cluster.hosts, codes, strict=True):
        if code != 0:
            complain(f"the command ended with exit code {code} on host {host.number}")
    return next((code for code in codes if code != 0), ExitCode.OK)


def _require_program(program: str) -> None:
    if shutil.which(program) is None:
        raise UserError(f"there is no program '{program}'", ExitCode.ENVIRONMENT)


def _raise_limit_of_open_files() -> Callable[[], None]:
    """Raises the limit, because each host takes some files; returns a function that restores it for a command."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return partial(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))


def _start(host: Host, command: Sequence[str], restore_limit: Callable[[], None]) -> subprocess.Popen[bytes]:
    # The command gets a session of its own, so that it and its children can be ended together.
    return subprocess.Popen(
        plan.inside(host.namespace, command),
        bufsize=0,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=restore_limit,
    )


def _copy_output(hosts: Sequence[Host], running: Sequence[subprocess.Popen[bytes]]) -> None:
    """Passes output on until all commands have ended and no more arrives."""
    deadline = float("inf")
    alive = len(running)
    with selectors.DefaultSelector() as selector:
        for host, process in zip(hosts, running, strict=True):
            assert process.stdout is not None and process.stderr is not None
            for source, target in ((process.stdout, sys.stdout), (process.stderr, sys.stderr)):
                lines = _LabelledLines(source, f"[host {host.number}] ".encode(), target)
                selector.register(source, selectors.EVENT_READ, lines)
            selector.register(os.pidfd_open(process.pid), selectors.EVENT_READ, None)
        while selector.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, _ in selector.select(None if alive else left):
                if key.data is None:
                    selector.unregister(key.fileobj)
                    os.close(key.fd)
                    alive -= 1
                    deadline = deadline if alive else time.monotonic() + DRAIN_SECONDS
                elif not key.data.copy():
                    selector.unregister(key.fileobj)
        for key in selector.get_map().values():
            if key.data is not None:
                key.data.finish()


class _LabelledLines:
    """Puts a label before each line of a stream."""

    def __init__(self, source: IO[bytes], label: bytes, target: IO[str]) -> None:
        self._source = source
        self._label = label
        self._target = target.buffer  # type: ignore[attr-defined]  # the standard streams have one
        self._begun = b""

    def copy(self) -> bool:
        """Passes on the data that have arrived; False at the end of the stream."""
        piece = os.read(self._source.fileno(), PIECE_BYTES)
        if not piece:
            self.finish()
            return False
        *lines, self._begun = (self._begun + piece).split(b"\n")
        self._write(lines)
        if len(self._begun) >= LONGEST_LINE:
            self.finish()
        return True

    def finish(self) -> None:
        """Passes on the last, unterminated line."""
        if self._begun:
            self._write([self._begun])
            self._begun = b""

    def _write(self, lines: Sequence[bytes]) -> None:
        self._target.write(b"".join(self._label + line + b"\n" for line in lines))
        self._target.flush()


def _end(running: Sequence[subprocess.Popen[bytes]]) -> None:
    """Ends the commands with all processes that are still in the first process groups of their sessions."""
    _signal(running, signal.SIGTERM)
    _signal(running, signal.SIGCONT)
    deadline = time.monotonic() + GRACE_SECONDS
    for process in running:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))
    _signal(running, signal.SIGKILL)
    for process in running:
        process.wait()


def _signal(running: Sequence[subprocess.Popen[bytes]], number: signal.Signals) -> None:
    for process in running:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
