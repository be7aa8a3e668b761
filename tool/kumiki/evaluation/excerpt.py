"""The beginning and the end of a text of any length, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

BLANKS = b" \t\r\n"


class Excerpt:
    """Takes a text piece by piece, in linear time, and keeps its beginning and its end."""

    def __init__(self, most: int) -> None:
        """`most`: the approximate number of bytes to keep."""
        self._half = most // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def add(self, piece: bytes) -> None:
        room = self._half - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:]
        # Cutting at twice the length moves each byte once, on average, however small the pieces are.
        if len(self._tail) > 2 * self._half:
            self._cut()

    def lines(self) -> Iterator[str]:
        """The lines without line ends; if part of the text is left out, a line says how much."""
        if len(self._tail) > self._half and self._dropped:
            self._cut()
        if not self._dropped:
            yield from _lines(self._head + self._tail)
            return
        # Words at the cut may be incomplete: half of a number must not be taken for a figure.
        head = self._head[: max(map(self._head.rfind, _each(BLANKS))) + 1]
        starts = [found for blank in _each(BLANKS) if (found := self._tail.find(blank)) >= 0]
        tail = self._tail[min(starts, default=len(self._tail)) :].removeprefix(b"\n")
        left_out = self._dropped + len(self._head) - len(head) + len(self._tail) - len(tail)
        yield from _lines(head)
        yield f"... {left_out} bytes are left out ..."
        yield from _lines(tail)

    def _cut(self) -> None:
        surplus = len(self._tail) - self._half
        del self._tail[:surplus]
        self._dropped += surplus


def _each(letters: bytes) -> Iterator[bytes]:
    return (bytes((letter,)) for letter in letters)


def _lines(text: bytes | bytearray) -> Iterator[str]:
    for line in BytesIO(text):
        yield line.decode(errors="replace").rstrip("\r\n")
