"""Gates that weights share: groups, constraint, cut and gradient, and a network that really shrinks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import gathered
from eflops.analysis.source import Source
from eflops.cli import main
from eflops.config.cell import CellSpec
from eflops.config.load import check, read
from eflops.config.messages import ConfigError
from eflops.config.plan import cell_specs
from eflops.config.settings import GatedSettings, settings_class
from eflops.data.federation import Federation, save
from eflops.data.job import Job
from eflops.errors import UserError
from eflops.files import PROJECT
from eflops.provenance.audit.results import contradictions, whole
from eflops.provenance.network import without_dead_units
from eflops.results.labels import Run
from eflops.results.store import Store
from eflops.training.engines import reference
from eflops.training.engines.single import Problem
from eflops.training.groups import Groups, groups_of
from eflops.training.messages import encode
from eflops.training.models.base import Layer
from eflops.training.models.network import cnn_stages
from eflops.training.modules import ModuleModel, built_in
from eflops.training.train import train
from made import made, product_of, texts
from small_problems import random_images, train_reference, train_runs

PICTURE, CLASSES = (1, 28, 28), 10
STAGES = cnn_stages(PICTURE, CLASSES)
KEPT = 4442


@pytest.fixture(scope="module")
def cnn() -> ModuleModel:
    return built_in("cnn", PICTURE, {"classes": CLASSES})


def problem(model: ModuleModel, target: int = 3, rows: int = 5, **settings: Any) -> Problem:
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(rows, *model.shape, generator=draw)
    y = torch.arange(rows) % (model.classes or 1)
    return Problem(model, [(x, y)], 1, target, GatedSettings(**settings), 0)


def softmax(features: int, intercept: bool = False) -> ModuleModel:
    return built_in("softmax", (features,), {"classes": 2, "intercept": intercept})


def test_the_cnn_has_a_gate_for_each_channel_unit_and_input_of_the_first_dense_layer(cnn: ModuleModel) -> None:
    groups = groups_of(cnn, "unit")
    sizes = groups.sizes.int().tolist()
    assert sizes == [26] * 6 + [151] * 16 + [120] * 256 + [85] * 120 + [11] * 84 + [1] * 10
    assert sum(sizes) == cnn.gated
    layers = {layer.name: groups.gate[layer.start : layer.stop] for layer in cnn.layers}
    hidden, behind = STAGES[2], STAGES[3]
    first_unit = groups.gate[hidden.biases][0]
    # A hidden unit's gate: its bias, and the weights that leave it.
    assert (groups.gate[behind.weights].view(behind.units, -1)[:, 0] == first_unit).all()
    assert layers["conv1"].unique().tolist() == [0, 1, 2, 3, 4, 5]


def test_a_linear_model_has_a_gate_for_each_feature_over_all_classes() -> None:
    assert groups_of(softmax(4, intercept=True), "feature").gate.tolist() == [0, 1, 2, 3] * 2
    assert groups_of(softmax(4), "weight") is None


def test_units_of_an_own_chain_of_dense_layers_in_any_order_of_definition() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.last, self.first = nn.Linear(2, 3), nn.Linear(4, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.last(self.first(x).relu())

    model = ModuleModel("net", lambda shape, classes: Net(), (4,), 3)
    groups = groups_of(model, "unit")
    assert sorted(groups.sizes.tolist()) == [1, 1, 1, 2, 2, 2, 2, 4, 4]
    gates = {name: groups.gate[start : start + model.shapes[name].numel()] for name, start in model.starts.items()}
    assert gates["first.bias"].tolist() == gates["last.weight"].view(3, 2)[0].tolist()


def test_models_without_such_groups_are_refused(cnn: ModuleModel) -> None:
    for model, gates in ((softmax(4), "unit"), (cnn, "feature")):
        with pytest.raises(UserError, match=rf"gates: {gates} is for a .*, and the model {model.name} is not."):
            groups_of(model, gates)


def test_the_constraint_counts_weights(cnn: ModuleModel) -> None:
    run = problem(cnn, gates="unit")
    phi = torch.zeros(run.gates)
    share = reference.active(torch.zeros(1)).item()
    assert reference.open_weights(run, phi).item() == pytest.approx(share * 44_426, rel=1e-5)
    phi[:6] = 100.0  # the gates of the first layer, 26 weights each
    expected = share * (44_426 - 156) + 156
    assert reference.open_weights(run, phi).item() == pytest.approx(expected, rel=1e-5)
    assert reference.watched(run, phi, torch.zeros(()))["open_gates"].item() == pytest.approx(expected, rel=1e-5)


def test_a_cut_keeps_whole_groups_of_the_largest_mean_square() -> None:
    groups = Groups(torch.tensor([0, 1, 1, 1, 2, 2]), (Layer("one", 0, 4), Layer("two", 4, 6)))
    weights = torch.tensor([5.0, 3.0, -3.0, 3.0, 0.1, 4.0])  # mean squares 25, 9 and 8
    assert groups.top(weights, 4).tolist() == [True] * 4 + [False] * 2
    assert groups.top(weights, 5).tolist() == [True] * 4 + [False] * 2
    assert groups.top(weights, 3).tolist() == [True] + [False] * 5
    assert groups.top(weights, 3, floor=0.25).tolist() == [True] + [False] * 3 + [True] * 2


@pytest.mark.parametrize("floor", [0.0, 0.015])
def test_a_cut_of_the_cnn_keeps_whole_groups_and_at_most_m_weights(cnn: ModuleModel, floor: float) -> None:
    run = problem(cnn, KEPT, gates="unit", layer_floor=floor)
    magnitude = torch.rand(cnn.size, generator=torch.Generator().manual_seed(1))
    magnitude[: cnn.layers[0].stop] *= 1e-3
    kept = reference.top(run, magnitude, KEPT)
    counts = torch.bincount(run.groups.gate[kept], minlength=run.gates)
    assert set(zip(counts.tolist(), run.groups.sizes.int().tolist(), strict=True)) <= {
        *((0, size) for size in (1, 11, 26, 85, 120, 151)),
        *((size, size) for size in (1, 11, 26, 85, 120, 151)),
    }
    assert KEPT - 151 < kept.sum() <= KEPT
    for layer in cnn.layers:
        assert kept[layer.start : layer.stop].sum() >= floor * (layer.stop - layer.start)
    assert kept[: cnn.layers[0].stop].any() == (floor > 0)


def test_a_shared_gate_moves_by_the_mean_over_its_weights() -> None:
    """One step of phi against the chain rule by hand; autograd gives the loss's gradient by the weights alone."""
    model = softmax(3)
    run = problem(model, target=2, gates="feature", local_steps=1, temperature=0.0, gate_rate=0.1, multiplier_rate=0.3)
    theta, phi, lam = torch.tensor([0.5, -0.4, 0.3, 0.2, 0.7, -0.6]), torch.tensor([0.1, 0.4, -0.3]), torch.tensor(0.2)
    _, moved, multiplier = reference.gated_steps(run, theta, phi, lam, 0, 0)
    noise = next(run.gate_noise(0, 0))
    s = torch.sigmoid((phi + noise) / reference.BETA)
    z = s * 1.2 - 0.1
    assert ((z > 0) & (z < 1)).all(), "no gate is clipped here, so each has a gradient"
    weights = (theta * z.repeat(2)).requires_grad_()
    with torch.enable_grad():
        (by_weight,) = torch.autograd.grad(next(run.losses(0, 0, 1))(weights), weights)
    by_gate = (by_weight * theta).view(2, 3).sum(0) * 1.2 * s * (1 - s) / reference.BETA
    p = reference.active(phi)
    expected = phi - 0.1 * (by_gate / 2 + lam * p * (1 - p))
    assert moved.tolist() == pytest.approx(expected.tolist(), abs=1e-6)
    assert multiplier.item() == pytest.approx(0.2 + 0.3 / 6 * (2 * p.sum().item() - 2), abs=1e-6)


