"""The simulated network: half-duplex links that are won by arbitration, and the switch box between them.

Packets are counted and have no contents: the simulation moves numbers of packets between places. Times are in
microseconds.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import simpy

from kumiki.predict.maestro.machine import Machine

Steps = Generator[simpy.Event, Any, None]
"""A process of the simulation."""
Count = Generator[simpy.Event, Any, int]
"""A part of a process that returns the number of packets it got."""


def pieces(packets: int) -> Iterator[int]:
    """Packets that follow each other, in pieces of 1, 1, 2, 4, ... So the next stage can begin with the first packet,
    and a long burst is nevertheless not an event for every packet.
    """
    done = 0
    while done < packets:
        piece = min(max(1, done), packets - done)
        yield piece
        done += piece


def _up_to(container: simpy.Container, most: int) -> Count:
    """Waits until there is at least one, and takes up to `most`. Each container has a single such consumer."""
    taken = 0
    if container.level < 1:
        yield container.get(1)
        taken = 1
    more = min(int(container.level), most - taken)
    if more > 0:
        yield container.get(more)
    return taken + max(0, more)


class Buffer:
    """A network buffer of bounded length. A sender reserves space before a packet leaves."""

    def __init__(self, env: simpy.Environment, capacity: int) -> None:
        self._there = simpy.Container(env)
        self._room = simpy.Container(env, init=capacity)

    def reserve(self, most: int) -> Count:
        """Reserves space for up to `most` packets, as much as is free, and for at least one."""
        return _up_to(self._room, most)

    def deliver(self, packets: int) -> None:
        """Packets for which space was reserved have arrived."""
        self._there.put(packets)

    def take(self, most: int) -> Count:
        """Takes up to `most` packets, as many as are present, and at least one; their space remains occupied."""
        return _up_to(self._there, most)

    def release(self, packets: int) -> None:
        """Frees the space of packets that were taken."""
        self._room.put(packets)


class Medium:
    """A half-duplex link: both ends send over it, one at a time, and each burst must win it again."""

    def __init__(self, env: simpy.Environment, machine: Machine) -> None:
        self._env, self._machine = env, machine
        self._free = simpy.Resource(env)

    def carry(self, source: Buffer, sink: Buffer) -> Steps:
        """Sends everything that enters `source`, forever, in bursts as long as there are packets and space for them."""
        machine = self._machine
        while True:
            waiting = yield from source.take(machine.burst)
            while waiting:
                burst = yield from sink.reserve(waiting)
                with self._free.request() as won:
                    yield won
                    yield self._env.timeout(machine.arbitration)
                    for piece in pieces(burst):
                        yield self._env.timeout(piece * machine.packet_time)
                        source.release(piece)
                        sink.deliver(piece)
                waiting -= burst


class Switch:
    """The switch box: an analyser that passes on headers, a manager that decides, a controller that moves packets."""

    def __init__(self, env: simpy.Environment, machine: Machine, cut_through: bool = True) -> None:
        self._env, self._machine, self._cut_through = env, machine, cut_through
        self._bus = simpy.Resource(env)
        self._manager = simpy.Resource(env)

    def forward(self, lengths: simpy.Store, source: Buffer, sink: Buffer) -> Steps:
        """Forwards fragments of this many packets each, forever.

        With cut-through it begins when the header has arrived and the manager has decided; otherwise when the whole
        fragment has arrived in the manager's memory.
        """
        machine = self._machine
        while True:
            packets = yield lengths.get()
            here = 0
            while here < (min(machine.header_packets, packets) if self._cut_through else packets):
                some = yield from source.take(packets - here)
                if not self._cut_through:
                    source.release(some)
                here += some
            with self._manager.request() as turn:
                yield turn
                yield self._env.timeout(machine.route)
            while packets:
                if not here:
                    here = yield from source.take(packets)
                moved = yield from sink.reserve(here)
                yield from self._move(moved, source, sink)
                here, packets = here - moved, packets - moved

    def _move(self, packets: int, source: Buffer, sink: Buffer) -> Steps:
        """The packets cross the bus, which all ports share."""
        with self._bus.request() as turn:
            yield turn
            for piece in pieces(packets):
                yield self._env.timeout(piece * self._machine.packet / self._machine.switch_rate)
                if self._cut_through:
                    source.release(piece)
                sink.deliver(piece)
