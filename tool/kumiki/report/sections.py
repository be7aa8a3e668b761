"""The sections of the page: which tables and figures stand where, and what their captions say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kumiki.report import routines, tables
from kumiki.report.exhibit import HOLLOW, Exhibit, Section, numbered
from kumiki.report.figures import network
from kumiki.report.figures.barriers import by_members
from kumiki.report.figures.breakdown import breakdown
from kumiki.report.figures.canvas import Picture
from kumiki.report.figures.heatmap import efficiency
from kumiki.report.figures.message import BANDWIDTH, LATENCY, TRANSFER_TIME, Quantity, over_size, shortest
from kumiki.report.figures.scaling import Law, scaling
from kumiki.report.model import Results, Row
from kumiki.report.palette import Look, looks, title
from kumiki.report.papers import PAPERS, Papers
from kumiki.report.quantity import amount, plural
from kumiki.report.select import PROGRAMS, Problem, Program, cores, principal


def build(results: Results) -> list[Section]:
    sections = [_memory(results), _thread_barrier(results), _rank_barrier(results), _waiting(results), _remote(results)]
    sections += [_network(results)] if results.suite("network") else []
    sections += [routines.section(results)] if results.suite(routines.SUITE) else []
    sections += [
        _program(results, program) for program in PROGRAMS if not program.by_name or results.suite(program.suite)
    ]
    return numbered(sections)


def _memory(results: Results) -> Section:
    def exhibits() -> Iterator[Exhibit]:
        table = tables.memory_bus(results)
        if table:
            yield Exhibit(
                "Table",
                "The memory bus by number of threads",
                "Bytes moved per second, the sum over all threads, by number of threads that work at once.",
                "Read down a column. Where the figures stop growing the bus is full, and more threads add nothing to a "
                "program that streams through memory. The bars compare all cells of the table.",
                "Table 1",
                table=table,
                wide=True,
            )

    intro = "What main memory delivers bounds every program whose data do not fit into the caches."
    return Section.of(results, "memory", "Memory bus", intro, exhibits())


def _thread_barrier(results: Results) -> Section:
    def exhibits() -> Iterator[Exhibit]:
        table = tables.thread_barrier(results)
        if table is None:
            return
        yield Exhibit(
            "Table",
            "The thread barrier by number of threads",
            "Time of one barrier over all threads of a rank: Kumiki's, the paper's (central), and usual libraries'.",
            "Lower is better. Bare flags are the bound: what the cache lines alone take, not usable as a barrier. "
            "A hundred barriers' worth of work between two barriers keeps synchronising at one percent.",
            "Table 2",
            table=table,
            wide=True,
        )
        known = looks(row.implementation for row in results.rows)
        rows = [row for row in results.where("thread_barrier.time") if row.usable]
        series = {
            title(name): (known[name], [row for row in rows if row.implementation == name])
            for name in dict.fromkeys(row.implementation for row in rows)
        }
        picture = by_members("thread-barrier", series, "threads")
        if picture:
            yield _barrier_figure("The thread barrier over the number of threads", "Table 2", picture)

    intro = "How long the threads of one rank take to wait for each other."
    return Section.of(results, "thread-barrier", "Thread barrier", intro, exhibits())


def _rank_barrier(results: Results) -> Section:
    def exhibits() -> Iterator[Exhibit]:
        table = tables.rank_barrier(results)
        if table is None:
            return
        yield Exhibit(
            "Table",
            "The rank barrier by number of ranks",
            "Time of one barrier over all ranks: Kumiki's plain, split-phase and shuffle-exchange forms (the last is "
            "what the paper's PM did on the host), bare flags as their bound, and MPI_Barrier.",
            "Lower is better. The split-phase form shows what is left to wait for when work is done between arriving "
            "and waiting. Watch the oversubscribed rows: there an implementation that only spins takes milliseconds.",
            "Tables 3 and 4",
            table=table,
            wide=True,
        )
        picture = by_members("rank-barrier", _rank_series(results), "ranks")
        if picture:
            yield _barrier_figure("The rank barrier over the number of ranks", "Tables 3 and 4", picture)

    intro = "How long ranks, which share no memory of their own, take to wait for each other."
    return Section.of(results, "rank-barrier", "Rank barrier", intro, exhibits())


def _rank_series(results: Results) -> dict[str, tuple[Look, list[Row]]]:
    known = looks(row.implementation for row in results.rows)
    dashes = {"split-phase": "dashed", "shuffle-exchange": "dotted"}
    series = {}
    for name, rows in tables.rank_barrier_series(results).items():
        row = next(iter(rows.values()))
        usable = [row for row in rows.values() if row.usable]
        look = known[row.implementation]
        series[name] = (Look(look.role, look.marker, dashes.get(row.text("form"), "solid")), usable)
    return series


def _barrier_figure(heading: str, paper: str, picture: Picture) -> Exhibit:
    return Exhibit(
        "Figure",
        heading,
        "The medians of the table above on logarithmic axes, with their 95 % intervals.",
        "A straight rise means a cost that grows with a power of the number of members; a flat line scales. "
        "Hollow points are oversubscribed.",
        paper,
        picture=picture,
        wide=True,
    )


def _waiting(results: Results) -> Section:
    def exhibits() -> Iterator[Exhibit]:
        table = tables.waiting(results)
        if table:
            yield Exhibit(
                "Table",
                "What waiting costs by policy",
                "The share of a core that a waiting rank takes, over the whole wait and after its first milliseconds, "
                "and the time from the signal to going on.",
                "Lower is better in every column. A policy that keeps a core busy goes on soonest, but takes it from "
                "others.",
                table=table,
                wide=True,
            )

    intro = "Waiting is a policy: spin, yield, sleep, or adaptive (a little of each)."
    return Section.of(results, "wait", "Waiting", intro, exhibits())


def _remote(results: Results) -> Section:
    def exhibits() -> Iterator[Exhibit]:
        picture = shortest("latency", results)
        if picture:
            yield Exhibit(
                "Figure",
                "The shortest operations",
                "Time of one operation on a word, half of a round trip where it goes one way: dot the median, thick "
                "line its 95 % interval, faint line from the least sample to the 99th percentile.",
                "Further left is better. No message can be faster than one cache line handed from core to core (dashed "
                "line); no get faster than a bare load.",
                "Figure 4",
                picture=picture,
                wide=True,
            )
        picture = over_size("bandwidth", results, BANDWIDTH)
        if picture:
            yield _over_size(BANDWIDTH, "Bandwidth over the size of the message", picture)
        time = LATENCY if over_size("times", results, LATENCY) else TRANSFER_TIME
        picture = over_size("times", results, time)
        if picture:
            yield _over_size(time, "Transfer time over the size of the message", picture)

    intro = "Moving data between two ranks: Kumiki's put and get beside what others offer on this machine."
    return Section.of(results, "remote-memory", "Remote memory", intro, exhibits())


def _network(results: Results) -> Section:
    def exhibits() -> Iterator[Exhibit]:
        table = tables.network_latency(results)
        if table:
            yield Exhibit(
                "Table",
                "The shortest operations between two hosts",
                "Time of one operation on 8 bytes between a rank of the first host and one of the second.",
                "Lower is better. Plain TCP is a ping-pong on two sockets that never sleep, over the same link: what "
                "is built on TCP cannot be faster. MPI and UCX have no signal: there the target polls the 8 bytes.",
                "Figure 4",
                table=table,
                wide=True,
            )
        picture = network.bandwidth("network-bandwidth", results)
        if picture:
            yield Exhibit(
                "Figure",
                "Bandwidth between two hosts over the size of the message",
                "Median with its 95 % band, logarithmic on both axes; many transfers in a row, until the last has been "
                "answered.",
                "Higher is better; the dashed grey line is plain TCP on the same link, the bound. Sizes of which one "
                "transfer takes longer than a quarter of a second are left out.",
                "Figures 4 and 5",
                picture=picture,
            )
        yield from _between_hosts(results)

    intro = "What the network between the hosts gives, and what is left of it for a program." + _link_words(results)
    return Section.of(results, "network", "Network", intro, exhibits())


def _link_words(results: Results) -> str:
    """The hosts, and the rate of their links where it is known, as recorded."""
    cluster = results.environment.get("cluster") or {}
    if not cluster:
        return ""
    hosts = plural(int(cluster.get("hosts", 0)), "host")
    if cluster.get("origin", "cluster") != "cluster":
        return f" Here: {hosts} ({', '.join(cluster['names'])})."
    rate = f"at {cluster['rate']}" if cluster.get("rate") else "at full speed"
    return f" Here: {hosts} linked {rate}."


def _between_hosts(results: Results) -> Iterator[Exhibit]:
    for metric, name, heading in (
        ("network.latency", "network-latency-pairs", "Latency of a put between every two hosts"),
        ("network.bandwidth", "network-bandwidth-pairs", "Bandwidth of puts between every two hosts"),
    ):
        picture = network.between_hosts(name, heading, results.where(metric, "kumiki"), amount)
        if picture:
            yield Exhibit(
                "Figure",
                heading,
                "Each host (row) puts to each other host (column), one pair at a time; bandwidth with pieces of 1 MiB.",
                "The better a pair the stronger its colour. A line or a column that is paler than the rest is a host "
                "with a slow link; blocks are switches.",
                picture=picture,
            )


def _over_size(quantity: Quantity, heading: str, picture: Picture) -> Exhibit:
    better = "Higher" if quantity is BANDWIDTH else "Lower"
    origin = " A transfer's time is its size divided by the bandwidth of many in a row." if quantity.derived else ""
    return Exhibit(
        "Figure",
        heading,
        "Median with its 95 % band between two ranks, logarithmic on both axes; line styles tell the operations apart, "
        f"colours the implementations.{origin}",
        f"{better} is better; grey lines are bounds. Where a curve bends the caches end, or the implementation changes "
        "its method.",
        "Figures 4 and 5",
        picture=picture,
    )


def _program(results: Results, program: Program) -> Section:
    problem = principal(results, program)
    papers = PAPERS[program.suite]
    exhibits = _program_exhibits(results, problem, papers) if problem and problem.rows else iter(())
    intro = papers.intro
    if problem and problem.label:
        intro += f" Here: {problem.label}."
    cited = (replace(exhibit, source=papers.source) for exhibit in exhibits)
    return Section.of(results, program.suite, program.title, intro, cited)


def _program_exhibits(results: Results, problem: Problem, papers: Papers) -> Iterator[Exhibit]:
    prefix, total = problem.program.suite, cores(results)
    base = f"Base case: {problem.base_words}, {amount(problem.base)}." if problem.base else "No base case was measured."
    bounded = prefix == "matmul" and bool(results.where("bound.dgemm"))
    by_rate = bounded or bool(papers.rate)
    picture = scaling(f"{prefix}-{'rate' if by_rate else 'time'}", problem, "rate" if by_rate else "time", total)
    if picture:
        yield (
            _rate_figure(problem, picture, papers, bounded) if by_rate else _time_figure(problem, picture, papers, base)
        )
    yield from speedup_figure(f"{prefix}-speedup", problem, total, papers.speedup, base)
    yield from efficiency_map(f"{prefix}-efficiency", problem, base, papers.efficiency)
    picture = breakdown(f"{prefix}-parts", problem)
    if picture:
        yield Exhibit(
            "Figure",
            f"{problem.program.title}: where the time goes",
            "Computation, communication and synchronisation of each setting (ranks × threads) and peer; each part is "
            "the largest over ranks. Beside the bar: the share that is not computation.",
            "Computation should shrink with processors; what does not shrink with it limits the program. Hatched bars "
            "are oversubscribed.",
            papers.breakdown,
            picture=picture,
        )
    yield from _program_tables(results, problem, papers, base)


def speedup_figure(
    name: str, problem: Problem, total: int | None, paper: str, base: str, laws: Sequence[Law] = ()
) -> Iterator[Exhibit]:
    """Speed-up over processors, where there is a base case; beside it the laws that were fitted to it."""
    picture = scaling(name, problem, "speedup", total, laws)
    if picture:
        yield Exhibit(
            "Figure",
            f"{problem.program.title}: speed-up over processors",
            "How many times as fast as the base case, by total processors; one line for each number of ranks.",
            "The dashed line is the ideal; it ends at the number of cores. Lines of more ranks above lines of fewer: "
            f"the program gains from ranks rather than from threads. {HOLLOW}",
            paper,
            base,
            picture,
        )


def efficiency_map(name: str, problem: Problem, base: str, paper: str = "") -> Iterator[Exhibit]:
    """Efficiency over ranks and threads, where there is a base case and more than one setting."""
    picture = efficiency(name, problem)
    if picture:
        yield Exhibit(
            "Figure",
            f"{problem.program.title}: efficiency over ranks × threads",
            "Speed-up divided by the number of processors used (ranks × threads).",
            "100 % is ideal; the stronger the colour the better. Down the first column: ranks only; along the first "
            "row: threads only. Dashed empty cells are oversubscribed, where the ideal cannot be reached.",
            paper,
            base,
            picture,
        )


def _rate_figure(problem: Problem, picture: Picture, papers: Papers, bounded: bool) -> Exhibit:
    bound = "; the grey marks are the library's own DGEMM on as many threads, the bound" if bounded else ""
    return Exhibit(
        "Figure",
        f"{problem.program.title}: rate over processors{', beside the bound' if bounded else ''}",
        "Operations per second by total processors; one line for each number of ranks.",
        f"Higher is better{bound}. {HOLLOW}",
        papers.rate,
        picture=picture,
    )


def _time_figure(problem: Problem, picture: Picture, papers: Papers, base: str) -> Exhibit:
    return Exhibit(
        "Figure",
        f"{problem.program.title}: time over processors",
        "Execution time by total processors, logarithmic; one line for each number of ranks, beside plain MPI and "
        "OpenMP.",
        f"Lower is better; the dashed line is the base case divided by the processors. {HOLLOW}",
        papers.time,
        base,
        picture,
    )


def _program_tables(results: Results, problem: Problem, papers: Papers, base: str) -> Iterator[Exhibit]:
    table = tables.settings(problem)
    if table:
        has_bound = any(column.title == tables.OF_DGEMM for column in table.columns)
        dgemm = " “Of DGEMM” compares with the library's own product on as many cores." if has_bound else ""
        yield Exhibit(
            "Table",
            f"{problem.program.title}: every setting",
            "Time, speed-up and efficiency of every setting (ranks × threads) and of the peers; “shared time” is the "
            f"share of communication and synchronisation.{dgemm}",
            "The fastest median is set in bold; a setting whose interval meets it is equal to it.",
            papers.settings,
            base,
            table=table,
            wide=True,
        )
    others = tables.other_problems(results, problem)
    if others:
        yield Exhibit(
            "Table",
            f"{problem.program.title}: other problems",
            "The other sizes and variants that were measured, each with its base case and its best settings.",
            "Compare the speed-ups: a larger problem leaves more computation between communications.",
            table=others,
            wide=True,
        )