def test_groups_of_one_weight_are_gates_of_weights_bit_for_bit(synthetic: Federation) -> None:
    plain, shared = (
        train_reference(synthetic, "linear", "eflops", 1, gates=gates)[0] for gates in ("weight", "feature")
    )
    assert torch.equal(plain, shared)


def test_a_run_keeps_whole_features_and_sends_fewer_gates(golub: Federation) -> None:
    settings = {"rounds": 3, "local_steps": 1, "batch_size": 4, "prune_from": 0.6, "finetune_rounds": 1}
    theta, log = train_reference(golub, "softmax", "eflops", 1, gates="feature", **settings)
    features = golub.test.x.shape[1]
    kept = theta[0].nonzero()[:, 0]
    assert sorted(kept.tolist()) == sorted({*(kept % features).tolist(), *(kept % features + features).tolist()})
    assert 0 < len(kept) <= 7
    _, by_weight = train_reference(golub, "softmax", "eflops", 1, **settings)
    assert log.traffic["training"]["up"] < by_weight.traffic["training"]["up"] * 0.8
    run = problem(softmax(features), 14, gates="feature")
    for keep in (None, 14):
        sent = reference.gated_message(run, torch.randn(2 * features), torch.rand(features), torch.zeros(()), keep)
        message = sent.message(0)
        assert message.sizes(2 * features)[0].tolist() == [len(encode(message, 2 * features))]


