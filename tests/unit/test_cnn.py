"""The CNN against autograd, its own bits on other machines, and itself in other company."""

import hashlib

import numpy as np
import pytest
import torch
from torch.nn import functional

from eflops.errors import UserError
from eflops.training.models.cnn import Cnn, build
from eflops.training.models.layers import enter_dense, leave_dense, list_dense
from eflops.training.numerics.convolution import LANES


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def model() -> Cnn:
    return build((1, 28, 28), {"classes": 10})


def images(count: int, seed: int = 0, shape: tuple[int, ...] = (1, 28, 28)) -> tuple[np.ndarray, np.ndarray]:
    """Mostly black pictures, as digits are, so that pooling meets ties."""
    generator = np.random.default_rng(seed)
    x = generator.random((count, *shape), np.float32) * (generator.random((count, *shape)) < 0.2)
    return x.astype(np.float32), generator.integers(0, 10, count)


def torch_logits(model: Cnn, theta: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The same network, written with PyTorch's own layers."""
    conv1, conv2, *dense = model.stages
    for stage in (conv1, conv2):
        kernel = theta[stage.weights].view(stage.units, stage.sources, 5, 5)
        x = functional.max_pool2d(functional.relu(functional.conv2d(x, kernel, theta[stage.biases])), 2)
    x = x.flatten(1)
    for stage in dense:
        x = functional.linear(x, theta[stage.weights].view(stage.units, -1), theta[stage.biases])
        x = x if stage is dense[-1] else functional.relu(x)
    return x


def autograd(model: Cnn, theta: torch.Tensor, x: np.ndarray, y: np.ndarray) -> torch.Tensor:
    with torch.enable_grad():
        leaf = theta.detach().clone().requires_grad_(True)
        logits = torch_logits(model, leaf, torch.from_numpy(x).to(theta.dtype))
        functional.cross_entropy(logits, torch.from_numpy(y)).backward()
    assert leaf.grad is not None
    return leaf.grad


def test_it_has_the_papers_44426_parameters_in_five_layers(model):
    assert model.size == 44_426
    assert [layer.name for layer in model.layers] == ["conv1", "conv2", "dense1", "dense2", "dense3"]
    assert [layer.stop - layer.start for layer in model.layers] == [156, 2416, 30_840, 10_164, 850]
    assert model.initial(0).shape == (44_426,)


def test_first_weights_are_pytorchs_default_and_follow_from_the_seed(model):
    theta = model.initial(3)
    assert torch.equal(theta, model.initial(3))
    assert not torch.equal(theta, model.initial(4))
    assert (theta[model.size :] == 0).all()
    for stage in model.stages:
        bound = (stage.sources * stage.taps) ** -0.5
        part = theta[stage.start : stage.stop] / bound
        assert part.abs().max() <= 1
        assert part.std().item() == pytest.approx(3**-0.5, rel=0.15)


def test_gradients_of_mini_batches_are_those_of_autograd(model):
    x, y = images(80)
    theta = torch.stack([model.initial(seed) for seed in range(3)])
    chosen = torch.stack([torch.randperm(80, generator=torch.Generator().manual_seed(seed))[:32] for seed in range(3)])
    gradient = model.gradient(theta, model.rows(x, y), chosen)
    for run in range(3):
        expected = autograd(model, theta[run], x[chosen[run]], y[chosen[run]])
        assert (gradient[run] - expected).abs().max() <= 1e-5 * expected.abs().max()
    assert (gradient[:, model.size :] == 0).all()


def test_without_a_choice_the_gradient_is_over_all_rows(model):
    x, y = images(13, seed=1)
    theta = model.initial(0)[None]
    everything = torch.arange(13)[None]
    data = model.rows(x, y)
    assert torch.equal(model.gradient(theta, data, None), model.gradient(theta, data, everything))


@pytest.mark.parametrize("shape", [(1, 16, 20), (3, 16, 16), (6, 28, 28)])
def test_images_may_have_other_shapes_and_up_to_six_channels(shape):
    model = build(shape, {"classes": 4})
    x, y = images(9, seed=2, shape=shape)
    theta, labels = model.initial(1), y % 4
    gradient = model.gradient(theta[None], model.rows(x, labels), None)[0].double()
    expected = autograd(model, theta.double(), x, labels)
    assert (gradient - expected).abs().max() <= 1e-5 * expected.abs().max()


def test_images_of_more_channels_are_refused():
    with pytest.raises(UserError, match="7 channels"):
        build((7, 28, 28), {"classes": 4})


def test_batches_of_more_images_than_there_are_lanes_are_the_sum_of_their_blocks(model):
    x, y = images(2 * LANES + 5, seed=7)
    theta = model.initial(2)
    gradient = model.gradient(theta[None], model.rows(x, y), None)[0].double()
    expected = autograd(model, theta.double(), x, y)
    assert (gradient - expected).abs().max() <= 1e-5 * expected.abs().max()


def test_the_bits_are_those_of_every_machine(model):
    x, y = images(60, seed=8)
    data, theta = model.rows(x, y), torch.stack([model.initial(seed) for seed in range(2)])
    theta[1, torch.rand(theta.shape[1], generator=torch.Generator().manual_seed(0)) < 0.9] = 0
    chosen = torch.stack([torch.randperm(60, generator=torch.Generator().manual_seed(seed))[:21] for seed in range(2)])
    digest = hashlib.sha256(model.gradient(theta, data, chosen).numpy().tobytes())
    digest.update(model.gradient(theta, data, None).numpy().tobytes())
    assert digest.hexdigest()[:16] == "f79eae34c1c9c668"


def test_weights_left_out_because_they_are_zero_change_no_bit():
    generator = np.random.default_rng(9)
    weights = (generator.random((50, 70)) * (generator.random((50, 70)) < 0.2)).astype(np.float32)
    inputs, biases, gradients = (generator.random(shape, np.float32) for shape in ((70, LANES), 50, (50, LANES)))
    values, offsets, firsts = np.empty(3501, np.float32), np.empty(3501, np.int64), np.empty(51, np.int64)
    results = []
    list_dense(weights, values, offsets, firsts)
    assert firsts[-1] == np.count_nonzero(weights) > 0
    for first in (0, -1):
        firsts[0] = first
        out, back = np.empty((50, LANES), np.float32), np.empty((70, LANES), np.float32)
        enter_dense(weights, biases, values, offsets, firsts, inputs, False, out)
        leave_dense(weights, values, offsets, firsts, gradients, back)
        np.testing.assert_allclose(out, weights @ inputs + biases[:, None], rtol=1e-5)
        results.append((out, back))
    assert all(np.array_equal(one, other) for one, other in zip(*results, strict=True))


def test_a_network_whose_weights_are_all_equal_shares_ties_like_a_valid_subgradient(model):
    """Every pooled phase is equal then; counting the gradient once for each would give four times the truth."""
    x, y = images(5, seed=3)
    theta = torch.full((1, model.size), 0.01)
    theta[:, model.size :] = 0
    x[:], y[:] = x.mean(), 0
    gradient = model.gradient(theta, model.rows(x, y), None)[0]
    expected = autograd(model, theta[0], x, y)
    assert expected[model.stages[0].weights].abs().min() > 0
    torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-7)


