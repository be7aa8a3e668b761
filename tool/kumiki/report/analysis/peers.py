"""The peers of a program that stand beside its best setting."""

from __future__ import annotations

from kumiki.report.analysis.compare import best
from kumiki.report.analysis.select import Problem
from kumiki.results.row import Row


def best_mpi(problem: Problem) -> Row | None:
    """Plain message passing at its best with a core for each rank, by any implementation of MPI."""
    return best(row for rows in problem.mpi.values() for row in rows.values() if not row.oversubscribed)


def best_openmp(problem: Problem) -> Row | None:
    """OpenMP at its best with a core for each thread."""
    return best(row for row in problem.openmp.values() if not row.oversubscribed)