def test_other_engines_do_not_train_them(synthetic: Federation) -> None:
    with pytest.raises(UserError, match="gates: feature is trained by the reference engine alone"):
        train_runs(synthetic, "linear", "eflops", [1], gates="feature")


def test_an_experiment_with_shared_gates_plans_the_reference_engine() -> None:
    config = read(PROJECT / "config.yaml")
    for name in ("golub_groups", "mnist_groups"):
        by_weight, shared = cell_specs(config, name)
        assert (by_weight.engine, shared.engine) == ("batched", "reference")
        (settings,) = shared.variants.values()
        assert settings.gates == {"golub_groups": "feature", "mnist_groups": "unit"}[name]
        # Records of weights' own gates do not mention them.
        assert "gates" not in by_weight.variants["base"].model_dump()
        again = CellSpec.model_validate_json(shared.text())
        assert again.variants["base"] == settings


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"settings": {"gates": "unit"}}, "gates: unit is wrong for eflops; the model softmax can have feature"),
        ({"settings": {"gates": "feature", "feedback": 0.1}}, "with feedback each weight has its own"),
        ({"vary": {"gates": ["weight", "unit"]}}, "the model softmax can have feature"),
        ({"settings": {"gates": "gene"}}, "gates"),
    ],
)
def test_a_config_that_cannot_share_gates_is_refused(change: dict[str, Any], message: str) -> None:
    data = {"kind": "expression", "matrix": "resources/golub/expression.csv.gz"}
    method = {"method": "eflops", "label": "E-FLoPS"}
    experiment = {"dataset": "data", "methods": ["eflops"], **change}
    with pytest.raises(ConfigError, match=message):
        check({"datasets": {"data": data}, "methods": {"eflops": method}, "experiments": {"mine": experiment}})


