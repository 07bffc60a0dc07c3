"""The CNN's forward and backward passes, run by run and in blocks of LANES images; compiled.

Runs have different weights and images, so they share only their working memory, which stays in the cache. A gradient is
the sum of those of its blocks, in order.
"""

from typing import NamedTuple

import numpy as np

from eflops.training.models.layers import (
    convolve,
    dense_gradients,
    enter_dense,
    from_lanes,
    leave_dense,
    leave_first,
    leave_second,
    list_dense,
    list_kernels,
    output_gradients,
    relu_backward,
    to_lanes,
)
from eflops.training.models.network import Net
from eflops.training.numerics.compiled import compiled
from eflops.training.numerics.convolution import LANES, LONG
from eflops.training.numerics.product import WIDTH


class CnnRows(NamedTuple):
    """Images [n, height, width, channels] one behind the other with LONG numbers at the end, and their labels [n]."""

    images: np.ndarray
    labels: np.ndarray
    net: Net


class Room(NamedTuple):
    """The working memory of one run for a block of images; the next block overwrites it.

    values, offsets, firsts: the lists of its weights, one for each layer; lanes: the images side by side; pooled,
    where: results of the first convolution; units [.., LANES]: those of the second one and of the dense layers, one
    below the other; where2: of the second one.
    """

    values: np.ndarray
    offsets: np.ndarray
    firsts: np.ndarray
    lanes: np.ndarray
    pooled: np.ndarray
    where: np.ndarray
    units: np.ndarray
    where2: np.ndarray


@compiled
def gradients(rows: CnnRows, weights: np.ndarray, chosen: np.ndarray, gradient: np.ndarray) -> None:
    """gradient [runs, size] of the mean cross-entropy over each run's chosen rows [runs, batch], or all if none are."""
    net, room = rows.net, _room(rows.net)
    unit_gradients, more = np.empty_like(room.units), np.empty(net.size, np.float32)
    everything = np.arange(rows.labels.size)
    for run in range(len(weights)):
        theta, run_rows = weights[run], chosen[run] if chosen.shape[1] else everything
        share = np.float32(1) / np.float32(run_rows.size)
        _list_weights(theta, net, room)
        for start in range(0, run_rows.size, LANES):
            block = run_rows[start : start + LANES]
            _forward(theta, rows, block, room)
            # The first block writes straight to the result, which saves setting it to zero and adding to it.
            _backward(theta, rows, block, share, room, unit_gradients, more if start else gradient[run])
            if start:
                for index in range(net.size):
                    gradient[run, index] += more[index]


@compiled
def outputs(rows: CnnRows, weights: np.ndarray, logits: np.ndarray) -> None:
    """Logits [runs, n, classes] of all rows."""
    net, room = rows.net, _room(rows.net)
    # Working memory is that of training, so that evaluating thousands of images takes no more of it.
    last, everything = room.units[net.unit_starts[3] :], np.arange(rows.labels.size)
    for run in range(len(weights)):
        _list_weights(weights[run], net, room)
        for start in range(0, everything.size, LANES):
            block = everything[start : start + LANES]
            _forward(weights[run], rows, block, room)
            for lane in range(block.size):
                for label in range(len(last)):
                    logits[run, start + lane, label] = last[label, lane]


@compiled
def _room(net: Net) -> Room:
    first, second = net.first, net.second
    between, units = first.windows * first.units * LANES, net.unit_starts[4]
    return Room(
        # One more: the lists write without a branch, also behind their last entry.
        np.empty(net.size + 1, np.float32),
        np.empty(net.size + 1, np.int64),
        np.empty(first.units + second.units + units + 5, np.int64),
        _aligned(first.height * first.width * first.channels * LANES),
        _aligned(between),
        np.empty(between, np.int32),
        _aligned(units * LANES).reshape(units, LANES),
        np.empty(net.unit_starts[1] * LANES, np.int32),
    )


@compiled
def _aligned(size: int) -> np.ndarray:
    """An array of `size` numbers aligned to a cache line, because a vector across two lines is slow."""
    room = np.empty(size + 16, np.float32)
    start = (-room.ctypes.data % 64) // 4
    return room[start : start + size]


@compiled
def _list_weights(theta: np.ndarray, net: Net, room: Room) -> None:
    values, offsets, firsts = room.values, room.offsets, room.firsts
    list_kernels(theta, net.first, values, offsets, firsts)
    start = net.second.start
    list_kernels(theta, net.second, values[start:], offsets[start:], firsts[net.lists[0] :])
    for layer in range(3):
        start, units, inputs = net.starts[layer], net.widths[layer + 1], net.widths[layer]
        weights = theta[start : start + units * inputs].reshape(units, inputs)
        list_dense(weights, values[start:], offsets[start:], firsts[net.lists[layer + 1] :])


