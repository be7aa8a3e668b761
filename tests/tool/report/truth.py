"""Checks independently whether sentences of advice are true of the rows that they describe.

Nothing here uses the advisers or the code below them. Each rule reads a sentence as a person would, finds the rows that
it must describe, and computes its statement again. A sentence that no rule reads counts as untrue: whoever writes a new
first sentence also writes the rule that checks it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = Mapping[str, Any]
FEWEST = 6
EQUAL = 0.10
UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "us": 1e-6}
WAYS = {"fetch", "overlap", "split"}
"""Parameters of rows in which a problem is solved in another way than usual."""
TITLES = {
    "Laplace": "laplace",
    "Matrix product": "matmul",
    "Radix sort": "radix_sort",
    "Conjugate gradient": "cg",
}
FIGURE = r"(?:[\d.]+ (?:s|ms|µs|ns|[GM]?B/s|MFLOPS|GFLOP/s))"


class Untrue(AssertionError):
    """A sentence that the rows contradict."""


def check(results: Mapping[str, Any], sentence: str, rules: Sequence[Rule] | None = None) -> None:
    """Raises Untrue if the rows of the results contradict the sentence, or if no rule (None: of RULES) matches it."""
    world = World(results)
    read = False
    for pattern, rule in RULES if rules is None else rules:
        for found in re.finditer(pattern, sentence):
            rule(world, found)
            read = True
    if not read:
        raise Untrue(f"no rule reads: {sentence}")


@dataclass(frozen=True)
class World:
    """The rows, by the terms that sentences use."""

    results: Mapping[str, Any]
    rows: list[Row] = field(init=False)

    def __post_init__(self) -> None:
        rows = [r for r in self.results["rows"] if r["median"] is not None and r["validated"] is not False]
        object.__setattr__(self, "rows", [row for row in rows if row["median"] > 0])

    @property
    def cores(self) -> int:
        count: int = self.results["environment"]["cpu"]["usable_cores"]
        return count

    def of(self, title: str, label: str = "") -> list[Row]:
        """The times of a program: of the problem that the label names, or else of the one with the most settings."""
        own = bool(self.results["arguments"].get("command"))
        metric = "command.time" if own else f"{TITLES[title]}.time"
        rows = [row for row in self.rows if row["metric"] == metric]
        if own:
            return rows
        sizes: dict[Any, list[Row]] = {}
        for row in rows:
            sizes.setdefault(_size(row), []).append(row)
        if label:
            chosen = [rows for size, rows in sizes.items() if all(word in _words(label) for word in _words(str(size)))]
            expect(len(chosen) == 1, f"'{label}' names {len(chosen)} problems of {title}")
            return chosen[0]
        return max(sizes.values(), key=lambda rows: (len(rows), max(row["median"] for row in rows)))

    def settings(self, rows: list[Row]) -> dict[tuple[int, int], Row]:
        """Kumiki's rows with a core for every thread, by ranks and threads; not those of another way to solve it."""
        return {
            setting(row): row
            for row in rows
            if row["parameters"].get("form", "hybrid") == "hybrid"
            and not row["oversubscribed"]
            and not row["parameters"].keys() & WAYS
        }

    def base(self, rows: list[Row]) -> Row:
        """The base of speed-ups."""
        sequential = [row for row in rows if row["parameters"].get("form") == "sequential"]
        return sequential[0] if sequential else self.settings(rows)[1, 1]


Rule = tuple[str, Callable[[World, "re.Match[str]"], None]]
"""The pattern of a sentence, and its check."""


def setting(row: Row) -> tuple[int, int]:
    return row["parameters"].get("ranks", 1), row["parameters"].get("threads", 1)


def _size(row: Row) -> tuple[Any, ...]:
    names = ("size", "keys", "class", "iterations", "kernel")
    return tuple((name, row["parameters"][name]) for name in names if name in row["parameters"])


def _words(text: str) -> set[str]:
    text = re.sub(r"(\d+) Mi\b", lambda found: str(int(found[1]) << 20), text)
    return set(re.findall(r"\d+|[A-Z]\b|\bvector\b|\bplain\b", text))


