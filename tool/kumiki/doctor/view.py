"""How a diagnosis is printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from kumiki.doctor import Diagnosis
from kumiki.doctor.finding import Finding, State
from kumiki.terminal.quantity import counted

WORDS: Mapping[State, tuple[str, str]] = {
    State.GOOD: ("ok", "green"),
    State.MISSING: ("missing", "bold red"),
    State.OPTIONAL: ("not there", "yellow"),
    State.DISTURBS: ("disturbs", "yellow"),
    State.FIXED: ("disturbs", "dim"),
}
WIDTH = max(len(word) for word, _ in WORDS.values())


def print_diagnosis(diagnosis: Diagnosis, out: Console) -> None:
    """Prints the machine, then every finding with its remedy."""
    out.print(Text("This machine", style="bold"))
    for name, value in machine_lines(diagnosis.environment):
        out.print(Text(f"  {name:<10} {value}"))
    out.print()
    out.print(Text("Checks", style="bold"))
    for finding in diagnosis.findings:
        out.print(_line(finding), soft_wrap=True)
    out.print()
    missing = [finding.subject for finding in diagnosis.findings if finding.state is State.MISSING]
    disturbing = [finding.subject for finding in diagnosis.findings if finding.state is State.DISTURBS]
    if missing:
        out.print(Text(f"Not usable; missing: {', '.join(missing)}.", style="bold red"))
    elif disturbing:
        out.print(Text(f"Usable; would disturb a measurement: {', '.join(disturbing)}.", style="bold"))
    else:
        out.print(Text("Usable; nothing that can be fixed would disturb a measurement.", style="bold"))


def machine_lines(environment: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """A description of the machine, one line for each subject."""
    cpu, memory, system = environment["cpu"], environment["memory"], environment["system"]
    yield "processor", f"{cpu['model']}, {cpu['architecture']}"
    yield (
        "cores",
        ", ".join(
            (
                counted(cpu["usable_cores"], "usable core"),
                f"{counted(cpu['threads_per_core'], 'hardware thread')} each",
                counted(cpu["packages"], "package"),
            )
        ),
    )
    if environment["caches"]:
        yield "caches", ", ".join(_cache(cache) for cache in environment["caches"])
    if memory["bytes"]:
        yield "memory", f"{memory['bytes'] / 2**30:.1f} GiB, {counted(memory['numa_nodes'], 'NUMA node')}"
    inside = [
        name
        for name, there in (("virtual machine", system["virtual_machine"]), ("container", system["container"]))
        if there
    ]
    yield "system", ", ".join(filter(None, [system["distribution"], system["kernel"], *inside]))
    build = environment["build"]
    if build:
        yield "native", ", ".join(f"{name} {value}" for name, value in build.items() if isinstance(value, (str, int)))


def _cache(cache: Mapping[str, Any]) -> str:
    size = cache["bytes"]
    shown = f"{size >> 20} MiB" if size >= 2**20 else f"{size >> 10} KiB"
    return f"{cache['count']} x L{cache['level']} {cache['type']} {shown}"


def _line(finding: Finding) -> Text:
    word, style = WORDS[finding.state]
    line = Text("  ").append(f"{word:<{WIDTH}}", style=style).append(f"  {finding.subject}: {finding.sentence}")
    if finding.mend:
        line.append(f"\n  {'':<{WIDTH}}    fix: ", style="dim").append(finding.mend, style="cyan")
    return line
