"""Any torch module as a model: flat parameters, loss, metrics and operations of an `nn.Module`.

The reference engine trains every model in this form, built-in ones too. A custom model has only this form:

    model: my_net:build        # in config.yaml

    def build(shape, classes): ...      # in my_net.py: the module for rows of this shape
    def loss(output, y): ...            # optional
    def metrics(output, y): ...         # optional

docs/adding-a-model.md describes what a module may do.
"""

import math
import random
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from eflops import trust
from eflops.data.federation import Block, Facts, unit_of
from eflops.errors import UserError, explained
from eflops.rng import address_key
from eflops.training.models.base import Layer, Model, Operations, Rows, gradient
from eflops.training.models.classes import class_metrics
from eflops.training.models.network import KERNEL, POOL, Stage, cnn_stages
from eflops.training.numerics.noise import uniform
from eflops.training.operations import Counts, count_sparse, trace

Build = Callable[[tuple[int, ...], int | None], nn.Module]
Loss = Callable[[Tensor, Tensor], Tensor]
Metrics = Callable[[Tensor, Tensor], Mapping[str, float | Tensor]]

# Rows of one forward pass where metrics are computed: few enough for the memory of a laptop.
EVALUATED_ROWS = 1000


@contextmanager
def seeded(seed: int, purpose: str, *address: int) -> Iterator[None]:
    """Seed all random numbers of torch, numpy and Python by an address; restores their states afterwards."""
    key = address_key(seed, purpose, *address)
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    # torch and numpy take seeds of 63 and 32 bits only.
    torch.manual_seed(key % 2**63)
    np.random.seed(key % 2**32)
    random.seed(key)
    try:
        yield
    finally:
        torch.set_rng_state(states[0])
        np.random.set_state(states[1])
        random.setstate(states[2])


@dataclass(frozen=True)
class ModuleRows(Rows):
    """Rows of a client; in a round they know the address that the module's random numbers follow from.

    address: the seed of each run, the round, and the client.
    """

    address: tuple[Sequence[int], int, int] = ((), 0, 0)

    def at(self, seeds: Sequence[int], round_: int, client: int) -> "ModuleRows":
        """These rows in one round of a client."""
        return replace(self, address=(seeds, round_, client))


class Steps:
    """The gradients of a client's local steps in one round, by autograd, one run after the other.

    Each call of `gradient` is the next turn; step and sample of the gates follow from it.
    """

    def __init__(self, model: "ModuleModel", rows: ModuleRows) -> None:
        self.model, self.x, self.y = model, rows.x, rows.y
        self.seeds, self.round, self.client = rows.address
        self.turn = 0

    @torch.enable_grad()
    def gradient(self, weights: np.ndarray, chosen: np.ndarray, gradient: np.ndarray) -> None:
        """gradient [runs, size] of the mean loss at weights [runs, size], over each run's chosen rows [runs, batch]."""
        for run, seed in enumerate(self.seeds):
            # A copy: the local steps go on changing these weights in place.
            theta = torch.from_numpy(weights[run]).clone().requires_grad_()
            rows = torch.from_numpy(chosen[run]) if chosen.shape[1] else slice(None)
            address = int(seed), self.round, self.client, self.turn
            loss = self.model.loss(theta, self.x[rows], self.y[rows], address)
            gradient[run] = torch.autograd.grad(loss, theta)[0].numpy()
        # Once for all runs, so that a run's random numbers do not depend on how many runs share the batch.
        self.turn += 1


