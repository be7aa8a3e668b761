"""The machine of the COMPaS paper in numbers: its Tables 1 to 4, and what was chosen beside them."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from kumiki.predict.parameters import parameter

TABLE_1, TABLE_2, TABLE_3, TABLE_4 = (f"the paper, Table {number}" for number in range(1, 5))
TEXT = "the paper, in the text"
THREADS = (1, 2, 3, 4)
NODES = (2, 4, 8)


@dataclass(frozen=True)
class Machine:
    """Eight nodes of four processors on one memory bus each, Myrinet with NICAM, and Ethernet with mpich.

    Rates of the bus are of all threads of a node together, in MB/s.
    """

    copy_1: float = parameter(66.5, "MB/s", "copying, 1 thread", TABLE_1)
    copy_2: float = parameter(70.6, "MB/s", "copying, 2 threads", TABLE_1)
    copy_3: float = parameter(70.1, "MB/s", "copying, 3 threads", TABLE_1)
    copy_4: float = parameter(70.7, "MB/s", "copying, 4 threads", TABLE_1)
    thread_barrier: float = parameter(1.96, "us", "a barrier of 4 threads", TABLE_2)
    nicam_2: float = parameter(23.79, "us", "NICAM's barrier, 2 nodes", TABLE_3)
    nicam_8: float = parameter(38.67, "us", "NICAM's barrier, 8 nodes", TABLE_3)
    pm_2: float = parameter(13.47, "us", "PM's barrier, 2 nodes", TABLE_3)
    pm_8: float = parameter(47.42, "us", "PM's barrier, 8 nodes", TABLE_3)
    mpich_2: float = parameter(493.0, "us", "mpich's barrier, 2 nodes", TABLE_4)
    mpich_8: float = parameter(1645.0, "us", "mpich's barrier, 8 nodes", TABLE_4)
    nicam_latency: float = parameter(16.0, "us", "a short message of NICAM", TEXT)
    nicam_rate: float = parameter(82.5, "MB/s", "a long message of NICAM", TEXT)
    mpich_rate: float = parameter(4.0, "MB/s", "a long message of mpich", TEXT)
    cache: float = parameter(256.0, "KiB", "the usable half of a processor's second cache", TEXT)
    size: int = parameter(1800, "", "rows of the matrices that are multiplied", TEXT, least=16)
    sequential: float = parameter(
        134.5, "s", "the product on one processor", "chosen to give 17.09 s in Table 5 (as do its other times)"
    )
    memory_share: float = parameter(
        0.0112, "", "of that time, the share on the memory bus", "chosen to give 0.97 in Table 5", most=1
    )

    def copying(self, threads: int) -> float:
        """The rate of the bus with so many threads."""
        return (self.copy_1, self.copy_2, self.copy_3, self.copy_4)[threads - 1]

    def crowding(self, threads: int) -> float:
        """How much longer a thread takes to move its data over the bus when so many do (M2)."""
        return threads * self.copying(1) / self.copying(threads)


def barrier(least: float, most: float, nodes: int) -> float:
    """A barrier of so many nodes, linear in their logarithm between 2 and 8 nodes (M5)."""
    return least + (most - least) * (log2(nodes) - 1) / 2
