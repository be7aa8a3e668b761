"""The machine of the Maestro paper in numbers, with the source of each."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from kumiki.predict.parameters import parameter

PAPER = "the paper"
PUBLIC = "a later paper of the same authors (CLUSTER 2000)"
STANDARD = "IEEE 1394: the gap before arbitration on a bus of one hop"
DERIVED = "the paper's fragment lengths, 4048 and 1048528: each is 48 short of a power of two"
ASSUMED = "assumed: no source gives it"


@dataclass(frozen=True)
class Machine:
    """Two PCs, their network interfaces (NI), the links to the switch box (SB), and the switch box.

    Rates are in MB/s, which are bytes per microsecond; times in microseconds; lengths in bytes.
    """

    link_rate: float = parameter(25.0, "MB/s", "a link in one direction at a time (200 Mbit/s)", PAPER)
    switch_rate: float = parameter(50.0, "MB/s", "transfer within the switch box (400 Mbit/s)", PAPER)
    fragment: int = parameter(4048, "B", "the part of a message that is copied and sent as a unit", PAPER, least=64)
    reply: int = parameter(4, "B", "the receiver's reply in a round trip", PAPER, most=2**20)
    long_message: int = parameter(1048528, "B", "the long message; the paper's longest fragment", PAPER, 4096, 2**24)
    packet: int = parameter(16, "B", "the smallest unit of the link", PUBLIC, least=8)
    header: int = parameter(48, "B", "the bytes that a fragment carries besides its data", DERIVED)
    arbitration: float = parameter(0.93, "us", "a transmit opportunity, before the first packet", STANDARD)
    burst: int = parameter(64, "packets", "the most in one transmit opportunity; 1: no network burst", ASSUMED)
    buffer: int = parameter(8192, "B", "a network buffer of an NI or of the SB", ASSUMED)
    pci_rate: float = parameter(100.0, "MB/s", "between the NI and the PC's memory", ASSUMED)
    route: float = parameter(5.0, "us", "the switch box's decision where to send a fragment", ASSUMED)
    copy_rate: float = parameter(
        180.0, "MB/s", "the PC's copy to or from the reserved region", "chosen to give 80 % in Figure 5"
    )
    ni_start: float = parameter(16.5, "us", "the NI's work to start a fragment", "chosen to give 48 % in Figure 5")
    pc_start: float = parameter(22.5, "us", "the PC's work per message, at each end", "chosen to give 30 % in Figure 4")

    @property
    def buffer_packets(self) -> int:
        return max(1, self.buffer // self.packet)

    @property
    def packet_time(self) -> float:
        """The time that one packet takes on a link, in microseconds."""
        return self.packet / self.link_rate

    @property
    def header_packets(self) -> int:
        return max(1, ceil(self.header / self.packet))

    def packets(self, data: int) -> int:
        """The number of packets of a fragment with this many bytes of data."""
        return max(1, ceil((data + self.header) / self.packet))

    def fragments(self, data: int) -> list[int]:
        """The lengths of a message's fragments; an empty message is one fragment."""
        whole, rest = divmod(data, self.fragment)
        return [self.fragment] * whole + ([rest] if rest or not whole else [])

    @property
    def link_efficiency(self) -> float:
        """The share of the link's rate that data get with bursts of full length, in closed form."""
        return self.burst * self.packet_time / (self.arbitration + self.burst * self.packet_time)
