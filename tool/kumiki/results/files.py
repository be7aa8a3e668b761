"""The folder of an evaluation: results.json, samples.json and the log, completely rewritten after every point."""

from __future__ import annotations

import fcntl
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace as changed
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import IO, Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from kumiki.errors import UserError
from kumiki.evaluation.measure import Outcome
from kumiki.replacement import replace
from kumiki.results.row import ProgramRow, Row
from kumiki.suites.model import Point

SCHEMA_VERSION = 1
RESULTS = "results.json"
SAMPLES = "samples.json"
LOG = "evaluate.log"
MACHINE = "machine.toml"
"""The machine as a model needs it (kumiki predict)."""
OURS = frozenset({RESULTS, SAMPLES, LOG, MACHINE, "index.html"})


class Folder:
    """The folder of an evaluation while it is written; foreign files in it are never touched."""

    def __init__(self, path: Path, log: IO[str], content: dict[str, Any], samples: dict[str, list[float]]) -> None:
        self.path = path
        self.content = content
        self._samples = samples
        self._log = log
        self.write()

    def log(self, text: str) -> None:
        try:
            self._log.write(text)
            self._log.flush()
        except OSError as error:
            raise _not_writable(self.path, error) from None

    def add(self, outcome: Outcome, load: float) -> None:
        """Adds the outcome of a point and writes the folder; `load`: the number of processors that others kept busy."""
        self._forget(outcome.point.key)
        rows = [self._take(outcome.point, row) for row in outcome.rows]
        if row := _unmeasured(outcome, self._next_id()):
            rows.append(self._put(row))
        self.content["points"].append(
            {
                "key": outcome.point.key,
                "state": outcome.state,
                "seconds": round(outcome.seconds, 3),
                "rows": rows,
            }
        )
        self.content["environment"]["load"]["during"] = load
        self.write()

    def rows(self) -> list[Row]:
        return [Row.parse(row) for row in self.content["rows"]]

    def measured_keys(self) -> set[str]:
        """The points that need not be measured again."""
        return {point["key"] for point in self.content["points"] if point["state"] == "measured"}

    def open_rows(self, point: Point) -> list[Row]:
        """The figures of a measured point that have not converged; none of a point with a wrong result, which more
        samples do not mend.
        """
        rows = self.rows_of([point])
        wrong = any(row.validated is False for row in rows)
        return [] if wrong else [row for row in rows if row.median is not None and not row.converged]

    def rows_of(self, points: Sequence[Point]) -> list[Row]:
        """The rows to which these points have contributed."""
        keys = {point.key for point in points}
        numbers = {row for each in self.content["points"] if each["key"] in keys for row in each["rows"]}
        return [Row.parse(row) for row in self.content["rows"] if row["id"] in numbers]

    def finish(self) -> None:
        self.content["complete"] = True
        self.write()

    def write(self) -> None:
        """Replaces both files; a reader, or a crash, sees either the old or the new ones.

        Rows were checked when they were added: checking all of them again after every point would take longer than some
        points.
        """
        check({**self.content, "rows": []})
        try:
            replace(self.path / SAMPLES, json.dumps(self._samples, separators=(",", ":")))
            replace(self.path / RESULTS, json.dumps(self.content, indent=1) + "\n")
        except OSError as error:
            raise _not_writable(self.path, error) from None

    def _take(self, point: Point, row: ProgramRow) -> int:
        """Adds a program's row; it is merged with those of earlier runs of the point's setting."""
        known = self._known(point, row)
        number = self._next_id() if known is None else known.id
        whole = row if known is None else _merged(known, self._samples.get(str(number), ()), row)
        self._put(Row.measured_by(whole, point.suite, number))
        self._samples[str(number)] = list(whole.samples)
        return number

    def _known(self, point: Point, row: ProgramRow) -> Row | None:
        if point.setting == point.key:
            return None
        sought = Row.measured_by(row, point.suite, self._next_id()).identity
        return next((known for known in self.rows() if not known.failed and known.identity == sought), None)

    def _put(self, row: Row) -> int:
        """Replaces the row with the same id, or appends the row."""
        entry, rows = row.as_dict(), self.content["rows"]
        check(entry, "row")
        place = next((place for place, known in enumerate(rows) if known["id"] == row.id), len(rows))
        rows[place : place + 1] = [entry]
        return row.id

    def _next_id(self) -> int:
        return max((row["id"] for row in self.content["rows"]), default=-1) + 1

    def _forget(self, key: str) -> None:
        """Drops the rows of an earlier, failed attempt at a point."""
        gone = {number for point in self.content["points"] if point["key"] == key for number in point["rows"]}
        gone -= {number for point in self.content["points"] if point["key"] != key for number in point["rows"]}
        self.content["points"] = [point for point in self.content["points"] if point["key"] != key]
        self.content["rows"] = [row for row in self.content["rows"] if row["id"] not in gone]
        for number in gone:
            self._samples.pop(str(number), None)


