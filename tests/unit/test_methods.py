"""Every method passes the same battery."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import pytest
import torch

from eflops import trust
from eflops.config.settings import GatedSettings, TrainingSettings, settings_class
from eflops.data.federation import Federation
from eflops.errors import UserError
from eflops.training.messages import Message, Part
from eflops.training.methods.base import State, Task, Upload, Work, average, check_message, clipped
from eflops.training.methods.cut import CutSchedule, top
from eflops.training.methods.eflops import Method
from eflops.training.methods.fedavg import Method as FedAvg
from eflops.training.methods.settings import RunSettings
from eflops.training.models.base import Layer
from eflops.training.models.linear import Linear
from eflops.training.numerics import wire
from eflops.training.numerics.selection import compress, median
from eflops.training.rounds import sampled_clients
from small_problems import GATED, METHODS, train_runs

EVERY = pytest.mark.parametrize("name", METHODS)


@pytest.fixture(autouse=True)
def trusted() -> Iterator[None]:
    """The methods of this file are ours."""
    with trust.session():
        trust.allow_all()
        yield


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Equal bits; where there is no number, none on either side."""
    return torch.equal(one.nan_to_num(-1), other.nan_to_num(-1))


@EVERY
@pytest.mark.parametrize("model", ["linear", "softmax"])
@pytest.mark.parametrize("batch_size", [None, 4])
def test_a_runs_bits_do_not_depend_on_the_runs_beside_it(
    name: str, model: str, batch_size: int | None, synthetic: Federation, golub: Federation
) -> None:
    federation = synthetic if model == "linear" else golub
    settings = {"batch_size": batch_size, "rounds": 6, "finetune_rounds": 2}
    together, log = train_runs(federation, model, name, range(30), **settings)
    for seeds in ([7], [11, 7], [29, *range(10)]):
        theta, other = train_runs(federation, model, name, seeds, **settings)
        for row, seed in enumerate(seeds):
            assert torch.equal(theta[row], together[seed])
            for point, expected in zip(other.curve, log.curve, strict=True):
                assert all(same(point[metric][row], expected[metric][seed]) for metric in expected)


@EVERY
def test_runs_with_other_settings_share_a_batch_and_keep_their_bits(name: str, synthetic: Federation) -> None:
    gated = name in GATED
    changes: list[dict[str, Any]] = [
        {"rate": 0.03, "clip": 5.0},
        {"rate": 0.07, "clip": 50.0, "finetune_rate": 0.01},
        {"rate": 0.05, "clip": 9.0, **({"gate_rate": 0.9, "temperature": 0.3, "rho_init": 0.7} if gated else {})},
        {"rate": 0.05, "clip": 9.0, **({"temperature_decay": 0.9, "multiplier_rate": 1.0} if gated else {})},
    ]
    together, _ = train_runs(synthetic, "linear", name, [3, 3, 4, 5], changes)
    for row, (seed, change) in enumerate(zip([3, 3, 4, 5], changes, strict=True)):
        alone, _ = train_runs(synthetic, "linear", name, [seed], **change)
        assert torch.equal(together[row], alone[0])
    with pytest.raises(ValueError, match="must have the same rounds"):
        train_runs(synthetic, "linear", name, [0, 1], [{"rounds": 3}, {"rounds": 4}])


@EVERY
def test_the_final_model_keeps_exactly_the_target(name: str, synthetic: Federation) -> None:
    theta, _ = train_runs(synthetic, "linear", name, range(3))
    assert (theta != 0).sum(1).tolist() == [10, 10, 10]


@EVERY
def test_training_finds_more_of_the_truth_than_chance(name: str, synthetic: Federation) -> None:
    _, log = train_runs(synthetic, "linear", name, range(3), rounds=60, local_steps=3)
    assert log.curve[-1]["support_recovery"].mean() > 0.5
    assert log.curve[-1]["r2"].mean() > 0.3


