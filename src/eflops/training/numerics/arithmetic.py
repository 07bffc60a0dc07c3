"""Arithmetic with the same bits on every processor: fused multiply-add, exponential, logarithm and sums.

Addition, multiplication, division, square root and fused multiply-add are rounded exactly everywhere. The C library's
functions are not, so exponential and logarithm are polynomials written out here; loops with them also become vector
instructions, which a call would prevent. Sums of many numbers are PARTS sums side by side, added up in a fixed order.

All are for compiled code, in the type of their arguments: float32, or float64 for constants that are made once.
"""

from collections.abc import Callable

import numba
import numpy as np
from llvmlite import ir
from llvmlite.ir import IRBuilder, Value
from numba import types
from numba.core.cpu import CPUContext
from numba.core.types.abstract import Type
from numba.core.typing.context import Context
from numba.core.typing.templates import Signature
from numba.extending import intrinsic, overload

from eflops.training.numerics import vectors
from eflops.training.numerics.compiled import OPTIONS, compiled

# As many partial sums as a vector of 512 bits has lanes. Narrower vectors compute the same sums in several steps.
PARTS = 16

Number = float | np.float32

# Of the type of the arrays: a bare float is float64 in compiled code and would lift every expression to it.
ZERO, HALF, ONE = np.float32(0), np.float32(0.5), np.float32(1)

# float32: Cephes' expf and logf, with ln 2 as a sum of two numbers.
# LN2 is 355/512: nine bits, so that n LN2 is exact for every exponent n, and LN2_REST holds the rest of ln 2.
INVERSE_LN2, LN2, LN2_REST = np.float32(1.44269504), np.float32(0.693359375), np.float32(-2.12194440e-4)
# e^87 is below the largest float32 (e^88.7), and e^-87 above the smallest normal one (e^-87.3).
LARGEST, BIAS, MANTISSA = np.float32(87), np.int32(127), np.int32(23)
# Under the exponent bits of 1/2 a fraction is a number from 1/2 to 1.
FRACTION, HALF_BITS, ROOT_HALF = np.int32(0x7FFFFF), np.int32(0x3F000000), np.float32(0.70710678)
E5, E4, E3, E2, E1, E0 = map(
    np.float32, (1.9875691e-4, 1.3981999e-3, 8.3334519e-3, 4.1665796e-2, 1.6666665e-1, 5.0000001e-1)
)
L8, L7, L6, L5, L4, L3, L2, L1, L0 = map(
    np.float32,
    (7.0376836e-2, -1.1514610e-1, 1.1676998e-1, -1.2420141e-1, 1.4249323e-1, -1.6668058e-1, 2.0000715e-1,
     -2.4999994e-1, 3.3333331e-1),
)  # fmt: skip

# float64: Taylor's series of e^r and of the inverse hyperbolic tangent, as long as they add anything.
INVERSE_LN2_64, LN2_64, LN2_REST_64 = 1.4426950408889634, 0.6931471803691238, 1.9082149292705877e-10
# As above: float64 ends at e^709.7, and its smallest normal number is e^-708.4.
LARGEST_64, BIAS_64, MANTISSA_64 = 708.0, np.int64(1023), np.int64(52)
FRACTION_64, HALF_BITS_64, ROOT_HALF_64 = np.int64((1 << 52) - 1), np.int64(0x3FE << 52), 0.7071067811865476


def _fma(typing: Context, x: Type, y: Type, z: Type) -> vectors.Intrinsic | None:
    """x y + z, rounded once."""

    def codegen(context: CPUContext, builder: IRBuilder, signature: Signature, arguments: vectors.Values) -> Value:
        kind = context.get_value_type(signature.return_type)
        name = f"llvm.fma.{'f32' if signature.return_type == numba.float32 else 'f64'}"
        # llvmlite refuses a second declaration of a name in one module.
        function = builder.module.globals.get(name) or ir.Function(
            builder.module, ir.FunctionType(kind, [kind] * 3), name
        )
        return builder.call(function, arguments)

    # Mixed types are refused: a silent conversion to float64 would round differently.
    return (x(x, x, x), codegen) if x == y == z and x in (numba.float32, numba.float64) else None


fma: Callable[..., float] = intrinsic(_fma)


def exponential(x: float) -> float:
    """e^x to within a rounding error or two, for x held within the range of its results. For compiled code alone."""
    raise NotImplementedError


def logarithm(x: float) -> float:
    """ln x to within a rounding error or two, for normal x > 0. For compiled code alone."""
    raise NotImplementedError


@overload(exponential, jit_options=OPTIONS)
def _exponential(x: Number) -> Callable[[Number], Number] | None:
    def single(x: Number) -> Number:
        """e^x = 2^n e^r with n = round(x / ln 2); ln 2 as a sum of two numbers keeps r exact."""
        # Beyond this the result would be infinite or subnormal, and processors may flush subnormal numbers to 0.
        x = LARGEST if x > LARGEST else x
        x = -LARGEST if x < -LARGEST else x
        n = np.floor(fma(x, INVERSE_LN2, HALF))
        r = fma(n, -LN2_REST, fma(n, -LN2, x))
        rest = fma(fma(fma(fma(fma(E5, r, E4), r, E3), r, E2), r, E1), r, E0)
        # 2^n is written as the bits of a float with this exponent: ldexp would be a call, which the loop could not
        # vectorise.
        return (fma(rest, r * r, r) + ONE) * np.int32((np.int32(n) + BIAS) << MANTISSA).view(np.float32)

    def double(x: Number) -> Number:
        x = LARGEST_64 if x > LARGEST_64 else x
        x = -LARGEST_64 if x < -LARGEST_64 else x
        n = np.floor(fma(x, INVERSE_LN2_64, 0.5))
        r = fma(n, -LN2_REST_64, fma(n, -LN2_64, x))
        result = 1.0
        # |r| is at most ln(2) / 2, whose 14th power over 14! is far below half a rounding error of 1.
        for term in range(13, 0, -1):
            result = fma(result, r / term, 1.0)
        return result * np.int64((np.int64(n) + BIAS_64) << MANTISSA_64).view(np.float64)

    return {numba.float32: single, numba.float64: double}.get(x)


