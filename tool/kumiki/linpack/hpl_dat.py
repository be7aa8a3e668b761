"""HPL.dat, the input file of HPL (and, with more lines, hpccinf.txt of HPC Challenge): read, checked, written."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kumiki.errors import UserError
from kumiki.linpack.model import MEASURED, shares_of

LOOKING = ("left", "crout", "right")
"""How panels are factored, by HPL's numbers."""
BROADCASTS = ("1ring", "1ringM", "2ring", "2ringM", "long", "longM")
SWAPS = ("binary", "long", "mix")
"""How panels, and how rows, travel between hosts, by HPL's numbers."""
WEIGHTS = "weights"
"""The word after the shares of the process columns, on the line behind HPL's (which HPC Challenge ignores, too)."""
WEIGHTS_LINE = re.compile(rf"\s*((?:[^\s,]*\s*,\s*)*[^\s,]*)\s+{WEIGHTS}(?:\s|$)")
"""Shares between commas, with or without blanks."""
DEPTHS = "DEPTHs: the order of the work looks one panel ahead"
WITHOUT_MEANING = (
    "L1 and U: both are kept by rows, not transposed",
    "equilibration and alignment: they have no meaning here",
)
"""What of a file is not followed."""
MOST_VALUES = 20
"""HPL reads no more values of a parameter."""
MOST_DIGITS = 18
"""Python refuses to read a number of thousands of digits."""


@dataclass(frozen=True)
class HplDat:
    """The parameters of the file; lists have a run for each combination."""

    sizes: tuple[int, ...]
    blocks: tuple[int, ...]
    grids: tuple[tuple[int, int], ...]
    by_columns: bool = False
    threshold: float = 16.0
    pfact: tuple[int, ...] = (2,)
    nbmin: tuple[int, ...] = (8,)
    ndiv: tuple[int, ...] = (2,)
    rfact: tuple[int, ...] = (2,)
    broadcasts: tuple[int, ...] = (0,)
    swap: int = 2
    swap_threshold: int = 64
    weights: str | None = None
    """The shares of the process columns, as --weights takes them; None: equal. They are on a line of their own, which
    HPL ignores."""
    remarks: tuple[str, ...] = ()
    """What the file asks that has no meaning here."""

    @property
    def ranks(self) -> int:
        """The ranks that the largest grid needs."""
        return max(rows * columns for rows, columns in self.grids)

    def arguments(self) -> list[str]:
        """The options of kumiki-linpack."""
        return [
            *("-N", _list(self.sizes), "--block", _list(self.blocks)),
            *("--grid", ",".join(f"{rows}x{columns}" for rows, columns in self.grids)),
            *(["--by-columns"] if self.by_columns else []),
            *("--threshold", f"{self.threshold:g}"),
            *("--rfact", ",".join(LOOKING[each] for each in self.rfact), "--ndiv", _list(self.ndiv)),
            *("--pfact", ",".join(LOOKING[each] for each in self.pfact), "--nbmin", _list(self.nbmin)),
            *("--broadcast", ",".join(BROADCASTS[each] for each in self.broadcasts)),
            *("--swap", SWAPS[self.swap], "--swap-threshold", str(self.swap_threshold)),
            *(["--weights", self.weights] if self.weights is not None else []),
        ]


