"""The innermost loops of matrix products, as LLVM instructions with one vector per register.

A panel is [K, WIDTH]: K rows of WIDTH numbers. Intrinsics take arrays and offsets into them, not addresses, because
numba frees an array after its last use by name.
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


def tile(rows: int, panels: int, chosen: bool = False) -> Callable[..., None]:
    """An intrinsic that continues the chains of `rows` x `panels` * WIDTH numbers of `out` by `count` steps.

    Step k takes the row k of each panel, or its row chosen[k] where rows are chosen. Arrays have an offset (`_at`) and
    distances from row to row, from step to step and from panel to panel.
    """

    @intrinsic
    def continue_chains(typing: Context, a: Type, a_at: Type, a_row: Type, a_step: Type, b: Type, b_at: Type,
                        b_panel: Type, out: Type, out_at: Type, out_row: Type, count: Type,
                        positions: Type) -> Intrinsic:  # fmt: skip
        signature = types.void(a, *[types.int64] * 3, b, *[types.int64] * 2, out, *[types.int64] * 3, positions)

        def codegen(context: CPUContext, builder: IRBuilder, signature: Signature, arguments: Values) -> Value:
            a, a_at, a_row, a_step, b, b_at, b_panel, out, out_at, out_row, count, positions = arguments
            kinds = signature.args
            left, right, result, positions = (
                builder.gep(address(context, builder, kind, array), [at])
                for kind, array, at in (
                    (kinds[0], a, a_at),
                    (kinds[4], b, b_at),
                    (kinds[7], out, out_at),
                    (kinds[11], positions, WHOLE(0)),
                )
            )
            lefts = [builder.gep(left, [builder.mul(a_row, WHOLE(row))]) for row in range(rows)]
            # Narrower vectors take a panel in two halves. A number is one lane, so its chain is the same either way.
            lanes = lanes_at_once(context)
            for part in range(0, WIDTH, lanes):
                rights = [
                    builder.gep(right, [builder.add(builder.mul(b_panel, WHOLE(p)), WHOLE(part))])
                    for p in range(panels)
                ]
                results = [
                    builder.gep(result, [builder.add(builder.mul(out_row, WHOLE(row)), WHOLE(p * WIDTH + part))])
                    for row in range(rows)
                    for p in range(panels)
                ]
                _chains(builder, lanes, lefts, a_step, rights, results, count, positions if chosen else None)
            return context.get_dummy_value()

        return signature, codegen

    return continue_chains


def _chains(
    builder: IRBuilder,
    lanes: int,
    lefts: Values,
    step: Value,
    rights: Values,
    results: Values,
    count: Value,
    positions: Value,
) -> None:
    """The loop over k: results[row, panel] += left[row, k] right[k, panel], each vector of results in a register."""
    vector = ir.VectorType(REAL, lanes)

    def body(k: Value, sums: Values) -> Values:
        row = k if positions is None else builder.load(builder.gep(positions, [k]))
        panel_at, row_at = builder.mul(row, WHOLE(WIDTH)), builder.mul(k, step)
        columns = [load(builder, builder.gep(right, [panel_at]), vector) for right in rights]
        numbers = [spread(builder, builder.load(builder.gep(left, [row_at])), vector) for left in lefts]
        pairs = [(number, column) for number in numbers for column in columns]
        return [fma(builder, *pair, total) for pair, total in zip(pairs, sums, strict=True)]

    # The chains start from `out`, which holds them between blocks of DEPTH steps; storing a float32 loses no bit.
    starts = [load(builder, position, vector) for position in results]
    for position, value in zip(results, loop(builder, count, starts, body), strict=True):
        store(builder, value, position)


def dot(rows: int) -> Callable[..., None]:
    """An intrinsic: out[first + i] = row chosen[first + i] of the matrix [K, n] in panels times weights, i < `rows`.

    Each is WIDTH sums of every WIDTH-th product, added up by halves.
    """

    @intrinsic
    def multiply(typing: Context, weights: Type, b: Type, chosen: Type, first: Type, out: Type) -> Intrinsic:
        def codegen(context: CPUContext, builder: IRBuilder, signature: Signature, arguments: Values) -> Value:
            kinds = signature.args
            weights, right, positions, out = (
                address(context, builder, kinds[index], arguments[index]) for index in (0, 1, 2, 4)
            )
            shape = context.make_array(kinds[1])(context, builder, arguments[1]).shape
            count, size = builder.extract_value(shape, 0), builder.mul(builder.extract_value(shape, 1), WHOLE(WIDTH))
            # WIDTH sums of one row take four registers of AVX2, but two of AVX-512, so that half as many rows fit at
            # once.
            at_once = rows if lanes_at_once(context) == WIDTH else max(1, rows // 2)
            for start in range(0, rows, at_once):
                at = [builder.add(arguments[3], WHOLE(row)) for row in range(start, start + at_once)]
                _dots(builder, weights, right, [builder.load(builder.gep(positions, [i])) for i in at], count, size,
                      [builder.gep(out, [i]) for i in at])  # fmt: skip
            return context.get_dummy_value()

        return types.void(weights, b, chosen, types.int64, out), codegen

    return multiply


def _dots(
    builder: IRBuilder, weights: Value, right: Value, rows: Values, count: Value, size: Value, results: Values
) -> None:
    """The loop over panels for some rows at once."""
    vector = ir.VectorType(REAL, WIDTH)
    rights = [builder.gep(right, [builder.mul(row, WHOLE(WIDTH))]) for row in rows]

    def body(panel: Value, sums: Values) -> Values:
        weight = load(builder, builder.gep(weights, [builder.mul(panel, WHOLE(WIDTH))]), vector)
        at = builder.mul(panel, size)
        values = [load(builder, builder.gep(position, [at]), vector) for position in rights]
        return [fma(builder, weight, value, total) for value, total in zip(values, sums, strict=True)]

    for position, parts in zip(results, loop(builder, count, [same(vector, 0.0)] * len(rows), body), strict=True):
        # Always WIDTH sums, also where vectors are narrower: the order of the additions may not depend on that.
        half = WIDTH // 2
        while half:
            low, high = (
                ir.Constant(ir.VectorType(INDEX, half), [INDEX(start + lane) for lane in range(half)])
                for start in (0, half)
            )
            parts = builder.fadd(builder.shuffle_vector(parts, parts, low), builder.shuffle_vector(parts, parts, high))
            half //= 2
        builder.store(builder.extract_element(parts, INDEX(0)), position)