@EVERY
def test_pooled_training_is_a_federation_of_one(name: str, synthetic: Federation) -> None:
    _, log = train_runs(synthetic.pooled(), "linear", name, [0], rounds=60, local_steps=3)
    assert log.curve[-1]["support_recovery"].item() > 0.6
    assert log.traffic["training"]["messages"] == 2 * 60


@EVERY
def test_a_diverged_run_is_noted_and_leaves_the_others_alone(name: str, synthetic: Federation) -> None:
    _, log = train_runs(synthetic, "linear", name, range(4), rate=1e6, rounds=30)
    assert set(log.diverged) == {0, 1, 2, 3}
    assert all(0 < round_ <= 30 for round_ in log.diverged.values())


@EVERY
def test_clipping_keeps_a_wild_rate_from_diverging(name: str, synthetic: Federation) -> None:
    _, log = train_runs(synthetic, "linear", name, range(2), rate=50.0, clip=0.01)
    assert not log.diverged


@EVERY
@pytest.mark.parametrize("weighting", ["samples", "uniform"])
def test_weights_of_the_asked_clients_add_up_to_one(name: str, weighting: str, synthetic: Federation) -> None:
    theta, _ = train_runs(synthetic, "linear", name, [0], weighting=weighting)
    assert theta.isfinite().all()


@EVERY
def test_the_curve_ends_with_the_last_round_of_each_phase(name: str, synthetic: Federation) -> None:
    _, log = train_runs(synthetic, "linear", name, [0])
    assert log.marks == [
        *[("training", round_) for round_ in (1, 4, 7, 10, 12)],
        *[("finetuning", round_) for round_ in (13, 15)],
    ]


def test_entropy_changes_the_run_and_zero_temperature_is_flops(synthetic: Federation) -> None:
    plain, _ = train_runs(synthetic, "linear", "flops", [0])
    zero, _ = train_runs(synthetic, "linear", "eflops", [0], temperature=0.0)
    warm, _ = train_runs(synthetic, "linear", "eflops", [0], temperature=1.0)
    decayed, _ = train_runs(synthetic, "linear", "eflops", [0], temperature=1.0, temperature_decay=0.5)
    assert torch.equal(plain, zero)
    assert not torch.equal(plain, warm)
    assert not torch.equal(warm, decayed)


@pytest.mark.parametrize(
    "change",
    [
        {"gate_recovery": "paper"},
        {"gate": "louizos"},
        {"prior": "init"},
        {"samples": 2},
        {"sparse_upload": False},
        {"phi_limit": 0.1},
        {"multiplier_rate": 5.0},
        {"rho_init": 0.2},
    ],
    ids=lambda change: ",".join(change),
)
def test_every_gate_setting_has_an_effect(change: dict[str, Any], synthetic: Federation) -> None:
    plain, plain_tally = train_runs(synthetic, "linear", "eflops", [0], temperature=0.5, prune_from=0.0)
    other, log = train_runs(synthetic, "linear", "eflops", [0], temperature=0.5, prune_from=0.0, **change)
    assert not torch.equal(plain, other) or log.curve[0]["r2"] != plain_tally.curve[0]["r2"]


def test_the_cut_keeps_the_largest_and_a_share_of_every_layer() -> None:
    layers = (Layer("a", 0, 3), Layer("b", 3, 5))
    magnitude = torch.tensor([[5.0, -4.0, 3.0, 1.0, -2.0]])
    assert top(magnitude, 2, layers).nonzero()[:, 1].tolist() == [0, 1]
    assert top(magnitude, 9, layers).sum() == 5
    assert top(magnitude, 3, layers, floor=0.5).nonzero()[:, 1].tolist() == [0, 1, 4]


