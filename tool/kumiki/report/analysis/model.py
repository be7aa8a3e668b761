"""The results of an evaluation, read tolerantly: a partial result is still a result."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from kumiki.results.implementation import MPIS, UCX, of_kinds, titles
from kumiki.results.row import Row

SCHEMA_VERSION = 1


class ResultsError(Exception):
    """results.json is missing, unreadable or of a schema that this version does not know."""


@dataclass(frozen=True)
class Results:
    """The contents of one evaluation's folder."""

    rows: tuple[Row, ...]
    environment: Mapping[str, Any] = field(default_factory=dict)
    samples: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    complete: bool = True
    arguments: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    directory: Path | None = None
    """The folder, if the contents are still in one."""

    @staticmethod
    def parse(
        raw: Mapping[str, Any], samples: Mapping[str, Any] | None = None, directory: Path | None = None
    ) -> Results:
        version = raw.get("schema_version", SCHEMA_VERSION)
        if version != SCHEMA_VERSION:
            raise ResultsError(
                f"the results are of schema version {version}, this Kumiki reads version {SCHEMA_VERSION}: "
                "make the report with the Kumiki that measured, or measure again with `kumiki evaluate`"
            )
        rows = raw.get("rows", [])
        if not isinstance(rows, list):
            raise ResultsError("the results hold no list of rows: make them again with `kumiki evaluate`")
        environment = dict(raw.get("environment") or {})
        known = titles(environment)
        return Results(
            rows=tuple(Row.parse(row, position, known) for position, row in enumerate(rows)),
            environment=environment,
            samples={int(key): tuple(float(v) for v in values) for key, values in (samples or {}).items()},
            complete=bool(raw.get("complete", True)),
            arguments=dict(raw.get("arguments") or {}),
            seed=raw.get("seed"),
            directory=directory,
        )

    @staticmethod
    def load(directory: Path) -> Results:
        samples = directory / "samples.json"
        raw = _read(directory / "results.json")
        return Results.parse(raw, _read(samples) if samples.exists() else None, directory)

    def title(self, implementation: str) -> str:
        """The title of an implementation."""
        return self._titles.get(implementation, implementation)

    @cached_property
    def _titles(self) -> dict[str, str]:
        return titles(self.environment)

    @cached_property
    def mpis(self) -> tuple[str, ...]:
        """The implementations of MPI that may have been measured."""
        return of_kinds(self.environment, *MPIS)

    @cached_property
    def peers(self) -> tuple[str, ...]:
        """Others that move data between ranks: MPIs and UCX."""
        return (*self.mpis, *of_kinds(self.environment, UCX))

    def where(self, metric: str, implementation: str | None = None, **parameters: int | str) -> list[Row]:
        """The measured rows of a metric whose parameters have the given values."""
        return [
            row
            for row in self.rows
            if row.metric == metric
            and row.measured
            and (implementation is None or row.implementation == implementation)
            and all(row.parameters.get(name) == value for name, value in parameters.items())
        ]

    def suite(self, name: str) -> list[Row]:
        return [row for row in self.rows if row.suite == name]


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ResultsError(
            f"{path} does not exist: measure first with `kumiki evaluate --output {shlex.quote(str(path.parent))}`"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise ResultsError(f"{path} cannot be read ({error}): measure again with `kumiki evaluate`") from error
    if not isinstance(content, dict):
        raise ResultsError(f"{path} is not a result of `kumiki evaluate`: measure again")
    return content
