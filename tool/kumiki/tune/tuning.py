"""The command: which machine this is, the sweep, the choice, the file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from rich.live import Live
from rich.text import Text

from kumiki.errors import ExitCode, UserError
from kumiki.evaluation import process
from kumiki.machine.native import Native
from kumiki.machine.topology import Machine
from kumiki.terminal.display import console
from kumiki.tune import store, view
from kumiki.tune.choice import Choice, choose
from kumiki.tune.sweep import Sweep

ASKING_SECONDS = 120.0


@dataclass(frozen=True)
class Tuning:
    """One run of `kumiki tune`."""

    sweep: Sweep
    native: Native
    machine: Machine
    file: Path
    seed: int = 0

    @property
    def cores(self) -> int:
        hosts = self.sweep.hosts
        return (hosts.cores if hosts else None) or self.machine.usable_cores()

    def print_commands(self) -> None:
        """Prints the commands that would run, and their purpose."""
        out = console()
        out.print(f"{view.title(self.sweep)}; {self.sweep.rounds} rounds, in random order:")
        for length in self.sweep.lengths:
            out.print(Text(str(self.sweep.point(length).command(self.native, self.cores))), soft_wrap=True)
        out.print(Text(f"The best length would be saved in {self.file}"), soft_wrap=True)

    def run(self) -> None:
        """Measures, prints and saves; raises UserError if this is impossible, and then leaves the file unchanged."""
        store.check(self.file)
        try:
            self._run()
        except KeyboardInterrupt:
            raise UserError(f"interrupted; {self.file} is unchanged", ExitCode.INTERRUPTED) from None

    def _run(self) -> None:
        out = console()
        machines = self._machines()
        out.print(Text(view.title(self.sweep), style="bold"))
        bandwidths: dict[int, list[float]] = {}
        # Drawn between starts only: a display that redraws by itself would disturb what is measured.
        with Live(console=out, auto_refresh=False, transient=True) as live:

            def told(known: dict[int, list[float]]) -> None:
                bandwidths.update(known)
                if out.is_terminal:
                    live.update(view.table(known), refresh=True)

            self.sweep.run(self.native, self.cores, self.seed, told)
        choice = choose(bandwidths)
        out.print(view.table(bandwidths, choice))
        for sentence in view.sentences(choice):
            out.print(sentence, soft_wrap=True)
        out.print(Text(self._keep(machines, choice)), soft_wrap=True)

    def _keep(self, machines: list[str], choice: Choice) -> str:
        """Saves the length if it is an improvement, and removes an older one if not; returns what was done."""
        link, what = self.sweep.link, f"({', '.join(machines)}; {self.sweep.link})"
        if choice.is_worth_keeping:
            store.store(self.file, [store.Entry(machine, link, choice.length) for machine in machines])
            return f"Written: {self.file} {what}"
        if store.forget(self.file, [(machine, link) for machine in machines]):
            return f"Removed the older length {what} from {self.file}; the library uses its own rule"
        return f"Nothing is saved: the library uses its own rule {what}"

    def _machines(self) -> list[str]:
        """The kinds of machine on which the two ranks run, by the key that the library will look up."""
        hosts = self.sweep.hosts.for_ranks(2) if self.sweep.hosts else None
        launcher = str(self.native.require(self.native.command("kumiki-run")))
        over = (*hosts.launcher_options, "-n", "2") if hosts else ("-n", "1")
        topology = str(self.native.require(self.native.command("kumiki-topology")))
        lines: list[str] = []
        ended = process.run(
            (launcher, *over, topology, "--key"), os.environ, ASKING_SECONDS, lines.append, lambda line: None
        )
        if ended.code != 0 or not lines:
            said = " | ".join(ended.last_errors) or "kumiki-topology printed nothing"
            raise UserError(f"nothing can be started: {said}", ExitCode.ENVIRONMENT)
        return sorted(set(lines))