@overload(logarithm, jit_options=OPTIONS)
def _logarithm(x: Number) -> Callable[[Number], Number] | None:
    def single(x: Number) -> Number:
        """ln x = n ln 2 + ln(1 + r) with 1 + r between the roots of 1/2 and 2."""
        bits = np.float32(x).view(np.int32)
        # The exponent is read from the bits: frexp would be a call, which the loop could not vectorise.
        m = np.int32((bits & FRACTION) | HALF_BITS).view(np.float32)
        n = np.float32(np.int32((bits >> MANTISSA) - BIAS))
        r = (m + m if m < ROOT_HALF else m) - ONE
        # Choices of values and no branches, so that the loop can be vectorised.
        n = n if m < ROOT_HALF else n + ONE
        square = r * r
        rest = fma(fma(fma(fma(fma(fma(fma(fma(L8, r, L7), r, L6), r, L5), r, L4), r, L3), r, L2), r, L1), r, L0)
        # The largest term comes last, so that the small ones are added to each other before they could be rounded away.
        return fma(LN2, n, r + fma(rest * r, square, fma(LN2_REST, n, -HALF * square)))

    def double(x: Number) -> Number:
        """ln m = 2 artanh((m - 1) / (m + 1))."""
        bits = np.float64(x).view(np.int64)
        m = np.int64((bits & FRACTION_64) | HALF_BITS_64).view(np.float64)
        n = np.float64((bits >> MANTISSA_64) - BIAS_64 + 1)
        small = m < ROOT_HALF_64
        m, n = (m + m if small else m), (n - 1.0 if small else n)
        s = (m - 1.0) / (m + 1.0)
        square, rest = s * s, 0.0
        # |s| is at most 0.172, so the next term, s^24 / 25 of the first, is below the rounding error.
        for term in range(23, 1, -2):
            rest = fma(rest, square, 1.0 / term)
        return fma(n, LN2_64, fma(n, LN2_REST_64, fma(2.0 * s * square, rest, 2.0 * s)))

    return {numba.float32: single, numba.float64: double}.get(x)


def _into_parts(squared: bool) -> Callable[..., None]:
    """An intrinsic: parts [PARTS] += values [count, PARTS], or their squares, row by row, in registers.

    As a loop in Python it would read and write the parts in memory at every turn.
    """

    @intrinsic
    def add_up(typing: Context, values: types.Array, count: Type, parts: Type) -> vectors.Intrinsic | None:
        def codegen(context: CPUContext, builder: IRBuilder, signature: Signature, arguments: vectors.Values) -> Value:
            kinds, (_, count, _) = signature.args, arguments
            position, sums = (vectors.address(context, builder, kinds[index], arguments[index]) for index in (0, 2))
            vector = ir.VectorType(context.get_value_type(kinds[0].dtype), PARTS)

            def body(k: Value, before: vectors.Values) -> vectors.Values:
                at = builder.gep(position, [builder.mul(k, vectors.WHOLE(PARTS))])
                row = vectors.load(builder, at, vector)
                # No fast-math flags on the instructions: LLVM may neither reorder nor fuse what has none.
                return [vectors.fma(builder, row, row, *before) if squared else builder.fadd(*before, row)]

            (after,) = vectors.loop(builder, count, [vectors.load(builder, sums, vector)], body)
            vectors.store(builder, after, sums)
            return context.get_dummy_value()

        # Rows of PARTS numbers are loaded as they lie in memory, so the values must be contiguous.
        return (types.void(values, types.int64, parts), codegen) if values.layout == "C" else None

    return add_up


_add_values, _add_squares = _into_parts(False), _into_parts(True)


@compiled
def added_up(parts: np.ndarray) -> float:
    """The sum of PARTS numbers: halves are added to each other until one number is left."""
    # By halves, as vector registers are added up: the order is fixed, and no lane is read alone until the end.
    half = PARTS // 2
    while half:
        for index in range(half):
            parts[index] += parts[index + half]
        half //= 2
    return parts[0]


@compiled
def total(values: np.ndarray) -> float:
    """The sum of float32 numbers [n], or of float64."""
    # Sixteen short sums instead of one long one: they are vectors, and rounding errors grow with a sum's length.
    parts = np.zeros(PARTS, values.dtype)
    whole = values.size // PARTS * PARTS
    _add_values(values, whole // PARTS, parts)
    # The last numbers go to the same partial sums as if the row were padded with zeros.
    for index in range(whole, values.size):
        parts[index - whole] += values[index]
    return added_up(parts)


@compiled
def sum_of_squares(values: np.ndarray) -> float:
    """The sum of the squares of float32 numbers [n]."""
    parts = np.zeros(PARTS, values.dtype)
    whole = values.size // PARTS * PARTS
    _add_squares(values, whole // PARTS, parts)
    for index in range(whole, values.size):
        # Fused as in the vector loop, so that the sum is that of the row padded with zeros.
        parts[index - whole] = fma(values[index], values[index], parts[index - whole])
    return added_up(parts)
