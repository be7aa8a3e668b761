"""A run beside reference HPL: the same N, block and number of processors, in turns."""

from __future__ import annotations

import os
import shlex
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kumiki.errors import ExitCode, UserError
from kumiki.evaluation import process
from kumiki.linpack import hpl_dat
from kumiki.linpack.hpl_dat import HplDat
from kumiki.linpack.launcher import Launcher
from kumiki.linpack.model import Result, Setting, near_square, results

LIMIT_SECONDS = 3600.0
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
"""HPL has a process for each processor."""


@dataclass(frozen=True)
class Reference:
    """How reference HPL is started, such as `mpirun -n {ranks} xhpl`."""

    command: str

    def arguments(self, ranks: int) -> list[str]:
        """Raises UserError if this is not such a command."""
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise UserError(f"--beside: '{self.command}' is not a command ({error})") from None
        if not any("{ranks}" in word for word in words):
            raise UserError(
                f"--beside: '{self.command}' has no {{ranks}}; write, for instance, 'mpirun -n {{ranks}} xhpl'"
            )
        return [word.replace("{ranks}", str(ranks)) for word in words]

    def run(self, file: HplDat) -> Result:
        """Runs it with this HPL.dat, which has one combination. Raises UserError if it gives no result."""
        lines: list[str] = []
        with tempfile.TemporaryDirectory(prefix="kumiki-hpl-") as folder:
            hpl_dat.write(Path(folder) / "HPL.dat", file)
            command, environment = self.arguments(file.ranks), {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
            try:
                ended = process.run(command, environment, LIMIT_SECONDS, lines.append, lambda line: None, Path(folder))
            except OSError as error:
                raise UserError(f"--beside: {command[0]} cannot be started ({error.strerror})") from None
        found = results(lines)
        if ended.code != 0 or len(found) != 1:
            why = "; ".join(ended.last_errors) or f"exit code {ended.code}, {len(found)} lines of results instead of 1"
            raise UserError(f"--beside: {shlex.join(command)} failed: {why}", ExitCode.FAILED)
        return found[0]


def in_turns(setting: Setting, reference: Reference, pairs: int, launcher: Launcher) -> Iterator[str]:
    """Runs both in turns; yields a sentence for each pair, and one for all pairs."""
    rows, columns = near_square(setting.ranks * setting.threads)
    if setting.threads == 1:
        rows, columns = setting.rows, setting.columns
    file = HplDat((setting.size,), (setting.block,), ((rows, columns),), threshold=0.0, nbmin=(4,))
    yield f"beside: {shlex.join(reference.arguments(file.ranks))}, grid {rows} x {columns}, N and block the same"
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(1, pairs + 1):
        theirs.append(reference.run(file).rate)
        ours.append(launcher.pilot(setting, [setting.block], LIMIT_SECONDS)[0].rate)
        yield f"pair {number}: kumiki {ours[-1]:.4g} GFLOP/s, reference {theirs[-1]:.4g}"
    yield summary(ours, theirs)


def summary(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """The ratio of the medians, and the range of the ratios of the pairs."""
    ratio = statistics.median(ours) / statistics.median(theirs)
    each = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    return f"kumiki / reference: {ratio:.3f}, ratio of the medians ({min(each):.3f} to {max(each):.3f} by pair)"
