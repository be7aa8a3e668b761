"""Data between two ranks, within a host and between hosts: time and bandwidth, compared with the bounds."""

from __future__ import annotations

from collections.abc import Iterator

from kumiki.report import tables
from kumiki.report.analysis.fragments import longest_by_length
from kumiki.report.analysis.model import Results
from kumiki.report.analysis.select import FABRICS
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
                "Time of one operation on a word, or half of a round trip for one-way operations. The dot is the "
                "median, "
                "the thick line its 95 % interval.",
                "Further left is better.",
                "Figure 4",
                picture=picture,
                wide=True,
            )
        picture = over_size("bandwidth", results, BANDWIDTH, one_sided(results, "bandwidth"))
        if picture:
            yield _over_size(BANDWIDTH, "Bandwidth over message size", picture)
        time = LATENCY if one_sided(results, "latency") else TRANSFER_TIME
        picture = over_size("times", results, time, one_sided(results, time.rows))
        if picture:
            yield _over_size(time, "Transfer time over message size", picture)

    intro = "Moving data between two ranks: Kumiki's put and get, compared with other libraries on this machine."
    return Section.of(results, "remote-memory", "Remote memory", intro, exhibits())


def messages(results: Results) -> Section:
    """The exhibits of each fabric on which messages were measured."""
    intro = "Sending and receiving between two ranks: Kumiki's messages, compared with other libraries on this machine."
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
            "Time of an 8-byte message; how many of them a rank sends per second when it waits for 256 at once; and "
            "the time until the reply to a 64-byte message that was sent right after the longest one.",
            "Less time and more messages are better. If the reply arrives after a small share of the long message's "
            "time, the short message has overtaken it. The best figure of each line, and those equal to it, are in "
            "bold.",
            table=table,
            wide=True,
        )
    picture = shortest(f"message-{fabric}-latency", results, message_latencies(results, fabric))
    if picture:
        yield Exhibit(
            "Figure",
            f"The shortest messages {where}",
            "Half of a round trip of 8 bytes. The dot is the median, the thick line its 95 % interval.",
            "Further left is better. A put needs no matching receive; a message is matched to a receive by source and "
            "tag.",
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
        size = size_text(next(iter(longest_by_length(results, fabric).values())).count("bytes"))
        yield Exhibit(
            "Figure",
            f"Messages of {size} {where} over fragment length",
            "Bandwidth of long messages that are cut into fragments of one length; median with its 95 % band, "
            "logarithmic on both axes.",
            "Higher is better. Short fragments cost a call each; long ones leave one side idle while the other copies "
            "the last one.",
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
                "Lower is better. Plain TCP is a ping-pong on two sockets that never sleep, over the same link: "
                "libraries "
                "on top of TCP cannot be faster. MPI and UCX have no signal, so their target polls the 8 bytes.",
                "Figure 4",
                table=table,
                wide=True,
            )
        picture = figures.bandwidth("network-bandwidth", results)
        if picture:
            yield Exhibit(
                "Figure",
                "Bandwidth between two hosts over message size",
                "Median with its 95 % band, logarithmic on both axes, for many transfers in a row until the reply to "
                "the "
                "last one.",
                "Higher is better. Sizes for which one transfer takes longer than a quarter of a second are left out.",
                "Figures 4 and 5",
                picture=picture,
                lead=True,
            )
        yield from _between_hosts(results)

    intro = "The performance of the network between the hosts, and how much of it reaches a program." + _link_words(
        results
    )
    return Section.of(results, "network", "Network", intro, exhibits())


def _link_words(results: Results) -> str:
    """The hosts, and the recorded rate of their links if it is known."""
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
        ("network.latency", "network-latency-pairs", "Latency of a put between every pair of hosts"),
        ("network.bandwidth", "network-bandwidth-pairs", "Bandwidth of puts between every pair of hosts"),
    ):
        picture = figures.between_hosts(name, heading, results.where(metric, "kumiki"), amount)
        if picture:
            yield Exhibit(
                "Figure",
                heading,
                "Each host (row) puts to each other host (column), one pair at a time; bandwidth in pieces of 1 MiB.",
                "A stronger colour is better. A row or column that is paler than the rest is a host with a slow link; "
                "blocks indicate switches.",
                picture=picture,
            )


def _over_size(quantity: Quantity, heading: str, picture: Picture, paper: str = "Figures 4 and 5") -> Exhibit:
    """A figure over message size; the bandwidth is the leading figure of its section."""
    better = "Higher" if quantity is BANDWIDTH else "Lower"
    origin = " A transfer's time is its size divided by the bandwidth of many in a row." if quantity.derived else ""
    return Exhibit(
        "Figure",
        heading,
        "Median with its 95 % band between two ranks, logarithmic on both axes; line styles distinguish operations and "
        f"colours distinguish implementations.{origin}",
        f"{better} is better. Where a curve bends, data outgrow the caches, or the implementation changes its "
        "protocol.",
        paper,
        picture=picture,
        lead=quantity is BANDWIDTH,
    )
