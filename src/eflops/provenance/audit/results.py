"""Consistency of a record's result: metrics, curve, support, weights, operations and traffic must agree."""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise, takewhile, zip_longest

import numpy as np

from eflops.files import sha256_bytes
from eflops.results.record import Record, Result
from eflops.training.numerics import wire

# The models of which eflops.provenance.audit.sample computes metrics again; one operation per kept weight, and none for
# an intercept.
COMPUTED = ("linear", "softmax", "glm")
PHASES = ("training", "finetuning")


def contradictions(entry: Record, clients: int | None = None) -> Iterator[str]:
    """The contradictions within a record's result, in words.

    clients: the number of clients of its data, if known.
    """
    result = entry.result
    lengths = {len(result.curve.phase), *map(len, result.curve.metrics.values())}
    if lengths != {len(result.curve.round)}:
        yield "the lists of its curve are not equally long"
        return
    yield from _metrics(result)
    yield from _weights(result)
    yield from _curve(entry)
    yield from _operations(entry)
    if clients is not None:
        yield from _traffic(entry, clients)


def _metrics(result: Result) -> Iterator[str]:
    # What is measured of gates ends with the phase that has them, so a metric's end is its last value.
    measured = {name: [value for value in values if value is not None] for name, values in result.curve.metrics.items()}
    ends = {name: values[-1] for name, values in measured.items() if values}
    if result.status == "diverged" and result.metrics:
        yield "it diverged, but has final metrics"
    if result.status == "finished":
        for name, value in result.metrics.items():
            if value != ends.get(name):
                yield f"{name} is {value}, but its curve ends with {ends.get(name)}"


def _weights(result: Result) -> Iterator[str]:
    inside = not result.support or (result.support[0] >= 0 and result.support[-1] < result.parameters)
    if not inside or any(one >= other for one, other in pairwise(result.support)):
        yield "its support is not a sorted list of distinct weights"
        return
    if not result.weights:
        return
    if len(result.weights) != len(result.support):
        yield f"it has {len(result.weights)} weights for a support of {len(result.support)}"
    elif sha256_bytes(whole(result).tobytes()) != result.weights_sha256:
        yield "its weights do not match the hash that it states"


def whole(result: Result) -> np.ndarray:
    """All parameters [parameters] as little-endian float32, zero outside the support."""
    theta = np.zeros(result.parameters, "<f4")
    theta[result.support] = result.weights
    theta[theta.size - len(result.ungated) :] = result.ungated
    return theta


def rounds_of(settings: Mapping[str, int]) -> dict[str, int]:
    """The number of rounds of each phase under these settings."""
    return dict(zip(PHASES, (settings["rounds"], settings["finetune_rounds"]), strict=True))


def _curve(entry: Record) -> Iterator[str]:
    """Check the rounds of the curve, which settings and `evaluate_every` determine."""
    expected = _evaluated(rounds_of(entry.origin.settings), entry.origin.job.evaluate_every)
    end = entry.result.diverged_round
    if (entry.result.status == "diverged") != (end is not None):
        yield f"it {entry.result.status}, and its round of divergence is {end}"
    elif end is not None:
        expected = takewhile(lambda point: point[1] < end, expected)
    stated = zip(entry.result.curve.phase, entry.result.curve.round, strict=True)
    for point, right in zip_longest(stated, expected):
        if point != right:
            yield f"its curve does not have the points that its settings require ({point} stands for {right})"
            return


def _evaluated(rounds: Mapping[str, int], every: int) -> Iterator[tuple[str, int]]:
    """The evaluated rounds with their phase; a generator, because a forged record may claim any number of rounds."""
    first = 0
    for phase, count in rounds.items():
        yield from ((phase, first + turn + 1) for turn in range(0, count, every) if turn != count - 1)
        if count:
            yield phase, first + count
        first += count


def _operations(entry: Record) -> Iterator[str]:
    """Check the operations of a prediction, which follow from the support."""
    result = entry.result
    if entry.origin.job.model in COMPUTED:
        kept, gated = len(result.support), result.parameters - len(result.ungated)
        if sum(result.macs.values()) != kept:
            yield f"it states {sum(result.macs.values())} operations, but keeps {kept} weights"
        stored = bool(result.weights) or not result.support  # otherwise the number of intercepts is not known
        if stored and sum(result.dense_macs.values()) != gated:
            yield f"it states {sum(result.dense_macs.values())} dense operations for {gated} weights"
    for layer, count in result.macs.items():
        if not 0 <= count <= result.dense_macs.get(layer, -1):
            yield f"it states {count} operations of {layer}, and {result.dense_macs.get(layer)} dense ones"


def _traffic(entry: Record, clients: int) -> Iterator[str]:
    """Check the bytes of each phase, which follow from its rounds, the selected clients and the message size."""
    result, job = entry.result, entry.origin.job
    there = 1 if job.pooled else clients
    # As in training: 0.29 * 100 is 28.999... in binary.
    selected = max(1, math.floor(job.client_fraction * there + 1e-9))
    gated = result.parameters - len(result.ungated)
    for phase, rounds in rounds_of(entry.origin.settings).items():
        stated = result.traffic.get(phase)
        if stated is None:
            yield f"it states no traffic of {phase}"
            continue
        if result.diverged_round is not None and job.engine == "reference":
            # This engine stops there; the batched one goes on for the other runs of the batch.
            before = 0 if phase == PHASES[0] else entry.origin.settings["rounds"]
            rounds = min(rounds, max(0, result.diverged_round - before))
        messages = 2 * selected * rounds
        if stated.get("messages") != messages:
            yield f"it states {stated.get('messages')} messages of {phase}; {rounds} rounds have {messages}"
            continue
        sent = stated["down"] + stated["up"]
        if phase == "finetuning" and result.status == "finished" and result.weights:
            # A kept weight may have become 0, so the support can be a little smaller than in the messages.
            kept = range(len(result.support), len(result.support) + max(2, len(result.support) // 50) + 1)
            right = [selected * rounds * _finetuning_bytes(gated, count, len(result.ungated)) for count in kept]
            if sent not in right:
                yield f"it states {sent} bytes of {phase}; messages of its support have {right[0]}"
        # Weights and gates in frames of their own are the largest message of a built-in method.
        largest = 2 * wire.encoded_size(gated, gated, 2, 2, ungated=len(result.ungated))
        most = math.inf if ":" in job.method else messages * largest
        if not 0 <= stated["last_round"] <= sent <= most:
            yield (
                f"it states {sent} bytes of {phase}, {stated['last_round']} of them in the last round;"
                f" its messages have at most {most}"
            )


def _finetuning_bytes(size: int, kept: int, ungated: int) -> int:
    """The bytes of a client's two messages in a round of finetuning: with the indices of the weights, and without."""
    return sum(wire.encoded_size(size, kept, implicit=implicit, ungated=ungated) for implicit in (False, True))
