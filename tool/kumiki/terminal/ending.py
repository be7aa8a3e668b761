"""The end of a command on results: it writes the report and the machine for the models, and prints the advice."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from kumiki import report
from kumiki.errors import ExitCode, UserError, complain
from kumiki.predict.linpack import measured
from kumiki.results import files
from kumiki.terminal.grid import grid

CITED_AT_MOST = 4


def print_report(directory: Path, out: Console) -> ExitCode:
    """Writes the report of a folder's results and prints its advice and path; FAILED if this is impossible. Raises
    UserError if the results cannot be read.
    """
    content = files.load(directory)
    try:
        advice = report.advice(content, files.load_samples(directory), directory)
        tables = report.summary(content)
        page = report.write(directory)
        machine = measured.write(directory)
    except UserError:
        raise
    except OSError as error:
        complain(f"the report cannot be written to the folder {directory} ({error.strerror}); the results are in it")
        return ExitCode.FAILED
    except Exception as error:  # a defective report must not affect the measurements
        complain(f"the report could not be written ({type(error).__name__}: {error}); the results are in {directory}")
        return ExitCode.FAILED
    for caption, table in tables:
        out.print(Text(caption, style="bold"))
        out.print(grid(table))
    metrics = {row["id"]: row["metric"] for row in content["rows"]}
    first = report.first_of(advice)
    for heading, pieces in (
        ("What matters here", first),
        ("All other advice", [piece for piece in advice if piece not in first]),
    ):
        if pieces:
            out.print(Text(heading, style="bold underline"))
        for piece in pieces:
            out.print(Text(f"- {piece.text}").append(_cited([metrics[number] for number in piece.rows]), style="dim"))
    if machine is not None:
        command = f"kumiki predict linpack --machine {shlex.quote(str(machine))}"
        out.print(Text(f"Machine: {machine} ({command})"), soft_wrap=True)
    out.print(Text(f"Report: {page}"), soft_wrap=True)
    return ExitCode.OK


def _cited(metrics: Sequence[str]) -> str:
    """The figures behind a piece of advice, named as in the tables; only the page numbers its rows."""
    names = list(dict.fromkeys(metrics))
    shown = ", ".join(names[:CITED_AT_MOST])
    more = f" and {len(names) - CITED_AT_MOST} more" if len(names) > CITED_AT_MOST else ""
    return f"  (from {shown}{more})" if names else ""