def read(path: Path) -> HplDat:
    """Reads and checks a file. Raises UserError with the number of the first line that is wrong."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); name an HPL.dat") from None
    return _Reader(path, text.removesuffix("\n").split("\n") if text else []).file()


def write(path: Path, file: HplDat) -> None:
    """Writes the parameters to a file that HPL and this program read. Raises UserError if it cannot be written."""
    try:
        path.write_text(text_of(file), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be written ({error.strerror}); name another file with --write") from None


def text_of(file: HplDat) -> str:
    """The content of the file."""
    rows, columns = [grid[0] for grid in file.grids], [grid[1] for grid in file.grids]

    def counted(values: Sequence[int], what: str, name: str) -> list[tuple[str, str]]:
        return [(str(len(values)), f"# of {what}"), (_words(values), name)]

    lines = [
        ("HPL.out", "output file name (if any)"),
        ("6", "device out (6=stdout,7=stderr,file)"),
        *counted(file.sizes, "problems sizes (N)", "Ns"),
        *counted(file.blocks, "NBs", "NBs"),
        (str(int(file.by_columns)), "PMAP process mapping (0=Row-,1=Column-major)"),
        (str(len(rows)), "# of process grids (P x Q)"),
        (_words(rows), "Ps"),
        (_words(columns), "Qs"),
        (f"{file.threshold:g}", "threshold"),
        *counted(file.pfact, "panel fact", "PFACTs (0=left, 1=Crout, 2=Right)"),
        *counted(file.nbmin, "recursive stopping criterium", "NBMINs (>= 1)"),
        *counted(file.ndiv, "panels in recursion", "NDIVs"),
        *counted(file.rfact, "recursive panel fact.", "RFACTs (0=left, 1=Crout, 2=Right)"),
        *counted(file.broadcasts, "broadcast", "BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)"),
        *counted((1,), "lookahead depth", "DEPTHs (>=0)"),
        (str(file.swap), "SWAP (0=bin-exch,1=long,2=mix)"),
        (str(file.swap_threshold), "swapping threshold"),
        ("0", "L1 in (0=transposed,1=no-transposed) form"),
        ("0", "U  in (0=transposed,1=no-transposed) form"),
        ("1", "Equilibration (0=no,1=yes)"),
        ("8", "memory alignment in double (> 0)"),
        *([(file.weights, f"{WEIGHTS} of the process columns (HPL ignores this line)")] if file.weights else []),
    ]
    head = "HPLinpack benchmark input file\nWritten by kumiki linpack\n"
    return head + "".join(f"{values:<12} {meaning}\n" for values, meaning in lines)


class _Reader:
    """Goes through the lines of a file in HPL's order."""

    def __init__(self, path: Path, lines: Sequence[str]) -> None:
        self._path = path
        self._lines = lines
        self._at = 0
        """The number of the line that was read last."""

    def file(self) -> HplDat:
        for _ in range(4):  # two lines of title, the output file and device: output goes to standard output
            self._words("a title, the output file or its device")
        sizes = self._counted("Ns", 0)
        blocks = self._counted("NBs", 1)
        by_columns = self._one("PMAP", 0, 1) == 1
        grids = self._grids()
        threshold = self._number("the threshold")
        pfact = self._counted("PFACTs", 0, 2)
        nbmin = self._counted("NBMINs", 1)
        ndiv = self._counted("NDIVs", 2)
        rfact = self._counted("RFACTs", 0, 2)
        broadcasts = self._counted("BCASTs", 0, 5)
        depths = self._counted("DEPTHs", 0)
        swap, swap_threshold = self._one("SWAP", 0, 2), self._one("the swapping threshold", 0)
        self._without_meaning()
        return HplDat(
            sizes=sizes,
            blocks=blocks,
            grids=grids,
            by_columns=by_columns,
            threshold=threshold,
            pfact=pfact,
            nbmin=nbmin,
            ndiv=ndiv,
            rfact=rfact,
            broadcasts=broadcasts,
            swap=swap,
            swap_threshold=swap_threshold,
            weights=self._weights(grids),
            remarks=((DEPTHS,) if depths != (1,) else ()) + WITHOUT_MEANING,
        )

    def _weights(self, grids: Sequence[tuple[int, int]]) -> str | None:
        self._at += 1
        found = WEIGHTS_LINE.match(self._lines[self._at - 1]) if self._at <= len(self._lines) else None
        if found is None:
            return None
        try:
            shares = shares_of(found[1])
        except ValueError as error:
            raise self._wrong(f"{WEIGHTS}: {error}") from None
        count = shares.count(",") + 1
        for rows, columns in grids:
            if columns != count and shares != MEASURED:
                raise self._wrong(
                    f"{WEIGHTS}: there are {count}, but a grid of {rows} x {columns} has {columns} process columns"
                )
        return shares

    def _without_meaning(self) -> None:
        """The lines that are not followed must be there. HPL takes a default for values that it does not know."""
        for name in ("L1", "U", "equilibration", "the memory alignment"):
            self._words(name)

    def _grids(self) -> tuple[tuple[int, int], ...]:
        count = self._one("the number of process grids", 1, MOST_VALUES)
        rows = self._values("Ps", count, 1)
        return tuple(zip(rows, self._values("Qs", count, 1), strict=True))

    def _counted(self, name: str, least: int, most: int | None = None) -> tuple[int, ...]:
        """The values of two lines: their number, and themselves."""
        return self._values(name, self._one(f"the number of {name}", 1, MOST_VALUES), least, most)

    def _values(self, name: str, count: int, least: int, most: int | None = None) -> tuple[int, ...]:
        words = self._words(name)
        if len(words) < count:
            raise self._wrong(f"{count} values of {name} are announced, but there are only {len(words)}")
        return tuple(self._whole(name, word, least, most) for word in words[:count])

    def _one(self, name: str, least: int, most: int | None = None) -> int:
        return self._values(name, 1, least, most)[0]

    def _whole(self, name: str, word: str, least: int, most: int | None) -> int:
        limits = f"at least {least}" if most is None else f"{least} to {most}"
        if len(word) > MOST_DIGITS:
            raise self._wrong(f"{name}: '{word[:MOST_DIGITS]}...' is too long for a number")
        if not word.isascii() or not word.isdecimal() or int(word) < least or (most is not None and int(word) > most):
            raise self._wrong(f"{name}: '{word}' is not a whole number of {limits}")
        return int(word)

    def _number(self, name: str) -> float:
        word = self._words(name)[:1]
        try:
            number = float(word[0])
        except (ValueError, IndexError):
            number = math.nan
        if math.isnan(number):
            raise self._wrong(f"{name}: '{' '.join(word)}' is not a number")
        return number

    def _words(self, name: str) -> list[str]:
        self._at += 1
        if self._at > len(self._lines):
            raise self._wrong(f"the file ends here, before {name}")
        return self._lines[self._at - 1].split()

    def _wrong(self, what: str) -> UserError:
        return UserError(f"{self._path}, line {self._at}: {what}")


def _list(values: Sequence[int]) -> str:
    return ",".join(map(str, values))


def _words(values: Sequence[int]) -> str:
    return " ".join(map(str, values))
