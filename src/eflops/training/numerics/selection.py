"""The cut: find the largest weights by counting, and set the others. Compiled."""

import numpy as np

from eflops.training.numerics.arithmetic import PARTS, ZERO, added_up
from eflops.training.numerics.compiled import compiled

# As bits of a float32: all but the sign, and infinity.
MAGNITUDE, INFINITE = np.int32(0x7FFFFFFF), np.int32(0x7F800000)
SIGN, LOWEST = np.int32(31), np.int32(-(2**31))


@compiled
def mark_top(values: np.ndarray, keep: int, bounds: np.ndarray, least: np.ndarray, marks: np.ndarray) -> None:
    """Mark the `keep` largest magnitudes of each run, `least` [layers] of every layer among them, and all after layers.

    values, marks: [runs, size]; bounds [layers, 2]: where layers start and stop. Of equal magnitudes the first are
    kept, and NaN counts as largest.
    """
    bits, gated = np.empty(values.shape[1], np.int32), bounds[-1, 1]
    for run in range(len(values)):
        row, marked = values[run].view(np.int32), marks[run]
        for index in range(row.size):
            bits[index] = row[index] & MAGNITUDE
        marked[:] = False
        if least.max() > 0:
            for layer in range(len(bounds)):
                start, stop = bounds[layer]
                # Every layer's floor first: the cut over all layers then fills up what is left of `keep`.
                _mark_largest(bits[start:stop], least[layer], marked[start:stop])
            # Weights that a layer's floor keeps count as infinite, so the cut by magnitude includes them in `keep`.
            for index in range(row.size):
                bits[index] = INFINITE if marked[index] else bits[index]
        _mark_largest(bits[:gated], keep, marked[:gated])
        marked[gated:] = True


@compiled
def _mark_largest(bits: np.ndarray, keep: int, marked: np.ndarray) -> None:
    """Mark the `keep` largest numbers, which are given as their bits, of equal ones the first.

    Numbers that are not negative are in the order of their bits read as whole numbers, and what is not a number comes
    last. So the keep-th largest is found bit by bit: it has a bit if enough numbers are as large as that makes it. Once
    just enough are, further bits would change nothing.
    """
    # 31 passes of counting are faster than a sort: they are vector instructions without branches.
    least, keep = np.int32(0), min(keep, bits.size)
    for position in range(30, -1, -1):
        larger = np.int32(least | (1 << position))
        count = _count(bits, larger)
        if count >= keep:
            least = larger
        if count == keep:
            break
    for index in range(bits.size):
        marked[index] = bits[index] >= least
    # Ties are resolved by index, from the end, so that the support does not depend on an algorithm's order.
    # Where the search stopped early, nothing is spare.
    spare, index = _count(bits, least) - keep, bits.size - 1
    while spare > 0:
        if bits[index] == least:
            marked[index] = False
            spare -= 1
        index -= 1


@compiled
def _count(row: np.ndarray, least: np.int32) -> np.int32:
    """How many numbers are at least `least`; a count that is not of the numbers' own width would be slower."""
    count = np.int32(0)
    for index in range(row.size):
        count = np.int32(count + np.int32(row[index] >= least))
    return count


@compiled
def cut(theta: np.ndarray, keep: int, bounds: np.ndarray, least: np.ndarray, marks: np.ndarray) -> None:
    """Set weights [runs, width] to 0 that `mark_top` does not mark."""
    mark_top(theta, keep, bounds, least, marks)
    for run in range(len(theta)):
        _set_unmarked(theta[run], marks[run], ZERO)


@compiled
def keep_marked(theta: np.ndarray, gates: np.ndarray, marks: np.ndarray, tails: np.ndarray) -> None:
    """Weights [runs, size] that are not marked become 0, and their gates the average of theirs, `tails` [runs].

    gates: [runs, gated]; marks: [runs, size]."""
    for run in range(len(tails)):
        # One number stands for all gates that are not sent, so the receiver still knows their average.
        rest, left = _sum_unmarked(gates[run], marks[run])
        tails[run] = rest / np.float32(left if left > 0 else 1)
        _set_unmarked(theta[run], marks[run], ZERO)
        _set_unmarked(gates[run], marks[run], tails[run])


