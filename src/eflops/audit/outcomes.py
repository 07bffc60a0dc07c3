"""What a record says of its result against itself: metrics, curve, support and weights must tell one story."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from eflops.audit.findings import Finding
from eflops.files import sha256_bytes
from eflops.results.store import RUNS
from eflops.training.record import Record, Result


def check_outcomes(records: Mapping[str, Record]) -> Iterator[Finding]:
    """Every contradiction within a record's result."""
    for path, entry in records.items():
        for what in contradictions(entry.result):
            yield Finding("different", f"{RUNS}/{path}", what)


def contradictions(result: Result) -> Iterator[str]:
    """What in a result contradicts the rest of it, in words."""
    curve = result.curve
    if {len(curve.phase), *map(len, curve.metrics.values())} != {len(curve.round)}:
        yield "the lists of its curve are not equally long"
        return
    # What is measured of gates ends with the phase that has them, so a metric's end is its last value.
    measured = {name: [value for value in values if value is not None] for name, values in curve.metrics.items()}
    ends = {name: values[-1] for name, values in measured.items() if values}
    if result.status == "diverged" and result.metrics:
        yield "it diverged, and has final metrics all the same"
    if result.status == "finished":
        for name, value in result.metrics.items():
            if value != ends.get(name):
                yield f"{name} is {value}, and its curve ends with {ends.get(name)}"
    yield from _weights(result)


def _weights(result: Result) -> Iterator[str]:
    inside = not result.support or (result.support[0] >= 0 and result.support[-1] < result.parameters)
    if not inside or any(one >= other for one, other in pairwise(result.support)):
        yield "its support is not a list of different weights in order"
        return
    if not result.weights:
        return
    if len(result.weights) != len(result.support):
        yield f"it has {len(result.weights)} weights for a support of {len(result.support)}"
    elif sha256_bytes(whole(result).tobytes()) != result.weights_sha256:
        yield "its weights are not those whose hash it states"


def whole(result: Result) -> np.ndarray:
    """All parameters [parameters] as little-endian float32, zero outside the support."""
    theta = np.zeros(result.parameters, "<f4")
    theta[result.support] = result.weights
    return theta