@compiled
def _forward(theta: np.ndarray, rows: CnnRows, chosen: np.ndarray, room: Room) -> None:
    net, values, offsets, firsts = rows.net, room.values, room.offsets, room.firsts
    to_lanes(rows.images, _starts(net, chosen), np.arange(room.lanes.size // LANES) * LANES, room.lanes)
    convolve(net.first, values, offsets, firsts, theta, room.lanes, False, room.pooled, room.where)
    start, flat = net.second.start, room.units.reshape(-1)
    convolve(net.second, values[start:], offsets[start:], firsts[net.lists[0] :], theta, room.pooled, True, flat,
             room.where2)  # fmt: skip
    for layer in range(3):
        start, units, inputs = net.starts[layer], net.widths[layer + 1], net.widths[layer]
        stop, at = start + units * inputs, net.unit_starts[layer + 1]
        weights, biases = theta[start:stop].reshape(units, inputs), theta[stop : stop + units]
        enter_dense(weights, biases, values[start:], offsets[start:], firsts[net.lists[layer + 1] :],
                    room.units[at - inputs : at], layer < 2, room.units[at : at + units])  # fmt: skip


@compiled
def _starts(net: Net, chosen: np.ndarray) -> np.ndarray:
    """Where LANES images begin: the chosen ones, then the first of them again, which disturbs nobody."""
    starts = np.empty(LANES, np.int64)
    for lane in range(LANES):
        row = chosen[lane if lane < chosen.size else 0]
        starts[lane] = row * net.first.height * net.first.width * net.first.channels
    return starts


@compiled
def _backward(theta: np.ndarray, rows: CnnRows, chosen: np.ndarray, share: np.float32, room: Room,
              gradients: np.ndarray, gradient: np.ndarray) -> None:  # fmt: skip
    """gradient [size] of `share` times the loss over the chosen rows, whose way forward is in the room."""
    net = rows.net
    last = net.unit_starts[3]
    output_gradients(room.units[last:], rows.labels, chosen, share, gradients[last:])
    panels = np.empty((-(-max(net.widths) // WIDTH), LANES, WIDTH), np.float32)
    for layer in range(2, -1, -1):
        start, units, inputs = net.starts[layer], net.widths[layer + 1], net.widths[layer]
        stop, at = start + units * inputs, net.unit_starts[layer + 1]
        layer_gradients, before = gradients[at : at + units], gradients[at - inputs : at]
        entered = room.units[at - inputs : at]
        dense_gradients(layer_gradients, entered, panels[: -(-inputs // WIDTH)],
                        gradient[start:stop].reshape(units, inputs), gradient[stop : stop + units])  # fmt: skip
        leave_dense(theta[start:stop].reshape(units, inputs), room.values[start:], room.offsets[start:],
                    room.firsts[net.lists[layer + 1] :], layer_gradients, before)  # fmt: skip
        if layer:
            relu_backward(entered, before)
    _leave_convolutions(theta, rows, chosen, room, gradients[: net.widths[0]], gradient)


@compiled
def _leave_convolutions(theta: np.ndarray, rows: CnnRows, chosen: np.ndarray, room: Room, gradients: np.ndarray,
                        gradient: np.ndarray) -> None:  # fmt: skip
    first, second = rows.net.first, rows.net.second
    units, windows, size = first.units, first.windows, room.pooled.size // LANES
    # LONG more: a vector on the last row of the last image goes beyond its end.
    images, inputs = np.empty(LANES * size + LONG, np.float32), np.zeros(LANES * size + LONG, np.float32)
    starts, by_window, by_unit = np.arange(LANES) * size, np.arange(size) * LANES, np.empty(size, np.int64)
    from_lanes(room.pooled, by_window, starts, images)
    shape = second.units, second.windows, LANES
    leave_second(
        second, theta, chosen.size, images, gradients.reshape(shape), room.where2.reshape(shape), inputs, gradient
    )
    for window in range(windows):
        for unit in range(units):
            by_unit[window * units + unit] = (unit * windows + window) * LANES
    lanes = np.empty((units, windows * LANES), np.float32)
    to_lanes(inputs, starts, by_unit, lanes)
    leave_first(first, _starts(rows.net, chosen), rows.images, lanes, room.where.reshape(lanes.shape), gradient)
