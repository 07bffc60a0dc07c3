"""Matrix products whose bits do not depend on the processor, on its vector width, or on neighbouring rows.

Each number of a product is one chain of fused multiply-adds over k, in order, and the lanes of a vector are different
numbers. So a compiler may choose any vectors and tiles, and rows may be in any batch: the roundings are the same.

`product(a, panels, out)` is the one product. Its right-hand side lies in panels of WIDTH columns, [panels, K, WIDTH],
so that a tile reads one stream; `in_panels` and, inside compiled code, `lay_out` make them from a matrix of any layout.
A client's rows never change, so theirs are made once. The left-hand side may have any layout too, a transposed view
included, because its numbers are read one by one.

A mini-batch is some rows of a client's matrix, which lies in panels already. `chosen_dots` and `chosen_product` read
these rows where they are: the first makes WIDTH sums side by side of each row, the second chains as `product` does.
"""

import numpy as np

from eflops.training.numerics.compiled import compiled
from eflops.training.numerics.tiles import dot, tile
from eflops.training.numerics.vectors import WIDTH

# Rows of a tile; the rest of the rows is one tile of fewer rows and, where these are few, of more panels, so that as
# many chains are on their way at once.
ROWS = 6
# Numbers of a chain that are added before the next tile: their part of a panel stays in the second-level cache.
DEPTH = 1024

# In place of chosen rows, so that both kinds of tiles take the same arguments.
ALL = np.empty(0, np.int64)

# Six rows of two registers are 12 sums; with two of a panel and one number they fill 15 of the 16 registers of AVX2.
_six, _five, _four, _three, _two, _one = (tile(rows, 1) for rows in range(ROWS, 0, -1))
_three_by_two, _two_by_two, _one_by_four = tile(3, 2), tile(2, 2), tile(1, 4)
_chosen_by_four, _chosen_by_one = tile(1, 4, chosen=True), tile(1, 1, chosen=True)
_dots, _dot = dot(4), dot(1)


def in_panels(matrix: np.ndarray) -> np.ndarray:
    """The panels of a matrix [K, n], with zeros behind the last column."""
    panels = np.empty((-(-matrix.shape[1] // WIDTH), len(matrix), WIDTH), np.float32)
    lay_out(matrix.astype(np.float32, copy=False), panels)
    return panels


@compiled
def lay_out(matrix: np.ndarray, panels: np.ndarray) -> None:
    """`in_panels` into panels that are there."""
    depth, columns = matrix.shape
    for panel in range(len(panels)):
        first = panel * WIDTH
        width = min(WIDTH, columns - first)
        for k in range(depth):
            row = panels[panel, k]
            for column in range(width):
                row[column] = matrix[k, first + column]
            # Not left as memory was: `chosen_dots` adds up whole panels, and 0 times NaN would be NaN.
            row[width:] = np.float32(0)


@compiled
def product(a: np.ndarray, panels: np.ndarray, out: np.ndarray) -> None:
    """out [R, n] = a [R, K] times the matrix [K, n] of these panels; out is contiguous, all are float32."""
    columns = out.shape[1]
    whole = columns // WIDTH
    # Chains start at 0 and are continued block by block, so a number's additions keep their order whatever DEPTH is.
    out[:] = np.float32(0)
    # A tile always writes whole panels. The last, partial panel goes to a buffer, so that none writes beyond a row.
    edge = np.zeros((len(a), WIDTH if columns % WIDTH else 0), np.float32)
    for first in range(0, a.shape[1], DEPTH):
        depth = min(DEPTH, a.shape[1] - first)
        # Blocks of DEPTH steps outside, panels inside: the part of one panel in a block is 128 KiB.
        _panels(a, first, depth, panels, 0, whole, out)
        if columns % WIDTH:
            _panels(a, first, depth, panels, whole, 1, edge)
    for row in range(len(edge)):
        for column in range(columns % WIDTH):
            out[row, whole * WIDTH + column] = edge[row, column]


@compiled
def _panels(a: np.ndarray, first: int, depth: int, panels: np.ndarray, start: int, count: int, out: np.ndarray) -> None:
    """Continue the chains of the first `count` * WIDTH columns of out by `depth` steps, with panels from `start` on."""
    rows, out_row = out.shape
    # Strides instead of a copy: a transposed view is read in place.
    a_row, a_step = a.strides[0] // 4, a.strides[1] // 4
    size = panels.shape[1] * WIDTH
    sixes = rows // ROWS * ROWS
    # Panels outside, rows inside: a panel's part stays in the cache while all rows use it.
    for panel in range(count):
        b_at = (start + panel) * size + first * WIDTH
        for row in range(0, sixes, ROWS):
            at = row * a_row + first * a_step
            _six(a, at, a_row, a_step, panels, b_at, size, out, row * out_row + panel * WIDTH, out_row, depth, ALL)
    at, panel = sixes * a_row + first * a_step, 0
    while rows > sixes and panel < count:
        b_at, out_at = (start + panel) * size + first * WIDTH, sixes * out_row + panel * WIDTH
        tile = (a, at, a_row, a_step, panels, b_at, size, out, out_at, out_row, depth, ALL)
        panel += _rest(rows - sixes, count - panel, tile)


@compiled
def _rest(rows: int, count: int, tile: tuple) -> int:
    """Compute one tile of fewer than ROWS rows and some of `count` panels, and return the number of panels."""
    # One chain of fused multiply-adds waits for itself. Several panels at once keep the units busy when rows are few.
    if rows == 1 and count >= 4:
        _one_by_four(*tile)
        return 4
    if rows == 2 and count >= 2:
        _two_by_two(*tile)
        return 2
    if rows == 3 and count >= 2:
        _three_by_two(*tile)
        return 2
    if rows == 1:
        _one(*tile)
    elif rows == 2:
        _two(*tile)
    elif rows == 3:
        _three(*tile)
    elif rows == 4:
        _four(*tile)
    else:
        _five(*tile)
    return 1


@compiled
def chosen_dots(weights: np.ndarray, panels: np.ndarray, chosen: np.ndarray, out: np.ndarray) -> None:
    """out [batch] = the chosen rows [batch, n] of the panels' matrix times weights, padded to whole panels."""
    # Four rows at once hide the latency of the chains; each row's sum is the same as alone.
    row = 0
    while row + 4 <= chosen.size:
        _dots(weights, panels, chosen, row, out)
        row += 4
    while row < chosen.size:
        _dot(weights, panels, chosen, row, out)
        row += 1


@compiled
def chosen_product(a: np.ndarray, panels: np.ndarray, chosen: np.ndarray, out: np.ndarray) -> None:
    """out [n] = a [batch] times the chosen rows [batch, n] of the panels' matrix."""
    size, whole, panel = panels.shape[1] * WIDTH, out.size // WIDTH, 0
    out[:] = np.float32(0)
    while panel + 4 <= whole:
        _chosen_by_four(a, 0, 0, 1, panels, panel * size, size, out, panel * WIDTH, 0, a.size, chosen)
        panel += 4
    while panel < whole:
        _chosen_by_one(a, 0, 0, 1, panels, panel * size, size, out, panel * WIDTH, 0, a.size, chosen)
        panel += 1
    if out.size % WIDTH:
        edge = np.zeros(WIDTH, np.float32)
        _chosen_by_one(a, 0, 0, 1, panels, whole * size, size, edge, 0, 0, a.size, chosen)
        for column in range(out.size % WIDTH):
            out[whole * WIDTH + column] = edge[column]
