"""The exhibits of the COMPaS and Maestro papers: slopes, the master's communication, messages, parts of CG, hosts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import log2
from typing import Any

import pytest
from kumiki.report.analysis import fragments, growth, roundtrip
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import PROGRAMS
from kumiki.report.page.exhibit import Exhibit
from kumiki.report.sections.machine import rank_barrier
from kumiki.report.sections.programs import program_section
from kumiki.report.sections.transfers import messages
from kumiki.report.tables import Table, funnelled
from kumiki.report.tables import growth as growth_tables
from kumiki.results.row import Row

WIDTH = 0.01
"""Half of every interval, as a share of its median."""


class Made:
    """Rows of an evaluation, made one by one."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._ids = count()

    def add(self, suite: str, metric: str, by: str, median: float, unit: str = "us", **parameters: int | str) -> None:
        crowded = bool(parameters.pop("crowded", 0))
        self.rows.append(
            {
                "id": next(self._ids),
                "suite": suite,
                "metric": metric,
                "implementation": by,
                "parameters": parameters,
                "unit": unit,
                "better": "higher" if unit == "GB/s" else "lower",
                "median": median,
                "ci95": [median * (1 - WIDTH), median * (1 + WIDTH)],
                "n": 9,
                "oversubscribed": crowded,
                "validated": True,
            }
        )

    def results(self) -> Results:
        return Results.parse({"rows": self.rows})


def texts(table: Table) -> dict[str, list[str]]:
    return {line.head: [cell.text for cell in line.cells] for line in table.lines}


def titled(exhibits: list[Exhibit], words: str) -> Exhibit:
    return next(each for each in exhibits if words in each.title)


def rows_of(times: dict[int, float], crowded: bool = False) -> dict[int, Row]:
    made = Made()
    for ranks, time in times.items():
        made.add("rank-barrier", "rank_barrier.time", "kumiki", time, ranks=ranks, crowded=crowded)
    return {row.ranks: row for row in made.results().rows}


# -- barriers -------------------------------------------------------------------------------------------------------


def test_a_line_is_found_where_there_is_one() -> None:
    """NICAM's figures of the COMPaS paper: 16.4 us and 7.44 us for each doubling."""
    found = growth.growth(rows_of({2: 23.79, 4: 31.45, 8: 38.67}))
    assert found and found.fits
    assert found.fixed == pytest.approx(16.4, abs=0.2) and found.doubling == pytest.approx(7.44, abs=0.1)
    assert found.miss < 0.01


def test_what_follows_no_line_gets_none() -> None:
    rows = rows_of({2: 1.0, 4: 8000.0, 8: 16000.0, 16: 70000.0})
    found = growth.growth(rows)
    assert found and not found.fits
    lines = texts(growth_tables.slopes({"MPI": rows}) or Table("", []))
    assert lines["MPI"][0] == "–" and lines["MPI"][-1] == "does not follow a line"


def test_ranks_with_a_core_each_and_others_share_no_line() -> None:
    rows = {**rows_of({2: 1.0, 4: 2.0}), **rows_of({8: 100.0, 16: 150.0, 32: 200.0}, crowded=True)}
    found = growth.growth(rows)
    assert found and found.members == (8, 16, 32) and found.crowded and found.doubling == pytest.approx(50)
    assert growth.growth(rows_of({2: 1.0, 4: 2.0})) is None, "two points always lie on a line"


def test_crossovers_are_measured_and_lines_say_where() -> None:
    """PM is faster than NICAM up to 4 nodes, which the paper's lines cross soon after."""
    nicam = rows_of({members: 16.4 + 7.44 * log2(members) for members in (2, 4, 8, 16)})
    pm = rows_of({members: -3.5 + 16.98 * log2(members) for members in (2, 4, 8, 16)})
    (found,) = growth.overtakings({"NICAM": nicam, "PM": pm})
    assert (found.few, found.many, found.last, found.first) == ("PM", "NICAM", 4, 8)
    lines = texts(growth_tables.crossovers({"NICAM": nicam, "PM": pm}) or Table("", []))
    assert lines["PM"] == ["NICAM", "up to 4", "from 8", "4.2"]
    assert growth_tables.crossovers({"NICAM": nicam, "the same": nicam}) is None


