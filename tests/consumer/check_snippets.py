"""Checks that every piece of code in a document stands, word for word, in a file that is compiled and run.

    check_snippets.py DOCUMENT...

The paragraph before a block of code links to the file that the block is from. Indentation may differ; a line of the
block that is only `// ...` or `# ...` stands for lines that are left out.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

CODE = {"c", "cpp", "cmake", "make"}
LEFT_OUT = re.compile(r"(//|#) \.\.\.")
LINK = re.compile(r"\[[^]]*\]\(([^)#]+)\)")


def blocks(document: Path) -> Iterator[tuple[int, str, list[str]]]:
    """For each block of code: the number of its first line, the paragraph before it, and its lines."""
    before, paragraph_ended, start = "", False, 0
    language: str | None = None
    block: list[str] = []
    for number, line in enumerate(document.read_text().splitlines(), 1):
        if line.startswith("```") and language is None:
            language, block, start = line[3:].strip(), [], number + 1
        elif line.startswith("```"):
            if language in CODE:
                yield start, before, block
            language, paragraph_ended = None, True
        elif language is not None:
            block.append(line.strip())
        elif line.strip():
            before, paragraph_ended = (line if paragraph_ended else before + line), False
        else:
            paragraph_ended = True


def segments(block: list[str]) -> list[list[str]]:
    """The runs of lines between those that stand for omitted lines; empty lines do not count."""
    runs: list[list[str]] = [[]]
    for line in block:
        if LEFT_OUT.fullmatch(line):
            runs.append([])
        elif line:
            runs[-1].append(line)
    return [run for run in runs if run]


def find(run: list[str], lines: list[str], begin: int) -> int | None:
    """Where `run` ends in `lines` if it occurs there at or after `begin`."""
    for at in range(begin, len(lines) - len(run) + 1):
        if lines[at : at + len(run)] == run:
            return at + len(run)
    return None


def complaint(document: Path, before: str, block: list[str]) -> str | None:
    links = LINK.findall(before)
    if not links:
        return "the paragraph before the code must link to the file that the code is from"
    source = document.parent / links[-1]
    if not source.is_file():
        return f"there is no file {links[-1]}"
    lines = [line.strip() for line in source.read_text().splitlines() if line.strip()]
    begin: int | None = 0
    for run in segments(block):
        begin = find(run, lines, begin or 0)
        if begin is None:
            return f"{links[-1]} has not (or not in this order) the lines that begin with: {run[0]}"
    return None


def main() -> int:
    failed, checked = False, 0
    for document in map(Path, sys.argv[1:]):
        for number, before, block in blocks(document):
            checked += 1
            if said := complaint(document, before, block):
                failed = True
                print(f"{document}:{number}: {said}", file=sys.stderr)
    if checked == 0:
        print("no code was found; give documents that have some", file=sys.stderr)
        return 2
    print(f"{checked} pieces of code were looked for")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
