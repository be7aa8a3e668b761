"""The user's own program in the report: speed-ups, the laws fitted to them, sentences that change with the figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import kumiki.report as report
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from kumiki.report.analysis.model import Results
from kumiki.report.own import laws
from kumiki.report.own.problem import OwnProblem, own_problems
from synthetic_machine import environment, interval

Times = Callable[[int, int], float]
SERIAL = st.floats(0.0, 0.9)


@dataclass
class Own:
    """An evaluation of a made-up program, whose seconds follow from ranks and threads."""

    seconds: Times
    settings: Iterable[tuple[int, int]] = ((1, 1), (1, 2), (1, 4), (1, 8))
    scaling: str = "strong"
    cores: int = 8
    noise: float = 0.0
    runs: int = 6
    sequential: float | None = None
    rate: bool = False
    """Whether the program prints a rate, one per second, instead of its time."""
    size: int | None = None
    power: float = 1.0
    grown: Times | None = None
    """Seconds with work that grows."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    samples: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(3)
        if self.sequential:
            self._add(self.sequential, 1, 1, form="sequential")
        for ranks, threads in self.settings:
            n = ranks * threads
            sized = {} if self.size is None else {"size": self.size}
            if self.scaling != "weak" or n == 1:
                self._add(self.seconds(ranks, threads), ranks, threads, **sized)
            if self.grown and n > 1:
                larger = {} if self.size is None else {"size": round(self.size * n ** (1 / self.power))}
                self._add(self.grown(ranks, threads), ranks, threads, scaling="weak", **larger)

    def _add(self, seconds: float, ranks: int, threads: int, **more: int | str) -> None:
        samples = seconds * (1 + self.noise * self._random.gamma(2.0, 0.5, self.runs))
        samples = 1 / samples if self.rate else samples
        low, high = interval(samples)
        self.samples[str(len(self.rows))] = [float(value) for value in samples]
        self.rows.append(
            {
                "id": len(self.rows),
                "suite": "command",
                "metric": "command.figure" if self.rate else "command.time",
                "implementation": "command",
                "parameters": {**more, "ranks": ranks, "threads": threads},
                "unit": "1/s" if self.rate else "s",
                "better": "higher" if self.rate else "lower",
                "median": float(np.median(samples)),
                "ci95": [low, high],
                "n": self.runs,
                "converged": high - low < 0.1 * float(np.median(samples)),
                "oversubscribed": ranks * threads > self.cores,
                "validated": None,
                "note": f"./heat {ranks} {threads}",
            }
        )

    @property
    def results(self) -> dict[str, Any]:
        metric = {"regex": "(x)", "name": "figure", "unit": "1/s", "better": "higher"} if self.rate else None
        command = {
            "words": ["./heat", "{ranks}", "{threads}"],
            "sequential": ["./cold"] if self.sequential else None,
            "metric": metric,
            "scaling": self.scaling,
            "size": self.size,
            "power": self.power,
            "repeats": self.runs,
        }
        arguments = {"suites": ["command"], "quick": False, "ranks": None, "threads": None, "command": command}
        return {
            "schema_version": 1,
            "complete": True,
            "seed": 1,
            "arguments": arguments,
            "environment": environment(self.cores),
            "points": [],
            "rows": self.rows,
        }

    def problem(self, weak: bool = False) -> OwnProblem:
        (found,) = [p for p in own_problems(Results.parse(self.results, self.samples)) if p.weak is weak]
        return found

    def said(self, *words: str) -> str:
        """The one sentence that contains these words."""
        pieces = [piece.text for piece in report.advice(self.results, self.samples)]
        (found,) = [text for text in pieces if all(word in text for word in words)] or [f"nothing in {pieces}"]
        return found

    def save(self, directory: Path) -> Path:
        (directory / "results.json").write_text(json.dumps(self.results), encoding="utf-8")
        (directory / "samples.json").write_text(json.dumps(self.samples), encoding="utf-8")
        return directory

    def page(self, directory: Path) -> str:
        return report.write(self.save(directory)).read_text(encoding="utf-8")


