"""What to change: one function for each cause, which says something only where the figures support it."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.explain.model import Explanation, Finding, Lock, Region, Subject
from kumiki.explain.sources import with_preposition

LEAST_SHARE = 0.01
"""Of the processor time of all ranks: what costs less is not worth a change. Not of the wall time, in which other
programs may have run."""
LEAST_WAITING = 0.02
"""Of the wall time of all ranks: the same for waiting at locks."""
TRANSFER_SECONDS = 20e-6
"""What moving a page between two hosts costs at least, although on one host, with copies, it costs less."""
PAGE = 4096


def findings(explained: Explanation) -> list[Finding]:
    """What to change, the most expensive first; empty: nothing."""
    found: list[Finding] = []
    for subject in explained.subjects:
        if not _matters(subject, explained):
            continue
        for cause in (_false_sharing, _placement, _nothing_new):
            if (finding := cause(subject, explained)) is not None:
                found.append(finding)
                break  # the others are its consequences
    for lock in explained.locks:
        found.extend(_lock(lock, explained))
    for region in explained.regions:
        found.extend(_region(region, explained))
    return sorted(found, key=lambda finding: -finding.weight)


def _matters(subject: Subject, explained: Explanation) -> bool:
    """Whether its pages cost a noticeable part of the run. If that did not end, everything matters."""
    return subject.use != "stack" and _cost(subject) >= LEAST_SHARE * explained.processor_seconds


def _cost(subject: Subject) -> float:
    return max(subject.seconds, TRANSFER_SECONDS * subject.transfers)


def _false_sharing(subject: Subject, explained: Explanation) -> Finding | None:
    """Pages that several ranks write in one interval, again and again."""
    if subject.false_shared < 3 or subject.false_shared < 0.1 * max(subject.written, 1):
        return None
    what = (
        f"{subject.name}: several ranks wrote the same page in the same interval {subject.false_shared} times "
        f"({subject.false_pages} {'page' if subject.false_pages == 1 else 'pages'}; {subject.example})"
    )
    if explained.openmp and subject.false_pages <= 2:
        change = (
            "give each thread a variable of its own and combine them at the end (a reduction), or pad what each "
            f"thread writes to {PAGE} bytes"
        )
    elif subject.false_pages <= 2 and subject.bytes <= 16 * PAGE:
        change = f"pad what each rank writes to whole pages (alignas({PAGE})), or let each rank write memory of its own"
    else:
        change = (
            "divide the work so that each rank writes whole pages: runs of consecutive elements instead of every "
            "n-th, rows padded to a multiple of the page, or shorter pages"
        )
    return Finding(subject.name, what, change, _cost(subject))


def _placement(subject: Subject, explained: Explanation) -> Finding | None:
    """Pages whose home is not the rank that keeps writing them."""
    if subject.again < 2 or subject.again < 0.1 * subject.written_pages:
        return None
    share = 100 * subject.elsewhere / max(subject.pages, subject.written_pages)
    what = (
        f"{subject.name}: {share:.0f} % of its pages have their home at another rank than the one that writes "
        f"them ({subject.differences} differences travelled, {subject.difference_bytes / 1e6:.1f} MB)"
    )
    return Finding(subject.name, what, _better_home(subject, explained), _cost(subject))


def _better_home(subject: Subject, explained: Explanation) -> str:
    if explained.openmp:
        by_use = (
            "--homes relocated, with which pages follow the rank that keeps writing them, or --homes next if one "
            "thread initialises it"
            if subject.placement == "first touch"
            else "--homes first, or --homes next if one thread initialises it"
        )
        if subject.use == "variable" and subject.fits:
            return f"place it where it is written: --map {subject.name}={subject.fits}; or {by_use}"
        return f"let its use decide its homes: {by_use}"
    if subject.placement in ("first touch", "managed") and subject.first_toucher is not None:
        return (
            f"initialise in parallel: rank {subject.first_toucher} touches all of it first, so it is the home of all; "
            "let each rank initialise the part that it computes, or call open_homes() after the initialisation"
        )
    if subject.fits:
        return f"allocate it with Homes::{subject.fits}, which gives these pages to the ranks that write them"
    if subject.placement in ("block", "cyclic", "rank 0"):
        return "allocate it with Homes::first and initialise it in the pattern in which it is used"
    return "allocate it with Homes::relocated, so that pages follow the rank that keeps writing them"


def _nothing_new(subject: Subject, explained: Explanation) -> Finding | None:
    """Pages that are fetched again although nothing in them has changed: a home whose writes do not fault announces
    them at each barrier, and a program may write what was there before. (In a shared array only the latter happens.)"""
    if subject.use == "array" or subject.idle_fetches < 10 or subject.idle_fetches < 0.5 * subject.fetches:
        return None
    if not subject.faults:
        return None  # the pages were only fetched ahead of need
    what = (
        f"{subject.name}: {subject.idle_fetches} of {subject.fetches} fetched pages had not changed since this rank "
        "had them last"
    )
    change = (
        "copies are dropped at each barrier, because another rank writes there what was there before, or is the home, "
        "whose writes are not noticed: give each thread a copy of what it only reads (firstprivate, threadprivate), or "
        "run fewer and longer regions"
    )
    return Finding(subject.name, what, change, _cost(subject))


def _atomic(lock: Lock, took: str, explained: Explanation) -> Finding:
    change = "use a reduction, or collect in a variable of the thread and add it once at the end"
    if lock.kind == "gathered":
        what = f"{lock.text}: {lock.count} atomic updates, {took} though they are gathered"
    else:
        what = (
            f"{lock.text}: {lock.count} atomic instructions, {took}: they are messages, because the program uses their "
            "results, makes few of them between two barriers or locks, or no thread had touched their pages before the "
            "region"
        )
        if not any(each.kind == "gathered" for each in explained.locks):
            change += (
                "; if it uses no results, and OpenMP's plain atomic construct is enough for all, run the program with "
                "--atomics gathered"
            )
    return Finding(lock.text, what, change, lock.seconds)


def _lock(lock: Lock, explained: Explanation) -> Iterator[Finding]:
    whole = explained.seconds * max(explained.ranks, 1)
    as_messages = lock.count * TRANSFER_SECONDS if explained.copies and lock.kind != "gathered" else 0.0
    if lock.count < 10 or (
        lock.seconds < LEAST_WAITING * whole and as_messages < LEAST_SHARE * explained.processor_seconds
    ):
        return
    each = 1e6 * lock.seconds / lock.count
    if lock.kind in ("atomic", "gathered"):
        yield _atomic(lock, f"each of which took {each:.1f} us", explained)
        return
    name = f"the construct {lock.text}" if lock.kind == "critical" else lock.text
    yield Finding(
        lock.text,
        f"{name}: entered {lock.count} times, each time {each:.1f} us until it was free and the changes of others were "
        "known",
        "enter it more rarely: collect in memory of the thread and combine once, or use a reduction"
        if explained.openmp
        else "take it more rarely, for more work at a time, or let ranks work on data of their own between barriers",
        lock.seconds,
    )


def _region(region: Region, explained: Explanation) -> Iterator[Finding]:
    if region.seconds < 0.1 * explained.seconds:
        return
    if region.text.startswith("between"):
        # Of a job that ended early the whole time is not known, so neither is the share of this part.
        if explained.seconds and region.seconds >= 0.3 * explained.seconds:
            yield Finding(
                region.text,
                f"rank 0 works alone for {100 * region.seconds / explained.seconds:.0f} % of the time, while the "
                "others wait",
                "run more of the program in parallel regions, initialisation too: more ranks cannot make this part "
                "faster",
                region.seconds * (explained.ranks - 1),
            )
        return
    if region.waiting >= 0.3 and region.waiting > region.faulting:
        yield Finding(
            region.text,
            f"the parallel region {with_preposition('at', region.text)} does not scale: ranks spend "
            f"{100 * region.waiting:.0f} % of its time at its barriers ({region.executions} executions)",
            "share its work out evenly: schedule(static) for equal iterations, guided for unequal ones"
            if region.uneven > 0.5 * region.waiting
            else "give it more work per execution (one region around several loops, nowait where it is possible): it "
            "is so short that bringing the ranks and their pages together takes most of its time. Without --explain it "
            "may run on the first host alone (--regions adaptive)",
            region.waiting * region.seconds,
        )
    elif region.faulting >= 0.3:
        yield Finding(
            region.text,
            f"the parallel region {with_preposition('at', region.text)} does not scale: "
            f"{100 * region.faulting:.0f} % of its time are page faults "
            f"({region.faults} in {region.executions} executions)",
            "see the arrays and lines above whose pages move; the region scales when its data stay where they are used",
            region.faulting * region.seconds,
        )
