"""The prediction: the paper's figures in simulation, and the published numbers beside the predicted ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from kumiki.predict.maestro import experiments as tried
from kumiki.predict.maestro.machine import Machine
from kumiki.predict.parameters import changed, described
from kumiki.predict.prediction import Chart, Check, Curve, Model, Prediction

SHORT, LONG = 223, 1048528
"""The fragment lengths that the paper tried besides its own."""
SMALLEST = 4
"""Bytes of the shortest message."""
INTRO = (
    "A simulation of two PCs on the Maestro network: half-duplex links won by arbitration, bursts of packets, a switch "
    "box that forwards when it has the header, network interfaces that allocate buffers by themselves, and one copy at "
    "each end. Parameters that the paper does not give are assumed, and marked so; three assumptions were chosen to "
    "reproduce a published figure, and the other figures test the model."
)


def predict(machine: Machine) -> Prediction:
    """All charts and checks for one machine; takes a few seconds."""
    basic, lengths = _basic(machine), _fragment_lengths(machine)
    by_length = dict(lengths.curves[0].points)
    share = _share(machine, basic, by_length[machine.fragment])
    return Prediction(
        "Maestro: message passing on a half-duplex network",
        "the Maestro paper",
        INTRO,
        tuple(described(machine)),
        _checks(machine, share, by_length),
        (_bursts(machine), basic, share, _fragments(machine, basic, by_length), lengths, _forwarding(machine)),
    )


def _checks(machine: Machine, share: Chart, by_length: Mapping[float, float]) -> tuple[Check, ...]:
    shares = dict(share.curves[0].points)
    small, large = shares[SMALLEST], shares[machine.long_message]
    own = by_length[machine.fragment]
    return (
        Check("share of the raw network at 4 bytes", 30, small, "%", "pc_start"),
        Check("share of the raw network for long messages", 96, large, "%"),
        Check(
            f"fragments of {SHORT} B against {machine.fragment} B", 48, 100 * by_length[SHORT] / own, "%", "ni_start"
        ),
        Check(f"fragments of {LONG} B against {machine.fragment} B", 80, 100 * by_length[LONG] / own, "%", "copy_rate"),
    )


def _bursts(machine: Machine) -> Chart:
    return Chart(
        "bursts",
        "A link's efficiency over the length of a network burst",
        "The share of the link's rate that long streams of packets get, by the number of packets in one transmit "
        "opportunity; both ways: two opposite streams on the half-duplex link together.",
        "Without bursts (1 packet) winning the link takes longer than using it. Where the line is flat, a longer burst "
        "gains nothing and only makes the other end wait. The closed form includes arbitration only, not buffers.",
        "packets of a burst",
        "count",
        "share of the link's rate",
        "%",
        (
            tried.over_bursts("one way", machine, lambda each: tried.stream_efficiency(each, both_ways=False)),
            tried.over_bursts("both ways", machine, lambda each: tried.stream_efficiency(each, both_ways=True)),
            tried.over_bursts("closed form", machine, lambda each: each.link_efficiency, beside=True),
        ),
    )


def _basic(machine: Machine) -> Chart:
    single = tried.without_burst(machine)
    return Chart(
        "basic",
        "Throughput over message size, with and without network burst",
        "Message size divided by the time of a round trip with a 4-byte reply (library), and by the time from NI to NI "
        "until the confirmation (raw network).",
        "Higher is better. The distance between library and raw network is the cost of the PCs' software and copies; "
        "the distance between the curves with and without burst is the cost of arbitration.",
        "message size",
        "bytes",
        "throughput",
        "MB/s",
        (
            tried.over_sizes("library", machine, tried.library, tried.SIZES),
            tried.over_sizes("library, no burst", single, tried.library, tried.SIZES[:-1]),
            tried.over_sizes("raw network", machine, tried.raw, tried.SIZES, beside=True),
            tried.over_sizes("raw network, no burst", single, tried.raw, tried.SIZES[:-1], beside=True),
        ),
        "Figure 4",
    )


def _share(machine: Machine, basic: Chart, long_library: float) -> Chart:
    """The checks of the basic chart, and of the long message."""
    library, _, raw, _ = (dict(curve.points) for curve in basic.curves)
    library[machine.long_message] = long_library
    raw[machine.long_message] = machine.long_message / tried.raw(machine, machine.long_message)
    points = tuple((size, 100 * library[size] / raw[size]) for size in sorted(library))
    return Chart(
        "share",
        "Messages as a share of the raw network",
        "Throughput of the library as a share of the raw network's, by message size.",
        "The paper has 30 % at 4 bytes and 96 % for long messages.",
        "message size",
        "bytes",
        "share of the raw network",
        "%",
        (Curve("library", points),),
        "Figure 4",
    )


def _fragments(machine: Machine, basic: Chart, by_length: Mapping[float, float]) -> Chart:
    """The machine's own length and the paper's two; the own length and the long message are known from other charts."""
    sizes = [size for size in tried.SIZES if tried.SIZES[2] <= size < machine.long_message]
    own = dict(basic.curves[0].points)

    def curve(length: int) -> Curve:
        other = replace(machine, fragment=length)
        points = [(float(size), own[size] if other == machine else size / tried.library(other, size)) for size in sizes]
        return Curve(f"fragments of {length} B", (*points, (machine.long_message, by_length[length])))

    return Chart(
        "fragments",
        "Throughput over message size by fragment length",
        "Message size divided by the time of a round trip with a 4-byte reply, for the paper's three lengths.",
        "Short fragments keep the network interfaces busy with start-ups; with long ones the network idles while the "
        "first is copied, and the receiver idles while the last arrives.",
        "message size",
        "bytes",
        "throughput",
        "MB/s",
        tuple(curve(length) for length in dict.fromkeys((machine.fragment, SHORT, LONG))),
        "Figure 5",
    )


def _fragment_lengths(machine: Machine) -> Chart:
    lengths = sorted({*tried.LENGTHS, SHORT, LONG, machine.fragment})
    longest = machine.long_message
    points = tuple((length, longest / tried.library(replace(machine, fragment=length), longest)) for length in lengths)
    return Chart(
        "lengths",
        "A long message over fragment length",
        f"The throughput of a message of {longest} bytes by fragment length.",
        "The best length is in the middle: shorter fragments cost start-ups, longer ones allow less overlap.",
        "fragment length",
        "bytes",
        "throughput",
        "MB/s",
        (Curve("library", points),),
        "Figure 5",
    )


def _forwarding(machine: Machine) -> Chart:
    sizes = [size for size in (4**power for power in range(1, 8)) if size <= machine.buffer]
    through, stored = (tuple((size, time(machine, size)) for size in sizes) for time in (tried.raw, tried.stored))
    return Chart(
        "forwarding",
        "The switch box forwards on the header",
        "Time from NI to NI until the confirmation: through the actual switch box, which forwards as soon as it has "
        "decided on the header, and through one that waits for the whole fragment.",
        "Lower is better. The extra time of the second one grows with the size, because no data cross it before the "
        "end.",
        "message size",
        "bytes",
        "time",
        "us",
        (Curve("forwards on the header", through), Curve("stores and forwards", stored, beside=True)),
    )


MODEL = Model(
    "maestro",
    "The Maestro network and its message passing: bursts, fragments, and forwarding on the header, in simulation.",
    partial(changed, Machine()),
    predict,
)
