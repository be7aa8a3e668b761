"""Several platforms side by side: tables with a column for each, and guidelines that change with the figures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import kumiki.report as report
import pytest
from kumiki.report import Comparison, Table
from kumiki.report.analysis.model import Results
from kumiki.report.platforms.model import Platform, contests
from synthetic import Host
from test_report_own import Own, amdahl
from test_report_page import Page


def compared(**hosts: Any) -> Comparison:
    return report.side_by_side((label, host.results, host.samples) for label, host in hosts.items())


def slower(host: Host, factor: float, *suites: str) -> Host:
    """The same machine with longer times in these suites (none named: all)."""
    for row in host.rows:
        if row["median"] and row["unit"] in ("s", "us") and row["suite"] in (suites or host.suites):
            row["median"] *= factor
            row["ci95"] = [end * factor for end in row["ci95"]]
    return host


def table(comparison: Comparison, caption: str) -> Table:
    return next(made for words, made in comparison.tables() if words == caption)


def lines(made: Table) -> dict[str, list[tuple[str, str, bool]]]:
    return {line.head: [(cell.text, cell.note, cell.best) for cell in line.cells] for line in made.lines}


def said(comparison: Comparison, label: str, *words: str) -> str:
    """The one guideline of a platform that contains these words."""
    (guide,) = [guide for guide in comparison.guidelines if guide.label == label]
    (found,) = [p.text for p in guide.pieces if all(word in p.text for word in words)] or [str(guide.pieces)]
    return found


def routines(host: Host, *, from_size: int = 1 << 15) -> Host:
    """Rows of a suite mpi in which SEND is the fastest below this size."""
    for size in (1 << power for power in range(10, 26)):
        for routine in ("SEND", "SENDRECV"):
            rate = 2.0 if (routine == "SEND") is (size < from_size) else 1.0
            where: dict[str, Any] = {"ranks": 4, "bytes": size, "routine": routine}
            host.add("mpi", "mpi.bandwidth", "openmpi", "GB/s", rate, better="higher", **where)
    return host


@pytest.fixture(scope="module")
def three() -> Comparison:
    return compared(
        big=routines(Host(cores=16, bus_threads=14, exchange=0.002)),
        middle=slower(Host(cores=8, bus_threads=3), 2.0),
        small=slower(Host(cores=4, bus_threads=1.3, mpis=("openmpi",)), 3.0),
    )


def test_platforms_are_told(three: Comparison) -> None:
    assert [cell[0] for cell in lines(table(three, "The platforms"))["cores"]] == ["16", "8", "4"]


def test_best_of_a_line_is_marked_with_its_equals() -> None:
    comparison = compared(a=Host(), b=slower(Host(), 1.002), c=slower(Host(), 2.0))
    (best,) = [
        cells for head, cells in lines(table(comparison, "Every platform at its best")).items() if "Matrix" in head
    ]
    assert [cell[2] for cell in best] == [True, True, False]
    assert best[0][1] == "-n 1 -t 2"


def test_speed_up_and_efficiency_by_processors(three: Comparison) -> None:
    """F66, and the tables behind figures 10 to 33 of the paper."""
    found = lines(table(three, "Laplace (640 × 640, 500 iterations)"))
    assert list(found) == [f"{n} processor{'s' if n > 1 else ''}" for n in (1, 2, 3, 4, 7, 8, 15, 16)]
    assert re.fullmatch(r"7\.\d+ times, 9\d %", found["8 processors"][0][1])
    assert found["16 processors"][1][0] == "–"


def test_one_processor_is_told_as_a_rate(three: Comparison) -> None:
    found = lines(table(three, "One processor"))
    assert "GFLOP/s" in found["Matrix product (1800 × 1800)"][0][0]


def test_memory_and_messages(three: Comparison) -> None:
    assert lines(table(three, "The memory bus at its best"))["copy"][0][1] == "16 threads"
    shortest = lines(table(three, "The shortest operations"))
    assert shortest["put, Kumiki"][0][2] and not shortest["put, Kumiki"][2][2]
    assert shortest["send, MPICH"][2][0] == "–"
    assert "Kumiki, put" in lines(table(three, "The highest bandwidth by size"))["1 MiB"][0][1]


def test_fastest_platform_is_named_and_by_how_much_the_others_are_slower(three: Comparison) -> None:
    assert "is the fastest for Laplace, Matrix product" in said(three, "big", "at its best setting")
    text = said(three, "small", "at its best setting")
    assert re.search(r"slower than the fastest for Laplace \(\d+\.\d times as long as big\)", text)
    equal = compared(a=Host(suites=("cg",)), b=Host(suites=("cg",)))
    assert "as fast as the fastest for Conjugate gradient (b)" in said(equal, "a", "at its best setting")


def test_programs_that_scale_and_programs_that_do_not(three: Comparison) -> None:
    text = said(three, "middle", "Judged by the efficiency")
    assert "Matrix product (88 % on 8) scales well" in text and "scale less well" in text
    host = Host(suites=("laplace",), exchange=40.0, bus_threads=1.0)
    assert "Laplace should stay sequential" in said(compared(a=host, b=Host()), "a", "Judged by the efficiency")


def test_memory_bus_of_each_platform(three: Comparison) -> None:
    assert "saturates at 4 threads" in said(three, "middle", "memory bus")
    assert "saturates at 2 threads" in said(three, "small", "memory bus")


def test_routine_by_size_where_it_was_measured(three: Comparison) -> None:
    assert said(three, "big", "Send with") == "Send with Open MPI by SEND up to 16 KiB and by SENDRECV above."
    later = compared(a=routines(Host(suites=()), from_size=1 << 20), b=Host())
    assert "SEND up to 512 KiB" in said(later, "a", "Send with")
    always = compared(a=routines(Host(suites=()), from_size=1 << 30), b=Host())
    assert "by SEND at every size" in said(always, "a", "Send with")
    assert not any("Send with" in piece.text for piece in three.guidelines[1].pieces)


def test_every_guideline_cites_rows_of_its_platform(three: Comparison) -> None:
    for platform, guide in zip(three.platforms, three.guidelines, strict=True):
        known = {row.id for row in platform.results.rows}
        assert len(guide.pieces) >= 5
        for piece in guide.pieces:
            assert piece.rows and set(piece.rows) <= known and piece.text.endswith("."), piece.text


def test_own_program_on_several_platforms() -> None:
    hosts = {"a": Own(amdahl(0.05), noise=0.01), "b": Own(lambda r, t: 2 * amdahl(0.3)(r, t), noise=0.01)}
    comparison = compared(**hosts)
    found = lines(table(comparison, "Your program (./heat {ranks} {threads})"))
    assert re.fullmatch(r"5\.\d+ times, 7\d %", found["8 processors"][0][1])
    assert "is the fastest for your program" in said(comparison, "a", "at its best setting")
    assert "Amdahl's law" in said(comparison, "b", "a serial share of 30 %")


def test_own_programs_of_another_size_or_figure_are_not_set_side_by_side() -> None:
    one = dict(size=100, power=2)
    for other in (
        dict(size=200, power=2),
        dict(size=100, power=3),
        dict(**one, rate=True),
        dict(**one, sequential=1.0),
    ):
        platforms = [Platform("a", Results.parse(Own(amdahl(0.05), **one).results))]
        platforms.append(Platform("b", Results.parse(Own(amdahl(0.05), **other).results)))
        assert contests(platforms) == [] and contests([platforms[0], platforms[0]])


def test_page_is_whole(three: Comparison) -> None:
    page = Page(text := three.page())
    assert page.faults == [] and len(page.ids) == len(set(page.ids))
    assert {ref for ref in page.references if not ref.startswith("#")} == set()
    assert {ref for ref in page.references if ref.startswith("#")} <= {f"#{name}" for name in page.ids}
    for section in ("platforms", "programs", "laplace", "cg", "memory", "messages", "figures"):
        assert page.sections.get(section, "").strip(), section
    assert text.count("speed-up over processors</h3>") == text.count("efficiency over processors</h3>") == 4
    assert "put.latency, Kumiki" in page.sections["figures"]
    assert len(text) < 2_000_000


def test_page_of_results_that_have_nothing_in_common(tmp_path: Path) -> None:
    page = Page(compared(a=Host(suites=("memory",)), b=Host(suites=("cg",)), c=Host(suites=())).page())
    assert page.faults == []
    assert "No guideline can be drawn" in page.sections["guidelines"]
