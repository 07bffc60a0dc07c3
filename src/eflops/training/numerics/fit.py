"""Constants that are computed once, with the same bits everywhere: quadrature and least squares without LAPACK."""

import numpy as np

from eflops.training.numerics.arithmetic import fma
from eflops.training.numerics.compiled import compiled


def gauss_legendre(count: int) -> tuple[list[float], list[float]]:
    """Nodes and weights on [-1, 1].

    numpy's nodes are eigenvalues and differ in their last digits between machines; rounded to nine digits they do
    not, and three steps of Newton's method restore the other digits.
    """
    nodes, weights = [], []
    for node in np.polynomial.legendre.leggauss(count)[0].tolist():
        x = round(node, 9)
        for _ in range(3):
            value, gradient = _legendre(x, count)
            x -= value / gradient
        _, gradient = _legendre(x, count)
        nodes.append(x)
        weights.append(2.0 / ((1.0 - x * x) * gradient * gradient))
    return nodes, weights


def _legendre(x: float, degree: int) -> tuple[float, float]:
    """A Legendre polynomial and its gradient, by the recurrence in the degree."""
    before, value = 1.0, x
    for n in range(2, degree + 1):
        before, value = value, ((2 * n - 1) * x * value - (n - 1) * before) / n
    return value, degree * (x * value - before) / (x * x - 1.0)


def least_squares(terms: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The least-squares coefficients [k] of terms [n, k] for values [n], all float64."""
    # The values are one more column, whose shares of the orthogonal ones are the right-hand side. Normal equations
    # would square the condition number instead, and powers are nearly dependent.
    columns = np.ascontiguousarray(np.column_stack([terms, values]).T)
    size = len(columns) - 1
    triangle = np.zeros((size, size + 1))
    _orthogonalise(columns, triangle)
    result = np.zeros(size)
    for row in range(size - 1, -1, -1):
        rest = triangle[row, size]
        for column in range(row + 1, size):
            # Number by number: numpy's dot would add in the order of its BLAS, which differs between machines.
            rest -= triangle[row, column] * result[column]
        result[row] = rest / triangle[row, row]
    return result


@compiled
def _orthogonalise(columns: np.ndarray, triangle: np.ndarray) -> None:
    """Modified Gram-Schmidt: the columns [k + 1, n] in terms of orthogonal ones, as an upper triangle [k, k + 1]."""
    for column in range(len(triangle)):
        triangle[column, column] = np.sqrt(_dot(columns[column], columns[column]))
        for index in range(columns.shape[1]):
            columns[column, index] /= triangle[column, column]
        # Modified: each column is freed of this one at once. Classical Gram-Schmidt would lose orthogonality much
        # sooner.
        for other in range(column + 1, len(columns)):
            share = triangle[column, other] = _dot(columns[column], columns[other])
            for index in range(columns.shape[1]):
                columns[other, index] = fma(-share, columns[column, index], columns[other, index])


@compiled
def _dot(left: np.ndarray, right: np.ndarray) -> float:
    result = 0.0
    for index in range(left.size):
        result = fma(left[index], right[index], result)
    return result
