"""An intercept of the linear models: learned, never gated or cut, the same on both engines, and absent by default."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy, mse_loss

from eflops.data.federation import Block, Federation
from eflops.errors import UserError
from eflops.provenance.audit.sample import MODELS
from eflops.training.models.linear import Linear
from eflops.training.models.softmax import Softmax
from eflops.training.models.softmax import build as build_softmax
from small_problems import METHODS, train_reference, train_results, train_runs

FEATURES, ROWS, CLASSES = 20, 60, 3
GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((ROWS, FEATURES)).astype(np.float32)
NUMBERS = (2 * X[:, 0] - X[:, 3] + 4).astype(np.float32)
LABELS = np.where(X[:, 0] > 0.7, 1, np.where(X[:, 1] > 0.9, 2, 0))


def federation(task: str) -> Federation:
    """Two clients; numbers lie around 4, and most labels are 0 where the features are 0."""
    y = NUMBERS if task == "regression" else LABELS
    parts = np.split(np.arange(ROWS), [20, 40])
    first, second, test = (Block(X[rows], y[rows]) for rows in parts)
    facts = {"target": {"name": "y", "centre": 0.0, "spread": 10.0}} if task == "regression" else {"classes": CLASSES}
    return Federation((first, second), test, {}, {"task": task, **facts})


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_every_method_trains_it_on_both_engines_and_cuts_it_never(task: str, name: str) -> None:
    data = federation(task)
    settings = {"prune_from": 0.25, "rate": 0.1, "rounds": 20}
    theta, log = train_runs(data, "glm", name, [1], intercept=True, **settings)
    plain, plain_log = train_reference(data, "glm", name, 1, intercept=True, **settings)
    torch.testing.assert_close(theta, plain, rtol=1e-3, atol=1e-4)
    assert log.traffic == plain_log.traffic
    gated = FEATURES if task == "regression" else FEATURES * CLASSES
    assert (theta[:, gated:] != 0).all()
    assert (theta[:, :gated] != 0).sum() == gated // 4
    (result,) = train_results(data, "glm", name, [1], intercept=True, **settings)
    assert len(result.ungated) == theta.shape[1] - gated
    assert result.macs == {"weights": gated // 4}
    again = MODELS["glm"](theta[0].numpy().astype(float), data)
    assert {key: pytest.approx(value, rel=1e-4) for key, value in again.items()}.items() <= result.metrics.items()


def test_numbers_far_from_0_are_predicted_with_it_alone() -> None:
    data = federation("regression")
    without, with_it = (
        train_results(data, "glm", "fedavg", [0], intercept=each, rate=0.1, rounds=60)[0].metrics
        for each in (False, True)
    )
    assert without["r2"] < 0 < 0.9 < with_it["r2"]
    assert with_it["rmse"] == pytest.approx(10 * with_it["mse"] ** 0.5)


@pytest.mark.parametrize("chosen", [None, torch.tensor([[3, 5, 5, 9, 20], [0, 1, 2, 3, 4]])])
def test_the_gradient_is_autograds(chosen: torch.Tensor | None) -> None:
    for model, y in ((Linear(FEATURES, True), NUMBERS), (Softmax(FEATURES, CLASSES, True), LABELS)):
        data = model.rows(X, y)
        theta = torch.from_numpy(GENERATOR.standard_normal((2, model.size)).astype(np.float32))
        gradient = model.gradient(theta, data, chosen)
        for run in range(2):
            weights = theta[run].clone().requires_grad_()
            rows = slice(None) if chosen is None else chosen[run]
            with torch.enable_grad():
                matrix = weights[: model.gated].view(-1, FEATURES)
                output = torch.from_numpy(X)[rows] @ matrix.T + weights[model.gated :]
                labels = torch.from_numpy(y)[rows]
                loss = mse_loss(output[:, 0], labels) if model.size == FEATURES + 1 else cross_entropy(output, labels)
                (expected,) = torch.autograd.grad(loss, weights)
            torch.testing.assert_close(gradient[run], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("classes", [None, 1, "3"])
def test_class_data_that_do_not_state_their_classes_are_refused_in_a_sentence(classes: object) -> None:
    with pytest.raises(UserError, match=r"meta\['classes'\] of the data set's Federation is .* two or more."):
        build_softmax((FEATURES,), {} if classes is None else {"classes": classes})


@pytest.mark.parametrize("labels", [LABELS + 1, LABELS - 1, LABELS.astype(np.float32)])
def test_labels_that_are_no_classes_are_refused(labels: np.ndarray) -> None:
    with pytest.raises(UserError, match=r"the labels y of a block are .* they should be int64 from 0 to 2."):
        Softmax(FEATURES, CLASSES).rows(X, labels)
