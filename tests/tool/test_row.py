"""Reading the rows of programs: written rows are read back, and other lines are refused with a reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kumiki.results import files
from kumiki.results.row import MalformedRow, Row, parse_row

GOOD: dict[str, Any] = {
    "metric": "put.latency",
    "implementation": "kumiki",
    "parameters": {"ranks": 2, "bytes": 8, "placement": "adjacent"},
    "unit": "us",
    "better": "lower",
    "samples": [0.071, 0.07, 0.072],
    "validated": True,
    "oversubscribed": False,
}
ROWS = st.fixed_dictionaries(
    {
        "metric": st.from_regex(r"\A[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*\Z"),
        "implementation": st.text(min_size=1),
        "parameters": st.dictionaries(st.text(min_size=1), st.integers() | st.text()),
        "unit": st.text(min_size=1),
        "better": st.sampled_from(["higher", "lower"]),
        "samples": st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1),
    },
    optional={
        "validated": st.none() | st.booleans(),
        "oversubscribed": st.booleans(),
        "note": st.text(min_size=1),
        "resolution": st.floats(0, 1e300),
    },
)


@given(ROWS)
def test_every_row_becomes_an_entry_that_follows_the_schema(fields: dict[str, Any]) -> None:
    row = parse_row(json.dumps(fields))
    entry = Row.measured_by(row, "memory", 7).as_dict()
    files.check(entry, "row")
    assert Row.parse(entry).as_dict() == entry, "what was read is written again"
    assert list(row.samples) == fields["samples"]
    assert entry["parameters"] == fields["parameters"]
    assert entry["validated"] == fields.get("validated")
    assert entry["oversubscribed"] == fields.get("oversubscribed", False)
    assert Row.parse(entry).figure[:2] == (fields["metric"], fields["implementation"])


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("metric", "latency", "thing.figure"),
        ("metric", 7, "not text"),
        ("implementation", "", "not text"),
        ("parameters", [], "not an object"),
        ("parameters", {"ranks": 1.5}, "'ranks'"),
        ("parameters", {"ranks": True}, "'ranks'"),
        ("better", "smaller", "'better'"),
        ("samples", [], "at least one"),
        ("samples", [1, "2"], "not a finite number"),
        ("samples", [float("nan")], "not a finite number"),
        ("samples", [True], "not a finite number"),
        ("validated", "yes", "'validated'"),
        ("oversubscribed", 1, "'oversubscribed'"),
        ("note", 5, "'note'"),
        ("resolution", -1, "'resolution'"),
        ("resolution", float("inf"), "'resolution'"),
    ],
)
def test_what_is_not_a_row_is_refused(field: str, value: object, words: str) -> None:
    parse_row(json.dumps(GOOD))
    with pytest.raises(MalformedRow, match=words):
        parse_row(json.dumps({**GOOD, field: value}))


def test_a_row_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(MalformedRow, match="nested too deeply"):
        parse_row('{"metric": ' + "[" * 100_000)


def test_small_figures_converge_at_their_resolution() -> None:
    fields = {**GOOD, "samples": [0.1, 0.2, 0.3, 0.4, 0.5, 1.9]}
    for resolution, converged in ((0, False), (0.8, False), (0.9, True)):
        row = Row.measured_by(parse_row(json.dumps({**fields, "resolution": resolution})), "memory", 0)
        assert row.converged is converged
        assert row.value == pytest.approx(0.35)


@pytest.mark.parametrize("field", ["metric", "implementation", "parameters", "unit", "better", "samples"])
def test_missing_field_is_named(field: str) -> None:
    with pytest.raises(MalformedRow, match=f"no '{field}'"):
        parse_row(json.dumps({name: value for name, value in GOOD.items() if name != field}))
