"""Operations of small networks, counted by hand."""

from itertools import pairwise

import numpy as np
import pytest

from eflops.errors import UserError
from eflops.training.models.network import Stage, cnn_stages, count_operations, living_units


def dense_stages(*widths: int) -> tuple[Stage, ...]:
    """A dense network of these widths, inputs first."""
    stages: list[Stage] = []
    for index, (sources, units) in enumerate(pairwise(widths), 1):
        stages.append(Stage(f"dense{index}", stages[-1].stop if stages else 0, units, sources, 1, 1))
    return tuple(stages)


def mask(stages: tuple[Stage, ...], *weights: tuple[int, int, int], biases: bool = True) -> np.ndarray:
    """The parameters kept when of all weights only (stage, unit, source) are, each with its first tap."""
    kept = np.zeros(stages[-1].stop, bool)
    for index, unit, source in weights:
        stage = stages[index]
        kept[stage.start + (unit * stage.sources + source) * stage.taps] = True
    for stage in stages:
        kept[stage.biases] = biases
    return kept


def test_the_papers_network_has_44426_parameters_and_281640_operations():
    stages = cnn_stages((1, 28, 28), 10)
    operations, removed = count_operations(stages, np.ones(stages[-1].stop, bool))
    assert stages[-1].stop == 44_426
    assert operations == {
        "conv1": 24 * 24 * 25 * 6,
        "conv2": 8 * 8 * 25 * 6 * 16,
        "dense1": 256 * 120,
        "dense2": 120 * 84,
        "dense3": 84 * 10,
    }
    assert sum(operations.values()) == 281_640
    assert removed == {"conv1": 0, "conv2": 0, "dense1": 0, "dense2": 0}


def test_a_dense_weight_costs_one_operation_and_biases_cost_none():
    stages = dense_stages(3, 2, 2)
    kept = mask(stages, (0, 0, 0), (0, 0, 2), (0, 1, 1), (1, 0, 0), (1, 1, 1))
    assert count_operations(stages, kept) == ({"dense1": 3, "dense2": 2}, {"dense1": 0})
    kept[[index for stage in stages for index in range(*stage.biases.indices(len(kept)))]] = False
    assert count_operations(stages, kept) == ({"dense1": 3, "dense2": 2}, {"dense1": 0})


def test_a_convolution_weight_costs_its_output_positions():
    stages = (Stage("conv1", 0, 2, 1, 25, 576), Stage("dense1", 52, 3, 2, 144, 1))
    kept = mask(stages, (0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 2, 1))
    kept[1] = True
    assert count_operations(stages, kept) == ({"conv1": 3 * 576, "dense1": 2}, {"conv1": 0})


def test_a_unit_without_incoming_weights_is_removed_with_what_it_feeds():
    stages = dense_stages(2, 2, 2)
    kept = mask(stages, (0, 0, 0), (1, 0, 0), (1, 0, 1), (1, 1, 1))
    assert count_operations(stages, kept) == ({"dense1": 1, "dense2": 1}, {"dense1": 1})


def test_a_unit_that_nobody_reads_is_removed_with_what_enters_it():
    stages = dense_stages(2, 2, 1)
    kept = mask(stages, (0, 0, 0), (0, 1, 0), (0, 1, 1), (1, 0, 0))
    assert count_operations(stages, kept) == ({"dense1": 1, "dense2": 1}, {"dense1": 1})


def test_removal_goes_on_forwards_and_backwards_until_nothing_changes():
    stages = dense_stages(1, 2, 2, 2, 1)
    path = ((0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0))
    starved = ((1, 1, 1), (2, 1, 1), (3, 0, 1))  # unit 1 of the first layer has nothing coming in
    operations, removed = count_operations(stages, mask(stages, *path, *starved))
    assert operations == {"dense1": 1, "dense2": 1, "dense3": 1, "dense4": 1}
    assert removed == {"dense1": 1, "dense2": 1, "dense3": 1}
    unread = ((0, 1, 0), (1, 1, 1), (2, 1, 1))  # unit 1 of the third layer has nothing going out
    assert count_operations(stages, mask(stages, *path, *unread)) == (operations, removed)


def test_a_network_cut_through_one_layer_costs_nothing():
    stages = dense_stages(2, 2, 2, 2)
    kept = mask(stages, *((stage, unit, source) for stage in (0, 2) for unit in (0, 1) for source in (0, 1)))
    assert count_operations(stages, kept) == ({"dense1": 0, "dense2": 0, "dense3": 0}, {"dense1": 2, "dense2": 2})


def test_a_channel_feeds_a_dense_layer_through_any_of_its_pixels():
    stages = (Stage("conv1", 0, 2, 1, 1, 4), Stage("dense1", 4, 1, 2, 4, 1))
    kept = np.zeros(stages[-1].stop, bool)
    kept[[0, 1]] = True  # both channels read the input
    kept[stages[1].start + 4 + 3] = True  # only the last pixel of channel 1 is read
    assert count_operations(stages, kept) == ({"conv1": 4, "dense1": 1}, {"conv1": 1})


def test_removal_never_leaves_a_unit_without_way_in_or_out():
    generator = np.random.default_rng(5)
    for _ in range(50):
        linked = [generator.random(shape) < 0.3 for shape in ((5, 3), (6, 5), (4, 6), (2, 4))]
        alive = living_units(linked)
        for layer in range(1, len(linked)):
            assert linked[layer - 1][np.ix_(alive[layer], alive[layer - 1])].any(1).all()
            assert linked[layer][np.ix_(alive[layer + 1], alive[layer])].any(0).all()


@pytest.mark.parametrize("shape", [(1, 27, 27), (1, 8, 8), (3, 30, 28)])
def test_images_that_cannot_be_pooled_evenly_are_refused(shape):
    with pytest.raises(UserError, match="28 x 28"):
        cnn_stages(shape, 10)
