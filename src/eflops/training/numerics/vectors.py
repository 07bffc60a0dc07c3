"""LLVM instructions on vectors of float32 numbers, for the intrinsics of `tiles` and `convolution`."""

from collections.abc import Callable

from llvmlite import ir
from llvmlite.ir import IRBuilder, Value
from numba import types
from numba.core.cpu import CPUContext
from numba.core.typing.templates import Signature

# The same on every processor, because it sets the layout of panels and the order of the sums of `tiles.dot`.
WIDTH = 32

Values = list[Value]
# What an intrinsic gives numba: its signature, and the function that emits its instructions.
Intrinsic = tuple[Signature, Callable[[CPUContext, IRBuilder, Signature, Values], Value]]

REAL, WHOLE, INDEX = ir.FloatType(), ir.IntType(64), ir.IntType(32)


def loop(builder: IRBuilder, count: Value, starts: Values, body: Callable[[Value, Values], Values]) -> Values:
    """The last values of: values = starts; for k in range(count): values = body(k, values)."""
    before, head = builder.block, builder.append_basic_block("head")
    again, done = builder.append_basic_block("body"), builder.append_basic_block("done")
    builder.branch(head)
    builder.position_at_end(head)
    # Sums are phi nodes, which stay in registers; variables would be read from memory and written back at every turn.
    k, values = builder.phi(WHOLE), [builder.phi(start.type) for start in starts]
    builder.cbranch(builder.icmp_signed("<", k, count), again, done)
    builder.position_at_end(again)
    # The body must add no blocks: the phi nodes below take their later values from `again`.
    after = body(k, values)
    following = builder.add(k, WHOLE(1))
    for phi, first, later in zip([k, *values], [WHOLE(0), *starts], [following, *after], strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(later, again)
    builder.branch(head)
    builder.position_at_end(done)
    return values


def lanes_at_once(context: CPUContext) -> int:
    """Numbers of WIDTH that are worked on at once: all of a tile fits into registers of 512 bits only."""
    # The features that numba compiles for, which NUMBA_CPU_NAME may set, and not those of this processor.
    return WIDTH if "+avx512f" in context.codegen()._tm_features else WIDTH // 2


def address(context: CPUContext, builder: IRBuilder, kind: types.Array, array: Value) -> Value:
    """The address of an array's first number."""
    return context.make_array(kind)(context, builder, array).data


def load(builder: IRBuilder, position: Value, vector: ir.VectorType) -> Value:
    # Vectors begin at any number of an array. Without `align` LLVM would assume the alignment of the whole vector.
    return builder.load(builder.bitcast(position, vector.as_pointer()), align=4)


def store(builder: IRBuilder, value: Value, position: Value) -> None:
    builder.store(value, builder.bitcast(position, value.type.as_pointer()), align=4)


def same(vector: ir.VectorType, number: float) -> Value:
    """A constant vector with this number in every lane."""
    return ir.Constant(vector, [vector.element(number)] * vector.count)


def spread(builder: IRBuilder, number: Value, vector: ir.VectorType) -> Value:
    """A vector with this number in every lane."""
    # LLVM makes one broadcast instruction of this pair.
    nothing = ir.Constant(vector, ir.Undefined)
    first = ir.Constant(ir.VectorType(INDEX, vector.count), [INDEX(0)] * vector.count)
    return builder.shuffle_vector(builder.insert_element(nothing, number, INDEX(0)), nothing, first)


def fma(builder: IRBuilder, x: Value, y: Value, z: Value) -> Value:
    """x y + z of vectors, rounded once."""
    # Not llvm.fmuladd, which leaves it to the processor whether the product is rounded.
    name = f"llvm.fma.v{x.type.count}f32"
    function = builder.module.globals.get(name) or ir.Function(
        builder.module, ir.FunctionType(x.type, [x.type] * 3), name
    )
    return builder.call(function, [x, y, z])
