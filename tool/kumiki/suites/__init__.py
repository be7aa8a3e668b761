"""The suites in the order in which they are measured: the machine's own limits first, then the software on top."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from kumiki.errors import UserError, nearest
from kumiki.suites.model import Suite

MODULES = (
    "memory",
    "thread_barrier",
    "rank_barrier",
    "wait",
    "remote_memory",
    "network",
    "message",
    "routines",
    "laplace",
    "matmul",
    "radix_sort",
    "cg",
    "himeno",
    "pi",
    "integer_sort",
    "diffusion",
    "laplace_sor",
    "cavity",
    "lu",
    "linpack",
    "shared",
    "openmp",
    "overlap",
)
"""One module per suite, which contains everything about that suite."""

ALL: tuple[Suite, ...] = tuple(import_module(f"kumiki.suites.{name}").SUITE for name in MODULES)

EVERY = "all"
"""Used instead of a name: every suite that applies to the hosts."""


def chosen(names: Sequence[str] | None, over_hosts: bool = False) -> list[Suite]:
    """The suites of these names in their usual order.

    None: all that apply to one host, or to several, except those that are measured only on request.

    Raises UserError for an unknown name, and for a suite that does not apply.
    """
    known = [*(suite.name for suite in ALL), EVERY]
    for name in names or ():
        if name not in known:
            raise UserError(f"there is no suite '{name}'{nearest(name, known)}; kumiki list shows them all")
    if names is not None and EVERY in names:
        names = [*names, *(suite.name for suite in ALL if suite.builder(over_hosts))]
    wanted = [suite for suite in ALL if (not suite.by_name if names is None else suite.name in names)]
    found = [suite for suite in wanted if suite.builder(over_hosts)]
    silent = [suite.name for suite in left_out(over_hosts) if suite.name in (names or ())]
    if silent and over_hosts:
        raise UserError(f"{silent[0]} measures within a host; measure it with --alone, or name another suite")
    if silent:
        raise UserError(
            f"{silent[0]} measures between hosts: name a cluster with --cluster (kumiki cluster create), hosts with "
            "--hosts, or start in a Slurm allocation of two nodes or more"
        )
    return found


def left_out(over_hosts: bool) -> list[Suite]:
    """The suites that do not apply to several hosts, or to one."""
    return [suite for suite in ALL if suite.builder(over_hosts) is None]


def only_by_name(over_hosts: bool) -> list[Suite]:
    """The suites that apply but that an evaluation without --suite does not measure."""
    return [suite for suite in ALL if suite.by_name and suite.builder(over_hosts)]