def test_the_schedule_is_dense_before_the_prune_start_and_can_shrink() -> None:
    constant = CutSchedule(RunSettings([TrainingSettings(rounds=10, prune_from=0.5)]), 100, 5)
    assert [constant.keep(round_) for round_ in (0, 4, 5, 9)] == [None, None, 5, 5]
    assert CutSchedule(RunSettings([TrainingSettings(rounds=100, prune_from=0.29)]), 100, 5).start == 29
    settings = TrainingSettings(rounds=10, prune_from=0.5, keep_schedule="shrinking")
    shrinking = CutSchedule(RunSettings([settings]), 100, 5)
    kept = [shrinking.keep(round_) for round_ in range(10)]
    assert kept == sorted(kept, reverse=True)
    assert kept[0] < 100
    assert kept[5:] == [5] * 5


def gated_message(theta: torch.Tensor, z: torch.Tensor, lam: float) -> Message:
    return Message({"theta": Part(theta), "gates": Part(z)}, {"multiplier": torch.tensor([lam])})


def test_the_server_averages_effective_weights_and_divides_by_the_gates() -> None:
    task = Task(Linear(64), 1, RunSettings([GatedSettings(prune_from=1.0, rounds=4)]))
    method = Method(task)
    state = method.start([0])
    values, z = torch.full((1, 64), 2.0), torch.full((1, 64), 0.25)
    other, high = torch.full((1, 64), 4.0), torch.full((1, 64), 0.75)
    uploads = [
        Upload(torch.tensor([0]), torch.tensor([0.5]), gated_message(values, z, 1.0)),
        Upload(torch.tensor([0]), torch.tensor([0.5]), gated_message(other, high, 3.0)),
    ]
    new = method.aggregate(state, uploads, 0)
    assert torch.allclose(new["gates"], torch.tensor(0.5))
    assert torch.allclose(new["theta"], torch.tensor((2.0 * 0.25 + 4.0 * 0.75) / 2 / 0.5))
    assert new["multiplier"].item() == 2.0


def test_weights_behind_closed_gates_keep_their_order() -> None:
    method = Method(Task(Linear(4), 2, RunSettings([GatedSettings()])))
    theta, z = torch.tensor([[1.0, 2.0, -3.0, 4.0]]), torch.tensor([[0.05, 0.04, 0.05, 0.9]])
    weights = method.effective({"theta": theta, "gates": z})[0]
    assert weights.abs().argsort(descending=True).tolist() == [3, 2, 1, 0]
    assert weights[:3].abs().max() < 1e-6
    assert weights[3] > 3


def test_gates_off_the_support_travel_as_their_average() -> None:
    method = Method(Task(Linear(4), 1, RunSettings([GatedSettings(prune_from=0.0)])))
    theta, z = torch.tensor([[1.0, 9.0, 1.0, 1.0]]), torch.tensor([[0.3, 0.9, 0.6, 0.0]])
    sent = method._message(theta, z, torch.zeros(1), 0, True)
    assert sent["theta"][0].tolist() == [0.0, 9.0, 0.0, 0.0]
    common = sent.parts["gates"].common
    assert common is not None
    assert common.item() == pytest.approx(0.3)
    assert sent["gates"][0].tolist() == pytest.approx([0.3, 0.9, 0.3, 0.3])


def test_answers_are_added_up_with_their_weights() -> None:
    uploads = [
        Upload(torch.tensor([0, 1]), torch.tensor([0.25, 1.0]), Message({"theta": Part(torch.tensor([[4.0], [3.0]]))})),
        Upload(torch.tensor([0]), torch.tensor([0.75]), Message({"theta": Part(torch.tensor([[8.0]]))})),
    ]
    assert average(uploads, "theta", torch.zeros(2, 1)).flatten().tolist() == [7.0, 3.0]