def expect(holds: bool, what: str) -> None:
    if not holds:
        raise Untrue(what)


# -- the test of difference, written anew ------------------------------------------------------------------------


def faster(a: Row, b: Row) -> bool:
    """Whether it is shown that `a` is better than `b`: its whole interval is on the better side."""
    if min(a["n"], b["n"]) < FEWEST:
        return False
    (a_low, a_high), (b_low, b_high) = a["ci95"], b["ci95"]
    apart = a_high < b_low if a["better"] == "lower" else a_low > b_high
    return bool(apart and max(a["median"], b["median"]) >= 1.0199 * min(a["median"], b["median"]))


def distance(a: Row, b: Row) -> float:
    """The most by which the medians of two rows may differ, as a share of the smaller."""
    if min(a["n"], b["n"]) < FEWEST:
        return float("inf")
    (a_low, a_high), (b_low, b_high) = a["ci95"], b["ci95"]
    return float(max(a_high / b_low, b_high / a_low)) - 1


def equal(a: Row, b: Row) -> bool:
    return not faster(a, b) and not faster(b, a) and distance(a, b) <= EQUAL


def quoted(text: str, row: Row) -> bool:
    """Whether a figure with its unit is a row's median, to the precision of its digits."""
    number, _, unit = text.partition(" ")
    value = row["median"]
    if unit in UNITS:
        value = value * UNITS[row["unit"]] / UNITS[unit]
    elif unit == "MB/s" and row["unit"] == "GB/s":
        value *= 1000
    else:
        expect(unit == row["unit"], f"{text} is no figure in {row['unit']}")
    digits = len(number.partition(".")[2])
    last = 10.0**-digits if digits else 10.0 ** max(len(number) - 3, 0)
    return bool(abs(float(number) - value) <= 0.51 * last)


# -- the rules ---------------------------------------------------------------------------------------------------


def _use(world: World, found: re.Match[str]) -> None:
    """'Laplace (640 x 640): use `kumiki run -n 1 -t 2`, 90 ms ...': the cheapest of the fastest settings."""
    rows = world.of(found["title"], found["label"] or "")
    settings, key = world.settings(rows), (int(found["ranks"]), int(found["threads"]))
    expect(key in settings, f"{key} was not measured, or has more threads than cores")
    chosen, base = settings[key], world.base(rows)
    expect(quoted(found["figure"], chosen), f"{found['figure']} is not its median {chosen['median']}")
    _is_cheapest(settings, key, base)


def _is_cheapest(settings: dict[tuple[int, int], Row], key: tuple[int, int], base: Row) -> None:
    chosen = settings[key]
    top = min(settings.values(), key=lambda row: row["median"])
    expect(chosen is top or equal(chosen, top), f"{key} is neither the fastest nor equal to it")
    for other, row in settings.items():
        cheaper = other[0] * other[1] < key[0] * key[1] and (row is top or equal(row, top))
        expect(not cheaper or not faster(row, base), f"{other} is as fast and takes fewer processors")


def _against(world: World, found: re.Match[str]) -> None:
    """'90 ms against 116 ms sequentially: 1.28 times as fast on 2 processors, efficiency 64 %'."""
    count = int(found["count"])
    expect(count <= world.cores, f"{count} processors on {world.cores} cores")
    a, b = (float(figure.split()[0]) * UNITS[figure.split()[1]] for figure in (found["figure"], found["base"]))
    expect(abs(b / a / float(found["ratio"]) - 1) < 0.02, f"{b} / {a} is not {found['ratio']}")
    efficiency = 100 * b / a / count
    expect(abs(float(found["share"]) - efficiency) < 1.5, f"the efficiency is {efficiency} %")