def test_the_page_shows_slopes_and_crossovers() -> None:
    made = Made()
    for ranks in (2, 4, 8, 16):
        steps = log2(ranks)
        kumiki = {"form": "plain", "fabric": "shm", "ranks": ranks}
        made.add("rank-barrier", "rank_barrier.time", "kumiki", 1.0 + 0.5 * steps, **kumiki)
        made.add("rank-barrier", "rank_barrier.time", "mpich", 0.3 + 1.0 * steps, **kumiki)
        made.add("rank-barrier", "rank_barrier.time", "kumiki", 0.1, **{**kumiki, "form": "split-phase"})
    exhibits = rank_barrier(made.results()).exhibits
    lines = texts(titled(exhibits, "a + b log2 P").table or Table("", []))
    assert lines["Kumiki, plain"][:2] == ["1.00 µs", "500 ns"]
    assert not [name for name in lines if "split" in name]
    crossovers = texts(titled(exhibits, "overtakes").table or Table("", []))
    assert crossovers == {"MPICH": ["Kumiki, plain", "up to 2", "from 4", "2.6"]}
    assert titled(exhibits, "How the rank barrier grows").picture


# -- the master's communication -------------------------------------------------------------------------------------


PRODUCT = next(program for program in PROGRAMS if program.suite == "matmul")


def products(times: dict[int, float], width: float = WIDTH, **more: int | str) -> Results:
    made = Made()
    for threads, time in times.items():
        where = {"form": "hybrid", "fetch": "before", "ranks": 2, "threads": threads, **more}
        made.add("matmul", "matmul.communication", "kumiki", time, "s", **where)
        made.rows[-1]["ci95"] = [time * (1 - width), time * (1 + width)]
    return made.results()


def verdict(results: Results) -> str:
    table = funnelled.table(results, PRODUCT)
    assert table
    return texts(table)["2"][-1]


def test_communication_of_the_master_alone_is_the_same_or_not() -> None:
    assert verdict(products({1: 0.100, 2: 0.101, 4: 0.100})) == "the same within 10 %"
    assert verdict(products({1: 0.1, 2: 0.2, 4: 0.4})) == "up to 4.00 times as long"
    assert verdict(products({1: 0.1, 2: 0.12}, width=0.5)) == "the samples do not show it"


def test_threads_that_did_not_compute_say_nothing_of_the_master() -> None:
    """With more threads than cores a rank computes with fewer of them, unless it is told to use all."""
    assert funnelled.series(products({1: 0.1, 2: 0.1}, working=1), PRODUCT) == []
    assert len(funnelled.series(products({1: 0.1, 2: 0.1}, all_threads="yes"), PRODUCT)) == 1


# -- messages -------------------------------------------------------------------------------------------------------


def talk() -> Made:
    made = Made()
    for size in (4, 1024, 2**20):
        raw = 1.0 + size / 10000
        for by, factor in {"kumiki": 2.0, "mpich": 4.0, "bound": 1.0}.items():
            where = {"fabric": "shm", "ranks": 2, "bytes": size}
            made.add("message", "message.round_trip", by, raw * (factor if size < 2**20 else 1.0), **where)
    return made


def test_shares_of_the_raw_link_are_ratios_of_round_trips() -> None:
    results = talk().results()
    found = roundtrip.shares(results, "shm")
    assert set(found) == {"kumiki", "mpich"}
    assert [round(share.middle, 3) for share in found["kumiki"].values()] == [0.5, 0.5, 1.0]
    share = found["mpich"][4]
    assert share.low == pytest.approx(0.25 * 0.99 / 1.01) and share.high == pytest.approx(0.25 * 1.01 / 0.99)
    assert roundtrip.shares(results, "network") == {}


def test_round_trips_stand_in_the_page_with_their_shares() -> None:
    exhibits = messages(talk().results()).exhibits
    table = titled(exhibits, "Round trips within a host and their share").table
    assert table and [column.title for column in table.columns] == ["Kumiki", "MPICH", "memcpy and flags (raw link)"]
    assert table.lines[0].cells[0].note == "50 % of raw" and table.lines[0].cells[0].best
    wide = talk()
    for row in wide.rows:
        row["ci95"] = [row["median"] * 0.7, row["median"] * 1.4]
    table = titled(messages(wide.results()).exhibits, "Round trips within a host and their share").table
    assert table and table.lines[0].cells[0].note == "", "a share of which the samples tell nothing is not named"
    for words in ("as a share of the raw link", "Round trips within a host"):
        picture = titled(exhibits, words).picture
        assert picture and "raw link" in " ".join(key.text for key in picture.legend)


def cut(rates: dict[int, dict[int, float]]) -> Made:
    """Rates by length of fragments and size of the message."""
    made = Made()
    for length, by_size in rates.items():
        for size, rate in by_size.items():
            where = {"fabric": "shm", "ranks": 2, "fragment": length, "bytes": size}
            made.add("message", "fragment.bandwidth", "kumiki", rate, "GB/s", **where)
    return made


