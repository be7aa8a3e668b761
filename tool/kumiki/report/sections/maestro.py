"""Exhibits of the Maestro paper: round trips compared with the raw link, and fragments by message size."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import FABRICS
from kumiki.report.figures.fragments import by_message_size
from kumiki.report.figures.roundtrip import share_of_raw, times
from kumiki.report.page.exhibit import Exhibit
from kumiki.report.tables.message import fragment_table, round_trip_table
from kumiki.suites.described import MAESTRO

WHAT_IS_RAW = {
    "shm": "memcpy into the other rank's memory with bare flags in both directions",
    "network": "plain TCP between the same two ranks, on sockets that never sleep",
}


def round_trips(results: Results, fabric: str) -> Iterator[Exhibit]:
    """The time by size, the share of the raw link by size, and both as a table."""
    where, raw = FABRICS[fabric], WHAT_IS_RAW[fabric]
    picture = times(f"message-{fabric}-round-trips", results, fabric)
    if picture:
        yield Exhibit(
            "Figure",
            f"Round trips {where}",
            "Time until the sender of a message has the receiver's 4-byte reply, by the size of the message; "
            "median with its 95 % band, logarithmic on both axes.",
            f"Lower is better. The raw link is {raw}, in the same rounds as Kumiki.",
            "Figure 4",
            picture=picture,
            source=MAESTRO,
        )
    picture = share_of_raw(f"message-{fabric}-share", results, fabric)
    if picture:
        yield Exhibit(
            "Figure",
            f"Messages {where} as a share of the raw link",
            "The raw link's round-trip time divided by that of messages of the same size, which equals the share of "
            "its throughput.",
            "Higher is better. The paper's messages reached 30 % of its network at 4 bytes and 96 % for long ones. "
            + _above(fabric),
            "Figure 4",
            picture=picture,
            source=MAESTRO,
        )
    table = round_trip_table(results, fabric)
    if table:
        yield Exhibit(
            "Table",
            f"Round trips {where} and their share of the raw link",
            "Time of a round trip with a 4-byte reply by the size of the message, with its share of the raw link's "
            "throughput if the interval determines it to within a factor of 2.",
            "Less time is better. The best figure of each line, and those equal to it, are in bold.",
            "Figure 4",
            table=table,
            wide=True,
            source=MAESTRO,
        )


def _above(fabric: str) -> str:
    if fabric == "shm":
        return (
            "Shares above 100 % are possible: both ranks copy a long message at once, but only one runs the raw memcpy."
        )
    return "Doubt a share above 100 %, unless messages have a faster path between the hosts than TCP."


def by_fragments(results: Results, fabric: str) -> Iterator[Exhibit]:
    """Bandwidth by the length of fragments over the size of the message, and the best length for each size."""
    where = FABRICS[fabric]
    picture = by_message_size(f"message-{fabric}-fragment-sizes", results, fabric)
    if picture:
        yield Exhibit(
            "Figure",
            f"Messages {where} over their size, by fragment length",
            "Bandwidth of messages that are cut into fragments of one length, by the size of the message; median with "
            "its 95 % band, logarithmic on both axes.",
            "Higher is better. With a fragment as long as the message, nothing overlaps.",
            "Figure 5",
            picture=picture,
            source=MAESTRO,
        )
    table = fragment_table(results, fabric)
    if table:
        yield Exhibit(
            "Table",
            f"The best fragment length {where} by message size",
            "For each size, the length with the highest median, and the library's own rule.",
            "“As good” are the lengths that are the same within 10 %: where there are many, the length does not "
            "matter.",
            "Figure 5",
            table=table,
            wide=True,
            source=MAESTRO,
        )