def _equal_to_it(world: World, found: re.Match[str]) -> None:
    """'use A, ...; equal to it: `-n 2 -t 1` within 4 %'."""
    rows = world.of(found["title"], found["label"] or "")
    settings = world.settings(rows)
    chosen = settings[int(found["ranks"]), int(found["threads"])]
    listed = re.findall(r"`-n (\d+) -t (\d+)` within (\d+) %", found["listed"])
    expect(bool(listed), "nothing is listed as equal")
    for ranks, threads, share in listed:
        other = settings[int(ranks), int(threads)]
        expect(
            distance(chosen, other) <= int(share) / 100, f"{ranks} x {threads} may differ by {distance(chosen, other)}"
        )


def _do_not(world: World, found: re.Match[str]) -> None:
    rows = world.of(found["title"], found["label"] or "")
    base = world.base(rows)
    for key, row in world.settings(rows).items():
        if row is not base and (base["parameters"].get("form") == "sequential" or key != (1, 1)):
            expect(faster(base, row) or equal(base, row), f"{key} is not shown to gain nothing")


def _not_told(world: World, found: re.Match[str]) -> None:
    rows = world.of(found["title"], found["label"] or "")
    base = world.base(rows)
    others = [row for row in world.settings(rows).values() if row is not base]
    expect(not any(faster(row, base) for row in others), "a setting is shown to gain")
    expect(not all(faster(base, row) or equal(base, row) for row in others), "it is shown that none gains")


def _serves_all(world: World, found: re.Match[str]) -> None:
    key = int(found["ranks"]), int(found["threads"])
    for title in _titles(found["titles"]):
        settings = world.settings(world.of(title))
        expect(key in settings, f"{key} of {title} was not measured, or has more threads than cores")
        top = min(settings.values(), key=lambda row: row["median"])
        expect(settings[key] is top or equal(settings[key], top), f"{key} is not among the fastest of {title}")


def _loses_least(world: World, found: re.Match[str]) -> None:
    key = int(found["ranks"]), int(found["threads"])
    settings = world.settings(world.of(found["worst"]))
    top = min(settings.values(), key=lambda row: row["median"])
    expect(faster(top, settings[key]), f"{key} is not shown to lose in {found['worst']}")
    lost = 100 * (settings[key]["median"] / top["median"] - 1)
    expect(abs(lost - float(found["share"])) <= 0.05 * lost + 0.5, f"it loses {lost} %")
    for title in _titles(found["titles"]):
        expect(key in world.settings(world.of(title)), f"{key} of {title} has more threads than cores")


def _sequential(world: World, found: re.Match[str]) -> None:
    for title in _titles(found["titles"]):
        rows = world.of(title)
        base = world.base(rows)
        for key, row in world.settings(rows).items():
            expect(
                row is base or faster(base, row) or equal(base, row), f"{key} of {title} is not shown to gain nothing"
            )


def _tells_nothing(world: World, found: re.Match[str]) -> None:
    for title in _titles(found["titles"]):
        rows = world.of(title)
        base = world.base(rows)
        expect(not any(faster(row, base) for row in world.settings(rows).values()), f"a setting of {title} gains")


def _titles(text: str) -> list[str]:
    found = [title for title in TITLES if title in text]
    expect(bool(found), f"no program is named in '{text}'")
    return found


def _crowded(world: World, found: re.Match[str]) -> None:
    """'Do not start more threads than cores: this costs at least 6 % for Laplace and 7 % for Matrix product'."""
    for share, title in re.findall(r"([\d.]+) (?:%|times the time) for ([A-Z][a-z ]+?)(?=,| and|$)", found["costs"]):
        rows = [row for row in world.of(title) if row["parameters"].get("form") == "hybrid"]
        over = min((row for row in rows if row["oversubscribed"]), key=lambda row: row["median"])
        roomy = min((row for row in rows if not row["oversubscribed"]), key=lambda row: row["median"])
        expect(faster(roomy, over), f"{title} is not shown to lose")
        ratio = over["median"] / roomy["median"]
        expect(abs(float(share) - (100 * (ratio - 1) if ratio < 2 else ratio)) < 0.6 + 0.02 * float(share), "share")


