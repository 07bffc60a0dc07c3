"""Batches of runs whose bits do not depend on their company.

Three things make the rounding of a run depend on the runs beside it: matrix products choose another kernel for another
number of rows, products with few columns round a row by its place in the block (seen for 5 to 11 columns on a machine
without AVX-512), and elementwise kernels treat the last few numbers of a tensor apart. So products are always made in
blocks of the same number of rows, a client's few rows are filled up with zeros, and parameter vectors are padded with
zeros to a multiple of the longest vector unit.
"""

import torch
from torch import Tensor

from eflops.models.base import Rows

BLOCK = 32
FEWEST = 16
UNIT = 64


def padded(size: int) -> int:
    """The width of a padded vector of `size` numbers."""
    return -(-size // UNIT) * UNIT


def pad(values: Tensor) -> Tensor:
    """`values` [..., size] with zeros up to the padded width."""
    return torch.nn.functional.pad(values, (0, padded(values.shape[-1]) - values.shape[-1]))


def filled_up(x: Tensor, y: Tensor) -> Rows:
    """Rows of zeros behind fewer than FEWEST rows; their loss has no slope, because their features are 0."""
    padding = max(0, FEWEST - len(x))
    x, y = (torch.cat([part, part.new_zeros(padding, *part.shape[1:])]) for part in (x, y))
    return Rows(x, y, padding)


def with_room(count: int, width: int) -> Tensor:
    """Zeros [count, width] that `product` need not copy, because room for the rest of the block is behind them."""
    return torch.zeros(-(-count // BLOCK) * BLOCK, width)[:count]


def product(rows: Tensor, matrix: Tensor) -> Tensor:
    """rows [R, K] times matrix [K, N], bit for bit the same for a row whatever R is."""
    count = len(rows)
    if count > BLOCK:
        return torch.cat([product(block, matrix) for block in rows.split(BLOCK)])
    return torch.mm(_whole_block(rows), matrix)[:count]


def _whole_block(rows: Tensor) -> Tensor:
    """A block that begins with these rows; what stands behind them disturbs nobody."""
    count, width = rows.shape
    has_room = rows.untyped_storage().nbytes() >= (rows.storage_offset() + BLOCK * width) * rows.itemsize
    if has_room and rows.is_contiguous():
        return rows.as_strided((BLOCK, width), (width, 1))
    block = rows.new_zeros(BLOCK, width)
    block[:count] = rows
    return block