def test_metrics_are_those_of_pytorchs_layers_across_blocks(model):
    x, y = images(2 * LANES + 7, seed=4)
    theta = torch.stack([model.initial(seed) for seed in range(2)])
    metrics = model.measure(theta, model.rows(x, y))
    for run in range(2):
        logits = torch_logits(model, theta[run], torch.from_numpy(x))
        expected = functional.cross_entropy(logits, torch.from_numpy(y)).item()
        assert metrics["cross_entropy"][run].item() == pytest.approx(expected, rel=1e-5)
        accuracy = (logits.argmax(1) == torch.from_numpy(y)).double().mean().item()
        assert metrics["accuracy"][run].item() == pytest.approx(accuracy)


def test_a_runs_bits_do_not_depend_on_the_runs_beside_it(model):
    x, y = images(60, seed=5)
    data = model.rows(x, y)
    theta = torch.stack([model.initial(seed) for seed in range(6)])
    chosen = torch.stack([torch.randperm(60, generator=torch.Generator().manual_seed(seed))[:21] for seed in range(6)])
    together = model.gradient(theta, data, chosen)
    measured = model.measure(theta, data)
    for runs in ([4], [5, 4], [0, 4, 2]):
        rows = torch.tensor(runs)
        row = runs.index(4)
        assert torch.equal(model.gradient(theta[rows], data, chosen[rows])[row], together[4])
        assert model.measure(theta[rows], data)["cross_entropy"][row] == measured["cross_entropy"][4]


def test_a_few_steps_of_descent_learn_the_pictures(model):
    x, y = images(40, seed=6)
    data = model.rows(x, y)
    theta = model.initial(0)[None]
    before = model.measure(theta, data)["cross_entropy"].item()
    for _ in range(30):
        theta = theta - 0.1 * model.gradient(theta, data, None)
    assert model.measure(theta, data)["cross_entropy"].item() < before


def test_operations_are_counted_by_layer_with_dead_units_removed(model):
    kept = np.ones(model.size, bool)
    kept[: model.stages[0].weights.stop] = False
    kept[:25] = True  # one channel of the first convolution is left
    macs = model.macs(kept)
    assert macs.operations["conv1"] == 25 * 576
    assert macs.operations["conv2"] == 25 * 16 * 64
    assert macs.dead_units["conv1"] == 5