class ModuleModel:
    """A torch module as a `Model`: its parameters in one flat vector, gated ones first.

    Args:
        name: its name in the config, for messages.
        build: called as build(shape, classes); called again for the first weights of every run.
        shape: the shape of one row of data.
        classes: the number of classes; None for a numeric target.
        gated: names of modules or parameters that may be gated and cut; None for all.
        loss: the mean loss of an output and labels; None for cross-entropy, or the squared error of a number.
        metrics: further numbers of an output on the test rows, by name.
        unit: the deviation that numeric targets were divided by; with it, `rmse` is the error in the target's unit.
        initial: the first weights [size] of a seed under `initial: uniform`; None for those of `initial`.
    """

    def __init__(
        self,
        name: str,
        build: Build,
        shape: tuple[int, ...],
        classes: int | None,
        gated: Sequence[str] | None = None,
        loss: Loss | None = None,
        metrics: Metrics | None = None,
        unit: float | None = None,
        initial: Callable[[int], Tensor] | None = None,
    ) -> None:
        self.name, self.shape, self.classes, self.unit = name, tuple(shape), classes, unit
        self._build, self._loss, self._metrics, self._initial = build, loss, metrics, initial
        self.module = self._built(0)
        parameters = dict(self.module.named_parameters())
        _check_parameters(name, parameters)
        chosen = _gated_names(name, self.module, gated)
        # Python's sort is stable: within gated and ungated parameters the module's order stays.
        self.names = sorted(parameters, key=lambda each: each not in chosen)
        self.shapes = {each: parameters[each].shape for each in self.names}
        counts = {each: parameters[each].numel() for each in self.names}
        self.size, self.gated = sum(counts.values()), sum(counts[each] for each in chosen)
        ends = np.cumsum([counts[each] for each in self.names]).tolist()
        self.starts = dict(zip(self.names, [0, *ends[:-1]], strict=True))
        self.layers = tuple(
            Layer(owner or "module", self.starts[group[0]], self.starts[group[-1]] + counts[group[-1]])
            for owner, group in _by_owner(each for each in self.names if each in chosen)
        )
        # Two rows, because a norm over rows cannot train on one.
        self.attempt(Block(np.zeros((2, *self.shape), np.float32), np.zeros(2, np.int64 if classes else np.float32)))

    def rows(self, x: np.ndarray, y: np.ndarray) -> ModuleRows:
        """The rows of a data block."""
        return ModuleRows(torch.from_numpy(x), torch.from_numpy(y), partial(Steps, self))

    def initial(self, seed: int) -> Tensor:
        """Weights uniform within 1 / sqrt(incoming weights of a unit), layer by layer, biases too.

        A layer without a weight matrix, such as a norm, keeps the module's initial values.
        """
        if self._initial is not None:
            return self._initial(seed)
        numbers = uniform([seed], "first weights", (), 1, self.size)[0, 0] * 2 - 1
        theta = self.module_initial(seed)
        incoming: dict[str, int] = {}
        for name, shape in self.shapes.items():
            if len(shape) > 1:
                incoming.setdefault(name.rpartition(".")[0], math.prod(shape[1:]))
        for name, shape in self.shapes.items():
            owner, start, stop = name.rpartition(".")[0], self.starts[name], self.starts[name] + math.prod(shape)
            if owner in incoming:
                theta[start:stop] = numbers[start:stop] / math.sqrt(incoming[owner])
        return theta

    def module_initial(self, seed: int) -> Tensor:
        """The first weights [size] that the module gives itself, with random numbers from the run's address."""
        first = self._first(seed)
        return torch.cat([first[each].reshape(-1) for each in self.names])

    def loss(self, weights: Tensor, x: Tensor, y: Tensor, address: tuple[int, int, int, int]) -> Tensor:
        """The mean loss of flat weights [size] on rows, in train mode.

        address: seed, round, client and turn, which seed the module's random numbers, such as dropout's.
        """
        with seeded(address[0], "module", *address[1:]), explained(self._step(x)):
            output = self.output(weights, x, True)
            if self._loss is not None:
                return self._loss(output, y)
        return cross_entropy(output, y) if self.classes else mse_loss(output.reshape(len(x)), y)

    def _step(self, x: Tensor) -> str:
        return f"model {self.name}: a step on rows of shape {list(x.shape)}"

    def output(self, weights: Tensor, x: Tensor, training: bool) -> Tensor:
        """The module's output for rows x with flat weights [size]."""
        parts = weights.split([math.prod(shape) for shape in self.shapes.values()])
        named = {each: part.view(shape) for (each, shape), part in zip(self.shapes.items(), parts, strict=True)}
        version = x._version  # torch counts changes in place
        result: Tensor = torch.func.functional_call(self.module.train(training), named, (x,))
        if x._version != version:
            raise UserError(f"model {self.name}: forward changes its input in place; begin with x = x.clone().")
        return result

    def gradient(self, theta: Tensor, data: Rows, chosen: Tensor | None) -> Tensor:
        """Gradient [runs, size] of the mean loss over all rows, or over each run's `chosen` rows [runs, batch]."""
        result = torch.empty_like(theta)
        rows = np.empty((len(theta), 0), np.int64) if chosen is None else chosen.numpy()
        gradient(data.arrays, theta.numpy(), rows, result.numpy())
        return result

    @torch.no_grad()
    def measure(self, theta: Tensor, data: Rows) -> dict[str, Tensor]:
        """The metrics [runs] of parameters [runs, size] on test rows, in eval mode.

        Accuracy and cross-entropy of classes (and AUC where a row is a vector of features), mean squared error and R2
        of numbers, where the output has their shape, else the user's loss; and what the user's `metrics` says.
        """
        with seeded(0, "evaluation"):
            outputs = [torch.cat([self.output(run, x, False) for x in data.x.split(EVALUATED_ROWS)]) for run in theta]
            further = [self._further(output, data.y) for output in outputs]
            metrics = self._usual(torch.stack(outputs), data.y)
        return metrics | {
            name: torch.tensor([run[name] for run in further], dtype=torch.float64) for name in further[0]
        }

    def macs(self, kept: np.ndarray) -> Operations:
        """The cost of one prediction, without numbers if it is unknown. `operations` has the rule."""
        return count_sparse(self._counts, kept)

    @property
    def chain(self) -> tuple[Stage, ...] | None:
        """Its layers as consecutive stages; None if they are not a chain."""
        return self._counts.chain if self._counts else None

    @cached_property
    def _counts(self) -> Counts | None:
        return trace(self.module.eval(), self.shape, self.starts)

    def _usual(self, output: Tensor, y: Tensor) -> dict[str, Tensor]:
        """The metrics that every model of classes or numbers has; output [runs, rows, ...]."""
        runs, rows = output.shape[:2]
        if self.classes and output.shape[2:] == (self.classes,):
            return class_metrics(output, y, area=len(self.shape) == 1)
        if self.classes is None and output[0].numel() == rows:
            # The difference in float32 and its square in float64, as `linear._measure` has it.
            errors = (output.reshape(runs, rows) - y).double().square().mean(1)
            labels = y.double()
            metrics = {"mse": errors, "r2": 1 - errors / (labels - labels.mean()).square().mean()}
            return metrics if self.unit is None else {**metrics, "rmse": errors.sqrt() * self.unit}
        assert self._loss is not None  # or `attempt` would have refused this shape
        return {"loss": torch.stack([self._loss(run, y).double() for run in output])}

    def _further(self, output: Tensor, y: Tensor) -> dict[str, float]:
        if self._metrics is None:
            return {}
        with explained(f"model {self.name}: metrics(output, y)"):
            values = self._metrics(output, y)
        try:
            return {str(name): float(value) for name, value in values.items()}
        except (AttributeError, TypeError, ValueError, RuntimeError):
            given = " ".join(repr(values).split())[:100]
            raise UserError(
                f"model {self.name}: metrics(output, y) should return numbers by name, but returned {given}."
            ) from None

    def _built(self, seed: int) -> nn.Module:
        """A module of this model with the first weights of a run."""
        what = f"model {self.name}: build({self.shape}, {self.classes})"
        with seeded(seed, "first weights"), torch.enable_grad(), explained(what):
            module = self._build(self.shape, self.classes)
        if not isinstance(module, nn.Module):
            raise UserError(
                f"model {self.name}: build should return a torch.nn.Module, but returned {type(module).__name__}."
            )
        return module

    def _first(self, seed: int) -> dict[str, Tensor]:
        """A run's first parameters by name."""
        parameters = {each: part.detach() for each, part in self._built(seed).named_parameters()}
        if {each: part.shape for each, part in parameters.items()} != self.shapes:
            raise UserError(
                f"model {self.name}: build returns other parameters when it is called again; it should return the same."
            )
        return parameters

    def attempt(self, block: Block) -> None:
        """Take a step on these rows, so that errors of a module or its loss are reported before a run."""
        x, y = torch.from_numpy(block.x), torch.from_numpy(block.y)
        before = {each: part.clone() for each, part in self.module.named_buffers()}
        theta = self.module_initial(0).requires_grad_()
        with torch.enable_grad(), explained(self._step(x)):
            self._check_output(self.output(theta, x, False), len(x))
            loss = self.loss(theta, x, y, (0, 0, 0, 0))
            if not isinstance(loss, Tensor) or loss.ndim:
                given = f"one of shape {list(loss.shape)}" if isinstance(loss, Tensor) else type(loss).__name__
                raise UserError(f"model {self.name}: loss should return a tensor of one number, not {given}.")
            torch.autograd.grad(loss, theta)
            # Twice at one address: what differs then comes from numbers or a state that no address controls.
            again = self.loss(theta, x, y, (0, 0, 0, 0))
        changed = [each for each, part in self.module.named_buffers() if not torch.equal(part, before[each])]
        if changed:
            raise UserError(
                f"model {self.name}: training changes its buffers {_listed(changed)}, which clients do not exchange;"
                " use a norm without running statistics, such as torch.nn.GroupNorm."
            )
        if not torch.equal(loss.nan_to_num(), again.nan_to_num()):
            raise UserError(
                f"model {self.name}: the same weights and rows have a different loss in a second call; draw random "
                "numbers with torch, numpy.random or random, unseeded, and store nothing between calls."
            )

    def _check_output(self, output: Any, rows: int) -> None:
        if not isinstance(output, Tensor):
            raise UserError(
                f"model {self.name}: forward should return one tensor, but returned {type(output).__name__}."
            )
        right = [(rows, self.classes)] if self.classes else [(rows,), (rows, 1)]
        if self._loss is None and output.shape not in right:
            shape = f"[rows, {self.classes}]" if self.classes else "[rows] or [rows, 1]"
            raise UserError(
                f"model {self.name}: the output of {rows} rows has shape {list(output.shape)}; give {shape}, or define"
                " loss(output, y) beside build."
            )


