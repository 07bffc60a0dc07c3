"""From measured values to features: clipping, the gene filter, logarithms, and standardising.

The filter does not use the classes. Means and deviations over samples use only the training samples.
"""

from dataclasses import dataclass, replace

import numpy as np

from eflops.config.data import DataSettings
from eflops.errors import UserError

LN2 = 0.6931471805599453
TERMS = 13
# Over which axis each way takes mean and deviation. What is a sample's gene on expression data is a row's feature.
AXES: dict[str, int | None] = {"whole": None, "per_array": 1, "per_row": 1, "per_gene": 0, "per_feature": 0}


@dataclass(frozen=True)
class Scaling:
    """How values [samples, genes] become features.

    way       whole: one mean and deviation for everything; per_array or per_row: each sample by its own; per_gene or
              per_feature: each gene so; none: values as they are
    centre,   mean and deviation of the training samples: [1, 1] or [1, genes]; None per array, where every sample has
    spread    its own, so that nobody needs another's values
    """

    way: str
    log: bool = False
    floor: float | None = None
    ceiling: float | None = None
    centre: np.ndarray | None = None
    spread: np.ndarray | None = None

    @property
    def by_row(self) -> bool:
        """Whether each row is scaled by its own values only."""
        return AXES.get(self.way) == 1

    def apply(self, values: np.ndarray) -> np.ndarray:
        """The features [samples, genes] float32 of measured values; a gene that did not vary in training becomes 0."""
        prepared = self.prepare(values)
        if self.way == "none":
            return prepared.astype(np.float32)
        if self.by_row:
            centre, spread = moments(prepared, axis=1)
        elif self.centre is None or self.spread is None:
            raise UserError(f"the scaling {self.way} needs the mean and deviation of the training samples.")
        else:
            centre, spread = self.centre, self.spread
        # The inner choice avoids a division by 0, whose warning and NaN the outer one would only hide.
        scaled = np.where(spread > 0, (prepared - centre) / np.where(spread > 0, spread, 1.0), 0.0)
        return np.asarray(scaled, dtype=np.float32)

    def prepare(self, values: np.ndarray) -> np.ndarray:
        """The values clipped to floor and ceiling, and their logarithms if `log` is set."""
        cut = clipped(values, self.floor, self.ceiling)
        if not self.log:
            return cut
        if cut.size and cut.min() <= 0:
            right = "leave `log` out, or, with `kind: expression`, give a floor, such as `floor: 1`"
            raise UserError(f"`log: true` needs values above 0: {right}.")
        return logarithm(cut)

    def fitted(self, values: np.ndarray) -> "Scaling":
        """This scaling with mean and deviation of the training samples' values."""
        if self.way == "none" or self.by_row:
            return self
        centre, spread = moments(self.prepare(values), axis=AXES[self.way])
        return replace(self, centre=centre, spread=spread)


def scaling_of(settings: DataSettings) -> Scaling:
    """The scaling of a data set's entry, not yet fitted."""
    return Scaling(settings["scaling"], settings["log"], settings.get("floor"), settings.get("ceiling"))


def clipped(values: np.ndarray, floor: float | None, ceiling: float | None) -> np.ndarray:
    """Values clipped to two limits, either of which may be None."""
    if floor is None and ceiling is None:
        return values
    return np.clip(values, floor, ceiling)


def varying(values: np.ndarray, min_fold: float | None, min_range: float | None) -> np.ndarray:
    """Which genes pass the filter: [genes] bool; values: [samples, genes], already clipped.

    min_fold: the smallest ratio of the largest to the smallest value; min_range: the smallest difference of the
    two.
    """
    high, low = values.max(axis=0), values.min(axis=0)
    keep = np.ones(values.shape[1], dtype=bool)
    if min_fold is not None:
        if low.min() <= 0:
            raise UserError("`min_fold` needs values above 0: give a floor, such as `floor: 1`, or use `min_range`.")
        keep &= high / low > min_fold
    if min_range is not None:
        keep &= high - low > min_range
    return keep


def logarithm(values: np.ndarray) -> np.ndarray:
    """The natural logarithm of positive values, by additions and multiplications in a fixed order.

    numpy's logarithm differs in the last bit between processors, and the data's hash must not. With x = 2^k m, m
    between 1/sqrt 2 and sqrt 2, and s = (m - 1) / (m + 1): ln x = k ln 2 + 2 (s + s^3/3 + s^5/5 + ...).
    """
    mantissa, exponent = np.frexp(values)
    # Then |s| is at most 0.172, and 13 terms reach the rounding error of float64.
    small = mantissa < 0.7071067811865476
    mantissa, exponent = np.where(small, 2 * mantissa, mantissa), exponent - small
    s = (mantissa - 1) / (mantissa + 1)
    square = s * s
    total = np.zeros_like(s)
    for power in range(2 * TERMS - 1, 0, -2):
        total = total * square + 1 / power
    return exponent * LN2 + 2 * s * total


def moments(values: np.ndarray, axis: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation; if all values are equal, the deviation is exactly 0, not a rounding error."""
    constant = values.max(axis=axis, keepdims=True) == values.min(axis=axis, keepdims=True)
    spread = np.where(constant, 0.0, values.std(axis=axis, keepdims=True))
    return values.mean(axis=axis, keepdims=True), spread
