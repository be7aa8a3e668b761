"""What the Maestro paper shows of messages: round trips beside the raw link, and fragments by the size of messages."""

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
    "shm": "memcpy into the other rank's memory with bare flags there and back",
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
            "Time until the sender of a message has the receiver's answer of 4 bytes, by the size of the message; "
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
            f"The share of the raw link that messages reach {where}",
            "The raw link's time of a round trip divided by that of messages of the same size, which is the share of "
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
            "Time of a round trip with an answer of 4 bytes by the size of the message, with its share of the raw "
            "link's throughput where its interval leaves no more than a factor of 2 open.",
            "Less time is better. The best figure of a line is set in bold, with those equal to it.",
            "Figure 4",
            table=table,
            wide=True,
            source=MAESTRO,
        )


def _above(fabric: str) -> str:
    if fabric == "shm":
        return "Above 100 %: both ranks copy a long message at once, the raw link's memcpy is one rank's alone."
    return "A share above 100 % is to be doubted, unless messages have a faster way between the hosts than TCP."


def by_fragments(results: Results, fabric: str) -> Iterator[Exhibit]:
    """Bandwidth by the length of fragments over the size of the message, and the best length for each size."""
    where = FABRICS[fabric]
    picture = by_message_size(f"message-{fabric}-fragment-sizes", results, fabric)
    if picture:
        yield Exhibit(
            "Figure",
            f"Messages {where} over their size, by the length of their fragments",
            "Bandwidth of messages that are cut into fragments of one length, by the size of the message; median with "
            "its 95 % band, logarithmic on both axes.",
            "Higher is better. A fragment as long as the message is one piece: nothing overlaps.",
            "Figure 5",
            picture=picture,
            source=MAESTRO,
        )
    table = fragment_table(results, fabric)
    if table:
        yield Exhibit(
            "Table",
            f"The best length of fragments {where} by the size of the message",
            "For each size the length with the highest median, beside the library's own rule.",
            "“As good” are the lengths that are shown to be the same within 10 %: where there are many, the length "
            "does not matter.",
            "Figure 5",
            table=table,
            wide=True,
            source=MAESTRO,
        )
