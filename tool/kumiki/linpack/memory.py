"""The memory that a run needs."""

from __future__ import annotations

from math import ceil, isqrt

from kumiki.linpack.model import Setting

ELEMENT_BYTES = 8
LEAF = 8
"""The columns of a panel that are copied while they are factored."""
PRODUCTS, PRODUCT_ROWS, PRODUCT_COLUMNS = 4, 2048, 512
"""Products of a device that are under way, and their size (linpack/offload.hpp)."""


def bytes_of_rank(setting: Setting) -> int:
    """What the rank with the largest part needs: matrix, panels, rows on their way, rows of U, and what it shares with
    the server of a device."""
    block = min(setting.block, setting.size + 1)
    rows = _longest_part(setting.size, block, setting.rows)
    columns = _longest_part(setting.size + 1, block, setting.columns)
    matrix, panels = rows * lead(columns), 2 * lead(block) * (block + 1 + rows) + min(LEAF, block) * rows
    # Where process rows are on several hosts, each rank has a copy of the rows of all of them.
    copies = setting.rows if setting.hosts > 1 else 1
    swaps = 4 * block * columns * copies if setting.rows > 1 else 0
    device = 0
    if setting.device:
        device = block * (rows + columns) + PRODUCTS * min(rows, PRODUCT_ROWS) * min(columns, PRODUCT_COLUMNS)
    return ELEMENT_BYTES * (matrix + panels + swaps + block * columns + device)


def largest_size(setting: Setting, bytes_of_all: int) -> int:
    """The largest size, in whole blocks, for which all ranks together need no more than this."""
    ranks, block = setting.rows * setting.columns, setting.block
    low, high = 0, isqrt(bytes_of_all // ELEMENT_BYTES) // block + 1
    while low < high:
        middle = (low + high + 1) // 2
        if ranks * bytes_of_rank(setting.with_size(middle * block)) <= bytes_of_all:
            low = middle
        else:
            high = middle - 1
    return low * block


def lead(length: int) -> int:
    """Elements from row to row: whole cache lines, an odd number of them (linpack/lead.hpp)."""
    return (ceil(length / 8) | 1) * 8


def _longest_part(length: int, block: int, parts: int) -> int:
    return min(length, ceil(ceil(length / block) / parts) * block)
