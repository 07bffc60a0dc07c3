"""LLVM instructions on vectors of float32 numbers, for the intrinsics of `tiles` and `convolution`."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir

WIDTH = 32

REAL, WHOLE, INDEX = ir.FloatType(), ir.IntType(64), ir.IntType(32)


def loop(builder: Any, count: Any, starts: list, body: Callable[[Any, list], list]) -> list:
    """The last values of: values = starts; for k in range(count): values = body(k, values)."""
    before, head = builder.block, builder.append_basic_block("head")
    again, done = builder.append_basic_block("body"), builder.append_basic_block("done")
    builder.branch(head)
    builder.position_at_end(head)
    k, values = builder.phi(WHOLE), [builder.phi(start.type) for start in starts]
    builder.cbranch(builder.icmp_signed("<", k, count), again, done)
    builder.position_at_end(again)
    after = body(k, values)
    following = builder.add(k, WHOLE(1))
    for phi, first, later in zip([k, *values], [WHOLE(0), *starts], [following, *after], strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(later, again)
    builder.branch(head)
    builder.position_at_end(done)
    return values


def lanes_at_once(context: Any) -> int:
    """Numbers of WIDTH that are worked on at once: all of a tile fits into registers of 512 bits only."""
    return WIDTH if "+avx512f" in context.codegen()._tm_features else WIDTH // 2


def address(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """The address of an array's first number."""
    return context.make_array(kind)(context, builder, array).data


def load(builder: Any, position: Any, vector: Any) -> Any:
    return builder.load(builder.bitcast(position, vector.as_pointer()), align=4)


def store(builder: Any, value: Any, position: Any) -> None:
    builder.store(value, builder.bitcast(position, value.type.as_pointer()), align=4)


def same(vector: Any, number: float) -> Any:
    """A constant vector with this number in every lane."""
    return ir.Constant(vector, [vector.element(number)] * vector.count)


def spread(builder: Any, number: Any, vector: Any) -> Any:
    """A vector with this number in every lane."""
    nothing = ir.Constant(vector, ir.Undefined)
    first = ir.Constant(ir.VectorType(INDEX, vector.count), [INDEX(0)] * vector.count)
    return builder.shuffle_vector(builder.insert_element(nothing, number, INDEX(0)), nothing, first)


def fma(builder: Any, x: Any, y: Any, z: Any) -> Any:
    """x y + z of vectors, rounded once."""
    name = f"llvm.fma.v{x.type.count}f32"
    function = builder.module.globals.get(name) or ir.Function(
        builder.module, ir.FunctionType(x.type, [x.type] * 3), name
    )
    return builder.call(function, [x, y, z])
