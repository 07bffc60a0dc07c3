"""Convolution with max pooling, and the gradients of its weights and inputs, as loops whose order is written out.

On the way forward LANES images lie side by side, [height, width, channels, LANES], and a lane is an image. A unit's sum
at a position is one chain of fused multiply-adds over its weights in their order. The four sums that are pooled
together are made at once and never stored. A weight of zero adds nothing and is left out, so a sparse network is cheap.

On the way back pooling passes a gradient to one position in four, and to none where ReLU is 0. So the gradients of a
unit are a short list of values and positions, and images lie one behind the other, [height, width, channels] each: a
row of the kernel meets one stretch of 5 * channels numbers there, and a lane is a weight or a pixel.
"""

from collections.abc import Callable

from llvmlite import ir
from llvmlite.ir import IRBuilder, Value
from numba import types
from numba.core.cpu import CPUContext
from numba.core.types.abstract import Type
from numba.core.typing.context import Context
from numba.core.typing.templates import Signature
from numba.extending import intrinsic

from eflops.training.models.network import KERNEL
from eflops.training.numerics.vectors import (
    INDEX,
    REAL,
    WHOLE,
    WIDTH,
    Intrinsic,
    Values,
    address,
    fma,
    lanes_at_once,
    load,
    loop,
    same,
    spread,
    store,
)

LANES = WIDTH
# mypy takes the typing context for an argument of the caller's.
emitted: Callable[[Callable[..., Intrinsic]], Callable[..., None]] = intrinsic

# A row of the kernel has 5 * channels numbers: a short vector holds those of one channel, long ones those of more.
# 5 numbers fit into 8 lanes and 5 * 6 into 32, hence MOST_CHANNELS in `models.network`.
SHORT, LONG = 8, 32


@emitted
def pooled_unit(typing: Context, values: Type, offsets: Type, first: Type, count: Type, images: Type, at: Type,
                right: Type, down: Type, bias: Type, out: Type, out_at: Type, where: Type,
                where_at: Type) -> Intrinsic:  # fmt: skip
    """ReLU(bias + the largest of the four sums of a window) of one unit for LANES images.

    values, offsets: the unit's weights from `first` on, and how far their inputs are from the top left one of the
    window, which is images[at]; right, down: how far the neighbours are, in numbers of one image; out[out_at:]: the
    result; where[out_at:]: how far the position with the largest sum is from the top left one, the first of equal ones,
    or -1 where ReLU is shut.
    """
    whole = types.int64
    signature = types.void(values, offsets, whole, whole, images, whole, whole, whole, types.float32, out, whole,
                           where, whole)  # fmt: skip

    def codegen(context: CPUContext, builder: IRBuilder, signature: Signature, arguments: Values) -> Value:
        _, _, first, count, _, at, right, down, bias, _, out_at, _, where_at = arguments
        values, offsets, images, out, where = (
            _from(context, builder, signature, arguments, array, start)
            for array, start in ((0, first), (1, first), (4, at), (9, out_at), (11, where_at))
        )
        lanes = lanes_at_once(context)
        vector, indices = ir.VectorType(REAL, lanes), ir.VectorType(INDEX, lanes)
        steps = [WHOLE(0), right, down, builder.add(right, down)]
        for part in range(0, LANES, lanes):
            corners = [
                builder.gep(images, [builder.add(builder.mul(step, WHOLE(LANES)), WHOLE(part))]) for step in steps
            ]
            sums = _sums_of_window(builder, vector, values, offsets, count, corners)
            # As wide as a float, so that positions take as many registers as the sums that select them.
            positions = [spread(builder, builder.trunc(step, INDEX), indices) for step in steps]
            best, position = _largest(builder, sums, positions)
            # The bias comes after the maximum: it is the same for the four sums, and rounding keeps their order.
            value = builder.fadd(best, spread(builder, bias, vector))
            is_open = builder.fcmp_ordered(">", value, same(vector, 0.0))
            store(builder, builder.select(is_open, value, same(vector, 0.0)), builder.gep(out, [WHOLE(part)]))
            store(builder, builder.select(is_open, position, same(indices, -1)), builder.gep(where, [WHOLE(part)]))
        return context.get_dummy_value()

    return signature, codegen


