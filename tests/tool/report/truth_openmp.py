"""Whether sentences about OpenMP are true of the rows; see truth.py."""

from __future__ import annotations

import re
from collections.abc import Iterator

from truth import Row, Rule, World, equal, expect, faster, setting


def _constructs(world: World, found: re.Match[str]) -> None:
    """'With 2 threads 10 of 12 constructs ... cost no more ...; more cost task 1.68 times': beside the better one."""
    rows: dict[str, dict[str, Row]] = {}
    for row in world.rows:
        own = row["parameters"]
        if row["metric"] == "openmp.overhead" and setting(row) == (1, int(found["threads"])) and "hosts" not in own:
            rows.setdefault(own["construct"], {})[row["implementation"]] = row
    pairs = {
        construct: (by["kumiki"], min((row for name, row in by.items() if name != "kumiki"), key=lambda r: r["median"]))
        for construct, by in rows.items()
        if "kumiki" in by and len(by) > 1
    }
    expect(len(pairs) == int(found["all"]), f"{len(pairs)} constructs were measured")
    fine = [name for name, (ours, other) in pairs.items() if faster(ours, other) or equal(ours, other)]
    expect(len(fine) == int(found["count"]), f"{fine} cost no more")
    slower = {name: ours["median"] / other["median"] for name, (ours, other) in pairs.items() if faster(other, ours)}
    said = {name: float(ratio) for name, ratio in re.findall(r"(\w+) ([\d.]+) times", found["listed"] or "")}
    expect(set(said) == set(slower), f"{set(slower)} cost more")
    expect(all(abs(said[name] / slower[name] - 1) < 0.02 for name in said), f"the ratios are {slower}")


def _openmp_times(world: World) -> Iterator[tuple[str, Row]]:
    """The times of OpenMP programs under the name that a report gives to their problem."""
    for row in world.rows:
        if row["metric"] == "openmp.time":
            own = row["parameters"]
            known = [str(own[name]) for name in ("variant", "class", "size") if name in own]
            yield " ".join([own["program"], *known[:1]]), row


def _native(world: World, found: re.Match[str]) -> None:
    """'Of 15 OpenMP programs on one process these take longer than on libgomp: ...', or none does."""
    times: dict[str, dict[tuple[str, int], Row]] = {}
    for title, row in _openmp_times(world):
        if setting(row)[0] == 1:
            times.setdefault(title, {})[row["implementation"], setting(row)[1]] = row
    pairs = {}
    for title, rows in times.items():
        most = max((threads for name, threads in rows if name == "kumiki"), default=0)
        if ("libgomp", most) in rows:
            pairs[title] = rows["kumiki", most], rows["libgomp", most]
    expect(len(pairs) == int(found["count"]), f"{len(pairs)} programs were measured")
    slower = {title for title, (ours, other) in pairs.items() if faster(other, ours)}
    said = {title for title in pairs if re.search(rf"\b{re.escape(title)} [\d.]+ times", found["rest"])}
    expect(said == slower, f"{slower} take longer")


def _over_processes(world: World, found: re.Match[str]) -> None:
    """'As OpenMP programs over 2 hosts faster than on one are A and B and slower are C.'"""
    spread = {title: row for title, row in _openmp_times(world) if row["parameters"].get("homes") == "first"}
    alone = {
        (title, setting(row)[1]): row
        for title, row in _openmp_times(world)
        if row["implementation"] == "libgomp" and setting(row)[0] == 1
    }
    bases = {title: alone.get((title, setting(row)[1])) for title, row in spread.items()}
    gaining, _, losing = found["verdicts"].partition("slower are ")
    for title, base in bases.items():
        said = [bool(re.search(rf"\b{re.escape(title)}\b", part)) for part in (gaining, losing)]
        true = [base is not None and faster(spread[title], base), base is not None and faster(base, spread[title])]
        expect(said == true, f"{title}: faster and slower are {true}")


RULES: list[Rule] = [
    (
        r"^With (?P<threads>\d+) threads? (?P<count>\d+) of (?P<all>\d+) constructs? of OpenMP cost on Kumiki's "
        r"runtime no more than on the better of the others that were "
        r"measured(?:; more cost (?P<listed>[^;]*?))?(?:;|\.$)",
        _constructs,
    ),
    (r"^Of (?P<count>\d+) OpenMP programs? on one process (?P<rest>.*)$", _native),
    (r"^As OpenMP programs over .*? (?P<verdicts>(?:faster than on one|slower) are .*)$", _over_processes),
]
