"""A torch module of the user's own as a model: parameters, first weights, randomness, modes, operations, refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import nets
from eflops import trust
from eflops.data.federation import Federation
from eflops.data.job import Job
from eflops.errors import UserError
from eflops.files import PROJECT
from eflops.results.labels import Run
from eflops.results.record import Result, result_hash
from eflops.training.engines import batched, reference
from eflops.training.modules import ModuleModel, seeded
from eflops.training.numerics import wire
from eflops.training.rounds import Connect, Server
from eflops.training.train import make_method, make_result, make_task
from small_problems import METHODS, random_images, small_job

EVERY = pytest.mark.parametrize("name", METHODS)


@pytest.fixture(autouse=True)
def trusted() -> Any:
    with trust.session():
        trust.allow_all()
        yield


def train(federation: Federation, model: str, name: str, seeds: list[int], **settings: Any) -> list[Result]:
    """The results of runs of a custom model: on the engine that Flower shares, or one by one on the reference."""
    gated, engine = settings.pop("gated", None), settings.pop("engine", "reference")
    job, variants = small_job("linear", name, [{}] * len(seeds), settings)
    job = job.model_copy(update={"model": model, "engine": engine, "gated": gated})
    if engine == "batched":
        batched.prepare()
        task, evaluation = make_task(job, variants, federation)
        server = Server(task, evaluation, batched.transport(task, federation), 3, lambda *_: None)
        theta, log = server.run(make_method(job, task), seeds)
        return [make_result(task, theta[row], log, row) for row in range(len(seeds))]
    results = []
    for seed in seeds:
        task, evaluation = make_task(job, variants[:1], federation)

        def work(
            connect: Connect, largest_block: int, task: Any = task, data: Any = evaluation, run_seed: int = seed
        ) -> None:
            clients: Any = connect(task, federation, Run("base", 0, run_seed))
            theta, log = reference.Server(task, data, clients, 3, lambda *_: None).run(None, [run_seed])
            results.append(make_result(task, theta[0], log, 0))

        reference.run(Job(job, Path(), Path(), ()), work)
    return results


def model(build: Any, shape: tuple[int, ...] = (5,), classes: int | None = None, **options: Any) -> ModuleModel:
    return ModuleModel("my_net:build", build, shape, classes, **options)


@EVERY
def test_the_same_module_has_the_bits_of_the_built_in_model(name: str, synthetic: Federation) -> None:
    (plain,) = train(synthetic, "nets:linear", name, [1], initial="uniform")
    (ours,) = train(synthetic, "linear", name, [1])
    assert plain.weights_sha256 == ours.weights_sha256
    assert plain.metrics == ours.metrics
    assert plain.traffic == ours.traffic


def test_the_papers_cnn_as_a_plain_module_has_the_result_hash_of_the_reference_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, Any] = {"rounds": 2, "finetune_rounds": 1, "batch_size": 4, "prune_from": 0.5}
    page = (PROJECT / "docs" / "adding-a-model.md").read_text()
    (tmp_path / "paper_cnn.py").write_text(page.split("`paper_cnn.py`:")[1].split("```python\n")[1].split("```")[0])
    monkeypatch.syspath_prepend(tmp_path)
    (plain,) = train(random_images(), "paper_cnn:build", "eflops", [1], initial="uniform", **settings)
    (ours,) = train(random_images(), "cnn", "eflops", [1], **settings)
    assert ours.parameters == 44_426
    assert ours.dead_units.keys() == {"conv1", "conv2", "dense1", "dense2"}
    assert result_hash(plain) == result_hash(ours)


@EVERY
def test_flowers_client_and_the_reference_engine_agree_but_for_rounding(name: str, synthetic: Federation) -> None:
    settings: dict[str, Any] = {"batch_size": 4, "rounds": 4, "finetune_rounds": 2, "gated": ["0", "4"]}
    settings |= {"samples": 2} if name == "eflops" else {}
    (flower,) = train(synthetic, "nets:dropout", name, [1], **settings)
    (ours,) = train(synthetic, "nets:dropout", name, [1], engine="batched", **settings)
    assert flower.metrics == pytest.approx(ours.metrics, rel=1e-2, abs=1e-3)
    assert flower.traffic == ours.traffic


@EVERY
def test_ungated_parameters_are_trained_and_never_cut_nor_counted_in_the_density(
    name: str, synthetic: Federation
) -> None:
    settings: dict[str, Any] = {"gated": ["first"], "initial": "uniform", "prune_from": 0.25}
    results = [
        train(synthetic, "nets:split", name, [3], engine=each, **settings)[0] for each in ("batched", "reference")
    ]
    for result in results:
        assert result.parameters == 100
        assert len(result.support) == 9  # a tenth of the 93 gated parameters
        assert len(result.ungated) == 7
        assert 0 not in result.ungated
    fast, plain = results
    assert fast.support == plain.support
    assert fast.weights + fast.ungated == pytest.approx(plain.weights + plain.ungated, rel=1e-2, abs=1e-3)
    assert fast.traffic == plain.traffic


def test_ungated_parameters_are_sent_without_indices_and_gates(synthetic: Federation) -> None:
    settings: dict[str, Any] = {"gated": ["first"], "engine": "batched"}
    last = {
        name: train(synthetic, "nets:split", name, [1], **settings)[0].traffic["training"]["last_round"]
        for name in ("eflops", "fediht")
    }
    messages = 2 * 2  # two clients, down and up
    assert last["eflops"] == messages * wire.encoded_size(93, 9, vectors=2, numbers=2, ungated=7)
    assert last["fediht"] == messages * (wire.encoded_size(93, 9) + 4 + 4 * 7)


def test_a_networks_weights_are_not_compared_with_the_true_features(synthetic: Federation) -> None:
    (network,) = train(synthetic, "nets:dropout", "fedavg", [1], rounds=1, finetune_rounds=0)
    (linear,) = train(synthetic, "nets:linear", "fedavg", [1], rounds=1, finetune_rounds=0)
    assert "support_recovery" not in network.metrics
    assert "support_recovery" in linear.metrics


def test_a_run_does_not_depend_on_its_neighbours_and_comes_back_bit_for_bit(synthetic: Federation) -> None:
    for engine in ("batched", "reference"):
        both = train(synthetic, "nets:dropout", "eflops", [1, 2], engine=engine)
        torch.manual_seed(99)
        (alone,) = train(synthetic, "nets:dropout", "eflops", [2], engine=engine)
        assert both[1] == alone
        assert both[0].weights_sha256 != alone.weights_sha256


def test_dropout_follows_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    net = model(nets.dropout)
    x, y, theta = torch.randn(6, 5), torch.randn(6), net.module_initial(0)
    losses = {address: net.loss(theta, x, y, address).item() for address in np.ndindex(2, 2, 2, 2)}
    assert len(set(losses.values())) == 16
    assert net.loss(theta, x, y, (1, 0, 1, 0)).item() == losses[1, 0, 1, 0]


def test_other_random_numbers_of_a_module_follow_the_address_too() -> None:
    class Noisy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(5))

        def forward(self, x: Tensor) -> Tensor:
            return x @ self.weight + float(np.random.rand())

    net = model(lambda shape, classes: Noisy())
    arguments = net.module_initial(0), torch.ones(3, 5), torch.ones(3)
    assert net.loss(*arguments, (0, 0, 0, 1)) == net.loss(*arguments, (0, 0, 0, 1))
    assert net.loss(*arguments, (0, 0, 0, 1)) != net.loss(*arguments, (0, 0, 0, 2))


def test_metrics_are_measured_in_eval_mode_and_steps_are_taken_in_train_mode() -> None:
    net = model(nets.dropout)
    theta, rows = net.module_initial(0)[None], net.rows(np.ones((4, 5), np.float32), np.arange(4, dtype=np.float32))
    again = [net.measure(theta, rows)["mse"] for _ in range(2)]
    assert torch.equal(*again)
    assert not net.module.training
    net.loss(theta[0], rows.x, rows.y, (0, 0, 0, 0))
    assert net.module.training


def test_first_weights_are_the_modules_own_or_uniform() -> None:
    net = model(nets.dropout)
    with seeded(7, "first weights"):
        module = nets.dropout((5,), None)
    flat = torch.cat([part.detach().reshape(-1) for part in module.parameters()])
    assert torch.equal(net.module_initial(7), flat)
    assert not torch.equal(net.module_initial(8), flat)
    first = net.initial(7)
    assert first[:40].abs().max() <= 5**-0.5
    assert torch.equal(first[48:64], torch.cat([torch.ones(8), torch.zeros(8)]))  # a norm starts as torch starts it


def test_named_modules_alone_are_gated() -> None:
    net = model(nets.dropout, gated=["0", "4.weight"])
    assert net.names == ["0.weight", "0.bias", "4.weight", "1.weight", "1.bias", "4.bias"]
    assert (net.size, net.gated) == (40 + 8 + 8 + 8 + 8 + 1, 56)
    assert [(layer.name, layer.start, layer.stop) for layer in net.layers] == [("0", 0, 48), ("4", 48, 56)]


def test_shared_weights_count_once_and_are_gated_under_either_name() -> None:
    net = model(nets.tied)
    assert net.size == 25 + 5 + 5 + 6
    assert model(nets.tied, gated=["second"]).gated == 25 + 5
    assert net.macs(np.ones(net.size, bool)).operations == {}  # the counter does not know whose weights they are


def test_operations_of_a_chain_leave_dead_units_out_and_others_do_not() -> None:
    net = model(nets.cnn, (1, 28, 28), 10)
    kept = np.ones(net.size, bool)
    assert net.macs(kept).operations == {
        "conv1": 86_400, "conv2": 153_600, "dense1": 30_720, "dense2": 10_080, "dense3": 840
    }  # fmt: skip
    kept[net.starts["dense3.weight"] :] = False
    assert sum(net.macs(kept).operations.values()) == 0
    other = model(nets.residual, (1, 28, 28), 10)
    everything = other.macs(np.ones(other.size, bool))
    assert everything.operations == {"0": 100 * 36, "1.conv": 144 * 36, "4": 160}
    assert everything.dead_units == {}
    kept = np.ones(other.size, bool)
    kept[other.starts["1.conv.weight"]] = False
    assert other.macs(kept).operations["1.conv"] == 143 * 36


def test_operations_that_no_layer_has_are_unknown() -> None:
    class Product(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(5, 5))

        def forward(self, x: Tensor) -> Tensor:
            return (x @ self.weight).sum(1)

    assert model(lambda shape, classes: Product()).macs(np.ones(25, bool)).operations == {}


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cells, self.head = nn.LSTM(1, 4, batch_first=True), nn.Linear(4, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.cells(x[:, :, None])[0][:, -1])


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.head = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), nn.Linear(20, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layer(x[:, :, None].expand(-1, -1, 4)).flatten(1))


class OwnAttention(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        parts = x[:, None, :, None]
        return super().forward(nn.functional.scaled_dot_product_attention(parts, parts, parts).flatten(1))


class Scores(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + (x @ x.new_ones(5))[:, None]


class OverRows(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(nn.functional.batch_norm(x, None, None, training=True))


@pytest.mark.parametrize("kind", [Recurrent, Attention, OwnAttention, Scores, OverRows])
def test_operations_that_torchs_counter_does_not_see_are_unknown(kind: Any) -> None:
    net = model(lambda shape, classes: kind(5, 1) if issubclass(kind, nn.Linear) else kind())
    assert net.macs(np.ones(net.size, bool)).operations == {}


def test_a_module_that_is_one_layer_has_operations_too() -> None:
    assert model(lambda shape, classes: nn.Linear(5, 1)).macs(np.ones(6, bool)).operations == {"module": 5}


def test_the_users_loss_and_metrics_are_taken() -> None:
    def loss(output: Tensor, y: Tensor) -> Tensor:
        return (output[:, 0] - y).abs().mean()

    net = model(nets.linear, loss=loss, metrics=lambda output, y: {"mae": loss(output, y)})
    theta, rows = torch.zeros(1, 5), net.rows(np.ones((4, 5), np.float32), np.arange(4, dtype=np.float32))
    assert net.loss(theta[0], rows.x, rows.y, (0, 0, 0, 0)).item() == 1.5
    metrics = net.measure(theta, rows)
    assert metrics["mae"].item() == 1.5
    assert metrics["mse"].item() == 3.5
    assert metrics["r2"].item() == pytest.approx(1 - 3.5 / 1.25)


def test_an_output_of_another_shape_is_measured_by_the_users_loss_and_metrics(synthetic: Federation) -> None:
    (result,) = train(synthetic, "likelihood_net:build", "eflops", [0], rate=0.001)
    assert result.status == "finished"
    assert {"loss", "spread"} <= result.metrics.keys()
    assert not {"r2", "mse"} & result.metrics.keys()
    assert result.curve.metrics["loss"][-1] < result.curve.metrics["loss"][0]


def wrong_loss(output: Tensor, y: Tensor) -> Tensor:
    return output


class Frozen(nn.Linear):
    def __init__(self) -> None:
        super().__init__(5, 1)
        self.bias.requires_grad_(False)


class ChangesItsInput(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.mul_(2))


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    (nets.batch_norm, {}, "training changes its buffers 1.running_mean, .*torch.nn.GroupNorm"),
    (lambda shape, classes: nn.Linear(3, 1), {}, "a step on rows of shape .2, 5. fails"),
    (lambda shape, classes: 1 / 0, {}, r"build.*fails .test_modules.py, line \d+, ZeroDivisionError"),
    (lambda shape, classes: 3, {}, "should return a torch.nn.Module, but returned int"),
    (lambda shape, classes: nn.Identity(), {}, "no parameters to train"),
    (lambda shape, classes: nn.LazyLinear(1), {}, "state the input size"),
    (lambda shape, classes: nn.Linear(5, 1).double(), {}, "must be torch.float32"),
    (lambda shape, classes: Frozen(), {}, "bias is frozen"),
    (lambda shape, classes: ChangesItsInput(5, 1), {}, "changes its input in place"),
    (lambda shape, classes: nn.Linear(5, 3), {"classes": 4}, "has shape .2, 3.; give .rows, 4."),
    (nets.linear, {"gated": ["head"]}, "there is no head with parameters; the module has 0"),
    (nets.linear, {"gated": []}, "it names no module"),
    (nets.linear, {"loss": wrong_loss}, "a tensor of one number, not one of shape .2, 1.."),
    (nets.linear, {"loss": lambda output, y: 1.0}, "a tensor of one number, not float"),
]


@pytest.mark.parametrize(("build", "options", "right"), REFUSED, ids=[right for _, _, right in REFUSED])
def test_what_a_module_cannot_do_is_refused_in_a_sentence(build: Any, options: dict[str, Any], right: str) -> None:
    with pytest.raises(UserError, match=right):
        model(build, **options)


def test_constant_buffers_are_allowed() -> None:
    class Positions(nn.Linear):
        def __init__(self) -> None:
            super().__init__(5, 1)
            self.register_buffer("positions", torch.arange(5.0))

        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x + self.positions)

    assert model(lambda shape, classes: Positions()).size == 6


def test_built_in_models_have_no_first_weights_of_a_module(synthetic: Federation) -> None:
    with pytest.raises(UserError, match="initial: module"):
        train(synthetic, "linear", "fedavg", [1], engine="batched", initial="module")