def amdahl(serial: float) -> Times:
    return lambda ranks, threads: serial + (1 - serial) / (ranks * threads)


def gustafson(serial: float) -> Times:
    """For n times the work."""
    return lambda ranks, threads: (n := ranks * threads) / (n - serial * (n - 1))


def both(**more: Any) -> Own:
    return Own(amdahl(0.1), scaling="both", grown=gustafson(0.1), **more)


def test_results_are_what_the_tool_writes() -> None:
    schema = json.loads((Path(report.__file__).parents[1] / "results" / "results.schema.json").read_text())
    Draft202012Validator(schema).validate(both(size=100).results)
    Draft202012Validator(schema).validate(Own(amdahl(0.1), rate=True, sequential=0.5).results)


def test_speed_up_and_efficiency_are_the_papers() -> None:
    """F66: S_n = T_1 / T_n, P_n = T_1 / (n T_n)."""
    problem = Own(amdahl(0.2)).problem()
    eight = problem.hybrid[1, 8]
    assert problem.speedup(eight) == pytest.approx(1 / 0.3)
    assert problem.efficiency(eight) == pytest.approx(1 / 2.4)
    one = problem.hybrid[1, 1]
    assert (problem.speedup(one), problem.efficiency(one)) == (1, 1)


@given(SERIAL)
def test_amdahls_law_is_found_again(serial: float) -> None:
    fit = laws.fit(Own(amdahl(serial)).problem())
    assert fit and fit.name == "Amdahl"
    assert fit.serial == pytest.approx(serial, abs=1e-9) and fit.misfit < 1e-9
    assert (fit.low, fit.high) == (pytest.approx(serial, abs=1e-9), pytest.approx(serial, abs=1e-9))


@given(SERIAL)
def test_gustafsons_law_is_found_again(serial: float) -> None:
    fit = laws.fit(Own(amdahl(0.1), scaling="weak", grown=gustafson(serial)).problem(weak=True))
    assert fit and fit.name == "Gustafson"
    assert fit.serial == pytest.approx(serial, abs=1e-9) and fit.misfit < 1e-9


@given(SERIAL, st.integers(2, 64))
def test_serial_fraction_is_amdahls_share(serial: float, n: int) -> None:
    speedup = 1 / amdahl(serial)(1, n)
    assert laws.serial_fraction(speedup, n, weak=False) == pytest.approx(serial, abs=1e-9)
    assert laws.serial_fraction(n - serial * (n - 1), n, weak=True) == pytest.approx(serial, abs=1e-9)


def test_interval_holds_the_share_and_narrows_with_the_scatter() -> None:
    def ends(noise: float) -> tuple[float, float]:
        fit = laws.fit(Own(amdahl(0.1), noise=noise, runs=9).problem())
        assert fit and fit.low is not None and fit.high is not None
        assert fit.low < fit.serial < fit.high
        return fit.low, fit.high

    wide, narrow = ends(0.05), ends(0.005)
    assert wide[0] < 0.1 < wide[1]
    assert narrow[1] - narrow[0] < (wide[1] - wide[0]) / 3


def test_five_runs_carry_no_verdict() -> None:
    host = Own(amdahl(0.1), runs=5)
    fit = laws.fit(host.problem())
    assert fit and fit.low is None
    assert "measure with `--repeat 6` or more" in host.said("Amdahl's law predicts nothing")
    text = host.said("these samples do not show whether it gains from running in parallel")
    assert "takes 1.00 s (5 samples, range ± 0 %)" in text and "`--repeat 12`" in text
    assert not any("use `" in piece.text for piece in report.advice(host.results, host.samples))


def test_work_that_grows_counts_as_often_as_it_has_grown() -> None:
    host = Own(lambda r, t: 1.0, scaling="both", size=100, power=2, grown=lambda r, t: 1.25, settings=((1, 1), (1, 4)))
    problem = host.problem(weak=True)
    assert problem.hybrid[1, 4].parameters["size"] == 200
    assert problem.speedup(problem.hybrid[1, 4]) == pytest.approx(4 / 1.25)
    assert host.problem().speedup(host.problem().hybrid[1, 4]) == pytest.approx(1)


