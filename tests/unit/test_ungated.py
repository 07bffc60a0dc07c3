"""Parameters that are never gated or cut: the last ones of a model, in every method and on both engines."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from eflops.data.federation import Federation
from eflops.training import messages
from eflops.training.engines import single
from eflops.training.methods.base import Payload
from eflops.training.methods.cut import top
from eflops.training.models import linear
from eflops.training.models.base import Layer
from eflops.training.modules import ModuleModel
from eflops.training.numerics import wire
from small_problems import METHODS, train_reference, train_results, train_runs

UNGATED = 7
EVERY = pytest.mark.parametrize("name", METHODS)


@pytest.fixture(autouse=True)
def partly_gated(monkeypatch: pytest.MonkeyPatch) -> None:
    """The linear model with its last features ungated."""

    def build(shape: tuple[int, ...], meta: dict[str, Any]) -> linear.Linear:
        model = linear.Linear(shape[0])
        model.gated -= UNGATED
        model.layers = (Layer("weights", 0, model.gated),)
        return model

    monkeypatch.setattr(linear, "build", build)
    monkeypatch.setattr(single, "built_in", as_module)


class Split(nn.Module):
    """The same as a torch module."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.first = nn.Linear(features - UNGATED, 1, bias=False)
        self.last = nn.Linear(UNGATED, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """A number a row."""
        return self.first(x[:, :-UNGATED]) + self.last(x[:, -UNGATED:])


def as_module(name: str, shape: tuple[int, ...], meta: dict[str, Any]) -> ModuleModel:
    """The linear model as the reference engine trains it."""
    first = linear.Linear(shape[0]).initial
    return ModuleModel(name, lambda shape, _: Split(shape[0]), shape, None, gated=["first"], initial=first)


@EVERY
def test_they_are_trained_and_never_cut_nor_counted_in_the_density(name: str, synthetic: Federation) -> None:
    (result,) = train_results(synthetic, "linear", name, [3], prune_from=0.0)
    assert result.parameters == 100
    assert len(result.support) == 9  # a tenth of the 93 gated parameters
    assert max(result.support) < 93
    assert len(result.ungated) == UNGATED
    assert 0 not in result.ungated


@EVERY
def test_both_engines_agree(name: str, synthetic: Federation) -> None:
    settings: dict[str, Any] = {"prune_from": 0.25, "rescale_start": True} if name == "eflops" else {"clip": 1.0}
    theta, log = train_runs(synthetic, "linear", name, [1], **settings)
    plain, plain_log = train_reference(synthetic, "linear", name, 1, **settings)
    assert torch.equal(theta != 0, plain != 0)
    torch.testing.assert_close(theta, plain, rtol=1e-3, atol=1e-4)
    assert log.traffic == plain_log.traffic


def test_they_are_sent_without_indices_and_gates(synthetic: Federation) -> None:
    logs = {name: train_runs(synthetic, "linear", name, [1])[1] for name in ("eflops", "fediht")}
    gated = wire.encoded_size(93, 9, gates=True, tail=True, multiplier=True, ungated=UNGATED)
    assert logs["eflops"].traffic["training"]["last_round"] == 2 * 2 * gated
    plain = wire.encoded_size(93, 9, ungated=UNGATED)
    assert plain == wire.encoded_size(93, 9) + 4 + 4 * UNGATED
    assert logs["fediht"].traffic["training"]["last_round"] == 2 * 2 * plain


@pytest.mark.parametrize("kept", [None, 5])
@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("implicit", [False, True])
def test_a_payload_comes_back_bit_for_bit(kept: int | None, gated: bool, implicit: bool) -> None:
    values, gates = torch.randn(1, 100), torch.rand(1, 93) if gated else None
    support, tail = None, None
    if kept is not None:
        support = top(values, kept, [Layer("weights", 0, 93)])
        values = values * support
        tail = torch.rand(1) if gated else None
        gates = None if gates is None or tail is None else torch.where(support[:, :93], gates, tail[:, None])
    sent = Payload(values, support, gates, tail, None, implicit and kept is not None, UNGATED)
    data = messages.encode(sent, 100)
    assert len(data) == wire.encoded_size(
        93, kept or 93, gates=gated, tail=tail is not None, dense=kept is None, implicit=sent.implicit, ungated=UNGATED
    )
    for part, other in zip(sent, messages.decode(data, 100, support), strict=True):
        assert torch.equal(part, other) if isinstance(part, Tensor) and isinstance(other, Tensor) else part == other


def test_a_message_with_another_number_of_them_is_refused() -> None:
    data = messages.encode(Payload(torch.ones(1, 100), ungated=UNGATED), 100)
    with pytest.raises(wire.WireError, match="100 weights, but the model has 101"):
        messages.decode(data, 101)
    with pytest.raises(wire.WireError, match="bytes"):
        wire.decode(data[:-8])
    with pytest.raises(wire.WireError, match="must be float32"):
        wire.Message(3, None, np.ones(3, np.float32), ungated=np.ones(2))
