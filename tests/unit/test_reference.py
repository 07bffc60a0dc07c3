"""The batched engine against the algorithm in plain torch: the same runs, but for rounding."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from eflops.config.settings import TrainingSettings
from eflops.data.federation import Block, Federation
from eflops.training.engines import reference, single
from eflops.training.methods import dense, eflops, feddualavg, feedback
from eflops.training.methods.cut import top
from eflops.training.models.cnn import build
from eflops.training.modules import built_in
from eflops.training.training_log import TrainingLog
from small_problems import GATED, METHODS, train_reference, train_runs

EVERY = pytest.mark.parametrize("name", METHODS)


def assert_same(runs: tuple[Tensor, TrainingLog], plain: tuple[Tensor, TrainingLog], features: int = 10**9) -> None:
    """The same support, metrics within 1e-4, the same bytes.

    features: of a softmax model of two classes. A feature that was cut comes back with opposite gradients for the two,
    so that rounding alone says which of its two weights is kept; such ties count as one weight.
    """
    (theta, log), (expected, expected_tally) = runs, plain
    kept, wanted = ({index % features for index in part[0].nonzero()[:, 0].tolist()} for part in (theta, expected))
    assert kept == wanted
    assert log.marks == expected_tally.marks
    for point, other in zip(log.curve, expected_tally.curve, strict=True):
        assert {metric: values.item() for metric, values in point.items()} == pytest.approx(
            {metric: values.item() for metric, values in other.items()}, rel=1e-4, abs=1e-4, nan_ok=True
        )
    assert log.traffic == expected_tally.traffic


@EVERY
@pytest.mark.parametrize("settings", [{}, {"batch_size": 4, "clip": 1.0}, {"local_steps": "epoch", "batch_size": 7}])
def test_every_method_on_the_synthetic_data(name: str, settings: dict[str, Any], synthetic: Federation) -> None:
    settings = {"rounds": 40, "finetune_rounds": 5, **settings}
    runs, plain = (train(synthetic, "linear", name, seed, **settings) for train, seed in TRAINED)
    assert_same(runs, plain)


@EVERY
@pytest.mark.parametrize("settings", [{}, {"batch_size": 4}])
def test_every_method_on_the_golub_data(name: str, settings: dict[str, Any], golub: Federation) -> None:
    runs, plain = (train(golub, "softmax", name, seed, **settings) for train, seed in TRAINED)
    assert_same(runs, plain, golub.test.x.shape[1])


TRAINED: Any = ((train_runs, [1]), (train_reference, 1))

GATED_CHANGES: list[dict[str, Any]] = [
    {"samples": 3, "clip": 2.0},
    {"temperature": 1.0, "temperature_decay": 0.7},
    {"gate_recovery": "paper"},
    {"prior": "init", "multiplier_rate": 10.0},
    {"rescale_start": True},
    {"phi_limit": 0.2},
    {"gate": "louizos"},
    {"rho_init": 0.8, "multiplier_rate": 30.0},
    {"rho_init": 0.06, "multiplier_rate": 30.0, "temperature": 0.0},
    {"sparse_upload": False, "prune_from": 0.25},
]
CHANGES: list[dict[str, Any]] = [
    {"initial": "zeros"},
    {"weighting": "uniform"},
    {"keep_schedule": "shrinking"},
    {"layer_floor": 0.05, "prune_from": 0.0},
    {"prune_from": 0.29, "rounds": 100, "local_steps": 1},
]


@pytest.mark.parametrize(
    ("name", "change"),
    [("eflops", change) for change in [*GATED_CHANGES, *CHANGES]] + [("fediterht", change) for change in CHANGES],
    ids=str,
)
def test_every_option_means_the_same(name: str, change: dict[str, Any], synthetic: Federation) -> None:
    settings = {"temperature": 0.5} if name == "eflops" else {}
    runs, plain = (train(synthetic, "linear", name, seed, **{**settings, **change}) for train, seed in TRAINED)
    assert_same(runs, plain)
    usual, _ = train_reference(synthetic, "linear", name, 1, **settings)
    assert not torch.equal(usual, plain[0]), "the option changes nothing here, so that this test shows nothing"


def test_a_run_that_diverges_does_so_in_both(synthetic: Federation) -> None:
    for train, seed in TRAINED:
        _, log = train(synthetic, "linear", "fedavg", seed, rate=1e6, rounds=30)
        assert log.diverged == {0: 1}


@pytest.fixture(scope="module")
def pictures() -> Federation:
    """Mostly black pictures of MNIST's size, as digits are."""
    generator = np.random.default_rng(0)

    def block(rows: int) -> Block:
        x = generator.random((rows, 1, 28, 28), np.float32) * (generator.random((rows, 1, 28, 28)) < 0.2)
        return Block(x.astype(np.float32), generator.integers(0, 10, rows))

    return Federation(tuple(block(rows) for rows in (24, 40, 30)), block(20), meta={"classes": 10})


