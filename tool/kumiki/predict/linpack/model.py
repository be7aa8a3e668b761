"""The prediction of Linpack: what is known of each run beside what the recursion gives, and the rate over N."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf

from kumiki.predict.linpack.description import machine_of
from kumiki.predict.linpack.machine import Machine, Run
from kumiki.predict.linpack.recursion import expected
from kumiki.predict.parameters import Parameter
from kumiki.predict.prediction import Chart, Check, Curve, Model, Prediction

SIZES = (1 / 16, 1 / 8, 3 / 16, 1 / 4, 5 / 16, 3 / 8, 7 / 16, 1 / 2, 3 / 4, 1)
"""Shares of the N of a run, for the curve over N."""
INTRO = (
    "A recursion over the steps of the factorisation with a clock for each process column: the update by the rate of "
    "the product at its shape, beside it the next panel and its way along the ring, before it the rows that change "
    "places; of several kinds of processes the slowest decides. Rates that vary are drawn from their measured "
    "variation."
)


def predict(machine: Machine) -> Prediction:
    """All runs of the machine."""
    rates = {run.name: expected(machine, run) for run in machine.runs}
    curves = tuple(_curve(machine, run) for run in machine.runs)
    checks = [
        Check(f"{run.name}: N = {run.n}", run.known, rates[run.name].rate, "GFLOP/s", run.chosen)
        for run in machine.runs
        if run.known is not None
    ]
    for faster, than, known in machine.crossings:
        checks.append(Check(f"{faster} is faster than {than} from N =", known, _crossing(machine, faster, than), ""))
    return Prediction(
        f"Linpack on {machine.name}",
        machine.source,
        INTRO,
        tuple(_parameters(machine)),
        tuple(checks),
        (
            Chart(
                "rate",
                "The rate over N",
                "Operations per second of the whole solution, by the model.",
                "Higher is better. Where curves cross, the one with more or faster processes begins to pay.",
                "N",
                "count",
                "rate",
                "GFLOP/s",
                curves,
                "Figure 5" if machine.crossings else "",
            ),
        ),
    )


def _curve(machine: Machine, run: Run) -> Curve:
    sizes = sorted({max(run.block, round(share * run.n)) for share in SIZES})
    return Curve(run.name, tuple((size, expected(machine, replace(run, n=size)).rate) for size in sizes))


def _crossing(machine: Machine, faster: str, than: str) -> float:
    """The least N from which one run is the faster one, to 1 in 100; that of the run if it never is."""
    runs = {run.name: run for run in machine.runs}

    def pays(n: float) -> bool:
        one, other = (expected(machine, replace(runs[name], n=round(n))).rate for name in (faster, than))
        return one > other

    low, high = float(runs[faster].block), float(runs[faster].n)
    while high / low > 1.01:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if pays(middle) else (middle, high)
    return high


def _parameters(machine: Machine) -> Iterator[Parameter]:
    for name, value, unit, meaning in _numbers(machine):
        yield Parameter(name, value, unit, meaning, machine.origins.get(name, machine.source))


def _numbers(machine: Machine) -> Iterator[tuple[str, float, str, str]]:
    if machine.link_rate < inf:
        yield "link_rate", machine.link_rate, "MB/s", "what a process sends while all do"
        yield "link_latency", machine.link_latency, "us", "of a message"
    for name, kind in machine.kinds.items():
        for what, rate in kind.rates.items():
            rows, best = rate.points[-1]
            where = f" with {rows:g} rows or more" if len(rate.points) > 1 else ""
            yield f"{name}.{what}", best, "GFLOP/s", f"the rate{where}"
            if rate.bandwidth < inf:
                yield f"{name}.{what}.bandwidth", rate.bandwidth, "MB/s", "to and from the device"
            if rate.shared > 1:
                yield f"{name}.{what}.shared", rate.shared, "", "processes that share a device"


MODEL = Model(
    "linpack",
    "Linpack on TSUBAME, or on a machine that was measured: a recursion over the steps of the factorisation.",
    machine_of,
    predict,
)
