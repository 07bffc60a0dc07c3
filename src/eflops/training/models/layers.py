"""The CNN's layers for a block of at most LANES images of one run, forward and back; compiled.

Convolutions with ReLU and pooling: on the way back a layer's images lie one behind the other. Where gradients go is an
array `where` [units, windows, LANES] from the way forward; see `convolution.pooled_unit`.

Dense layers: activations lie as [units, LANES], one lane per image, so those of a layer are one panel of the next
product. A layer with few weights that are not zero is worked on weight by weight, from a list: zeros add nothing, so
the sums are the same.
"""

import numpy as np

from eflops.training.models.network import KERNEL, POOL, PooledConvolution
from eflops.training.numerics.arithmetic import ZERO, exponential, fma
from eflops.training.numerics.compiled import compiled
from eflops.training.numerics.convolution import (
    LANES,
    LONG,
    SHORT,
    UPPER,
    add_lower_patches,
    add_short_patches,
    add_upper_patches,
    pooled_unit,
    spread_patches,
    turn,
)
from eflops.training.numerics.product import lay_out, product

# Images whose gradients are spread together: few enough that those of their pixels stay in the first-level cache.
GROUP = 8
# A list is made of fewer weights than this share.
FEW = 0.25
# Powers below this count as 0: what they add to a gradient is lost in rounding, and tiny numbers are slow.
NOTHING = np.float32(1e-30)


@compiled
def list_kernels(
    theta: np.ndarray, conv: PooledConvolution, values: np.ndarray, offsets: np.ndarray, firsts: np.ndarray
) -> None:
    """The weights that are not zero: of unit u, those from firsts[u] up to firsts[u + 1].

    offsets: how far their inputs are from the first one of a window in images [height, width, channels, LANES].
    """
    at, count = conv.start, 0
    for unit in range(conv.units):
        firsts[unit] = count
        for channel in range(conv.channels):
            for row in range(KERNEL):
                for column in range(KERNEL):
                    # No branch: a zero is written like any weight, and the next one overwrites it. So a list has room
                    # for one more number.
                    values[count] = theta[at]
                    offsets[count] = ((row * conv.width + column) * conv.channels + channel) * LANES
                    count += theta[at] != ZERO
                    at += 1
    firsts[conv.units] = count


@compiled
def convolve(conv: PooledConvolution, values: np.ndarray, offsets: np.ndarray, firsts: np.ndarray, theta: np.ndarray,
             images: np.ndarray, by_unit: bool, out: np.ndarray, where: np.ndarray) -> None:  # fmt: skip
    """From images [height, width, channels, LANES] to out [windows, units, LANES], or [units, windows, LANES]."""
    window, down = 0, conv.width * conv.channels
    for row in range(0, conv.height - KERNEL + 1, POOL):
        for column in range(0, conv.width - KERNEL + 1, POOL):
            at = (row * conv.width + column) * conv.channels * LANES
            for unit in range(conv.units):
                position = unit * conv.windows + window
                # Dense layers order their inputs unit by unit, and the next convolution wants the channels of a window
                # together.
                out_at = position if by_unit else window * conv.units + unit
                pooled_unit(values, offsets, firsts[unit], firsts[unit + 1] - firsts[unit], images, at, conv.channels,
                            down, theta[conv.biases + unit], out, out_at * LANES, where, position * LANES)  # fmt: skip
            window += 1


@compiled
def to_lanes(images: np.ndarray, starts: np.ndarray, ends: np.ndarray, lanes: np.ndarray) -> None:
    """LANES images, which begin at `starts`, side by side: number i of an image goes to its lane of lanes[ends[i]:]."""
    for column in range(0, ends.size, SHORT):
        for lane in range(0, LANES, SHORT):
            turn(images, starts, lane, column, lanes, ends, column, lane)


@compiled
def from_lanes(lanes: np.ndarray, ends: np.ndarray, starts: np.ndarray, images: np.ndarray) -> None:
    """The way back from `to_lanes`."""
    for column in range(0, ends.size, SHORT):
        for lane in range(0, LANES, SHORT):
            turn(lanes, ends, column, lane, images, starts, lane, column)


@compiled
def corners(conv: PooledConvolution, starts: np.ndarray) -> np.ndarray:
    """Where each window [windows, LANES] begins in images that begin at `starts`."""
    positions = np.empty((conv.windows, LANES), np.int32)
    window = 0
    for row in range(0, conv.height - KERNEL + 1, POOL):
        for column in range(0, conv.width - KERNEL + 1, POOL):
            for lane in range(LANES):
                positions[window, lane] = starts[lane] + (row * conv.width + column) * conv.channels
            window += 1
    return positions