@pytest.mark.parametrize("sequential", [None, 2.0])
@pytest.mark.parametrize("size", [None, 100])
def test_work_grows_from_the_fewest_processors(sequential: float | None, size: int | None) -> None:
    """On two processors they are twice as fast as one, and on four they do twice as much in the same time."""
    settings = ((2, 1), (4, 1))
    host = Own(lambda r, t: 1.0, settings, "both", size=size, grown=lambda r, t: 1.0, sequential=sequential)
    for row in host.rows:
        if row["parameters"].get("scaling") == "weak":
            row["parameters"].update({"size": 200} if size and row["parameters"]["ranks"] == 4 else {})
    host.rows = [row for row in host.rows if row["parameters"]["ranks"] != 2 or "scaling" not in row["parameters"]]
    problem = host.problem(weak=True)
    gains = {ranks: problem.speedup(row) for (ranks, _), row in problem.hybrid.items()}
    assert gains == {2: pytest.approx(2), 4: pytest.approx(4)}


def test_rates_count_the_other_way_round() -> None:
    problem = Own(amdahl(0.2), rate=True).problem()
    assert problem.speedup(problem.hybrid[1, 8]) == pytest.approx(1 / 0.3)
    assert problem.best_hybrid and problem.best_hybrid[0] == (1, 8)
    times, rates = (laws.fit(Own(amdahl(0.2), rate=rate, noise=0.05).problem()) for rate in (False, True))
    assert times and rates and times.low == pytest.approx(rates.low, rel=0.05)


def test_fewest_processors_stand_for_one_that_was_not_measured() -> None:
    host = Own(amdahl(0.0), settings=((2, 1), (4, 1)))
    assert host.problem().speedup(host.problem().hybrid[4, 1]) == pytest.approx(4)
    assert "500 ms on 2 processors: 2.00 times as fast on 4 processors, efficiency 100 %" in host.said(
        "use `./heat 4 1`"
    )
    assert report.summary(host.results)[0][0].endswith("2 processors, assumed to be 2 times as fast as one, 500 ms")


def test_do_not_parallelise_what_does_not_gain() -> None:
    slower = Own(lambda r, t: 1.0 + 0.2 * (r * t - 1), noise=0.01)
    assert "A run on one processor takes 1.0" in slower.said("do not parallelise at this size", "takes longer")
    equal = Own(lambda r, t: 1.0, noise=0.01)
    assert "equal to it within" in equal.said("do not parallelise at this size")
    wide = Own(lambda r, t: 1.0, noise=0.2)
    assert "`--repeat 12`" in wide.said("do not show whether it gains from running in parallel")
    assert "use `./heat 1 8`" in Own(amdahl(0.1), noise=0.01).said("times as fast")
    crowded = Own(amdahl(0.0), sequential=0.1, noise=0.01)
    assert "The sequential form takes 10" in crowded.said("do not parallelise at this size")


def test_cheapest_of_equal_settings_is_named() -> None:
    host = Own(lambda r, t: max(1 / (r * t), 0.25), noise=0.02)
    assert "use `./heat 1 4`" in host.said("use `", "equal to it: 8 threads within 4 %")


@pytest.mark.parametrize(
    ("seven", "words"), [(0.9, "is slower for"), (0.14, "is faster than"), (0.125, "is equal to using all")]
)
def test_core_left_free(seven: float, words: str) -> None:
    """F68."""
    times = {1: 1.0, 7: seven, 8: 0.125}
    host = Own(
        lambda r, t: times[t] if t != 8 or words != "is faster than" else 0.2, ((1, 1), (1, 7), (1, 8)), noise=0.01
    )
    assert words in host.said("eaving 1 core of 8 free")


def test_what_limits_the_program() -> None:
    steady = Own(amdahl(0.1), noise=0.002)
    assert "10 % on 2 processors, 10 % on 8 processors" in steady.said("stays constant")
    overhead = Own(lambda r, t: 1 / t + 0.02 * (t - 1), noise=0.002)
    assert "communication" in overhead.said("The serial fraction grows")
    cached = Own(lambda r, t: (0.2 + 0.8 / t) * (0.8 if t == 8 else 1), noise=0.002)
    assert "caches" in cached.said("The serial fraction falls")