def _saturates(world: World, found: re.Match[str]) -> None:
    rates = _rates(world)
    filled, top = rates[int(found["threads"])], max(rates.values(), key=lambda row: row["median"])
    expect(filled is top or equal(filled, top), "more threads carry more")
    first, most = rates[min(rates)], max(rates)
    expect(top["ci95"][1] / first["ci95"][0] < 0.9 * most, "the bus may carry all threads")


def _carries_all(world: World, found: re.Match[str]) -> None:
    rates = _rates(world)
    first, last = rates[min(rates)], rates[int(found["threads"])]
    expect(last["ci95"][0] / first["ci95"][1] >= 0.9 * max(rates), "the bus is not shown to carry all threads")


def _rates(world: World) -> dict[int, Row]:
    rows = [row for row in world.rows if row["metric"] == "memory.copy" and not row["oversubscribed"]]
    return {row["parameters"]["threads"]: row for row in rows}


def _bus_untold(world: World, found: re.Match[str]) -> None:
    rates = _rates(world)
    first, most = rates[min(rates)], max(rates)
    top = max(rates.values(), key=lambda row: row["median"])
    few = min(first["n"], top["n"]) < FEWEST
    low, high = top["ci95"][0] / first["ci95"][1], top["ci95"][1] / first["ci95"][0]
    expect(few or low < 0.9 * most <= high, "the samples tell")


def _nontemporal(world: World, found: re.Match[str]) -> None:
    a, b = (
        next(
            row
            for row in world.rows
            if row["metric"] == f"memory.{name}" and row["parameters"]["threads"] == int(found["threads"])
        )
        for name in ("nontemporal", "memcpy")
    )
    expect(faster(a, b) if found["verb"] == "Copy" else not faster(a, b), "it is the other way round")


def _one_core(world: World, found: re.Match[str]) -> None:
    rows = world.of(found["title"], found["label"] or "")
    expect(set(world.settings(rows)) == {(1, 1)}, "there are other settings")
    expect(quoted(found["figure"], world.settings(rows)[1, 1]), "its figure")
    expect(quoted(found["base"], world.base(rows)), "the base case")


def _nothing_parallel(world: World, found: re.Match[str]) -> None:
    for row in world.rows:
        if row["parameters"].get("form") == "hybrid" and not row["oversubscribed"]:
            expect(setting(row) == (1, 1), f"{setting(row)} was measured")


def _loose(world: World, found: re.Match[str]) -> None:
    loose = [row for row in world.rows if not row["converged"]]
    expect(len(loose) == int(found["count"]), f"{len(loose)} did not converge")
    expect(len(world.results["rows"]) == int(found["all"]), "of how many")


def _busy(world: World, found: re.Match[str]) -> None:
    load = world.results["environment"]["load"]
    expect(float(found["busy"]) == load.get("during", load["start"]), f"others kept {load} busy")
    expect(float(found["busy"]) > 0.1 * world.cores, "so little is no load")


def _unsteady(world: World, found: re.Match[str]) -> None:
    kind = {"drifted": "drift", "had two groups": "modes", "began with": "start"}[found["what"]]
    expect(sum(row.get("unsteady") == kind for row in world.rows) == int(found["count"]), f"not so many are {kind}")


def _network(world: World, found: re.Match[str]) -> None:
    rows = [row for row in world.rows if row["metric"] == "network.latency" and "from" not in row["parameters"]]
    puts = [r for r in rows if r["implementation"] == "kumiki" and r["parameters"]["operation"] == "put"]
    expect(any(quoted(found["figure"], row) for row in puts), f"no put takes {found['figure']}")


def _spends(world: World, found: re.Match[str]) -> None:
    """The share of communication, out of the parts of the same run."""
    prefix = TITLES[found["title"]]
    rows = {row["id"]: row for row in world.of(found["title"])}
    place = int(found["ranks"]), int(found["threads"])
    time = next(
        r for r in rows.values() if setting(r) == place and r["parameters"]["form"] == "hybrid"
    )  # fmt: skip
    parts = {
        name: row["median"]
        for name in ("computation", "communication", "synchronisation")
        for row in world.results["rows"]
        if row["metric"] == f"{prefix}.{name}"
        and row["parameters"] == time["parameters"]
        and row["implementation"] == "kumiki"
    }
    share = 100 * (1 - parts["computation"] / sum(parts.values()))
    expect(abs(share - float(found["share"])) <= 0.02 * share + 0.1, f"it spends {share} %")


