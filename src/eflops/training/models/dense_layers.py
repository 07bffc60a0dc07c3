"""The CNN's dense layers for a block of at most LANES images of one run, forward and back; compiled.

Activations lie as [units, LANES], one lane per image, so those of a layer are one panel of the next product. A layer
with few weights that are not zero is worked on weight by weight, from a list: zeros add nothing, so the sums are the
same.
"""

from typing import Any

import numpy as np

from eflops.training.numerics.arithmetic import ZERO, exponential, fma
from eflops.training.numerics.compiled import compiled
from eflops.training.numerics.convolution import LANES
from eflops.training.numerics.product import lay_out, product

# A list is made of fewer weights than this share.
FEW = 0.25
# Powers below this count as 0: what they add to a slope is lost in rounding, and tiny numbers are slow.
NOTHING = np.float32(1e-30)


@compiled
def list_dense(weights: np.ndarray, values: np.ndarray, offsets: np.ndarray, firsts: np.ndarray) -> None:
    """The weights [units, inputs] that are not zero: of unit u, those from firsts[u] up to firsts[u + 1].

    offsets: their inputs. firsts[0] is -1 where there are too many for a list.
    """
    units, inputs = weights.shape
    total, count = 0, 0
    for unit in range(units):
        for index in range(inputs):
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
    """out [units, LANES] = weights [units, inputs] times inputs [inputs, LANES] + biases, and ReLU if asked for."""
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
def leave_dense(weights: np.ndarray, values: np.ndarray, offsets: np.ndarray, firsts: np.ndarray, slopes: np.ndarray,
                out: np.ndarray) -> None:  # fmt: skip
    """out [inputs, LANES] = the slopes of the inputs, from those of the units [units, LANES]."""
    if firsts[0] < 0:
        product(weights.T, slopes.reshape(1, len(slopes), LANES), out)
        return
    out[:] = ZERO
    for unit in range(len(weights)):
        for entry in range(firsts[unit], firsts[unit + 1]):
            _add(values[entry], slopes[unit], out[offsets[entry]])


@compiled
def _add(weight: Any, lanes: np.ndarray, total: np.ndarray) -> None:
    """total += weight lanes."""
    for lane in range(LANES):
        total[lane] = fma(weight, lanes[lane], total[lane])


@compiled
def dense_slopes(slopes: np.ndarray, inputs: np.ndarray, panels: np.ndarray, weights: np.ndarray,
                 biases: np.ndarray) -> None:  # fmt: skip
    """The slopes of weights [units, inputs] and biases, from those of the units and the inputs, [.., LANES] each."""
    lay_out(inputs.T, panels)
    product(slopes, panels, weights)
    for unit in range(len(slopes)):
        total = ZERO
        for lane in range(LANES):
            total += slopes[unit, lane]
        biases[unit] = total


@compiled
def shut(outputs: np.ndarray, slopes: np.ndarray) -> None:
    """No slope where ReLU gave zero."""
    for unit in range(len(outputs)):
        for lane in range(LANES):
            slopes[unit, lane] = slopes[unit, lane] if outputs[unit, lane] > ZERO else ZERO


@compiled
def output_slopes(logits: np.ndarray, labels: np.ndarray, rows: np.ndarray, share: Any, slopes: np.ndarray) -> None:
    """`share` times (softmax - one-hot) of the logits [classes, LANES]; zero in lanes behind the last row."""
    largest, mass = logits[0].copy(), np.zeros(LANES, np.float32)
    for label in range(1, len(logits)):
        for lane in range(LANES):
            largest[lane] = max(largest[lane], logits[label, lane])
    for label in range(len(logits)):
        for lane in range(LANES):
            power = exponential(logits[label, lane] - largest[lane])
            slopes[label, lane] = power if not power < NOTHING else ZERO
            mass[lane] += slopes[label, lane]
    for label in range(len(logits)):
        for lane in range(LANES):
            slopes[label, lane] *= share / mass[lane]
        slopes[label, rows.size :] = ZERO
    for lane in range(rows.size):
        slopes[labels[rows[lane]], lane] -= share
