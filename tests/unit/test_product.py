"""The matrix product: right, one chain of fused multiply-adds per number, and blind to company and layout."""

import numpy as np
import pytest

from eflops.training.numerics.arithmetic import fma
from eflops.training.numerics.compiled import compiled
from eflops.training.numerics.product import DEPTH, WIDTH, chosen_dots, chosen_product, in_panels, product

SHAPES = [(1, 1, 1), (1, 37, 130), (2, 64, 65), (5, 100, 33), (6, 17, 32), (13, 1000, 64), (4, 2 * DEPTH + 5, 40)]


@compiled
def chains(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    for row in range(len(a)):
        for column in range(b.shape[1]):
            out[row, column] = np.float32(0)
            for k in range(len(b)):
                out[row, column] = fma(a[row, k], b[k, column], out[row, column])


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)


def multiplied(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.full((len(a), b.shape[1]), np.nan, np.float32)
    product(a, in_panels(b), out)
    return out


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_each_number_is_one_chain_in_order(shape: tuple[int, int, int]) -> None:
    rows, depth, columns = shape
    a, b = numbers(rows, depth), numbers(depth, columns)
    expected = np.empty((rows, columns), np.float32)
    chains(a, b, expected)
    assert np.array_equal(multiplied(a, b), expected)
    assert np.allclose(expected, a.astype(float) @ b, atol=1e-4 * depth**0.5)


def test_a_row_has_the_same_bits_in_any_company() -> None:
    a, b = numbers(31, 300), numbers(300, 75)
    together = multiplied(a, b)
    for count in range(1, 14):
        for first in (0, 5, 31 - count):
            assert np.array_equal(multiplied(a[first : first + count], b), together[first : first + count])


def test_transposed_views_are_multiplied_like_copies() -> None:
    a, b = numbers(90, 20), numbers(45, 90)
    assert np.array_equal(multiplied(a.T, b.T), multiplied(a.T.copy(), b.T.copy()))


def test_what_is_not_a_number_stays_in_its_row() -> None:
    a, b = numbers(9, 40), numbers(40, WIDTH + 3)
    a[4, 39] = np.inf
    finite = np.isfinite(multiplied(a, b)).all(1)
    assert finite.tolist() == [True] * 4 + [False] + [True] * 4


@pytest.mark.parametrize("count", [1, 3, 4, 11])
@pytest.mark.parametrize("columns", [3, 32, 200, 333])
def test_chosen_rows_are_multiplied_where_they_lie(count: int, columns: int) -> None:
    matrix = numbers(20, columns)
    chosen = np.random.default_rng(0).permutation(20)[:count]
    panels, out = in_panels(matrix), np.empty(columns, np.float32)
    values = numbers(count)
    chosen_product(values, panels, chosen, out)
    assert np.array_equal(out, multiplied(values[None], matrix[chosen])[0])
    weights = np.zeros(len(panels) * WIDTH, np.float32)
    weights[:columns] = numbers(columns)
    dots, alone = np.empty(count, np.float32), np.empty(1, np.float32)
    chosen_dots(weights, panels, chosen, dots)
    assert np.allclose(dots, matrix[chosen].astype(float) @ weights[:columns], atol=1e-4)
    for index, row in enumerate(chosen):
        chosen_dots(weights, panels, np.array([row]), alone)
        assert alone[0] == dots[index]