def create(path: Path, arguments: Mapping[str, Any], seed: int, environment: Mapping[str, Any]) -> Folder:
    """Begins a new evaluation in a folder that is empty, new, or contains an earlier one; else raises UserError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        foreign = sorted(entry.name for entry in path.iterdir())
    except OSError as error:
        raise UserError(f"the folder {path} cannot be used ({error.strerror}); name another with --output") from None
    if RESULTS in foreign:
        # The folder of an earlier evaluation may be used again; any other folder of this name must not be replaced.
        load(path)
    elif foreign and not OURS.issuperset(foreign):
        shown = ", ".join(foreign[:3]) + (", ..." if len(foreign) > 3 else "")
        raise UserError(
            f"the folder {path} contains files that are not Kumiki's ({shown}); name a new or empty folder with "
            "--output"
        )
    content = {
        "schema_version": SCHEMA_VERSION,
        "complete": False,
        "seed": seed,
        "arguments": dict(arguments),
        "environment": dict(environment),
        "points": [],
        "rows": [],
    }
    log = _locked_log(path)
    log.truncate(0)
    return Folder(path, log, content, {})


def reopen(path: Path, content: dict[str, Any]) -> Folder:
    """Continues the evaluation in a folder with this loaded content."""
    return Folder(path, _locked_log(path), content, load_samples(path) or {})


def results_file(path: Path) -> Path:
    """The results.json of a path: the file itself, or the one in a report folder."""
    return path if path.suffix == ".json" and not path.is_dir() else path / RESULTS


def load(path: Path) -> dict[str, Any]:
    """The content of a results.json (or of the one in a folder); raises UserError if it is not valid."""
    file = results_file(path)
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(
            f"there is no {file}; kumiki evaluate --output {shlex.quote(str(file.parent))} creates it"
        ) from None
    except OSError as error:
        raise UserError(f"{file} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file} is broken: it is not JSON ({error}); measure again with kumiki evaluate") from None
    found = content.get("schema_version") if isinstance(content, dict) else None
    if isinstance(found, int) and found != SCHEMA_VERSION:
        raise UserError(f"{file} has schema version {found}, this kumiki reads version {SCHEMA_VERSION}; measure again")
    try:
        check(content)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file} is broken: {error}; measure again with kumiki evaluate") from None
    assert isinstance(content, dict)
    return content


def load_samples(path: Path) -> dict[str, list[float]] | None:
    """The raw samples beside a results.json by row id; None if there are none; raises UserError if they are broken."""
    file = results_file(path).parent / SAMPLES
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        check(content, "samples")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"{file} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file} is broken: {error}; measure again, or remove it to use the intervals only") from None
    assert isinstance(content, dict)
    return content


def schema() -> dict[str, Any]:
    """The JSON Schema of results.json."""
    text = resources.files("kumiki.results").joinpath("results.schema.json").read_text(encoding="utf-8")
    content = json.loads(text)
    assert isinstance(content, dict)
    return content


def check(instance: object, definition: str | None = None) -> None:
    """Raises ValueError with place and reason unless the instance matches the schema (or that definition in it)."""
    errors = list(_validator(definition).iter_errors(instance))
    # An error of one part is more informative than the statement that none of several alternatives fits.
    error = best_match(each for each in errors if not each.context) or best_match(errors)
    if error is not None:
        where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
        raise ValueError(f"{where.lstrip('.') or 'its content'}: {error.message[:200]}")


@lru_cache
def _validator(definition: str | None) -> Draft202012Validator:
    whole = schema()
    return Draft202012Validator(
        whole if definition is None else {"$defs": whole["$defs"], "$ref": f"#/$defs/{definition}"}
    )


def _merged(known: Row, samples: Sequence[float], row: ProgramRow) -> ProgramRow:
    """The row with the samples of an earlier one; whatever speaks against either speaks against both together."""
    return changed(
        row,
        samples=(*samples, *row.samples),
        validated=row.validated if known.validated is None else known.validated and row.validated is not False,
        oversubscribed=known.oversubscribed or row.oversubscribed,
        note=row.note or known.note or None,
    )


def _unmeasured(outcome: Outcome, number: int) -> Row | None:
    """The row with the reason why a point is absent or failed; None if it is neither."""
    point = outcome.point
    if not (outcome.absent or outcome.failed):
        return None
    return Row(
        id=number,
        suite=point.suite,
        metric=point.metric,
        implementation=point.implementation,
        parameters={**point.parameters, **point.location},
        unit=point.unit,
        better=point.better,
        median=None,
        low=None,
        high=None,
        n=0,
        converged=False,
        oversubscribed=False,
        validated=None,
        absent=outcome.absent or "",
        failed="" if outcome.absent else outcome.failed or "",
    )


def _locked_log(path: Path) -> IO[str]:
    """Opens the log and locks the folder against a second evaluation; the lock ends with this process."""
    try:
        log = (path / LOG).open("a", encoding="utf-8", errors="backslashreplace")
        fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UserError(f"another kumiki evaluate is writing to {path}; wait for it, or name another folder") from None
    except OSError as error:
        raise _not_writable(path, error) from None
    return log


def _not_writable(path: Path, error: OSError) -> UserError:
    return UserError(f"the folder {path} cannot be written to ({error.strerror}); name another with --output")