_LEAD = r"(?P<title>[A-Z][a-z ]+?)(?: \((?P<label>[^)]*)\))?"
_RUN = r"`kumiki run (?:--\S+ \S+ )?-n (?P<ranks>\d+) -t (?P<threads>\d+)`"

RULES: list[Rule] = [
    (rf"^{_LEAD}: use {_RUN}, (?P<figure>{FIGURE})", _use),
    (
        rf"(?P<figure>{FIGURE}) against (?P<base>{FIGURE}) (?:sequentially|with one rank of one thread): "
        r"(?P<ratio>[\d.]+) times as fast on (?P<count>\d+) processors?, efficiency (?P<share>[\d.]+) %",
        _against,
    ),
    (rf"^{_LEAD}: use {_RUN}, .*?; equal to it: (?P<listed>[^.]*)", _equal_to_it),
    (rf"^{_LEAD}: do not parallelise", _do_not),
    (rf"^{_LEAD}: these samples do not show whether it gains", _not_told),
    (
        rf"^If you want one setting for all programs, use {_RUN}: it is the fastest measured setting, or equal to it, "
        r"for (?P<titles>[^.]*)\.",
        _serves_all,
    ),
    (
        rf"^If you want one setting for all programs, use {_RUN}: no single setting is the fastest for all of "
        r"(?P<titles>.*?), and this one loses the least: at worst (?P<share>[\d.]+) %, for (?P<worst>[A-Z][a-z ]+)\.",
        _loses_least,
    ),
    (r"^Run the programs sequentially: no parallel setting measured here is faster for (?P<titles>.*)\.$", _sequential),
    (r"^These samples do not show which setting to use: for (?P<titles>.*?) they do not distinguish", _tells_nothing),
    (
        r"^Do not start more threads than cores: this costs at least (?P<costs>.*?)(?:, compared| and makes no)",
        _crowded,
    ),
    (r"^The memory bus saturates at (?P<threads>\d+) threads?:", _saturates),
    (r"^These samples do not show whether .* saturate the memory bus", _bus_untold),
    (r"^(?P<verb>Copy|Leave) large .* with (?P<threads>\d+) threads?\.$", _nontemporal),
    (
        rf"^{_LEAD} on one core: under Kumiki \((?P<figure>{FIGURE})\) it is .* the sequential form "
        rf"\((?P<base>{FIGURE})\)",
        _one_core,
    ),
    (r"^No program ran on several cores with a core for each thread", _nothing_parallel),
    (r"^The memory bus is not saturated by the (?P<threads>\d+) threads", _carries_all),
    (r"^(?P<count>\d+) rows? of (?P<all>\d+) did not converge", _loose),
    (r"^This evaluation ran beside other load \(other processes kept (?P<busy>[\d.]+) of", _busy),
    (r"^(?P<count>\d+) rows? (?P<what>drifted|had two groups|began with)", _unsteady),
    (rf"^A put of 8 B with its signal reaches another host after (?P<figure>{FIGURE})", _network),
    (rf"^{_LEAD} at `-n (?P<ranks>\d+) -t (?P<threads>\d+)` spends (?P<share>[\d.]+) %", _spends),
]
"""The pattern of a sentence, and its check; a sentence may contain several statements."""


def first_sentences(pieces: list[Any]) -> Iterator[str]:
    """The first piece of each heading whose kind has rules, which a reader sees first."""
    seen = set()
    for piece in pieces:
        if piece.kind in ("setting", "program", "memory", "trust", "network") and piece.heading not in seen:
            seen.add(piece.heading)
            yield piece.text