def test_the_best_length_is_told_for_each_size_of_messages() -> None:
    results = cut(
        {
            0: {4096: 1.0, 2**20: 4.0},
            4048: {4096: 1.2, 2**20: 4.0},
            65536: {4096: 1.0, 2**20: 5.0},
            262144: {4096: 1.0, 2**20: 5.0},
        }
    ).results()
    short, long = fragments.choices(results, "shm")
    assert (short.size, short.best.count("fragment"), short.as_good) == (4096, 4048, [4048])
    assert (long.size, long.as_good) == (2**20, [65536, 262144])
    assert long.own and long.own.value == 4.0
    exhibits = messages(results).exhibits
    lines = texts(titled(exhibits, "best fragment length").table or Table("", []))
    assert lines["4 KiB"][0] == "4048 B" and lines["4 KiB"][-1] == "none"
    assert lines["1 MiB"][-1] == "256 KiB"
    figure = titled(exhibits, "over fragment length")
    assert "1 MiB" in figure.title, "the figure over lengths is of the longest messages"


# -- the radix sort -------------------------------------------------------------------------------------------------


def test_messages_of_the_radix_sort_stand_beside_what_even_keys_make() -> None:
    made = Made()
    for ranks, size in {2: 4096.0, 4: 1024.0}.items():
        for form in ("time", "message"):
            where = {"form": "hybrid", "kernel": "vector", "keys": 4 << 20, "ranks": ranks, "threads": 1}
            unit = "KiB" if form == "message" else "s"
            made.add("radix-sort", f"radix_sort.{form}", "kumiki", size, unit, **where)
        made.add("radix-sort", "radix_sort.sent", "kumiki", size, "KiB", rank=0, **where)
    program = next(program for program in PROGRAMS if program.suite == "radix-sort")
    picture = titled(program_section(made.results(), program).exhibits, "data that one rank sends").picture
    assert picture and len(picture.legend) == 3
    assert picture.svg.count("#row-") >= 4


# -- CG's parts, and programs over hosts ----------------------------------------------------------------------------


def cg(parts: tuple[str, ...]) -> Made:
    made = Made()
    for ranks in (1, 2):
        where = {"form": "hybrid", "class": "A", "ranks": ranks, "threads": 1}
        for name, share in {"time": 1.0, **dict.fromkeys(parts, 1 / len(parts))}.items():
            made.add("cg", f"cg.{name}", "kumiki", share / ranks, "s", **where)
    return made


def parts_of_cg(made: Made) -> Iterator[str]:
    program = next(program for program in PROGRAMS if program.suite == "cg")
    picture = titled(program_section(made.results(), program).exhibits, "where the time goes").picture
    assert picture
    return (key.text for key in picture.legend)


def test_cg_is_taken_apart_as_in_its_paper() -> None:
    every = ("computation", "communication", "synchronisation", "product", "vectors", "exchange", "sums")
    assert list(parts_of_cg(cg(every))) == [
        "matrix-vector product",
        "vector additions, inner products",
        "exchange of the vector",
        "sums over all workers",
    ]
    assert list(parts_of_cg(cg(every[:3]))) == list(every[:3]), "results from before have no such parts"


def test_programs_over_hosts_are_messages_against_mpi() -> None:
    made = Made()
    made.add("is", "is.time", "kumiki", 1.0, "s", form="sequential", ranks=1, threads=1, **{"class": "A"})
    for hosts, ours in {2: 0.6, 4: 0.4}.items():
        where = {"class": "A", "ranks": hosts, "threads": 1, "hosts": hosts}
        made.add("is", "is.time", "kumiki", ours, "s", form="message", **where)
        made.add("is", "is.time", "mpich", 1.4 * ours, "s", form="mpi", **where)
    # Two ranks on each host are not a point of this figure.
    made.add("is", "is.time", "mpich", 9.0, "s", form="mpi", ranks=8, threads=1, hosts=4, **{"class": "A"})
    program = next(program for program in PROGRAMS if program.suite == "is")
    exhibits = program_section(made.results(), program).exhibits
    both = [each for each in exhibits if "time over hosts" in each.title]
    assert [each.kind for each in both] == ["Figure", "Table"]
    assert both[0].paper == "Figure 6" and both[0].source == "the Maestro paper"
    lines = texts(both[1].table or Table("", []))
    assert lines["2 hosts"][-1] == "1.40 times as fast as MPICH" and "8" not in " ".join(lines)
    assert lines["1, sequential"][0] == "1.00 s"
    assert "one PC is faster than two" in both[1].shows
    assert both[1].table and both[1].table.notes == [
        "Kumiki messages: faster on 2 than on 1, faster on 4 than on 2.",
        "MPICH: faster on 2 than on 1, faster on 4 than on 2.",
    ]
