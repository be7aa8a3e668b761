"""The experiments on the simulated machine: streams over a link, messages through the network, fragment lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import simpy

from kumiki.predict.maestro.machine import Machine
from kumiki.predict.maestro.network import Buffer, Medium, Steps
from kumiki.predict.maestro.transfer import Pair
from kumiki.predict.prediction import Curve

SIZES = tuple(4**power for power in range(1, 10))
"""4 bytes to 256 KiB."""
LENGTHS = (223, 976, 4048, 16336, 65488, 262096, 1048528)
"""The fragment lengths: the paper's three, and powers of two minus the header."""
BURSTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
STREAM = 1024
"""Packets of a stream over one link."""


def stream_efficiency(machine: Machine, both_ways: bool) -> float:
    """The share of a link's rate that a long stream of packets gets, or two opposite streams together."""
    env = simpy.Environment()
    medium = Medium(env, machine)
    ends = [_stream(env, machine, medium) for _ in range(2 if both_ways else 1)]
    env.run(env.all_of(ends))
    return float(len(ends) * STREAM * machine.packet_time / env.now)


def _stream(env: simpy.Environment, machine: Machine, medium: Medium) -> simpy.Process:
    """Sends without pausing; ends when all packets have been removed at the other end."""
    source, sink = Buffer(env, STREAM), Buffer(env, machine.buffer_packets)
    source.deliver(STREAM)

    def take_all() -> Steps:
        left = STREAM
        while left:
            taken = yield from sink.take(left)
            sink.release(taken)
            left -= taken

    env.process(medium.carry(source, sink))
    return env.process(take_all())


def without_burst(machine: Machine) -> Machine:
    return replace(machine, burst=1)


def library(machine: Machine, size: int) -> float:
    """Microseconds of a round trip with the message-passing library."""
    return Pair(machine).round_trip(size)


def raw(machine: Machine, size: int) -> float:
    """Microseconds of a transfer from NI to NI with its confirmation."""
    return Pair(machine).raw(size)


def stored(machine: Machine, size: int) -> float:
    """The same through a switch box that forwards a fragment when all of it has arrived."""
    return Pair(machine, cut_through=False).raw(size)


def over_bursts(name: str, machine: Machine, value: Callable[[Machine], float], beside: bool = False) -> Curve:
    return Curve(name, tuple((burst, 100 * value(replace(machine, burst=burst))) for burst in BURSTS), beside)


def over_sizes(
    name: str, machine: Machine, time: Callable[[Machine, int], float], sizes: Sequence[int], beside: bool = False
) -> Curve:
    """Throughput over message size."""
    return Curve(name, tuple((size, size / time(machine, size)) for size in sizes), beside)