@compiled
def leave_second(conv: PooledConvolution, theta: np.ndarray, count: int, images: np.ndarray, gradients: np.ndarray,
                 where: np.ndarray, inputs: np.ndarray, gradient: np.ndarray) -> None:  # fmt: skip
    """Gradients of the inputs, which start as zeros, and of the parameters, from gradients [units, windows, LANES].

    Only gradients that are passed on are worked on, because much is done with each.
    """
    size, pitch = conv.height * conv.width * conv.channels, conv.width * conv.channels
    kernels = np.zeros((conv.units, KERNEL * LONG), np.float32)
    _fill_kernels(conv, theta, kernels)
    sums = np.zeros((conv.units, KERNEL * LONG + 1), np.float32)
    values, positions = np.empty(conv.windows * GROUP + 1, np.float32), np.empty(conv.windows * GROUP + 1, np.int32)
    begin = corners(conv, np.arange(LANES) * size)
    for group in range(0, count, GROUP):
        lanes = slice(group, min(group + GROUP, count))
        for unit in range(conv.units):
            passed = _passed_on(gradients[unit, :, lanes], where[unit, :, lanes], begin[:, lanes], values, positions)
            _add_patches(conv, values, positions, passed, images, sums[unit])
            spread_patches(values, positions, passed, kernels, unit * KERNEL * LONG, inputs, pitch)
    _read_kernels(conv, sums, gradient)


@compiled
def leave_first(conv: PooledConvolution, starts: np.ndarray, images: np.ndarray, gradients: np.ndarray,
                where: np.ndarray, gradient: np.ndarray) -> None:  # fmt: skip
    """Gradients of the parameters, from gradients [units, windows * LANES]; those not passed on count as zeros.

    images: they begin at `starts`.
    """
    sums = np.zeros((conv.units, KERNEL * _row(conv) + 1), np.float32)
    values, positions = np.empty(gradients.shape[1], np.float32), np.empty(gradients.shape[1], np.int32)
    begin, nowhere = corners(conv, starts).reshape(-1), np.int32(0)
    for unit in range(conv.units):
        some = False
        for index in range(values.size):
            offset = where[unit, index]
            is_open = offset >= nowhere
            some |= is_open
            values[index] = gradients[unit, index] if is_open else ZERO
            # A shut window has the offset -1; with 0 the load stays inside the images, and the value of 0 adds nothing.
            positions[index] = begin[index] + (offset if is_open else nowhere)
        if some:
            _add_patches(conv, values, positions, values.size, images, sums[unit])
    _read_kernels(conv, sums, gradient)


@compiled
def _passed_on(
    gradients: np.ndarray, where: np.ndarray, begin: np.ndarray, values: np.ndarray, positions: np.ndarray
) -> int:
    """The gradients [windows, lanes] that a unit passes on, and where their inputs begin; how many there are."""
    count = 0
    for window in range(len(gradients)):
        for lane in range(gradients.shape[1]):
            offset = where[window, lane]
            # As in `list_kernels`: what is not passed on is overwritten by the next.
            values[count] = gradients[window, lane]
            positions[count] = begin[window, lane] + offset
            count += offset >= 0
    return count


@compiled
def _add_patches(conv: PooledConvolution, values: np.ndarray, positions: np.ndarray, count: int, images: np.ndarray,
                 sums: np.ndarray) -> None:  # fmt: skip
    """Add to the gradients of a unit's kernel and to the last one, that of its bias."""
    pitch, last = conv.width * conv.channels, sums.size - 1
    if _row(conv) == SHORT:
        add_short_patches(values, positions, count, images, 0, pitch, sums, 0, last)
    else:
        # In two halves, because the sums of all five rows would need more than 16 registers.
        add_upper_patches(values, positions, count, images, 0, pitch, sums, 0, last)
        add_lower_patches(values, positions, count, images, UPPER * pitch, pitch, sums, UPPER * LONG, last)


@compiled
def _row(conv: PooledConvolution) -> int:
    """Numbers to which a row of a kernel is filled up."""
    return SHORT if KERNEL * conv.channels <= SHORT else LONG


@compiled
def _fill_kernels(conv: PooledConvolution, theta: np.ndarray, kernels: np.ndarray) -> None:
    """The weights [units, channels, 5, 5] as kernels [units, 5 rows], whose rows are [5, channels] and zeros."""
    at = conv.start
    for unit in range(conv.units):
        for channel in range(conv.channels):
            for row in range(KERNEL):
                for column in range(KERNEL):
                    kernels[unit, row * _row(conv) + column * conv.channels + channel] = theta[at]
                    at += 1


@compiled
def _read_kernels(conv: PooledConvolution, kernels: np.ndarray, theta: np.ndarray) -> None:
    """The way back from `_fill_kernels`, and the biases, which are the last numbers of the kernels."""
    at = conv.start
    for unit in range(conv.units):
        for channel in range(conv.channels):
            for row in range(KERNEL):
                for column in range(KERNEL):
                    theta[at] = kernels[unit, row * _row(conv) + column * conv.channels + channel]
                    at += 1
        theta[conv.biases + unit] = kernels[unit, kernels.shape[1] - 1]


