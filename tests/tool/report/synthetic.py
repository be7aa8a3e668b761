"""Synthetic evaluations: rows of a made-up machine, with the knobs that advice must react to.

The shapes follow a small performance model (bus, halo, exchange, barrier); samples scatter around it with a seeded
generator, and medians and intervals come from the samples as the tool computes them.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from synthetic_machine import counts, environment, interval, memcpy_rate, splits, streamed

SUITES = ("memory", "thread-barrier", "rank-barrier", "wait", "remote-memory", "laplace", "matmul", "radix-sort", "cg")
BY_NAME = ("himeno", "pi", "is", "diffusion", "laplace-sor", "cavity")
"""Programs that are measured only if the user names them."""
MPIS = ("openmpi", "mpich")


@dataclass
class Host:
    """The made-up machine."""

    cores: int = 2
    bus_threads: float = 1.3
    """The number of threads that saturate the bus with streaming."""
    put_over_mpi: float = 3.0
    """How many times as fast a put is as MPI's."""
    messages_over_mpi: float = 2.0
    """How many times as fast a message is as MPI's."""
    tuning_gain: float = 1.0
    """How many times as fast as by the library's own rule messages are in fragments of the best length."""
    exchange: float = 0.02
    """Communication per rank as a share of the sequential time."""
    crowding: float = 1.06
    """The cost of more threads than cores, as a factor."""
    split_gain: float = 0.5
    noise: float = 0.01
    hosts: int = 1
    """The hosts of a made-up cluster, each with one rank."""
    put_over_tcp: float = 1.3
    far_host: float = 1.0
    """How many times as long as the others' a put to or from the last host takes."""
    suites: tuple[str, ...] = SUITES
    mpis: tuple[str, ...] = MPIS
    complete: bool = True
    rows: list[dict[str, Any]] = field(default_factory=list)
    samples: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(7)
        for suite in self.suites:
            getattr(self, f"_{suite.replace('-', '_')}")()

    # -- what a test asks for -------------------------------------------------------------------------------

    @property
    def results(self) -> dict[str, Any]:
        return {
            "schema_version": 1,
            "complete": self.complete,
            "seed": 20261,
            "arguments": {"quick": False, "suites": list(self.suites) or ["memory"], "ranks": None, "threads": None},
            "environment": environment(self.cores),
            "points": [],
            "rows": self.rows,
        }

    def save(self, directory: Path) -> Path:
        (directory / "results.json").write_text(json.dumps(self.results), encoding="utf-8")
        (directory / "samples.json").write_text(json.dumps(self.samples), encoding="utf-8")
        return directory

    def find(self, metric: str, implementation: str = "kumiki", **parameters: int | str) -> dict[str, Any]:
        """The one row with these names; a test that asks for a missing row is wrong."""
        return next(
            row
            for row in self.rows
            if row["metric"] == metric
            and row["implementation"] == implementation
            and all(row["parameters"].get(name) == value for name, value in parameters.items())
        )

    # -- rows -------------------------------------------------------------------------------------------------

    def add(
        self,
        suite: str,
        metric: str,
        implementation: str,
        unit: str,
        middle: float,
        *,
        better: str = "lower",
        n: int = 25,
        validated: bool | None = None,
        oversubscribed: bool = False,
        **parameters: int | str,
    ) -> dict[str, Any]:
        """A row whose samples scatter to the slow side, as times do."""
        sign = 1.0 if better == "lower" else -1.0
        samples = middle * (1.0 + sign * self.noise * self._random.gamma(2.0, 0.5, n))
        low, high = interval(samples)
        row = {
            "id": len(self.rows),
            "suite": suite,
            "metric": metric,
            "implementation": implementation,
            "parameters": parameters,
            "unit": unit,
            "better": better,
            "median": float(np.median(samples)),
            "ci95": [low, high],
            "n": n,
            "converged": bool((high - low) / 2 < 0.05 * float(np.median(samples))),
            "oversubscribed": oversubscribed,
            "validated": validated,
        }
        self.rows.append(row)
        self.samples[str(row["id"])] = [float(value) for value in samples]
        return row

    def absent(
        self, suite: str, metric: str, implementation: str, sentence: str, **parameters: int | str
    ) -> dict[str, Any]:
        row = self.add(suite, metric, implementation, "us", 1.0, **parameters)
        row.update(median=None, ci95=None, n=0, absent=sentence)
        del self.samples[str(row["id"])]
        return row

    def _memory(self) -> None:
        peaks = {"read": 14.0, "write": 9.0, "copy": 10.5, "memcpy": 11.0, "nontemporal": 17.0}
        for threads in counts(self.cores):
            gain = min(threads, self.bus_threads)
            for operation, peak in peaks.items():
                self.add(
                    "memory",
                    f"memory.{operation}",
                    "kumiki",
                    "GB/s",
                    peak * gain,
                    better="higher",
                    threads=threads,
                    bytes=1 << 28,
                )

    def _thread_barrier(self) -> None:
        costs = {"bound": 0.13, "kumiki": 0.15, "central": 0.16, "std": 0.42, "openmp": 0.31, "pthread": 33.0}
        for threads in [*counts(self.cores)[1:], 2 * self.cores]:
            over = threads > self.cores
            for name, cost in costs.items():
                value = cost * math.log2(threads) * (12.0 if over else 1.0)
                self.add(
                    "thread-barrier", "thread_barrier.time", name, "us", value, oversubscribed=over, threads=threads
                )

    def _rank_barrier(self) -> None:
        for ranks in [*counts(self.cores), 2 * self.cores]:
            over, steps = ranks > self.cores, math.log2(ranks) + 0.1
            costs = {
                ("kumiki", "plain"): 0.2,
                ("kumiki", "split-phase"): 0.2 * self.split_gain,
                ("kumiki", "shuffle-exchange"): 0.23,
                ("bound", "plain"): 0.17,
            }
            for name in self.mpis:
                costs[name, "plain"] = {"openmpi": 0.3, "mpich": 1.3}[name]
                costs[name, "split-phase"] = costs[name, "plain"] * 1.2
            for (name, form), cost in costs.items():
                time = cost * steps * ({"openmpi": 4, "mpich": 3000}.get(name, 8) if over else 1)
                where: dict[str, Any] = {"validated": True, "oversubscribed": over, "ranks": ranks, "form": form}
                self.add("rank-barrier", "rank_barrier.time", name, "us", time, **where)
                if form == "split-phase":
                    share = 100 * (1 - cost / costs[name, "plain"])
                    self.add("rank-barrier", "rank_barrier.hidden", name, "%", share, better="higher", **where)
        for name in sorted(set(MPIS) - set(self.mpis)):
            sentence = f"{name} was not found when Kumiki was built: install it and run `./kumiki evaluate` again."
            self.absent("rank-barrier", "rank_barrier.time", name, sentence, ranks=2, form="plain")

    def _mpi(self) -> None:
        """For each MPI, send is best for small messages and sendrecv for large ones; for Kumiki it is always send."""
        for size in (1 << power for power in range(10, 26)):
            for scope in ({"scope": "all"}, {"scope": "one", "rank": 1}, {"scope": "one", "rank": 3}):
                copy: dict[str, Any] = {"ranks": 4, "bytes": size, "routine": "memcpy", "better": "higher", **scope}
                self.add("mpi", "routine.bandwidth", "bound", "GB/s", 40.0, **copy)
            theirs = {"send": 1.0 if size <= 1 << 19 else 1.8, "sendrecv": 1.3, "ssend": 2.0}
            ours = {"send": 1.0 / self.messages_over_mpi, "isend": 1.3 / self.messages_over_mpi}
            for name in ("kumiki", *self.mpis):
                for routine, cost in (ours if name == "kumiki" else theirs).items():
                    rate = 8.0 / cost / (1 + 65536 / size)
                    where: dict[str, Any] = {"ranks": 4, "bytes": size, "routine": routine, "better": "higher"}
                    where["oversubscribed"] = self.cores < 4
                    self.add("mpi", "routine.bandwidth", name, "GB/s", rate, scope="all", **where)
                    for rank, share in enumerate((0.5, 0.3, 0.3, 0.25)):  # the first one finishes before the others
                        self.add(
                            "mpi", "routine.bandwidth", name, "GB/s", rate * share, scope="one", rank=rank, **where
                        )

    def _message(self) -> None:
        """The longer a message, the closer it is to the bound; regions save a copy."""
        word: dict[str, Any] = {"ranks": 2, "bytes": 8, "fabric": "network" if self.hosts > 1 else "shm"}
        for name, cost in {"kumiki": 1.0, "ucx": 1.4, **dict.fromkeys(self.mpis, self.messages_over_mpi)}.items():
            latency = cost * (4.5 if self.hosts > 1 else 0.13)
            self.add("message", "message.latency", name, "us", latency, validated=True, **word)
            self.add("message", "message.rate", name, "M/s", 31.0 / cost, better="higher", validated=True, **word)
            if name != "ucx":
                long = {**word, "bytes": 1 << 26}
                self.add("message", "message.interleaving", name, "%", min(99.0, 4.0 * cost), validated=True, **long)
                for receive in ("posted", "later"):
                    late = 140.0 if name == "kumiki" else 20_000.0
                    mib = {**word, "bytes": 1 << 20, "receive": receive}
                    self.add("message", "message.independent", name, "us", late, validated=True, **mib)
            for size in (4**power for power in range(14)):
                limit = 2.0 if self.hosts > 1 else memcpy_rate(size)
                for memory, gain in {"own": 0.8, "region": 0.95}.items() if name == "kumiki" else (("own", 0.8),):
                    where: dict[str, Any] = {**word, "bytes": size, "better": "higher", "validated": True}
                    rate = streamed(size, latency, limit * gain)
                    self.add("message", "message.bandwidth", name, "GB/s", rate, memory=memory, **where)

        for length, rate in {0: 6.0, 223: 0.4, 4048: 3.0, 1 << 16: 6.0 * self.tuning_gain, 1048528: 2.5}.items():
            where = {**word, "bytes": 1 << 24, "better": "higher", "validated": True, "fragment": length}
            self.add("message", "fragment.bandwidth", "kumiki", "GB/s", rate, **where)

    def _wait(self) -> None:
        costs = {
            "adaptive": (3.1, 0.4, 4.2),
            "spin": (99.6, 99.7, 0.21),
            "yield": (99.1, 99.0, 0.6),
            "sleep": (0.5, 0.4, 34.0),
        }
        for policy, (whole, later, delay) in costs.items():
            for after, share in ((0, whole), (10, later)):
                self.add("wait", "wait.cpu", "kumiki", "%", share, ranks=2, policy=policy, after_ms=after)
            self.add("wait", "wait.wakeup", "kumiki", "us", delay, ranks=2, policy=policy)

    def _network(self) -> None:
        tcp, word = 3.6, {"ranks": 2, "bytes": 8, "hosts": self.hosts}
        put = tcp * self.put_over_tcp
        latencies = [("kumiki", "put", put), ("kumiki", "get", 3 * put), ("tcp", "send", tcp), ("ucx", "put", 8.0)]
        latencies += [(name, "put", 5 * tcp) for name in self.mpis]
        for name, operation, cost in latencies:
            self.add("network", "network.latency", name, "us", cost, operation=operation, **word)
        for size in (4**power << 10 for power in range(9)):
            where: dict[str, Any] = {**word, "bytes": size, "better": "higher"}
            for name, operation, top in (("kumiki", "put", 1.9), ("tcp", "send", 2.0), ("ucx", "put", 1.2)):
                rate = streamed(size, tcp, top)
                self.add("network", "network.bandwidth", name, "GB/s", rate, operation=operation, **where)
        for here in range(self.hosts):
            for there in (other for other in range(self.hosts) if self.hosts > 2 and other != here):
                slow = self.far_host if self.hosts - 1 in (here, there) else 1.0
                pair = {**word, "operation": "put", "from": here, "to": there}
                self.add("network", "network.latency", "kumiki", "us", put * slow, **pair)
                large: dict[str, Any] = {**pair, "bytes": 1 << 20, "better": "higher"}
                self.add("network", "network.bandwidth", "kumiki", "GB/s", 1.9 / slow, **large)

    def _remote_memory(self) -> None:
        suite, word = "remote-memory", {"ranks": 2, "bytes": 8, "n": 60}
        for lines, cost in ((1, 0.068), (2, 0.139)):
            self.add(suite, "bound.cacheline_pingpong", "bound", "us", cost, lines=lines, **word)
        self.add(suite, "bound.remote_load", "bound", "us", 0.121, **word)
        for placement, cost in (("adjacent", 0.115), ("separate", 0.182)):
            self.add(suite, "put.latency", "kumiki", "us", cost, validated=True, placement=placement, **word)
        for contention, cost in (("none", 0.131), ("both", 0.24)):
            self.add(suite, "atomic.latency", "kumiki", "us", cost, validated=True, contention=contention, **word)
        for operation, cost in {"signal": 0.071, "get": 0.123, "active_message": 0.41}.items():
            self.add(suite, f"{operation}.latency", "kumiki", "us", cost, validated=True, **word)
        self.add(suite, "put.rate", "kumiki", "M/s", 210.0, better="higher", validated=True, ranks=2, bytes=8)
        for name in self.mpis:
            cost = 0.115 * self.put_over_mpi * {"openmpi": 1.0, "mpich": 2.4}[name]
            self.add(suite, "put.latency", name, "us", cost, placement="adjacent", **word)
            self.add(suite, "send.latency", name, "us", cost * 0.9, **word)
        for size in [2**power for power in range(0, 27, 2)]:
            self._transfers(size)

    def _transfers(self, size: int) -> None:
        limit = memcpy_rate(size)
        where: dict[str, Any] = {"better": "higher", "validated": True, "ranks": 2, "bytes": size}
        self.add("remote-memory", "bound.memcpy", "bound", "GB/s", limit, **where)
        for operation, start in (("put", 0.05), ("get", 0.09)):
            rate = streamed(size, start, limit)
            self.add("remote-memory", f"{operation}.bandwidth", "kumiki", "GB/s", rate, **where)
        for name in self.mpis:
            slow = self.put_over_mpi * {"openmpi": 1.0, "mpich": 1.5}[name]
            rate = streamed(size, 0.05 * slow, limit / max(1.0, slow / 1.6) if slow > 1 else limit / slow)
            self.add("remote-memory", "put.bandwidth", name, "GB/s", rate, **where)
            rate *= 1.3 if size < 65536 else 0.7
            self.add("remote-memory", "send.bandwidth", name, "GB/s", rate, **where)

    # -- programs ---------------------------------------------------------------------------------------------

    def _laplace(self) -> None:
        self._kernel("laplace", "laplace", 0.115, 204.8, "Mcell/s", self.bus_threads, size=640, iterations=500)

    def _matmul(self) -> None:
        work = 2 * 1800**3 / 1e9
        self._kernel("matmul", "matmul", 0.166, work, "GFLOP/s", self.cores * 0.97, size=1800)
        for threads in counts(self.cores):
            self.add(
                "matmul", "bound.dgemm", "bound", "GFLOP/s", 71.5 * threads * 0.985, better="higher",
                validated=True, threads=threads, size=1800, library="OpenBLAS",
            )  # fmt: skip

    def _radix_sort(self) -> None:
        for keys, seconds in ((4 << 20, 0.021), (64 << 20, 0.41)):
            self._kernel(
                "radix-sort", "radix_sort", seconds, keys / 1e6, "Mkeys/s", self.cores * 0.8,
                full_only=keys > 4 << 20, exchange=2.5, keys=keys, kernel="vector",
            )  # fmt: skip
            self.add(
                "radix-sort", "radix_sort.time", "highway", "s", seconds * 0.97,
                validated=True, form="library", ranks=1, threads=1, keys=keys, kernel="vector",
            )  # fmt: skip

    def _cg(self) -> None:
        self._kernel("cg", "cg", 0.55, 1500.0, "Mop/s", self.bus_threads * 1.1, exchange=1.6, **{"class": "A"})

    def _himeno(self) -> None:
        for size, sweeps, seconds, work in (("M", 10, 0.27, 1389.0), ("L", 2, 0.45, 2236.0)):
            self._kernel(
                "himeno", "himeno", seconds, work, "MFLOPS", self.bus_threads,
                full_only=size == "L", size=size, sweeps=sweeps,
            )  # fmt: skip

    def _pi(self) -> None:
        for method, seconds in (("monte-carlo", 3.3), ("integration", 1.6)):
            count = 2**31 - 1
            self._kernel(
                "pi", "pi", seconds, count / 1e6, "M/s", self.cores, full_only=method == "integration",
                exchange=0.001, method=method, count=count,
            )  # fmt: skip

    def _is(self) -> None:
        for size, seconds, work in (("A", 0.4, 83.9), ("B", 2.0, 335.5)):
            self._kernel(
                "is", "is", seconds, work, "Mop/s", self.cores * 0.8,
                full_only=size == "B", exchange=2.0, **{"class": size},
            )  # fmt: skip

    def _diffusion(self) -> None:
        for size, steps, seconds, work in ((513, 100, 0.08, 26.1), (2049, 10, 0.35, 41.9)):
            self._kernel(
                "diffusion", "diffusion", seconds, work, "Mpoint/s", self.bus_threads,
                full_only=size == 2049, exchange=2.0, size=size, steps=steps,
            )  # fmt: skip
        self._kernel(
            "diffusion", "diffusion", 20.0, 26.1, "Mpoint/s", self.bus_threads,
            full_only=True, size=513, steps=100, method="jacobi",
        )  # fmt: skip

    def _laplace_sor(self) -> None:
        for size, seconds, work in ((513, 0.3, 379.0), (1025, 3.5, 3100.0)):
            self._kernel(
                "laplace-sor", "laplace_sor", seconds, work, "Mpoint/s", self.bus_threads,
                full_only=size == 1025, size=size,
            )  # fmt: skip

    def _cavity(self) -> None:
        for size, seconds, work in ((65, 0.15, 10.0), (129, 1.9, 162.0)):
            self._kernel(
                "cavity", "cavity", seconds, work, "Mcell/s", self.cores * 0.7,
                full_only=size == 129, exchange=3.0, size=size,
            )  # fmt: skip

    def _kernel(
        self,
        suite: str,
        prefix: str,
        seconds: float,
        work: float,
        unit: str,
        thread_gain: float,
        *,
        full_only: bool = False,
        exchange: float = 1.0,
        **sizes: int | str,
    ) -> None:
        def run(implementation: str, form: str, ranks: int, threads: int, slow: float) -> None:
            total = ranks * threads
            over = total > self.cores
            gain = min(total, self.cores, max(thread_gain, 1.0))
            computation = seconds / gain * slow
            communication = seconds * self.exchange * exchange * (ranks - 1) ** 0.7 if ranks > 1 else 0.0
            synchronisation = seconds * 0.004 * math.log2(total) if total > 1 else 0.0
            crowd = self.crowding if over else 1.0
            parts = {
                "computation": computation * crowd,
                "communication": communication,
                "synchronisation": synchronisation * crowd,
            }
            where = {"form": form, "ranks": ranks, "threads": threads, **sizes}
            if self.hosts > 1 and form in ("hybrid", "mpi"):
                where["hosts"] = min(self.hosts, ranks)
            self._run(suite, prefix, implementation, parts, work, unit, over, **where)

        run("kumiki", "sequential", 1, 1, 1.0)
        for ranks, threads in splits(self.cores):
            if not full_only or ranks * threads == self.cores:
                run("kumiki", "hybrid", ranks, threads, 1.01)
        for threads in counts(self.cores):
            if not full_only or threads == self.cores:
                run("openmp", "openmp", 1, threads, 1.04)
        for name in self.mpis:
            for ranks in counts(self.cores):
                if not full_only or ranks == self.cores:
                    run(name, "mpi", ranks, 1, 1.06 if name == "openmpi" else 1.09)

    def _run(
        self,
        suite: str,
        prefix: str,
        implementation: str,
        parts: dict[str, float],
        work: float,
        unit: str,
        over: bool,
        **where: Any,
    ) -> None:
        whole = sum(parts.values())
        common: dict[str, Any] = {"oversubscribed": over, "n": 12, **where}
        self.add(suite, f"{prefix}.time", implementation, "s", whole, validated=True, **common)
        self.add(suite, f"{prefix}.rate", implementation, unit, work / whole, better="higher", **common)
        if where["form"] != "sequential":
            for name, value in parts.items():
                self.add(suite, f"{prefix}.{name}", implementation, "s", value, **common)
