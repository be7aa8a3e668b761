"""The suites, in the order in which they are measured: the machine's own limits first, then what is built on them."""

from __future__ import annotations

from collections.abc import Sequence

from kumiki.nearest import nearest
from kumiki.problem import Problem
from kumiki.suites import cg, laplace, matmul, memory, radix_sort, rank_barrier, remote_memory, thread_barrier, wait
from kumiki.suites.model import Suite

ALL: tuple[Suite, ...] = tuple(
    module.SUITE
    for module in (memory, thread_barrier, rank_barrier, wait, remote_memory, laplace, matmul, radix_sort, cg)
)


def chosen(names: Sequence[str] | None) -> list[Suite]:
    """The suites of these names in their usual order (None: all); a Problem for a name that is none."""
    known = [suite.name for suite in ALL]
    for name in names or ():
        if name not in known:
            raise Problem(f"there is no suite '{name}'{nearest(name, known)}; kumiki list shows them all")
    return [suite for suite in ALL if names is None or suite.name in names]