def _sums_of_window(
    builder: IRBuilder, vector: ir.VectorType, values: Value, offsets: Value, count: Value, corners: Values
) -> Values:
    """Of each corner: the sum over k of values[k] times the lanes at corner + offsets[k]."""

    def step(k: Value, sums: Values) -> Values:
        # A weight is loaded once for the four sums of the window.
        weight = spread(builder, builder.load(builder.gep(values, [k])), vector)
        offset = builder.load(builder.gep(offsets, [k]))
        inputs = [load(builder, builder.gep(corner, [offset]), vector) for corner in corners]
        return [fma(builder, weight, x, total) for x, total in zip(inputs, sums, strict=True)]

    return loop(builder, count, [same(vector, 0.0)] * len(corners), step)


def _largest(builder: IRBuilder, sums: Values, positions: Values) -> tuple[Value, Value]:
    """The largest sum and its position, lane by lane; of equal sums the first."""
    # ">" and not ">=": the first of equal sums wins, as in torch, so that engines pass gradients to the same input.
    best, position = sums[0], positions[0]
    for other, its_position in zip(sums[1:], positions[1:], strict=True):
        larger = builder.fcmp_ordered(">", other, best)
        best, position = builder.select(larger, other, best), builder.select(larger, its_position, position)
    return best, position


def _add_patches(lanes: int, rows: int, with_sum: bool) -> Callable[..., None]:
    """An intrinsic that adds up stretches of images, each times a gradient."""

    @emitted
    def add(typing: Context, values: Type, positions: Type, count: Type, images: Type, start: Type, pitch: Type,
            out: Type, out_at: Type, sum_at: Type) -> Intrinsic:  # fmt: skip
        """out[out_at:] [rows, lanes] += values[e] images[positions[e] + start + row * pitch + lane], e in order.

        with_sum: out[sum_at] += values[e] as well.
        """
        whole = types.int64
        signature = types.void(values, positions, whole, images, whole, whole, out, whole, whole)

        def codegen(context: CPUContext, builder: IRBuilder, signature: Signature, arguments: Values) -> Value:
            _, _, count, _, start, pitch, _, out_at, sum_at = arguments
            values, positions, images, out, total = (
                _from(context, builder, signature, arguments, array, first)
                for array, first in ((0, WHOLE(0)), (1, WHOLE(0)), (3, start), (6, out_at), (6, sum_at))
            )

            vector = ir.VectorType(REAL, lanes)

            def step(e: Value, sums: Values) -> Values:
                value, position = (builder.load(builder.gep(array, [e])) for array in (values, positions))
                gradient, patch = spread(builder, value, vector), builder.gep(images, [builder.sext(position, WHOLE)])
                lines = [builder.gep(patch, [builder.mul(pitch, WHOLE(row))]) for row in range(rows)]
                after = [
                    fma(builder, gradient, load(builder, line, vector), part)
                    for line, part in zip(lines, sums[:rows], strict=True)
                ]
                return after + [builder.fadd(part, value) for part in sums[rows:]]

            cells = [builder.gep(out, [WHOLE(row * lanes)]) for row in range(rows)]
            # Chains go on from what earlier images left in `out`, so a weight's additions are in the order of the
            # images.
            sums = [load(builder, cell, vector) for cell in cells]
            sums = loop(builder, count, sums + [builder.load(total)] * with_sum, step)
            for cell, value in zip(cells, sums[:rows], strict=True):
                store(builder, value, cell)
            if with_sum:
                builder.store(sums[rows], total)
            return context.get_dummy_value()

        return signature, codegen

    return add


# Sums for a whole kernel of one channel, and for the upper and the lower rows of one of more channels: no more sums at
# a time than a processor with 16 registers holds.
# The bias's gradient is the sum of the values, so of two halves of a kernel only one may add it.
UPPER = 3
add_short_patches = _add_patches(SHORT, KERNEL, True)
add_upper_patches, add_lower_patches = _add_patches(LONG, UPPER, True), _add_patches(LONG, KERNEL - UPPER, False)


