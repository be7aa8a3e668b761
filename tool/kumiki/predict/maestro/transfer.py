"""The path of a message in simulation: PC, network interface, switch box, network interface, PC; and the reply back."""

from __future__ import annotations

import simpy

from kumiki.predict.maestro.machine import Machine
from kumiki.predict.maestro.network import Buffer, Medium, Steps, Switch, pieces

CONFIRMATION = 1
"""Packets by which the receiving NI confirms to the sending one that everything has arrived."""


class Way:
    """One direction from PC to PC: its buffers, and the processes that move packets between them."""

    def __init__(self, env: simpy.Environment, machine: Machine, near: Medium, far: Medium, switch: Switch) -> None:
        self._env, self._machine = env, machine
        capacity = machine.buffer_packets
        sending, entering, leaving, self._receiving = (Buffer(env, capacity) for _ in range(4))
        self._sending = sending
        self._routed = simpy.Store(env)
        env.process(near.carry(sending, entering))
        env.process(switch.forward(self._routed, entering, leaving))
        env.process(far.carry(leaving, self._receiving))

    def enter(self, packets: int, rate: float) -> Steps:
        """A fragment moves into the sending NI's buffer at this many MB/s."""
        self._routed.put(packets)
        while packets:
            room = yield from self._sending.reserve(packets)
            for piece in pieces(room):
                yield self._env.timeout(piece * self._machine.packet / rate)
                self._sending.deliver(piece)
            packets -= room

    def arrive(self) -> Steps:
        """Waits for a fragment's first packet at the receiving NI, which the caller must then pass to leave()."""
        yield from self._receiving.take(1)

    def leave(self, packets: int, rate: float) -> Steps:
        """The fragment whose first packet has arrived moves from the receiving NI's buffer into the PC."""
        here = 1
        while packets:
            if not here:
                here = yield from self._receiving.take(packets)
            yield self._env.timeout(here * self._machine.packet / rate)
            self._receiving.release(here)
            packets, here = packets - here, 0


class Pair:
    """Two PCs with the network between them, in one simulation; its time begins at 0."""

    def __init__(self, machine: Machine, cut_through: bool = True) -> None:
        self._machine = machine
        self.env = simpy.Environment()
        near, far = Medium(self.env, machine), Medium(self.env, machine)
        switch = Switch(self.env, machine, cut_through)
        self._there = Way(self.env, machine, near, far, switch)
        self._back = Way(self.env, machine, far, near, switch)

    def round_trip(self, data: int) -> float:
        """Microseconds until the sender of a message has the reply, by the message-passing library."""
        self.env.run(self.env.process(self._ask(data)))
        return float(self.env.now)

    def raw(self, data: int) -> float:
        """Microseconds until the sending NI knows that the receiving one has written all data into its PC's memory."""
        self.env.run(self.env.process(self._confirmed(data)))
        return float(self.env.now)

    def _ask(self, data: int) -> Steps:
        yield self.env.process(self._message(self._there, data))
        yield self.env.process(self._message(self._back, self._machine.reply))

    def _message(self, way: Way, data: int) -> Steps:
        """The time from the call of MP_send at one PC to the return of MP_wait at the other."""
        machine, lengths = self._machine, self._machine.fragments(data)
        copied, written = simpy.Store(self.env), simpy.Store(self.env)
        self.env.process(self._copy_in(lengths, copied))
        self.env.process(self._send(way, len(lengths), copied))
        self.env.process(self._receive(way, lengths, written))
        for length in lengths:
            yield written.get()
            yield self.env.timeout(length / machine.copy_rate)
        yield self.env.timeout(machine.pc_start)

    def _copy_in(self, lengths: list[int], copied: simpy.Store) -> Steps:
        """The sending PC: each fragment into the reserved region, then a request to the NI."""
        yield self.env.timeout(self._machine.pc_start)
        for length in lengths:
            yield self.env.timeout(length / self._machine.copy_rate)
            copied.put(length)

    def _send(self, way: Way, count: int, copied: simpy.Store) -> Steps:
        """The sending NI: each fragment out of the reserved region."""
        for _ in range(count):
            length = yield copied.get()
            yield self.env.timeout(self._machine.ni_start)
            yield from way.enter(self._machine.packets(length), self._machine.pci_rate)

    def _receive(self, way: Way, lengths: list[int], written: simpy.Store) -> Steps:
        """The receiving NI: an area for each fragment, allocated without the PC, and the fragment into it."""
        for length in lengths:
            yield from way.arrive()
            yield self.env.timeout(self._machine.ni_start)
            yield from way.leave(self._machine.packets(length), self._machine.pci_rate)
            written.put(length)

    def _confirmed(self, data: int) -> Steps:
        machine = self._machine
        packets = machine.packets(data)
        yield self.env.timeout(machine.ni_start)
        self.env.process(self._there.enter(packets, machine.pci_rate))
        yield from self._there.arrive()
        yield self.env.timeout(machine.ni_start)
        yield from self._there.leave(packets, machine.pci_rate)
        self.env.process(self._back.enter(CONFIRMATION, machine.pci_rate))
        yield from self._back.arrive()