@compiled
def count_marked(marks: np.ndarray) -> np.ndarray:
    """How many of marks [runs, width] each run has; numpy takes ten times as long."""
    counts = np.empty(len(marks), np.int64)
    for run in range(len(marks)):
        count = np.int32(0)
        for index in range(marks.shape[1]):
            count = np.int32(count + np.int32(marks[run, index]))
        counts[run] = count
    return counts


@compiled
def _sum_unmarked(values: np.ndarray, marks: np.ndarray) -> tuple[float, int]:
    """The sum of the values that are not marked, and how many they are."""
    # Adding 0 instead of skipping keeps every value in the same partial sum, whatever is marked.
    parts, left = np.zeros(PARTS, np.float32), 0
    for index in range(values.size):
        parts[index % PARTS] += ZERO if marks[index] else values[index]
        left += not marks[index]
    return added_up(parts), left


@compiled
def _set_unmarked(values: np.ndarray, marks: np.ndarray, value: np.float32) -> None:
    for index in range(values.size):
        values[index] = values[index] if marks[index] else value


@compiled
def compress(values: np.ndarray, keep: int, gated: int, drift: bool, marks: np.ndarray, commons: np.ndarray,
             rest: np.ndarray) -> None:  # fmt: skip
    """Values [runs, width] become what a message of `keep` entries tells of them, and `rest` what it leaves out.

    Sent are the largest magnitudes, and all values from `gated` on. With `drift`, sent are those that deviate most
    from the median, and all others become their mean, `commons` [runs]: if most values moved by about the same
    amount, one number describes it. marks [runs, width]: what is sent.
    """
    bits = np.empty(gated, np.int32)
    for run in range(len(values)):
        row, marked, left = values[run], marks[run], rest[run]
        # The median and not the mean, which the few large changes would move. `left` holds the deviations for ranking
        # alone, and below what is left out.
        centre = median(row[:gated]) if drift else ZERO
        for index in range(gated):
            left[index] = row[index] - centre
        _magnitudes(left[:gated].view(np.int32), bits)
        marked[:] = True
        _mark_largest(bits, keep, marked[:gated])
        commons[run] = ZERO
        if drift:
            unsent, count = _sum_unmarked(row, marked)
            commons[run] = unsent / np.float32(count if count > 0 else 1)
        common = commons[run]
        for index in range(row.size):
            sent = row[index] if marked[index] else common
            left[index] = row[index] - sent
            row[index] = sent


@compiled
def _magnitudes(row: np.ndarray, bits: np.ndarray) -> None:
    for index in range(bits.size):
        bits[index] = row[index] & MAGNITUDE


@compiled
def median(values: np.ndarray) -> np.float32:
    """The median of float32 numbers [n]; for an even n the larger of the two in the middle.

    With the magnitude's bits of negative numbers flipped, numbers are in the order of their bits read as signed whole
    numbers. The one that half of them reach is found bit by bit, as in `_mark_largest`; it is the least of that half.
    """
    bits, keys, half = values.view(np.int32), np.empty(values.size, np.int32), (values.size + 1) // 2
    for index in range(keys.size):
        keys[index] = bits[index] ^ ((bits[index] >> SIGN) & MAGNITUDE)
    # The sign first: its bit is negative in signed numbers, so it cannot take part in the loop below.
    least = np.int32(0) if _count(keys, np.int32(0)) >= half else LOWEST
    for position in range(30, -1, -1):
        larger = np.int32(least + np.int32(1 << position))
        count = _count(keys, larger)
        if count >= half:
            least = larger
        if count == half:
            break
    # The loop may stop before the last bits of `least`, so the median is the smallest number that reaches it.
    smallest = MAGNITUDE
    for index in range(keys.size):
        smallest = min(smallest, keys[index] if keys[index] >= least else MAGNITUDE)
    return np.int32(smallest ^ ((smallest >> SIGN) & MAGNITUDE)).view(np.float32)