@pytest.mark.parametrize("name", [name for name in METHODS if not name.endswith("_feedback")])
def test_traffic_is_the_size_of_the_messages_really_sent(name: str, synthetic: Federation) -> None:
    _, log = train_runs(synthetic, "linear", name, [0], prune_from=0.5)
    dense, sparse = wire.encoded_size(100, 100, dense=True), wire.encoded_size(100, 10)
    dense_gated, sparse_gated = wire.encoded_size(100, 100, 2, 1, dense=True), wire.encoded_size(100, 10, 2, 2)
    selected = math.floor(0.6 * 4)
    cut, cut_gated = (
        (7 * whole + 5 * part, 6 * whole + 6 * part) for whole, part in ((dense, sparse), (dense_gated, sparse_gated))
    )
    down, up = {
        "fedavg": (12 * dense, 12 * dense),
        "feddualavg": (12 * (dense + 4), 12 * (dense + 4)),
        "fediht": cut,
        "fediterht": cut,
        "eflops": cut_gated,
        "flops": cut_gated,
    }[name]
    assert (log.traffic["training"]["down"], log.traffic["training"]["up"]) == (selected * down, selected * up)
    assert log.traffic["finetuning"]["up"] == selected * 3 * wire.encoded_size(100, 10, implicit=True)


@pytest.mark.parametrize(("name", "vectors"), [("eflops_feedback", 2), ("fedavg_feedback", 1)])
def test_messages_that_a_client_missed_are_counted_with_its_next_one(
    name: str, vectors: int, synthetic: Federation
) -> None:
    _, log = train_runs(synthetic, "linear", name, [0, 1], rounds=30)
    # 15 entries a vector; with gates a multiplier beside theta and a common value beside phi.
    message = sum(wire.encoded_size(100, 15, 1, int(vectors > 1)) for _ in range(vectors))
    for row, seed in enumerate((0, 1)):
        missed, down = dict.fromkeys(range(4), 0), 0
        for round_ in range(30):
            for client in range(4):
                missed[client] += 1
            for client in sampled_clients((seed,), round_, 4, 2)[0].tolist():
                down += missed.pop(client) * message
                missed[client] = 0
        assert log.traffic["training"]["down"][row] == down
        assert log.traffic["training"]["up"][row] == 30 * 2 * message
        assert log.curve[-1]["bytes_sent"][row] == sum(
            log.traffic[phase][way][row] for phase in ("training", "finetuning") for way in ("down", "up")
        )
    assert log.traffic["training"]["down"][0] != log.traffic["training"]["down"][1]


@pytest.mark.parametrize("drift", [False, True])
def test_a_compressed_vector_and_its_rest_add_up(drift: bool) -> None:
    values = torch.randn(3, 101, generator=torch.Generator().manual_seed(0)) + 5 * drift
    sent, marks, rest = values.clone(), torch.empty(3, 101, dtype=torch.bool), torch.empty(3, 101)
    common = torch.empty(3)
    compress(sent.numpy(), 7, 100, drift, marks.numpy(), common.numpy(), rest.numpy())
    assert marks.sum(1).tolist() == [8, 8, 8], "seven entries and the ungated one"
    centre = values[:, :100].sort(1).values[:, 50] if drift else torch.zeros(3)
    far = (values[:, :100] - centre[:, None]).abs().topk(7).indices
    assert marks.gather(1, far).all()
    assert torch.equal(sent[marks], values[marks])
    assert torch.equal(values - sent, rest)
    for row in range(3):
        assert common[row].item() == pytest.approx(values[row][~marks[row]].mean().item() if drift else 0, abs=1e-6)
        assert (sent[row][~marks[row]] == common[row]).all()


