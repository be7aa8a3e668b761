"""Data between two ranks, within a host and between hosts: time and bandwidth beside the bounds."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.report import tables
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import FABRICS, fragments
from kumiki.report.figures import network as figures
from kumiki.report.figures.canvas import Picture
from kumiki.report.figures.message import (
    BANDWIDTH,
    LATENCY,
    TRANSFER_TIME,
    Quantity,
    by_fragment,
    message_latencies,
    one_sided,
    over_size,
    shortest,
    two_sided,
)
from kumiki.report.page.exhibit import Exhibit, Section
from kumiki.report.quantity import amount, plural, size_text
from kumiki.report.sections import maestro


def remote(results: Results) -> Section:
    def exhibits() -> Iterator[Exhibit]:
        picture = shortest("latency", results, results.suite("remote-memory"))
        if picture:
            yield Exhibit(
                "Figure",
                "The shortest operations",
                "Time of one operation on a word, half of a round trip where it goes one way: dot the median, thick "
                "line its 95 % interval.",
                "Further left is better.",
                "Figure 4",
                picture=picture,
                wide=True,
            )
        picture = over_size("bandwidth", results, BANDWIDTH, one_sided(results, "bandwidth"))
        if picture:
            yield _over_size(BANDWIDTH, "Bandwidth over the size of the message", picture)
        time = LATENCY if one_sided(results, "latency") else TRANSFER_TIME
        picture = over_size("times", results, time, one_sided(results, time.rows))
        if picture:
            yield _over_size(time, "Transfer time over the size of the message", picture)

    intro = "Moving data between two ranks: Kumiki's put and get beside what others offer on this machine."
    return Section.of(results, "remote-memory", "Remote memory", intro, exhibits())


def messages(results: Results) -> Section:
    """The exhibits of each fabric that messages were measured on."""
    intro = "Sending and receiving between two ranks: Kumiki's messages beside what others offer on this machine."
    kinds = (_messages, maestro.round_trips, maestro.by_fragments)
    exhibits = (each for fabric in FABRICS for kind in kinds for each in kind(results, fabric))
    return Section.of(results, "message", "Messages", intro, exhibits)


def _messages(results: Results, fabric: str) -> Iterator[Exhibit]:
    where = FABRICS[fabric]
    table = tables.messages(results, fabric)
    if table:
        yield Exhibit(
            "Table",
            f"Short messages {where}",
            "Time of a message of 8 bytes; how many of them a rank sends a second when it waits for 256 at once; and "
            "how soon a message of 64 bytes is answered that was sent right after the longest one.",
            "Less time is better, and more messages. A short message that is answered after a small share of the long "
            "one's time overtakes it. The best figure of a line is set in bold, with those equal to it.",
            table=table,
            wide=True,
        )
    picture = shortest(f"message-{fabric}-latency", results, message_latencies(results, fabric))
    if picture:
        yield Exhibit(
            "Figure",
            f"The shortest messages {where}",
            "Half of a round trip of 8 bytes: dot the median, thick line its 95 % interval.",
            "Further left is better. A put needs no receiver that asks for it; a message "
            "finds its receiver by source and tag.",
            picture=picture,
            wide=True,
        )
    for quantity, heading in (
        (BANDWIDTH, f"Bandwidth of messages {where}"),
        (TRANSFER_TIME, f"Time of messages {where}"),
    ):
        name = f"message-{fabric}-{'bandwidth' if quantity is BANDWIDTH else 'times'}"
        picture = over_size(name, results, quantity, two_sided(results, fabric), fabric == "network")
        if picture:
            yield _over_size(quantity, f"{heading} over their size", picture, "")
    picture = by_fragment(f"message-{fabric}-fragments", results, fabric)
    if picture:
        size = size_text(next(iter(fragments(results, fabric).values())).count("bytes"))
        yield Exhibit(
            "Figure",
            f"Messages of {size} {where} over the length of their fragments",
            "Bandwidth of long messages that are cut into fragments of one length; median with its 95 % band, "
            "logarithmic on both axes.",
            "Higher is better. Short fragments cost a call each, long ones leave one side idle while the other copies "
            "the last.",
            picture=picture,
        )


def network(results: Results) -> Section:
    def exhibits() -> Iterator[Exhibit]:
        table = tables.network_latency(results)
        if table:
            yield Exhibit(
                "Table",
                "The shortest operations between two hosts",
                "Time of one operation on 8 bytes between a rank of the first host and one of the second.",
                "Lower is better. Plain TCP is a ping-pong on two sockets that never sleep, over the same link: what "
                "is built on TCP cannot be faster. MPI and UCX have no signal: there the target polls the 8 bytes.",
                "Figure 4",
                table=table,
                wide=True,
            )
        picture = figures.bandwidth("network-bandwidth", results)
        if picture:
            yield Exhibit(
                "Figure",
                "Bandwidth between two hosts over the size of the message",
                "Median with its 95 % band, logarithmic on both axes; many transfers in a row, until the last has been "
                "answered.",
                "Higher is better. Sizes of which one transfer takes longer than a quarter of a second are left out.",
                "Figures 4 and 5",
                picture=picture,
                lead=True,
            )
        yield from _between_hosts(results)

    intro = "What the network between the hosts gives, and what is left of it for a program." + _link_words(results)
    return Section.of(results, "network", "Network", intro, exhibits())


def _link_words(results: Results) -> str:
    """The hosts, and the rate of their links where it is known, as recorded."""
    cluster = results.environment.get("cluster") or {}
    if not cluster:
        return ""
    hosts = plural(int(cluster.get("hosts", 0)), "host")
    if cluster.get("origin", "cluster") != "cluster":
        return f" Here: {hosts} ({', '.join(cluster['names'])})."
    rate = f"at {cluster['rate']}" if cluster.get("rate") else "at full speed"
    return f" Here: {hosts} linked {rate}."


def _between_hosts(results: Results) -> Iterator[Exhibit]:
    for metric, name, heading in (
        ("network.latency", "network-latency-pairs", "Latency of a put between every two hosts"),
        ("network.bandwidth", "network-bandwidth-pairs", "Bandwidth of puts between every two hosts"),
    ):
        picture = figures.between_hosts(name, heading, results.where(metric, "kumiki"), amount)
        if picture:
            yield Exhibit(
                "Figure",
                heading,
                "Each host (row) puts to each other host (column), one pair at a time; bandwidth with pieces of 1 MiB.",
                "The better a pair the stronger its colour. A line or a column that is paler than the rest is a host "
                "with a slow link; blocks are switches.",
                picture=picture,
            )


def _over_size(quantity: Quantity, heading: str, picture: Picture, paper: str = "Figures 4 and 5") -> Exhibit:
    """The bandwidth leads its section."""
    better = "Higher" if quantity is BANDWIDTH else "Lower"
    origin = " A transfer's time is its size divided by the bandwidth of many in a row." if quantity.derived else ""
    return Exhibit(
        "Figure",
        heading,
        "Median with its 95 % band between two ranks, logarithmic on both axes; line styles tell the operations apart, "
        f"colours the implementations.{origin}",
        f"{better} is better. Where a curve bends the caches end, or the implementation changes its method.",
        paper,
        picture=picture,
        lead=quantity is BANDWIDTH,
    )
