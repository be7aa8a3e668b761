"""The explanation on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kumiki.explain.model import Explanation, Lock, Subject
from kumiki.explain.sources import with_preposition

MOST_ROWS = 12


def print_explanation(explained: Explanation, out: Console) -> None:
    out.print()
    out.print(Text("What shared memory cost", style="bold underline"))
    for sentence in summary(explained):
        out.print(Text(sentence))
    for title, table in tables(explained):
        out.print(Text(title, style="bold"))
        out.print(table)
    out.print(Text("What to change", style="bold"))
    for finding in explained.findings:
        out.print(Text(f"- {finding.what}. ").append(f"Change: {finding.change}.", style="bold"))
    if not explained.findings:
        out.print(Text(f"- {nothing(explained)}"))
    for note in explained.notes:
        out.print(Text(note, style="dim"))


def nothing(explained: Explanation) -> str:
    """Why nothing is to be changed."""
    if not explained.ranks:
        return "Nothing: the program used no shared arrays, or ended before it had any."
    if not explained.copies:
        return "Nothing: all ranks are on one host and use the same memory."
    if not any(subject.faults for subject in explained.subjects):
        return "Nothing: no page travelled."
    return "Nothing: no array, variable, lock or region costs a noticeable part of the run in a way that can be mended."


def summary(explained: Explanation) -> Iterator[str]:
    """The run in words."""
    if not explained.ranks:
        yield (
            "No rank left a record: the program made no job of Kumiki's with shared arrays, or its ranks are one "
            "process (kumiki run --openmp on one host), where nothing travels. With --hosts, or with "
            "KUMIKI_SHARED_COPIES=rank on one host, the ranks have copies, and their cost is explained."
        )
        return
    ranks = "1 rank" if explained.ranks == 1 else f"{explained.ranks} ranks"
    if not explained.copies:
        yield (
            f"{ranks} on one host, which use the same memory: nothing is fetched and nothing is sent. "
            "KUMIKI_SHARED_COPIES=rank shows what the program would cost between hosts."
        )
        return
    whole = explained.seconds * explained.ranks
    in_faults = sum(subject.seconds for subject in explained.subjects)
    fetched = sum(subject.fetches for subject in explained.subjects)
    sent = sum(subject.differences for subject in explained.subjects)
    share = f", which is {100 * in_faults / whole:.1f} % of their time" if whole else ""
    yield (
        f"{ranks}, {explained.intervals} intervals between barriers"
        + (f", {explained.seconds:.2f} s" if explained.seconds else "")
        + f". Page faults took {in_faults:.3f} s of all threads{share}; {fetched} pages were fetched and the changes "
        f"of {sent} sent."
    )
    pages = sum(subject.pages for subject in explained.subjects)
    elsewhere = sum(subject.elsewhere for subject in explained.subjects)
    if pages:
        yield (
            f"{100 * elsewhere / pages:.0f} % of the pages have their home at another rank than the one that mostly "
            f"writes them; {fetched + sent} page transfers, {(fetched + sent) / explained.ranks:.0f} a rank."
        )


def tables(explained: Explanation) -> Iterator[tuple[str, Table]]:
    used = [subject for subject in explained.subjects if subject.faults or subject.transfers or subject.use == "array"]
    if used and explained.copies:
        yield ("Variables and memory" if explained.openmp else "Shared arrays"), _subjects(used)
    if explained.lines:
        yield "Source lines that fault", _lines(explained)
    if explained.regions:
        yield "Parallel regions", _regions(explained)
    if explained.locks:
        yield "Locks and atomic instructions", _locks(explained)


def home_text(subject: Subject) -> str:
    """The homes of its pages: `rank 0`, or `0: 12, 1: 13 pages`."""
    known = {home: count for home, count in subject.homes.items() if home >= 0 and count}
    if not known:
        return subject.placement or "none yet"
    words = (
        f"rank {next(iter(known))}"
        if len(known) == 1
        else ", ".join(f"{home}: {count}" for home, count in sorted(known.items())[:4])
        + (", ..." if len(known) > 4 else "")
    )
    return f"{subject.placement} ({words})" if subject.use == "array" and subject.placement else words


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(columns):
        words = place == 0 or name in ("homes", "what")
        table.add_column(name, justify="left" if words else "right", overflow="fold")
    return table


def _subjects(subjects: list[Subject]) -> Table:
    table = _table(
        "", "homes", "faults", "ms", "fetched", "for nothing", "MB", "diffs", "MB", "dropped", "false sharing"
    )
    for each in subjects[:MOST_ROWS]:
        table.add_row(
            each.name,
            home_text(each),
            f"{each.faults}",
            f"{1e3 * each.seconds:.1f}",
            f"{each.fetches}",
            f"{each.idle_fetches}",
            f"{each.fetched_bytes / 1e6:.2f}",
            f"{each.differences}",
            f"{each.difference_bytes / 1e6:.2f}",
            f"{each.dropped}",
            f"{each.false_shared}",
        )
    if len(subjects) > MOST_ROWS:
        table.add_row(f"and {len(subjects) - MOST_ROWS} more")
    return table


def _lines(explained: Explanation) -> Table:
    table = _table("line", "faults", "of writes", "ms", "what")
    for line in explained.lines[:MOST_ROWS]:
        table.add_row(
            line.text, f"{line.faults}", f"{line.writes}", f"{1e3 * line.seconds:.1f}", ", ".join(line.subjects)
        )
    return table


def _regions(explained: Explanation) -> Table:
    table = _table("region", "times", "ms", "at barriers", "in faults", "faults", "scales")
    for region in explained.regions[:MOST_ROWS]:
        is_region = not region.text.startswith("between")
        table.add_row(
            region.text,
            f"{region.executions}",
            f"{1e3 * region.seconds:.1f}",
            f"{100 * region.waiting:.0f} %" if is_region else "",
            f"{100 * region.faulting:.0f} %",
            f"{region.faults}",
            ("yes" if region.scales else "no") if is_region else "",
        )
    return table


def name_of(lock: Lock) -> str:
    kinds = {"atomic": "atomic", "gathered": "gathered atomic"}
    return f"{kinds[lock.kind]} {with_preposition('at', lock.text)}" if lock.kind in kinds else lock.text


def _locks(explained: Explanation) -> Table:
    table = _table("", "times", "us each", "ms")
    for lock in explained.locks[:MOST_ROWS]:
        table.add_row(
            name_of(lock), f"{lock.count}", f"{1e6 * lock.seconds / lock.count:.1f}", f"{1e3 * lock.seconds:.1f}"
        )
    return table
