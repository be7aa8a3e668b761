"""Starting kumiki-linpack: quietly for a pilot run, and in the open for the run itself."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kumiki.errors import ExitCode, UserError
from kumiki.evaluation import process
from kumiki.evaluation.reader import RowReader
from kumiki.hosts.model import Hosts
from kumiki.linpack.model import Result, Setting, results
from kumiki.machine.native import Native

PILOT_SECONDS = 120.0
"""A pilot run that takes longer has hung."""


@dataclass(frozen=True)
class Launcher:
    """The launcher and the program of one installation, and the hosts."""

    native: Native
    hosts: Hosts | None = None
    rankfile: Path | None = None
    """The cores of each rank, which may share them; None: the launcher chooses."""

    def require(self) -> None:
        for name in ("kumiki-run", "kumiki-linpack"):
            self.native.require(self.native.command(name))

    def command(self, ranks: int, threads: int, arguments: Sequence[str]) -> list[str]:
        run, program = self.native.command("kumiki-run"), self.native.command("kumiki-linpack")
        where = self.hosts.for_ranks(ranks).launcher_options if self.hosts else ()
        each = ("--rankfile", str(self.rankfile), "--bind", "shared") if self.rankfile else ("-t", str(threads))
        return [str(run), *where, "-n", str(ranks), *each, str(program), *arguments]

    def pilot(self, setting: Setting, blocks: Sequence[int], limit: float = PILOT_SECONDS) -> list[Result]:
        """Runs these blocks without a check and returns the results. Raises UserError when they fail, or take longer
        than the limit in seconds."""
        arguments = setting.arguments()
        arguments[arguments.index("--block") + 1] = ",".join(map(str, blocks))
        lines: list[str] = []
        ended = process.run(
            self.command(setting.ranks, setting.threads, [*arguments, "--threshold", "0"]),
            os.environ,
            limit,
            lines.append,
            lambda line: None,
        )
        found = results(lines)
        if ended.code != 0 or len(found) != len(blocks):
            why = "; ".join(ended.last_errors) or ("it hung" if ended.code is None else f"exit code {ended.code}")
            code = ExitCode(ended.code) if ended.code in (ExitCode.USAGE, ExitCode.ENVIRONMENT) else ExitCode.FAILED
            raise UserError(f"a trial with N = {setting.size} failed: {why}", code)
        return found

    def product_rates(self, threads: int, size: int, block: int, device: str) -> tuple[float, float]:
        """GFLOP/s of a process of so many threads and of a device, at the same time, with products of the shape of an
        update, on this host or the first one. Raises UserError when they cannot be measured."""
        program = self.native.require(self.native.program("linpack"))
        # The form in which a mix uses a device; in the other one the device's products are all that are measured.
        words = ["-N", str(size), "--block", str(block), "--device", device, "--form", "offload", "--product"]
        words += ["--samples", "3"]
        where = self.hosts.for_ranks(1).launcher_options if self.hosts else ()
        run = [str(self.native.command("kumiki-run")), *where]
        reader = RowReader({})

        def take(line: str) -> None:
            reader.take(line)

        ended = process.run(
            [*run, "-n", "1", "-t", str(threads), str(program), *words],
            os.environ,
            PILOT_SECONDS,
            take,
            lambda line: None,
        )
        rates = {row.implementation: statistics.median(row.samples) for row in reader.rows(ended)}
        if ended.code != 0 or set(rates) != {"bound", "device"}:
            why = "; ".join(ended.last_errors) or ("it hung" if ended.code is None else f"exit code {ended.code}")
            raise UserError(f"the products of {device} could not be measured: {why}", ExitCode.FAILED)
        host = rates["bound"] - rates["device"]
        if host <= 0:
            raise UserError(f"the threads beside {device} computed no products to compare with", ExitCode.FAILED)
        return host, rates["device"]

    def run(self, ranks: int, threads: int, arguments: Sequence[str]) -> tuple[int, list[Result]]:
        """Runs in the open: output and progress appear as they come. Returns the exit code and the results."""
        lines: list[str] = []
        with process.in_the_open(self.command(ranks, threads, [*arguments, "--progress"])) as child:
            assert child.stdout is not None
            for line in child.stdout:
                print(line, end="", flush=True)
                lines.append(line)
            return child.wait(), results(lines)