def test_law_that_does_not_hold_is_not_used() -> None:
    text = Own(lambda r, t: {1: 1.0, 2: 0.5, 4: 0.25, 8: 0.9}[t]).said("does not describe your program")
    assert "no prediction beyond them" in text


def test_faster_than_the_processors_alone() -> None:
    host = Own(lambda r, t: 1 / t**1.2)
    assert all("predicts" not in piece.text for piece in report.advice(host.results, host.samples))
    assert "a negative share means" in Own(lambda r, t: 1 / t**1.02).said("Amdahl's law with")
    assert "indistinguishable from zero in these runs" in Own(lambda r, t: 1 / t**1.01, noise=0.05, runs=7).said(
        "Amdahl's law with"
    )


def test_law_foresees_twice_the_cores() -> None:
    text = Own(amdahl(0.1)).said("Amdahl's law with")
    assert "a serial share of 10 % (95 %: 10 % to 10 %)" in text
    assert "on 16 processors it predicts 6.40 times the speed of one, and at most 10.0 times on any number" in text
    assert "with 16 times the work" in both().said("Gustafson's law")


def test_every_sentence_cites_its_rows(tmp_path: Path) -> None:
    host = Own(amdahl(0.1), [(r, t) for r in (1, 2, 4) for t in (1, 2, 4)], sequential=0.9, noise=0.01)
    pieces = report.advice(host.results, host.samples)
    assert len(pieces) >= 6
    for piece in pieces:
        assert piece.rows and set(piece.rows) <= set(range(len(host.rows))), piece.text
        assert piece.text.endswith(".") and not piece.text[0].islower() and "  " not in piece.text, piece.text


def test_page_has_the_program_alone(tmp_path: Path) -> None:
    text = Own(amdahl(0.1), [(r, t) for r in (1, 2) for t in (1, 2, 4)]).page(tmp_path)
    assert "<code>./heat {ranks} {threads}</code>" in text and "Memory bus" not in text
    for words in ("every setting", "speed-up over processors", "efficiency over processors", "efficiency over ranks"):
        assert f"Your program: {words}" in text
    assert "Amdahl&#39;s law, 10 % serial" in text and "Karp and Flatt" in text


def test_page_has_a_section_for_each_scaling(tmp_path: Path) -> None:
    text = both(size=100).page(tmp_path)
    assert 'id="command"' in text and 'id="command-growing"' in text
    assert "Gustafson&#39;s law, 10 % serial" in text and "8 threads, size 800" in text


def test_page_of_a_program_that_never_ran(tmp_path: Path) -> None:
    host = Own(amdahl(0.1), ((1, 1),))
    host.rows[0].update(median=None, ci95=None, n=0, failed="command: ./heat 1 1: ended with exit code 3")
    host.samples.clear()
    text = host.page(tmp_path)
    assert "ended with exit code 3" in text and "Nothing here could be measured." in text
    assert report.summary(host.results) == []


def test_one_setting_alone_is_no_comparison(tmp_path: Path) -> None:
    host = Own(amdahl(0.1), ((1, 1),))
    assert "use `./heat 1 1`, 1.00 s." in host.said("Your program")
    assert "speed-up over processors" not in host.page(tmp_path)


def test_more_threads_than_cores_are_recommended_where_run_after_run_shows_it() -> None:
    def times(gain: float) -> Times:
        return lambda r, t: {1: 1.0, 2: 0.6, 4: 0.6 / gain}[t]

    settings = ((1, 1), (1, 2), (1, 4))
    clear = Own(times(1.5), settings, cores=2, noise=0.01)
    text = clear.said("use `./heat 1 4`")
    assert "with 4 threads, more than there are cores" in text and "processor" not in text.partition("times")[2]
    assert "gains from them" in clear.said("Your program gains")
    assert "use `./heat 1 2`" in Own(times(1.05), settings, cores=2, noise=0.005).said("use `./heat")
