"""Shared code of classification models: the softmax's errors, and the metrics of logits. Compiled."""

import numpy as np
import torch
from torch import Tensor

from eflops.data.federation import Facts
from eflops.errors import UserError
from eflops.training.numerics.arithmetic import ONE, ZERO, exponential, logarithm, total
from eflops.training.numerics.compiled import compiled

# Probabilities below this count as 0: what they add to a gradient is lost in rounding, and numbers near the smallest
# that a processor can hold are slow.
NOTHING = np.float32(1e-30)


@compiled
def softmax_errors(logits: np.ndarray, labels: np.ndarray) -> None:
    """Logits [classes, n] become the gradients of the mean cross-entropy by them, (softmax - one-hot) / n, in place."""
    classes, count = logits.shape
    share = np.float32(1 / count)
    for row in range(count):
        largest, mass = logits[0, row], ZERO
        for label in range(1, classes):
            largest = max(largest, logits[label, row])
        for label in range(classes):
            # Powers of differences from the largest are at most 1, so their sum cannot overflow.
            power = exponential(logits[label, row] - largest)
            # "not <" and not ">=": NaN passes, so that a diverged run stays visible.
            logits[label, row] = power if not power < NOTHING else ZERO
            mass += logits[label, row]
        for label in range(classes):
            hit = ONE if labels[row] == label else ZERO
            logits[label, row] = (logits[label, row] / mass - hit) * share


def class_count(facts: Facts) -> int:
    """The number of classes of a federation."""
    count = facts.get("classes")
    if not isinstance(count, int) or count < 2:
        raise UserError(
            f"meta['classes'] of the data set's Federation is {count!r}; this model predicts classes, so it should be"
            " their number, two or more."
        )
    return count


def check_labels(labels: np.ndarray, classes: int) -> None:
    """Reject labels that are not class indices."""
    if labels.dtype != np.int64 or (labels.size and not 0 <= labels.min() <= labels.max() < classes):
        ends = f"{labels.dtype} from {labels.min()} to {labels.max()}" if labels.size else str(labels.dtype)
        raise UserError(f"the labels y of a block are {ends}; they should be int64 from 0 to {classes - 1}.")


def class_metrics(logits: Tensor, labels: Tensor, area: bool = False) -> dict[str, Tensor]:
    """Accuracy, cross-entropy and, with `area`, AUC of logits [runs, rows, classes]."""
    names = ("accuracy", "cross_entropy", "auc") if area else ("accuracy", "cross_entropy")
    metrics = torch.empty(len(names), len(logits), dtype=torch.float64)
    _class_metrics(logits.contiguous().numpy(), labels.numpy(), metrics.numpy())
    return dict(zip(names, metrics, strict=True))


@compiled
def _class_metrics(logits: np.ndarray, labels: np.ndarray, metrics: np.ndarray) -> None:
    runs, rows, classes = logits.shape
    # In float64: a sum over thousands of test rows would lose digits in float32.
    losses = np.empty(rows)
    for run in range(runs):
        hits = 0
        for row in range(rows):
            best = 0
            for label in range(1, classes):
                best = label if logits[run, row, label] > logits[run, row, best] else best
            hits += best == labels[row]
            losses[row] = _cross_entropy(logits[run, row], best, labels[row])
        metrics[0, run] = hits / rows
        metrics[1, run] = total(losses) / rows
        if len(metrics) == 3:
            metrics[2, run] = _auc(logits[run], labels)


@compiled
def _cross_entropy(logits: np.ndarray, best: int, label: int) -> float:
    """ln sum_c e^(logit_c - largest) - (logit of the label - largest)."""
    largest, mass = np.float64(logits[best]), 0.0
    for other in range(logits.size):
        mass += exponential(np.float64(logits[other]) - largest)
    return logarithm(mass) - (np.float64(logits[label]) - largest)


@compiled
def _auc(logits: np.ndarray, labels: np.ndarray) -> float:
    """The mean of the areas between two classes, over all pairs of classes that the rows have."""
    areas, pairs = 0.0, 0
    for high in range(1, logits.shape[1]):
        for low in range(high):
            area = _area_between(logits, labels, low, high)
            if not np.isnan(area):
                areas += area
                pairs += 1
    return areas / pairs if pairs else np.nan


@compiled
def _area_between(logits: np.ndarray, labels: np.ndarray, low: int, high: int) -> float:
    """The share of (row of `high`, row of `low`) in the right order by the difference of logits; a tie counts half."""
    scores = logits[:, high].astype(np.float64) - logits[:, low].astype(np.float64)
    halves, pairs = 0, 0
    for positive in range(labels.size):
        if labels[positive] == high:
            for negative in range(labels.size):
                if labels[negative] == low:
                    # Whole numbers, so the area does not depend on the order of the rows.
                    halves += 2 * (scores[positive] > scores[negative]) + (scores[positive] == scores[negative])
                    pairs += 1
    return halves / (2 * pairs) if pairs else np.nan
