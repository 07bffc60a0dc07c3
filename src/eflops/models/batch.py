"""Batches of runs whose bits do not depend on their company.

Two things make the rounding of a run depend on the runs beside it: matrix products choose another kernel for another
number of rows, and elementwise kernels treat the last few numbers of a tensor apart. So products are always made in
blocks of the same number of rows, and parameter vectors are padded with zeros to a multiple of the longest vector unit.
"""

import torch
from torch import Tensor

BLOCK = 32
UNIT = 64


def padded(size: int) -> int:
    """The width of a padded vector of `size` numbers."""
    return -(-size // UNIT) * UNIT


def pad(values: Tensor) -> Tensor:
    """`values` [..., size] with zeros up to the padded width."""
    return torch.nn.functional.pad(values, (0, padded(values.shape[-1]) - values.shape[-1]))


def product(rows: Tensor, matrix: Tensor) -> Tensor:
    """rows [R, K] times matrix [K, N], bit for bit the same for a row whatever R is."""
    count = rows.shape[0]
    if count > BLOCK:
        return torch.cat([product(block, matrix) for block in rows.split(BLOCK)])
    if count < BLOCK:
        rows = torch.cat([rows, rows.new_zeros(BLOCK - count, rows.shape[1])])
    return torch.mm(rows, matrix)[:count]
