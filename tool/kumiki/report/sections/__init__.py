"""The sections of the page: which tables and figures stand where, and what their captions say."""

from __future__ import annotations

from kumiki.report.exhibit import Section, numbered
from kumiki.report.model import Results
from kumiki.report.sections.machine import memory, rank_barrier, thread_barrier, waiting
from kumiki.report.sections.programs import program_section
from kumiki.report.sections.routines import routines
from kumiki.report.sections.transfers import messages, network, remote
from kumiki.report.select import PROGRAMS


def build(results: Results) -> list[Section]:
    """What every report has, then the suites that were named; a section without rows says what is missing."""
    sections = [memory(results), thread_barrier(results), rank_barrier(results), waiting(results), remote(results)]
    sections += [network(results)] if results.suite("network") else []
    sections += [messages(results)] if results.suite("message") else []
    sections += [routines(results)] if results.suite("mpi") else []
    sections += [
        program_section(results, program) for program in PROGRAMS if not program.by_name or results.suite(program.suite)
    ]
    return numbered(sections)