@EVERY
def test_three_rounds_of_the_cnn(name: str, pictures: Federation, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"rounds": 3, "finetune_rounds": 0, "local_steps": "epoch", "batch_size": 8, "prune_from": 1.0}
    settings |= {"multiplier_rate": 1.0, "rho_init": 0.9} if name in GATED else {}
    seen: dict[str, list[Any]] = {"batched": [], "plain": []}
    plain_owner = eflops.Method if name in GATED else dense.Weights
    owners: dict[str, Any] = {"feddualavg": feddualavg.Method}
    owner = feedback.Feedback if name.endswith("_feedback") else owners.get(name, plain_owner)
    aggregate, keep_track = owner.aggregate, single.messages

    def watched(*arguments: Any) -> Any:
        seen["batched"].append(aggregate(*arguments))
        return seen["batched"][-1]

    def noted(point: reference.Round, ungated: int) -> Any:
        seen["plain"].append(point.state)
        return keep_track(point, ungated)

    monkeypatch.setattr(owner, "aggregate", watched)
    monkeypatch.setattr(single, "messages", noted)
    for train, seed in TRAINED:
        train(pictures, "cnn", name, seed, **settings)
    assert len(seen["batched"]) == len(seen["plain"]) == 3
    for state, plain in zip(seen["batched"], seen["plain"], strict=True):
        theta = state["dual" if name == "feddualavg" else "theta"]
        assert (theta[0, : len(plain.theta)] - plain.theta).abs().max() < 1e-4
        if name in GATED:
            gates, lam = ("phi", "scalar multiplier") if "phi" in state else ("gates", "multiplier")
            assert (state[gates][0, : len(plain.z)] - plain.z).abs().max() < 1e-4
            assert state[lam].item() == pytest.approx(plain.lam.item(), rel=1e-4)
            assert plain.lam > 0


def test_a_cut_of_the_cnn_keeps_the_same_weights_of_every_layer() -> None:
    model = build((1, 28, 28), {"classes": 10})
    magnitude = torch.rand(1, model.size, generator=torch.Generator().manual_seed(0))
    magnitude[:, : model.layers[0].stop] *= 1e-3
    for floor in (0.0, 0.013):
        problem = single.Problem(
            built_in("cnn", (1, 28, 28), {"classes": 10}), [], 1, 1, TrainingSettings(layer_floor=floor), 0
        )
        plain = reference.top(problem, magnitude[0], 1110)
        assert torch.equal(plain, top(magnitude, 1110, model.layers, floor)[0])
        assert plain[: model.layers[0].stop].any() == (floor > 0)


def test_the_metrics_of_the_curve_are_those_of_the_torch_module(golub: Federation) -> None:
    theta, log = train_reference(golub, "softmax", "fedavg", 1)
    logits = torch.from_numpy(golub.test.x) @ theta[0, : 2 * golub.test.x.shape[1]].view(2, -1).T
    labels = torch.from_numpy(golub.test.y)
    assert log.curve[-1]["cross_entropy"].item() == pytest.approx(cross_entropy(logits, labels).item(), rel=1e-5)
    assert log.curve[-1]["accuracy"].item() == pytest.approx((logits.argmax(1) == labels).float().mean().item())