def custom(name: str, shape: tuple[int, ...], facts: Facts, gated: Sequence[str] | None) -> ModuleModel:
    """The model that the user's function "module:build" makes, with `loss` and `metrics` of the same file."""
    build: Build = trust.load("model", name)
    beside: Any = sys.modules[name.partition(":")[0]]
    loss, metrics = getattr(beside, "loss", None), getattr(beside, "metrics", None)
    return ModuleModel(name, build, shape, facts.get("classes"), gated, loss, metrics, unit_of(facts))


def built_in(name: str, shape: tuple[int, ...], facts: Facts) -> ModuleModel:
    """A built-in model as a torch module: the flat parameters of the compiled model, and its first weights.

    The parameters that the compiled model does not gate are the bias of its only layer.
    """
    compiled: Model = trust.load("model", name)(shape, facts)
    intercept = compiled.gated < compiled.size

    def dense(shape: tuple[int, ...], classes: int | None) -> nn.Module:
        return nn.Sequential(OrderedDict(weights=nn.Linear(shape[0], classes or 1, bias=intercept)))

    network = len(compiled.layers) > 1
    gated = ["weights.weight"] if intercept else None
    build, classes = _cnn if network else dense, facts.get("classes")
    return ModuleModel(name, build, shape, classes, gated, unit=unit_of(facts), initial=compiled.initial)