@compiled
def list_dense(weights: np.ndarray, values: np.ndarray, offsets: np.ndarray, firsts: np.ndarray) -> None:
    """The weights [units, inputs] that are not zero: of unit u, those from firsts[u] up to firsts[u + 1].

    offsets: their inputs. firsts[0] is -1 where there are too many for a list.
    """
    units, inputs = weights.shape
    total, count = 0, 0
    for unit in range(units):
        for index in range(inputs):
            # Counted first: a dense layer would pay for a list that it does not use.
            total += weights[unit, index] != ZERO
    firsts[0] = -1
    if total >= FEW * weights.size:
        return
    for unit in range(units):
        firsts[unit] = count
        for index in range(inputs):
            values[count] = weights[unit, index]
            offsets[count] = index
            count += weights[unit, index] != ZERO
    firsts[units] = count


@compiled
def enter_dense(weights: np.ndarray, biases: np.ndarray, values: np.ndarray, offsets: np.ndarray, firsts: np.ndarray,
                inputs: np.ndarray, relu: bool, out: np.ndarray) -> None:  # fmt: skip
    """out [units, LANES] = weights [units, inputs] times inputs [inputs, LANES] + biases, and ReLU if `relu`."""
    if firsts[0] < 0:
        product(weights, inputs.reshape(1, len(inputs), LANES), out)
    else:
        out[:] = ZERO
        for unit in range(len(weights)):
            for entry in range(firsts[unit], firsts[unit + 1]):
                _add(values[entry], inputs[offsets[entry]], out[unit])
    for unit in range(len(out)):
        for lane in range(LANES):
            value = out[unit, lane] + biases[unit]
            out[unit, lane] = value if value > ZERO or not relu else ZERO


@compiled
def leave_dense(weights: np.ndarray, values: np.ndarray, offsets: np.ndarray, firsts: np.ndarray, gradients: np.ndarray,
                out: np.ndarray) -> None:  # fmt: skip
    """out [inputs, LANES] = the gradients of the inputs, from those of the units [units, LANES]."""
    if firsts[0] < 0:
        product(weights.T, gradients.reshape(1, len(gradients), LANES), out)
        return
    out[:] = ZERO
    for unit in range(len(weights)):
        for entry in range(firsts[unit], firsts[unit + 1]):
            _add(values[entry], gradients[unit], out[offsets[entry]])


@compiled
def _add(weight: np.float32, lanes: np.ndarray, total: np.ndarray) -> None:
    """total += weight lanes."""
    for lane in range(LANES):
        total[lane] = fma(weight, lanes[lane], total[lane])


@compiled
def dense_gradients(gradients: np.ndarray, inputs: np.ndarray, panels: np.ndarray, weights: np.ndarray,
                 biases: np.ndarray) -> None:  # fmt: skip
    """The gradients of weights [units, inputs] and biases, from those of the units and the inputs, [.., LANES] each."""
    # For these gradients the chain runs over images, so the inputs are turned, with an image as a row of the panels.
    lay_out(inputs.T, panels)
    product(gradients, panels, weights)
    for unit in range(len(gradients)):
        total = ZERO
        for lane in range(LANES):
            # All lanes: those behind the last image have gradients of 0 (`output_gradients`).
            total += gradients[unit, lane]
        biases[unit] = total


@compiled
def relu_backward(outputs: np.ndarray, gradients: np.ndarray) -> None:
    """No gradient where ReLU gave zero."""
    for unit in range(len(outputs)):
        for lane in range(LANES):
            gradients[unit, lane] = gradients[unit, lane] if outputs[unit, lane] > ZERO else ZERO


@compiled
def output_gradients(
    logits: np.ndarray, labels: np.ndarray, rows: np.ndarray, share: np.float32, gradients: np.ndarray
) -> None:
    """`share` times (softmax - one-hot) of the logits [classes, LANES]; zero in lanes behind the last row."""
    largest, mass = logits[0].copy(), np.zeros(LANES, np.float32)
    for label in range(1, len(logits)):
        for lane in range(LANES):
            largest[lane] = max(largest[lane], logits[label, lane])
    for label in range(len(logits)):
        for lane in range(LANES):
            # Powers of differences from the largest are at most 1, so their sum cannot overflow.
            power = exponential(logits[label, lane] - largest[lane])
            # "not <" and not ">=": NaN passes, so that a diverged run stays visible.
            gradients[label, lane] = power if not power < NOTHING else ZERO
            mass[lane] += gradients[label, lane]
    for label in range(len(logits)):
        for lane in range(LANES):
            gradients[label, lane] *= share / mass[lane]
        # The lanes behind the last image repeat the first one (`passes._starts`) and must not count twice.
        gradients[label, rows.size :] = ZERO
    for lane in range(rows.size):
        gradients[labels[rows[lane]], lane] -= share
