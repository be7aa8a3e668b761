"""Prints how many tests each part ran, which failed, and which it left out and why, from their JUnit files.

python tests/summary.py PART=FILE.xml ...
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as xml
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

GTEST_SKIP = re.compile(r": Skipped\n(?P<why>.+?)\n+\[  SKIPPED \] [\w./]+ \(", re.DOTALL)
"""A skipped test within a program of GoogleTest, which ctest counts as one test."""
PYTEST_PLACE = re.compile(r"^\S+\.py:\d+: ")


def reasons(case: xml.Element) -> Iterator[str]:
    """Why this test was left out, or tests within it."""
    within = [found["why"] for found in GTEST_SKIP.finditer(case.findtext("system-out") or "")]
    yield from within
    skipped = case.find("skipped")
    if skipped is not None and not within:
        # pytest has the reason as the text when the fixture left it out, else as the message.
        yield PYTEST_PLACE.sub("", (skipped.text or "").strip()) or skipped.get("message", "no reason given")


def lines(part: str, file: Path) -> Iterator[str]:
    """The report about one part."""
    if not file.exists():
        yield f"{part}: it did not come to its tests"
        return
    cases = list(xml.parse(file).getroot().iter("testcase"))
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    why = Counter(reason for case in cases for reason in reasons(case))
    yield f"{part}: {len(cases)} tests, {len(failed)} failed, {why.total()} left out" + (":" if failed or why else "")
    for case in failed:
        yield f"    failed: {case.get('name')}"
    for reason, count in why.most_common():
        yield f"    {count} x {' '.join(reason.split())}"


def main(words: list[str]) -> None:
    for word in words:
        part, _, file = word.partition("=")
        for line in lines(part, Path(file)):
            print(line)


if __name__ == "__main__":
    main(sys.argv[1:])
