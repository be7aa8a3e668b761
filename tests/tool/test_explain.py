"""`kumiki run --explain`: from records to sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_native import Native
from kumiki.explain import advice, command, traffic
from kumiki.explain import record as records
from kumiki.explain.analysis import explain
from kumiki.explain.maps import Maps
from kumiki.explain.model import Explanation, Lock, Region, Subject
from kumiki.explain.record import COUNTS, Kind, Placement, Tallied, Use
from kumiki.explain.trial import Costs, verdict
from kumiki.explain.view import nothing
from kumiki.machine import native as native_part

BASE, PAGE = 0x2000_0000_0000, 4096
MS = 1_000_000
Event = tuple[Kind, int, int, int, int, int]
"""Kind, page, interval, value, low, high."""


def write_record(
    folder: Path,
    rank: int,
    events: Sequence[Event],
    *,
    size: int = 2,
    pages: int = 8,
    placement: Placement = Placement.FIRST_RANK,
    use: Use = Use.ARRAY,
    never_faults: bool = False,
    finished: bool = True,
    busy: int = 1,
    tallies: Sequence[tuple[Tallied, int, int, int]] = (),
) -> None:
    """The file of a rank with one array."""
    header = np.zeros(1, records._HEADER)
    header["magic"], header["version"] = records.MAGIC, records.VERSION
    header["rank"], header["size"], header["copies"], header["finished"] = rank, size, 1, finished
    header["arrays"], header["events"], header["ended"] = 1, len(events), 100 * MS
    header["interval"] = max((event[2] for event in events), default=0)
    header["processor_ns"] = 100 * MS * busy
    header["most_arrays"], header["most_tallies"], header["most_events"] = 1, max(1, len(tallies)), max(1, len(events))
    array = np.zeros(1, records._ARRAY)
    array["address"], array["bytes"], array["page_bytes"] = BASE, pages * PAGE, PAGE
    array["placement"], array["use"], array["never_faults"] = placement, use, never_faults
    counts = dict.fromkeys(COUNTS, 0)
    made = np.zeros(max(1, len(events)), records._EVENT)
    for place, (kind, page, interval, value, low, high) in enumerate(events):
        made[place]["kind"], made[place]["address"] = kind, BASE + page * PAGE
        made[place]["interval"], made[place]["value"] = interval, value
        made[place]["low"], made[place]["high"] = low, high
        if kind in (Kind.READ_FAULT, Kind.WRITE_FAULT):
            counts["read_faults" if kind is Kind.READ_FAULT else "write_faults"] += 1
            counts["fault_ns"] += value
        if kind is Kind.FETCH:
            counts["fetches"] += 1
            counts["idle_fetches"] += low > high
        if kind is Kind.DIFFERENCE:
            counts["differences"] += 1
    array["counts"][0] = [counts[name] for name in COUNTS]
    counted = np.zeros(max(1, len(tallies)), records._TALLY)
    for place, (what, key, count, ns) in enumerate(tallies):
        counted[place] = (int(what) << records.KEY_BITS | key, count, ns)
    data = b"".join(part.tobytes() for part in (header, array, counted, made))
    (folder / f"rank-{rank}.record").write_bytes(data)


def step(page: int, interval: int, low: int, high: int, took: int = MS) -> list[Event]:
    """A rank fetches a page of another home and writes to it."""
    return [
        (Kind.FETCH, page, interval, PAGE, 1, 0),
        (Kind.WRITE_FAULT, page, interval, took, 0, 0),
        (Kind.DIFFERENCE, page, interval, high - low + 1, low, high),
    ]


def said(folder: Path) -> Explanation:
    return explain(folder, ["./program"], native_part.Native(folder)).explanation


def test_pages_that_two_ranks_write_are_falsely_shared(tmp_path: Path) -> None:
    home: list[Event] = [(Kind.WRITE_FAULT, 0, interval, MS, 0, 0) for interval in range(10)]
    write_record(tmp_path, 0, home)
    write_record(tmp_path, 1, [event for interval in range(10) for event in step(0, interval, 64, 71)])
    (subject,) = said(tmp_path).subjects
    assert (subject.false_shared, subject.false_pages, subject.written) == (10, 1, 20)
    assert "rank 1 bytes 64 to 71" in subject.example
    (finding,) = said(tmp_path).findings
    assert "pad" in finding.change


def test_pages_that_are_written_in_different_intervals_are_not(tmp_path: Path) -> None:
    write_record(tmp_path, 0, [(Kind.WRITE_FAULT, 0, interval, MS, 0, 0) for interval in range(0, 10, 2)])
    write_record(tmp_path, 1, [event for interval in range(1, 10, 2) for event in step(0, interval, 64, 71)])
    (subject,) = said(tmp_path).subjects
    assert subject.false_shared == 0


def test_a_better_placement_is_named(tmp_path: Path) -> None:
    work = [event for interval in range(5) for page in range(4, 8) for event in step(page, interval, 0, 4095)]
    home: list[Event] = [(Kind.WRITE_FAULT, page, 0, MS, 0, 0) for page in range(4)]
    write_record(tmp_path, 0, home)
    write_record(tmp_path, 1, work)
    explained = said(tmp_path)
    (subject,) = explained.subjects
    assert (subject.written_pages, subject.elsewhere, subject.again, subject.fits) == (8, 4, 4, "block")
    (finding,) = explained.findings
    assert "Homes::block" in finding.change


def test_first_touch_by_one_rank_is_recognised(tmp_path: Path) -> None:
    work = [event for interval in range(1, 5) for page in range(4, 8) for event in step(page, interval, 0, 4095)]
    write_record(tmp_path, 0, [(Kind.HOME, 0, 0, 8, 0, 0)], placement=Placement.FIRST)
    write_record(tmp_path, 1, work, placement=Placement.FIRST)
    explained = said(tmp_path)
    assert explained.subjects[0].homes == {0: 8}
    (finding,) = explained.findings
    assert "initialise in parallel: rank 0" in finding.change


def test_what_costs_little_is_not_worth_a_change(tmp_path: Path) -> None:
    write_record(tmp_path, 0, [])
    cheap = [event for interval in range(5) for page in range(8) for event in step(page, interval, 0, 4095, took=10)]
    write_record(tmp_path, 1, cheap, busy=10)
    explained = said(tmp_path)
    assert explained.findings == [] and "noticeable" in nothing(explained)


def test_writes_of_a_home_that_never_faults_are_found_by_others(tmp_path: Path) -> None:
    changed: list[Event] = [
        event
        for interval in range(6)
        for event in [(Kind.FETCH, 0, interval, PAGE, 0, 7), (Kind.DIFFERENCE, 0, interval, 8, 64, 71)]
    ]
    write_record(tmp_path, 0, [], never_faults=True)
    write_record(tmp_path, 1, changed, never_faults=True)
    found = traffic.writes(traffic.gather(records.read(tmp_path)))
    assert sorted(found.interval[found.rank == 0].tolist()) == [0, 1, 2, 3, 4]
    # What a third rank has sent is not the home's.
    third: list[Event] = [(Kind.DIFFERENCE, 0, interval, 8, 0, 7) for interval in range(6)]
    write_record(tmp_path, 2, third, never_faults=True, size=3)
    found = traffic.writes(traffic.gather(records.read(tmp_path)))
    assert found.interval[found.rank == 0].tolist() == []


def test_a_home_that_faults_wrote_only_where_it_did(tmp_path: Path) -> None:
    """It writes in intervals in which nobody else does, as where loops deal rows and planes in turn."""
    fetched: list[Event] = [
        event
        for interval in range(0, 6, 2)
        for event in [(Kind.FETCH, 0, interval, PAGE, 0, 7), (Kind.DIFFERENCE, 0, interval, 8, 64, 71)]
    ]
    written: list[Event] = [(Kind.WRITE_FAULT, 0, interval, 10, 0, 0) for interval in range(1, 6, 2)]
    write_record(tmp_path, 0, written, use=Use.HEAP)
    write_record(tmp_path, 1, fetched, use=Use.HEAP)
    found = traffic.writes(traffic.gather(records.read(tmp_path)))
    assert not found.shared().any()
    assert sorted(found.interval[found.rank == 0].tolist()) == [1, 3, 5]


def test_the_first_fetch_of_a_page_is_not_for_nothing(tmp_path: Path) -> None:
    write_record(tmp_path, 0, [])
    write_record(tmp_path, 1, [(Kind.FETCH, page, interval, PAGE, 1, 0) for interval in range(3) for page in range(4)])
    (subject,) = said(tmp_path).subjects
    assert (subject.fetches, subject.idle_fetches) == (12, 8)


def test_missing_and_dead_ranks_are_named(tmp_path: Path) -> None:
    write_record(tmp_path, 1, step(0, 0, 0, 7), size=3, finished=False)
    notes = " ".join(said(tmp_path).notes)
    assert "Rank 0, 2 left no record" in notes and "Rank 1 did not leave the job" in notes and "ended early" in notes


def test_files_that_are_no_records_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "rank-0.record").write_bytes(b"")
    (tmp_path / "rank-1.record").write_bytes(bytes(1 << 16))
    assert records.read(tmp_path) == []
    assert said(tmp_path).ranks == 0


def explanation(**changes: Any) -> Explanation:
    return Explanation(["./program"], 2, True, True, 1.0, 2.0, 10, [], [], [], [], [], [], **changes)


def test_atomics_and_locks_are_advised_against_only_where_they_cost() -> None:
    run = explanation()
    run.locks = [Lock("sum.c:12", "atomic", 1000, 0.5), Lock("lock 1", "lock", 500, 0.001)]
    (finding,) = advice.findings(run)
    assert finding.subject == "sum.c:12" and "reduction" in finding.change
    assert "--atomics gathered" in finding.change
    run.locks.append(Lock("sum.c:20", "gathered", 1_000_000, 0.5))
    messages, gathered = advice.findings(run)
    assert "uses their results" in messages.what and "though they are gathered" in gathered.what
    assert not any("--atomics" in finding.change for finding in (messages, gathered))
    run.locks = [Lock("sum.c:20", "gathered", 1_000_000, 0.0001)]
    assert advice.findings(run) == []


@pytest.mark.parametrize(
    ("waiting", "faulting", "word"), [(0.6, 0.1, "at its barriers"), (0.1, 0.6, "page faults"), (0.1, 0.1, "")]
)
def test_regions_that_do_not_scale_are_named(waiting: float, faulting: float, word: str) -> None:
    run = explanation()
    run.regions = [Region("a.c:3 (main)", 10, 0.5, waiting, faulting, 100, {})]
    found = advice.findings(run)
    assert [word in finding.what for finding in found] == ([True] if word else [])
    assert run.regions[0].scales == (not word)
    run.regions = [Region("in .omp_outlined.", 10, 0.5, waiting, faulting, 100, {})]  # without lines
    assert all("the parallel region in .omp_outlined. does" in finding.what for finding in advice.findings(run))


def test_a_job_that_ended_early_is_explained_without_shares_of_its_time() -> None:
    run = explanation()
    run.seconds = run.processor_seconds = 0.0
    between = Region("between regions", 1, 9.0, 0.0, 0.0, 0, {})
    run.regions = [between, Region("a.c:3 (main)", 10, 0.5, 0.6, 0.1, 100, {})]
    (finding,) = advice.findings(run)
    assert finding.subject == "a.c:3 (main)"


def test_pages_that_bring_nothing_new() -> None:
    run = explanation()
    table = Subject("table", "variable", 1 << 20, seconds=0.5, fetches=100, idle_fetches=90, read_faults=20)
    run.subjects = [table]
    (finding,) = advice.findings(run)
    assert "90 of 100 fetched pages had not changed" in finding.what
    run.subjects = [Subject("grid", "array", 1 << 20, seconds=0.5, fetches=100, idle_fetches=90, read_faults=20)]
    assert advice.findings(run) == []  # its home has written what was there before
    run.subjects = [table]
    table.read_faults = 0  # what was only fetched ahead of need is nobody's mistake
    assert advice.findings(run) == []


def test_uneven_regions_are_told_from_short_ones() -> None:
    run = explanation()
    short = Region("a.c:3 (main)", 10, 0.5, 0.6, 0.1, 100, {}, uneven=0.05)
    uneven = Region("a.c:9 (main)", 10, 0.5, 0.6, 0.1, 100, {}, uneven=0.5)
    run.regions = [short, uneven]
    changes = {finding.subject: finding.change for finding in advice.findings(run)}
    assert "more work per execution" in changes["a.c:3 (main)"] and "evenly" in changes["a.c:9 (main)"]


def test_instructions_are_found_in_other_processes(tmp_path: Path) -> None:
    for name, base in (("one", 0x5000), ("other", 0x9000)):
        (tmp_path / name).write_text(f"{base:x}-{base + 0x1000:x} r-xp 00002000 08:01 7    /bin/program\n")
    one, other = Maps.load(tmp_path / "one"), Maps.load(tmp_path / "other")
    assert one.in_other(0x5123, other) == 0x9123
    assert one.in_other(0x4000, other) == 0x4000


@pytest.mark.parametrize(
    ("words", "folder", "rest"),
    [
        (["--explain", "-n", "2"], "explain", ["-n", "2"]),
        (["--explain=there", "./program"], "there", ["./program"]),
        (["./program", "--explain"], None, ["./program", "--explain"]),
    ],
)
def test_the_option_counts_in_the_first_place(words: list[str], folder: str | None, rest: list[str]) -> None:
    found, others = command.asked(words)
    assert (str(found) if found else None, others) == (folder, rest)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("index.html", "mine"),
        ("index.html", '<meta name="generator" content="kumiki predict">'),
        ("explain.json", "{}"),
        ("explain.json", "mine"),
        ("results.json", "{}"),
        ("", ""),
    ],
)
def test_foreign_files_are_refused_before_the_run(native: Native, name: str, content: str) -> None:
    """Without a name: where the folder should be is a file."""
    native.command("kumiki-run", "#!/bin/sh\necho run\n")
    there = native.prefix / "there"
    if name:
        there.mkdir()
    (there / name).write_text(content)
    ended = native.kumiki("run", "--explain=there", "program")
    assert (ended.returncode, ended.stdout) == (2, ""), ended.stderr
    assert ended.stderr.count("\n") == 1 and "name another folder with --explain=DIR" in ended.stderr
    assert (there / name).read_text() == content


@pytest.mark.parametrize(("words", "code"), [(["--nosuch"], 2), (["-n", "2", "--help"], 0), (["./program"], 3)])
def test_nothing_is_said_of_a_run_that_has_not_begun(native: Native, words: list[str], code: int) -> None:
    native.command("kumiki-run", f"#!/bin/sh\necho said >&2\nexit {code}\n")
    for variables in ({}, {"KUMIKI_SHARED_CHECK": "1"}):
        ended = native.kumiki("run", "--explain", *words, **variables)
        assert (ended.returncode, ended.stderr) == (code, "said\n")


def test_the_files_of_an_earlier_explanation_are_replaced(tmp_path: Path) -> None:
    write_record(tmp_path, 0, [])
    write_record(tmp_path, 1, step(0, 0, 0, 7))
    for _ in range(2):
        command._check_folder(tmp_path / "said")
        command._explain(tmp_path, ["program"], tmp_path / "said", native_part.Native(tmp_path))
    assert "<svg" in (tmp_path / "said" / "index.html").read_text()


def test_more_hosts_help_where_the_work_is_in_regions() -> None:
    run = explanation()
    run.regions = [Region("a.c:3 (main)", 10, 9.0, 0.1, 0.0, 0, {}), Region("between regions", 1, 0.5, 0, 0, 0, {})]
    assert next(verdict(run, 10.0, Costs(60, 40))).startswith("It gains from more hosts: on 4")
    run.subjects = [Subject("grid", "variable", 1 << 20, fetches=400_000)]
    said, then, *_ = verdict(run, 10.0, Costs(60, 40))
    assert said.startswith("It does not gain") and "pages that travel" in said
    assert "on the first host alone" in then
    run.subjects, run.locks = [], [Lock("sum.c:12", "atomic", 1_000_000, 1.0)]
    assert "locks and atomic instructions" in next(verdict(run, 10.0, Costs(60, 40)))
    run.locks, run.regions = [], [Region("between regions", 1, 9.5, 0, 0, 0, {})]
    assert "between the parallel regions" in next(verdict(run, 10.0, Costs(60, 40)))
    run.regions.append(Region("a.c:3 (main)", 10, 0.6, 0.1, 0.0, 0, {}))
    said = next(verdict(run, 10.1, Costs(60, 40)))
    assert said.startswith("It hardly gains from more hosts: on 4 it would take about 9")