def dense_and_small(model: ModuleModel, theta: Tensor) -> tuple[Tensor, Tensor, nn.Sequential]:
    """Outputs of the whole network and of the one without dead units, and the latter."""
    small = without_dead_units(STAGES, theta.numpy())
    x = torch.rand(9, *PICTURE, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        return model.output(theta, x, False), small(x), small


@pytest.mark.parametrize("share", [1.0, 0.02, 0.01, 0.005, 0.0])
def test_a_network_without_its_dead_units_has_the_same_outputs(cnn: ModuleModel, share: float) -> None:
    draw = torch.Generator().manual_seed(3)
    theta = torch.randn(cnn.size, generator=draw) * 0.2 * (torch.rand(cnn.size, generator=draw) < share)
    theta[-CLASSES:] = torch.randn(CLASSES, generator=draw)
    outputs, small, _ = dense_and_small(cnn, theta)
    assert torch.allclose(outputs, small, atol=1e-5)


def test_units_behind_closed_gates_are_physically_gone(cnn: ModuleModel) -> None:
    theta = torch.randn(cnn.size, generator=torch.Generator().manual_seed(4)) * 0.2
    for stage, closed in zip(STAGES, (4, 13, 226, 100, 60), strict=True):
        first = groups_of(cnn, "unit").gate[stage.start]
        theta[(groups_of(cnn, "unit").gate >= first) & (groups_of(cnn, "unit").gate < first + closed)] = 0
    outputs, small, network = dense_and_small(cnn, theta)
    assert torch.allclose(outputs, small, atol=1e-5)
    assert outputs.std(0).min() > 1e-3, "the network sees its images, so that equal outputs mean something"
    dense = [layer for layer in network if isinstance(layer, nn.Linear)]
    assert [layer.in_features for layer in dense] < [256, 120, 84]
    assert sum(part.numel() for part in network.parameters()) < KEPT


def test_eflops_model_writes_a_network_that_torch_alone_reads(tmp_path: Path, cnn: ModuleModel) -> None:
    federation = random_images()
    data = tmp_path / "results/data/pictures/all-draw0"
    save(federation, data, {"kind": "mnist", "ratio": "all", "draw": 0})
    chosen = settings_class("eflops").model_validate(
        {"gates": "unit", "rounds": 2, "finetune_rounds": 1, "prune_from": 1.0, "layer_floor": 0.015, "batch_size": 3}
    )
    spec = CellSpec.model_validate({
        "experiment": "mine", "dataset": "pictures", "model": "cnn", "density": 0.1, "client_fraction": 1.0,
        "ratio": "all", "name": "eflops_units", "method": "eflops", "options": {}, "pooled": False,
        "engine": "reference", "evaluate_every": 100, "variants": {"base": chosen},
    })  # fmt: skip
    job = Job(spec, tmp_path / "results/data", tmp_path / "results/runs" / spec.folder, (Run("base", 0, 0),))
    train(job, lambda _: lambda *_: None)
    record = Store(tmp_path / "results").record("mine/all/eflops_units/base/draw0-seed0.json")
    assert list(contradictions(record, 2)) == []
    out = tmp_path / "small.pt2"
    assert (
        main(["model", "mine", "--method", "eflops_units", "--results", str(tmp_path / "results"), "--out", str(out)])
        == 0
    )
    x = torch.from_numpy(federation.test.x)
    with torch.no_grad():
        expected = cnn.output(torch.from_numpy(whole(record.result)), x, False)
        program = torch.export.load(out).module()
        for rows in (slice(None), slice(1)):
            assert torch.allclose(program(x[rows]), expected[rows], atol=1e-5)
    assert sum(part.numel() for part in program.state_dict().values()) < KEPT + 300


def test_the_table_of_whole_genes_has_the_runs_that_all_rows_have(tmp_path: Path) -> None:
    config = read(PROJECT / "config.yaml", PROJECT / "config/smoke.yaml")
    gathered.write(config, tmp_path, product_of(config, "golub_groups").experiments)
    table = made(config, "golub_groups", Source(tmp_path))
    printed = texts(table)
    assert printed["Gates"].tolist()[-1] == "a gate per gene (ours), 7 genes"
    assert table.data["n"].tolist() == [2, 2, 2]  # draws 0 and 1 at seed 0; golub_splits has more
    runs = Source(tmp_path).runs("golub_groups")
    expected = runs[runs["method"] == "eflops_features"]["accuracy"].mean()
    assert table.data["accuracy_mean"].iloc[2] == pytest.approx(expected)
    assert np.isfinite(table.data["nogueira"]).all()