def _cnn(shape: tuple[int, ...], classes: int | None) -> nn.Module:
    assert classes is not None
    first, second, *dense = cnn_stages(shape, classes)
    layers: list[tuple[str, nn.Module]] = []
    for stage in (first, second):
        layers.append((stage.name, nn.Conv2d(stage.sources, stage.units, KERNEL)))
        layers += [(f"pool_{stage.name}", nn.MaxPool2d(POOL)), (f"relu_{stage.name}", nn.ReLU())]
    layers.append(("flatten", nn.Flatten()))
    for stage in dense:
        layers.append((stage.name, nn.Linear(stage.sources * stage.taps, stage.units)))
        layers.append((f"relu_{stage.name}", nn.ReLU()))
    return nn.Sequential(OrderedDict(layers[:-1]))


def _by_owner(names: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Parameters module by module, in their order."""
    return [(owner, list(group)) for owner, group in groupby(names, lambda each: each.rpartition(".")[0])]


def _gated_names(name: str, module: nn.Module, gated: Sequence[str] | None) -> set[str]:
    """The parameters that may be gated and cut: those of the named modules, or all.

    A parameter that several modules share is gated if one of them is named.
    """
    first: dict[int, str] = {}
    chosen: set[str] = set()
    used: set[str] = set()
    for each, part in module.named_parameters(remove_duplicate=False):
        first.setdefault(id(part), each)
        named = [one for one in gated or () if f"{each}.".startswith(f"{one}.")]
        used |= set(named)
        if gated is None or named:
            chosen.add(first[id(part)])
    unknown = [one for one in gated or () if one not in used]
    if unknown or not chosen:
        known = dict.fromkeys(each.rpartition(".")[0] or each for each, _ in module.named_parameters())
        wrong = f"there is no {_listed(unknown)} with parameters" if unknown else "it names no module"
        raise UserError(f"model {name}: gated: {wrong}; the module has {_listed([*known])}.")
    return chosen


def _check_parameters(name: str, parameters: Mapping[str, nn.Parameter]) -> None:
    if not parameters:
        raise UserError(f"model {name}: the module has no parameters to train.")
    for each, part in parameters.items():
        if isinstance(part, nn.UninitializedParameter):
            raise UserError(f"model {name}: {each} has no shape yet; state the input size instead of a lazy layer.")
        if part.dtype != torch.float32:
            raise UserError(f"model {name}: {each} is {part.dtype}; parameters must be torch.float32.")
        if not part.requires_grad:
            raise UserError(f"model {name}: {each} is frozen; register parameters that are not trained as buffers.")


def _listed(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