@emitted
def spread_patches(typing: Context, values: Type, positions: Type, count: Type, kernel: Type, kernel_at: Type,
                   images: Type, pitch: Type) -> Intrinsic:  # fmt: skip
    """images[positions[e] + row * pitch + lane] += values[e] kernel[kernel_at:] [row, lane], e in order.

    kernel: KERNEL rows of LONG numbers; those behind the end of a row of the kernel are zero.
    """
    whole = types.int64
    signature = types.void(values, positions, whole, kernel, whole, images, whole)

    def codegen(context: CPUContext, builder: IRBuilder, signature: Signature, arguments: Values) -> Value:
        _, _, count, _, kernel_at, _, pitch = arguments
        values, positions, kernel, images = (
            _from(context, builder, signature, arguments, array, first)
            for array, first in ((0, WHOLE(0)), (1, WHOLE(0)), (3, kernel_at), (5, WHOLE(0)))
        )

        vector = ir.VectorType(REAL, LONG)

        def step(e: Value, _: Values) -> Values:
            gradient = spread(builder, builder.load(builder.gep(values, [e])), vector)
            patch = builder.gep(images, [builder.sext(builder.load(builder.gep(positions, [e])), WHOLE)])
            for row in range(KERNEL):
                # Patches of neighbouring windows overlap, so a line is stored before the next gradient loads it. Lanes
                # behind the end of a kernel's row are other pixels, to which its zeros add nothing.
                line = builder.gep(patch, [builder.mul(pitch, WHOLE(row))])
                weights = load(builder, builder.gep(kernel, [WHOLE(row * LONG)]), vector)
                store(builder, fma(builder, gradient, weights, load(builder, line, vector)), line)
            return []

        loop(builder, count, [], step)
        return context.get_dummy_value()

    return signature, codegen


@emitted
def turn(typing: Context, source: Type, starts: Type, first: Type, column: Type, out: Type, ends: Type, last: Type,
         shift: Type) -> Intrinsic:  # fmt: skip
    """out[ends[last + i] + shift + j] = source[starts[first + j] + column + i] for i, j < SHORT."""
    whole = types.int64
    signature = types.void(source, starts, whole, whole, out, ends, whole, whole)

    def codegen(context: CPUContext, builder: IRBuilder, signature: Signature, arguments: Values) -> Value:
        _, _, first, column, _, _, last, shift = arguments
        source, starts, out, ends = (
            _from(context, builder, signature, arguments, array, start)
            for array, start in ((0, column), (1, first), (4, shift), (5, last))
        )
        # Eight whole vectors on each side: number by number, a load would give one lane of eight.
        positions = [[builder.load(builder.gep(rows, [WHOLE(k)])) for k in range(SHORT)] for rows in (starts, ends)]
        vector = ir.VectorType(REAL, SHORT)
        lines = [load(builder, builder.gep(source, [position]), vector) for position in positions[0]]
        # Pairs of lines exchange halves of 1, 2 and 4 numbers.
        for size in (1, 2, 4):
            low = [lane if not lane & size else lane - size + SHORT for lane in range(SHORT)]
            masks = [
                ir.Constant(ir.VectorType(INDEX, SHORT), [INDEX(lane + shift) for lane in low]) for shift in (0, size)
            ]
            for k in range(SHORT):
                if not k & size:
                    pair = lines[k], lines[k + size]
                    lines[k], lines[k + size] = (builder.shuffle_vector(*pair, mask) for mask in masks)
        for position, line in zip(positions[1], lines, strict=True):
            store(builder, line, builder.gep(out, [position]))
        return context.get_dummy_value()

    return signature, codegen


def _from(
    context: CPUContext, builder: IRBuilder, signature: Signature, arguments: Values, index: int, start: Value
) -> Value:
    """The address of the number `start` of the array that is the argument `index`."""
    return builder.gep(address(context, builder, signature.args[index], arguments[index]), [start])