def test_the_median_is_that_of_sorting() -> None:
    draw = torch.Generator().manual_seed(1)
    for count in (1, 2, 5, 100, 1001):
        values = torch.randn(count, generator=draw) - 0.3
        assert median(values.numpy()) == values.sort().values[count // 2]


@pytest.mark.parametrize("name", ["Counting", "Shifting"])
def test_memory_and_views_belong_to_a_run_and_a_client(name: str, synthetic: Federation) -> None:
    changes = [{"rate": 0.01 * (seed + 1)} for seed in range(4)]
    together, _ = train_runs(synthetic, "linear", f"stateful:{name}", range(4), changes)
    for seed, change in enumerate(changes):
        alone, _ = train_runs(synthetic, "linear", f"stateful:{name}", [seed], **change)
        assert torch.equal(together[seed], alone[0])
    plain, _ = train_runs(synthetic, "linear", "fedavg", [3], **changes[3])
    assert not torch.equal(together[3], plain[0])


class Hoarding(FedAvg):
    """Federated averaging whose clients remember on the method itself."""

    def __init__(self, task: Task, **options: Any) -> None:
        super().__init__(task)
        self.rest: dict[int, Any] = {}

    def update(self, received: Message, work: Work) -> Message:
        sent = super().update(received, work)
        self.rest[work.client] = sent["theta"].clone()
        return sent


class HoardingOnItsClass(Hoarding):
    """The same on an attribute that all its objects share."""

    rest: ClassVar[dict[int, Any]] = {}

    def __init__(self, task: Task, **options: Any) -> None:
        FedAvg.__init__(self, task)


class Store:
    """What a user may keep numbers in."""

    def __init__(self) -> None:
        self.rows: dict[int, Any] = {}

    def __setitem__(self, client: int, row: Any) -> None:
        self.rows[client] = row


class HoardingInAStore(Hoarding):
    """The same in an object."""

    def __init__(self, task: Task, **options: Any) -> None:
        super().__init__(task)
        self.rest = Store()


@pytest.mark.parametrize("name", ["Hoarding", "HoardingOnItsClass", "HoardingInAStore"])
def test_a_method_that_changes_itself_is_refused(name: str, synthetic: Federation) -> None:
    with pytest.raises(UserError, match=r"`update` changed self\.rest, which all clients and runs share; store"):
        train_runs(synthetic, "linear", f"{__name__}:{name}", [0])


class Cutting(FedAvg):
    """Federated averaging whose server cuts."""

    server_cuts = True


def test_feedback_is_refused_where_the_server_cuts(synthetic: Federation) -> None:
    name = f"{__name__}:Cutting"
    assert "feedback" not in settings_class("fediht").model_fields
    with pytest.raises(UserError, match="feedback works only for methods that exchange raw vectors"):
        train_runs(synthetic, "linear", name, [0], feedback=0.1)


def test_all_entries_in_every_message_are_federated_averaging(synthetic: Federation) -> None:
    whole, _ = train_runs(synthetic, "linear", "fedavg", [0])
    everything, _ = train_runs(synthetic, "linear", "fedavg_feedback", [0], feedback=1.0)
    assert torch.equal(whole != 0, everything != 0)
    assert torch.allclose(whole, everything, atol=1e-4)


def plain(theta: torch.Tensor, *rest: Any) -> Message:
    return Message({"theta": Part(theta, *rest)})


class Misshapen(FedAvg):
    """Federated averaging with one mistake: in what a client answers, or in what it is evaluated at."""

    answer: Any = None
    evaluated: Any = None
    aggregated: Any = None

    def aggregate(self, state: State, uploads: Sequence[Upload], round_: int) -> State:
        after = super().aggregate(state, uploads, round_)
        return after if self.aggregated is None else self.aggregated(after["theta"])

    def update(self, received: Message, work: Work) -> Message:
        sent = super().update(received, work)
        return sent if self.answer is None else self.answer(sent["theta"])

    def effective(self, state: State) -> torch.Tensor:
        theta = super().effective(state)
        return theta if self.evaluated is None else self.evaluated(theta)


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (
            {"answer": lambda theta: plain(theta[:, :90])},
            "part 'theta' of client 0's answer is a tensor",
        ),
        (
            {"answer": lambda theta: plain(theta.double())},
            "is a tensor of float64 of shape (2, 100); it must be a te",
        ),
        (
            {"answer": lambda theta: plain(theta[:1])},
            "of shape (1, 100); it must be a tensor of float32 of shape (2,",
        ),
        ({"answer": lambda _: None}, "client 0's answer is None; it must be a "),
        ({"answer": lambda _: Message({})}, "client 0's answer has no parts; it needs at least one"),
        (
            {"answer": lambda theta: Message({"theta": Part(theta)}, ungated=3)},
            "client 0's answer states 3 ungated parameters; the model has 0",
        ),
        ({"answer": lambda theta: plain(theta, theta > 0, theta)}, "common value of part 'theta' of client 0's ans"),
        (
            {"evaluated": lambda theta: theta[:, :90]},
            "what `effective` returns is a tensor of float32 of",
        ),
        ({"evaluated": lambda _: None}, "what `effective` returns is None; it must be a tensor of float32 of shape (2"),
        ({"aggregated": lambda _: None}, "what `aggregate` returns is None; it must be a dict of tensors by name."),
        (
            {"aggregated": lambda theta: {"theta": theta, "rest": torch.full((9999, 9), math.nan)}},
            "'rest' of what `aggregate` returns is a tensor of float32 of shape (9999, 9); it must be a tensor with 2",
        ),
        ({"aggregated": lambda theta: {"theta": theta, "rate": 0.1}}, "'rate' of what `aggregate` returns is of type"),
    ],
)
def test_a_message_of_another_shape_or_type_is_refused(
    mistake: dict[str, Any], message: str, synthetic: Federation, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, function in mistake.items():
        monkeypatch.setattr(Misshapen, name, staticmethod(function))
    with pytest.raises(UserError) as error:
        train_runs(synthetic.pooled(), "linear", f"{__name__}:Misshapen", [0, 1])
    assert message in str(error.value)
    assert str(error.value).startswith(f"method {__name__}:Misshapen: ")


def test_an_answer_without_the_ungated_parameters_is_refused() -> None:
    task = Task(Linear(100, intercept=True), 5, RunSettings([TrainingSettings()]))
    method, narrow = FedAvg(task), torch.ones(1, task.gated)
    assert task.gated < task.size
    parts = {"gates": Part(torch.ones(1, task.size)), "theta": Part(narrow)}
    with pytest.raises(UserError, match=rf"'theta' of it is a tensor .* must be .* of shape \(1, {task.size}\)"):
        check_message(method, Message(parts, ungated=task.ungated), 1, "it")
    with pytest.raises(UserError, match=rf"has {task.gated} values; the average has {task.size}"):
        average([Upload(torch.tensor([0]), torch.ones(1), plain(narrow))], "theta", torch.zeros(1, task.size))


def test_an_average_of_a_part_that_an_answer_lacks_is_refused() -> None:
    upload = Upload(torch.tensor([0]), torch.ones(1), Message({"weights": Part(torch.ones(1, 5))}))
    with pytest.raises(UserError, match="a message has no part or scalar 'theta'; it has 'weights'"):
        average([upload], "theta", torch.zeros(1, 5))


def test_an_average_or_a_clip_over_fewer_runs_than_answered_is_refused() -> None:
    upload = Upload(torch.tensor([0, 7]), torch.ones(2), plain(torch.ones(2, 5)))
    with pytest.raises(UserError, match="'theta' is averaged for 2 runs, and run 7 has an answer"):
        average([upload], "theta", torch.zeros(2, 5))
    with pytest.raises(UserError, match="3 gradients are clipped with 2 limits"):
        clipped(torch.ones(3, 5), torch.ones(2, 1))


def test_a_gradient_at_weights_of_another_shape_is_refused(synthetic: Federation) -> None:
    model = Linear(100)
    block = synthetic.clients[0]
    rows = model.rows(block.x, block.y)
    for theta in (torch.zeros(2, 90), torch.zeros(2, 100, dtype=torch.float64), torch.zeros(100)):
        with pytest.raises(UserError, match=r"must be a tensor of float32 of shape \(runs, 100\)"):
            model.gradient(theta, rows, None)
    with pytest.raises(UserError, match="rows of a step"):
        model.gradient(torch.zeros(2, 100), rows, torch.full((2, 3), len(block.y)))


def test_an_astronomically_large_error_counts_as_diverged(synthetic: Federation) -> None:
    _, log = train_runs(synthetic, "linear", "fedavg", [0], rate=1e6, rounds=1, finetune_rounds=0)
    assert log.curve[0]["r2"].isfinite().all()
    assert log.diverged == {0: 1}


class Careless(FedAvg):
    """Federated averaging that hands something else to the steps, cuts and averages that it inherits."""

    first: Any = None
    stepped: Any = None
    viewed: Any = None
    ranked: Any = None

    def start(self, seeds: Sequence[int]) -> State:
        state = super().start(seeds)
        return state if self.first is None else self.first(state["theta"])

    def start_view(self, seeds: Sequence[int]) -> Message:
        return plain(self.task.first_weights(seeds))

    def receive(self, view: Message, message: Message) -> Message:
        return message if self.viewed is None else plain(self.viewed(message["theta"]))

    def update(self, received: Message, work: Work) -> Message:
        if self.stepped is not None:
            super().update(plain(self.stepped(received["theta"])), work)
        if self.ranked is not None:
            self.cut.top(self.ranked(received["theta"]), 5)
        return super().update(received, work)


MISTAKES: dict[str, Any] = {
    "narrow": lambda theta: theta[:, :9].clone(),
    "of float64": lambda theta: theta.double(),
    "of fewer runs": lambda theta: theta[:1],
    "of whole numbers": lambda theta: theta.int(),
    "nothing": lambda _: None,
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("stepped", "'theta' at the start of local steps is"),
        ("viewed", "part 'theta' of the view after `receive` is"),
    ],
)
def test_what_compiled_steps_would_read_beyond_its_ends_is_refused(
    part: str, words: str, mistake: str, synthetic: Federation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Careless, part, staticmethod(MISTAKES[mistake]))
    with pytest.raises(UserError, match=re.escape(f"Careless: {words}")):
        train_runs(synthetic, "linear", f"{__name__}:Careless", [0, 1])


