"""The bounds of the programs: found by problem, drawn in every figure, with the share that is reached, in words."""

from __future__ import annotations

import pytest
from kumiki.report import tables
from kumiki.report.analysis.bound import reached, share
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import PROGRAMS, Problem, principal, problems
from kumiki.report.figures.scaling import scaling
from kumiki.report.sections.overview import overview
from synthetic import Host

DIFFUSION = next(each for each in PROGRAMS if each.suite == "diffusion")


def bounded(part: float, suites: tuple[str, ...] = ("laplace",), noise: float = 0.004) -> Host:
    """A host of two cores on which the fastest setting of Laplace reaches this share of its bound."""
    host = Host(suites=suites, cores=2, noise=noise)
    fastest = max(
        (row for row in host.rows if row["metric"] == "laplace.rate" and not row["oversubscribed"]),
        key=lambda row: row["median"],
    )
    where = {name: value for name, value in fastest["parameters"].items() if name in ("size", "iterations")}
    for threads in (1, 2):
        rate = fastest["median"] / part * threads / fastest["parameters"]["ranks"] / fastest["parameters"]["threads"]
        form = {"form": "bound", "ranks": 1, "threads": threads, **where}
        host.add("laplace", "laplace.bound", "bound", "Mcell/s", rate, better="higher", **form)
    return host


def problem(host: Host) -> Problem:
    found = principal(Results.parse(host.results, host.samples), PROGRAMS[0])
    assert found
    return found


@pytest.mark.parametrize("figure", ["time", "rate", "speedup"])
def test_a_bound_is_drawn_in_every_figure_with_the_share_that_is_reached(figure: str) -> None:
    picture = scaling("name", problem(bounded(0.9)), figure, 2)  # type: ignore[arg-type]
    assert picture and "bound: moving its data" in [key.text for key in picture.legend]
    (note,) = [note for note in picture.notes if "the bound" in note]
    assert "without any computation" in note and "% of it: data movement limits it" in note


def test_what_is_not_measured_is_not_drawn() -> None:
    made = tables.settings(problem(Host(suites=("laplace",))))
    assert made and tables.OF_BOUND not in [column.title for column in made.columns]
    picture = scaling("name", problem(Host(suites=("laplace",))), "time", 2)
    assert picture and not any("bound" in key.text for key in picture.legend)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (0.9, "data movement limits it"),
        (0.6, "of it."),
        (0.2, "not data movement"),
        (1.3, "which is impossible"),
    ],
)
def test_the_share_says_what_limits_the_program(part: float, words: str) -> None:
    said = reached(problem(bounded(part)))
    assert said.startswith("With -n ") and words in said
    assert "limit" not in said or part != 0.6


def test_no_verdict_from_figures_that_scatter() -> None:
    assert reached(problem(bounded(0.9, noise=0.4))) == ""


def test_the_table_has_the_share_of_every_setting() -> None:
    host = bounded(0.9)
    made = tables.settings(problem(host))
    assert made and made.columns[-1].title == tables.OF_BOUND
    best = next(line for line in made.lines if "best" in line.role)
    assert best.cells[-1].text == "90 %"
    # Settings with more threads than cores are compared with the bound of all cores.
    crowded = next(row for row in problem(host).hybrid.values() if row.oversubscribed)
    assert share(problem(host), crowded) == pytest.approx(0.9, abs=0.3)


def test_a_bound_holds_for_its_own_problem_and_method_alone() -> None:
    host = Host(suites=("diffusion",), cores=2)
    where = {"form": "bound", "ranks": 1, "threads": 1, "size": 513, "steps": 100}
    host.add("diffusion", "diffusion.bound", "bound", "Mpoint/s", 900.0, better="higher", **where)
    found = {each.label: each.bounds for each in problems(Results.parse(host.results), DIFFUSION)}
    assert {label for label, bounds in found.items() if bounds} == {"513 × 513, 100 steps"}
    assert any("jacobi" in label for label in found)


def test_other_problems_tell_their_shares() -> None:
    host = Host(suites=("diffusion",), cores=2)
    where = {"form": "bound", "ranks": 1, "threads": 2, "size": 2049, "steps": 10}
    host.add("diffusion", "diffusion.bound", "bound", "Mpoint/s", 1e4, better="higher", **where)
    results = Results.parse(host.results)
    chosen = principal(results, DIFFUSION)
    made = chosen and tables.other_problems(results, chosen)
    assert made and made.columns[-1].title == tables.OF_BOUND
    shares = {line.head: line.cells[-1].text for line in made.lines}
    assert shares["2049 × 2049, 10 steps"].endswith("%") and shares["513 × 513, 100 steps, jacobi"] == "–"


@pytest.mark.parametrize(("part", "drawn"), [(0.9, True), (0.05, False)])
def test_the_first_picture_leaves_out_a_bound_that_is_far_away(part: float, drawn: bool) -> None:
    results = Results.parse(bounded(part, ("laplace", "cg")).results)
    shown = overview(results, [])
    assert shown and shown.picture
    assert ("bound: moving its data" in [key.text for key in shown.picture.legend]) is drawn
    assert any("far beyond" in note for note in shown.picture.notes) is not drawn
