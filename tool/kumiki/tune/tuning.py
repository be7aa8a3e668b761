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
        """What would be run, and what for."""
        out = console()
        out.print(f"{view.title(self.sweep)}; {self.sweep.rounds} rounds, in random order:")
        for length in self.sweep.lengths:
            out.print(Text(str(self.sweep.point(length).command(self.native, self.cores))), soft_wrap=True)
        out.print(Text(f"The best length would go into {self.file}"), soft_wrap=True)

    def run(self) -> None:
        """Measures, tells and stores; raises UserError when that cannot be done, and leaves the file as it is then."""
        store.check(self.file)
        try:
            with process.termination_interrupts():
                self._run()
        except KeyboardInterrupt:
            raise UserError(f"interrupted; {self.file} is as it was", ExitCode.INTERRUPTED) from None

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
        """Stores the length where it is worth it, and forgets an older one where it is not; says what was done."""
        link, what = self.sweep.link, f"({', '.join(machines)}; {self.sweep.link})"
        if choice.is_worth_keeping:
            store.store(self.file, [store.Entry(machine, link, choice.length) for machine in machines])
            return f"Written: {self.file} {what}"
        if store.forget(self.file, [(machine, link) for machine in machines]):
            return f"Removed from {self.file}: what was kept there before {what}; the library goes by its own rule"
        return f"Nothing is written: the library goes by its own rule {what}"

    def _machines(self) -> list[str]:
        """The kinds of machine that the two ranks are on, as the library will look for them."""
        hosts = self.sweep.hosts.for_ranks(2) if self.sweep.hosts else None
        launcher = str(self.native.require(self.native.command("kumiki-run")))
        over = (*hosts.launcher_options, "-n", "2") if hosts else ("-n", "1")
        topology = str(self.native.require(self.native.command("kumiki-topology")))
        lines: list[str] = []
        ended = process.run(
            (launcher, *over, topology, "--key"), os.environ, ASKING_SECONDS, lines.append, lambda line: None
        )
        if ended.code != 0 or not lines:
            said = " | ".join(ended.last_errors) or "kumiki-topology says nothing"
            raise UserError(f"nothing can be started: {said}", ExitCode.ENVIRONMENT)
        return sorted(set(lines))