@pytest.mark.parametrize("mistake", MISTAKES)
def test_gates_that_compiled_steps_would_read_beyond_their_ends_are_refused(
    mistake: str, synthetic: Federation, monkeypatch: pytest.MonkeyPatch
) -> None:
    update = Method.update

    def careless(self: Method, received: Message, work: Work) -> Message:
        parts = {**received.parts, "gates": Part(MISTAKES[mistake](received["gates"]))}
        return update(self, Message(parts, received.scalars), work)

    monkeypatch.setattr(Method, "update", careless)
    with pytest.raises(UserError, match="'gates' at the start of local steps is"):
        train_runs(synthetic, "linear", "eflops", [0, 1])


@pytest.mark.parametrize("mistake", ["narrow", "of float64", "of whole numbers"])
def test_a_cut_of_what_is_no_vector_of_weights_is_refused(
    mistake: str, synthetic: Federation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled code reads the bits of float32 numbers, and would write beyond the ends of what it makes of others."""
    monkeypatch.setattr(Careless, "ranked", staticmethod(MISTAKES[mistake]))
    with pytest.raises(UserError, match=r"the values of a cut are .*; they must be float32 of shape"):
        train_runs(synthetic, "linear", f"{__name__}:Careless", [0, 1])


def test_a_first_state_without_a_row_for_each_run_is_refused(
    synthetic: Federation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Careless, "first", staticmethod(lambda theta: {"theta": theta, "rest": theta[:1]}))
    with pytest.raises(UserError, match=r"'rest' of what `start` returns is .* it must be a tensor with 2 rows"):
        train_runs(synthetic, "linear", f"{__name__}:Careless", [0, 1])
