"""The rate of a link, and the token bucket that enforces it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kumiki.errors import UserError

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
LEAST, MOST = 10**6, 100 * 10**9

FRAME_BYTES = 1538
"""The bytes that the longest frame (MTU 1500) occupies on an Ethernet."""
FRAMING_BYTES = 24
"""The bytes of a frame that the system does not count: checksum, preamble and gap."""
SHORTEST_PAUSE = 100e-6
"""The shortest interval in seconds that the system's timers resolve."""
TIMER_SECONDS = 1e-3
"""Seconds of data that a faster link may send at once: with less, late timers cost more than a tenth of the rate."""
QUEUE_SECONDS = 40e-3
LEAST_QUEUE_BYTES = 256 * 2**10
"""Queues as deep as a switch's: with less, TCP loses segments and stalls until its timer expires."""


@dataclass(frozen=True)
class Rate:
    """Bits per second in each direction of a link."""

    bits_per_second: int

    @staticmethod
    def parse(text: str) -> Rate:
        """Reads a rate as tc writes it: 100mbit, 2.5gbit. Raises UserError."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?)bit", text.strip().lower())
        bits = round(float(found[1]) * UNITS[found[2]]) if found else 0
        if not LEAST <= bits <= MOST:
            raise UserError(f"'{text}' is not a rate from {Rate(LEAST)} to {Rate(MOST)}, such as 100mbit or 2.5gbit")
        return Rate(bits)

    def __str__(self) -> str:
        prefix, unit = max(
            ((prefix, unit) for prefix, unit in UNITS.items() if unit <= max(1, self.bits_per_second)),
            key=lambda entry: entry[1],
        )
        return f"{self.bits_per_second / unit:g}{prefix}bit"

    @property
    def burst_bytes(self) -> int:
        """The bytes that may pass at once after a pause.

        It is as small as the timers allow: data that pass at once take no time, so short messages would look faster
        than the link. It is at least two frames, so that one can wait for its tokens while a late timer still earns
        those of the next.
        """
        bytes_per_second = self.bits_per_second / 8
        if FRAME_BYTES / bytes_per_second >= SHORTEST_PAUSE:
            return 2 * FRAME_BYTES
        return round(bytes_per_second * TIMER_SECONDS)

    @property
    def queue_bytes(self) -> int:
        """The bytes that may wait; more are dropped."""
        return max(LEAST_QUEUE_BYTES, round(self.bits_per_second / 8 * QUEUE_SECONDS))

    def bucket(self) -> tuple[str, ...]:
        """The queueing discipline, as tc's arguments; frames are charged with their size on an Ethernet."""
        return (
            *("tbf", "rate", f"{self.bits_per_second}bit"),
            *("burst", f"{self.burst_bytes}b", "limit", f"{self.queue_bytes}b"),
            *("overhead", str(FRAMING_BYTES)),
        )
