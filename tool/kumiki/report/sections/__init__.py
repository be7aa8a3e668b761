"""The sections of the page: their tables and figures, with captions."""

from __future__ import annotations

from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import PROGRAMS
from kumiki.report.page.exhibit import Section, numbered
from kumiki.report.sections.linpack import linpack
from kumiki.report.sections.machine import memory, rank_barrier, thread_barrier, waiting
from kumiki.report.sections.openmp import openmp
from kumiki.report.sections.programs import program_section
from kumiki.report.sections.routines import routines
from kumiki.report.sections.shared import shared
from kumiki.report.sections.transfers import messages, network, remote
from kumiki.report.sections.unsettled import unsettled_figures


def build(results: Results) -> list[Section]:
    """The sections of the suites that were measured."""
    return numbered(
        [
            *(program_section(results, program) for program in PROGRAMS),
            memory(results),
            thread_barrier(results),
            rank_barrier(results),
            waiting(results),
            remote(results),
            network(results),
            messages(results),
            routines(results),
            linpack(results),
            shared(results),
            openmp(results),
            unsettled_figures(results),
        ]
    )
