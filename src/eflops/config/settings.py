"""The settings of methods: those that every method shares, and those of gated methods."""

from contextlib import suppress
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}


def from_text(value: object) -> object:
    """The number, flag or null that a text denotes, else the value unchanged.

    YAML reads 1e-3 as text, and Snakemake passes everything inside a mapping of --config as text.
    """
    if not isinstance(value, str):
        return value
    if value.lower() in WORDS:
        return WORDS[value.lower()]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(value)
    return value


FromText = BeforeValidator(from_text)
Flag = Annotated[bool, FromText]
Share = Annotated[float, FromText, Field(ge=0, le=1)]
Positive = Annotated[float, FromText, Field(gt=0)]
NonNegative = Annotated[float, FromText, Field(ge=0)]
Count = Annotated[int, FromText, Field(ge=1, le=10**9)]


class Strict(BaseModel):
    """A part of the config: immutable; unknown keys and wrong types are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class TrainingSettings(Strict):
    """Settings that every method has."""

    rounds: Count = Field(200, description="communication rounds of the training phase")
    local_steps: Count | Literal["epoch"] = Field(
        3, description="gradient steps of a client per round, or 'epoch' for one pass over its rows"
    )
    batch_size: Annotated[Count | None, FromText] = Field(
        None, description="rows per step; null takes all rows of the client"
    )
    initial: Literal["uniform", "zeros", "module"] = Field(
        "uniform",
        description="initial weights: uniform within 1 / sqrt(incoming weights of a unit), all 0, or the module's own"
        " (the default of custom models)",
    )
    rate: Positive = Field(0.05, description="eta_theta, the learning rate of the weights")
    clip: Annotated[Positive | None, FromText] = Field(
        None,
        description="largest Euclidean norm of a step's gradient with respect to the weights that the model uses"
        " (theta~ z with gates), before the chain rule; null: no limit",
    )
    weighting: Literal["samples", "uniform"] = Field(
        "samples", description="aggregation weights w_k; the paper allows both"
    )
    prune_from: Share = Field(
        0.5, description="prune start as a share of the training rounds: 0 cuts from the first round, 1 only at the end"
    )
    keep_schedule: Literal["constant", "shrinking"] = Field(
        "constant", description="how many weights a cut keeps: always m, or shrinking from all to m until prune_from"
    )
    sparse_upload: Flag = Field(
        True, description="after the prune start a client sends its own top m; false: all its weights"
    )
    layer_floor: Share = Field(0.0, description="smallest share of each layer's weights that a cut keeps")
    finetune_rounds: Annotated[int, FromText, Field(ge=0, le=10**9)] = Field(
        20, description="rounds of the finetuning phase on the fixed support"
    )
    finetune_rate: Positive = Field(0.002, description="learning rate of finetuning")
    finetune_steps: Count | Literal["epoch"] = Field(5, description="local steps per round of finetuning")


class FeedbackSettings(TrainingSettings):
    """Settings of methods with error feedback."""

    feedback: Annotated[Annotated[float, Field(gt=0, le=1)] | None, FromText] = Field(
        None,
        description="error feedback: the share k of |theta| that each vector of a message sends of its change, in"
        " both directions; nothing is cut before the end of training; null: off",
    )


class GatedSettings(FeedbackSettings):
    """Settings of methods with hard concrete gates."""

    # Left out where each weight has its own, as in the paper, so that records stay as they were.
    gates: Literal["weight", "feature", "unit"] = Field(
        "weight",
        exclude_if=lambda value: value == "weight",
        description="what has a gate: each weight; each input feature, over all classes (linear models); or each"
        " channel and unit (networks; docs/methods.md). The constraint counts weights, and a cut keeps whole groups",
    )
    gate_rate: Positive = Field(0.5, description="eta_phi, the learning rate of the gate parameters")
    temperature: NonNegative = Field(0.1, description="T, the weight of the KL term; 0 disables the entropy term")
    temperature_decay: Share = Field(1.0, description="factor on T after each round; 1 keeps it constant")
    multiplier_rate: NonNegative = Field(
        0.01, description="eta_lambda, the learning rate of the multiplier, in units of 1/|theta|"
    )
    rho_init: Annotated[float, FromText, Field(gt=0, lt=1)] = Field(
        0.5, description="initial density: gate parameters start around logit(rho_init)"
    )
    samples: Count = Field(1, description="R, the number of Monte Carlo samples of the gates per step")
    gate_recovery: Literal["exact", "paper"] = Field(
        "exact", description="phi from mean gates: the exact inverse, or beta * logit(z) as printed"
    )
    gate: Literal["median", "louizos"] = Field(
        "median", description="noise-free gate at test time: with the temperature beta, or without"
    )
    prior: Literal["mean", "init"] = Field(
        "mean", description="phi_init of the KL prior: logit(rho_init), or each gate's initial value"
    )
    phi_limit: Positive = Field(8.0, description="gate parameters are limited to plus or minus this")
    rescale_start: Flag = Field(
        False,
        description="divide the initial weights by the mean gate, so that gates do not shrink the initial network",
    )


class LassoSettings(TrainingSettings):
    """Settings of methods with an L1 penalty."""

    l1: NonNegative = Field(0.01, description="lambda, the weight of the L1 penalty")


# Settings in which runs of one batch may differ; the others decide what is computed when, so a batch must share them.
PER_RUN = (
    "rate",
    "clip",
    "finetune_rate",
    "gate_rate",
    "temperature",
    "temperature_decay",
    "multiplier_rate",
    "rho_init",
    "l1",
)

SETTINGS: dict[str, type[TrainingSettings]] = {
    "eflops": GatedSettings,
    "fedavg": FeedbackSettings,
    "fediht": TrainingSettings,
    "fediterht": TrainingSettings,
    "feddualavg": LassoSettings,
}

# Where a method's defaults differ from those above. They lie below what a search chose (config/plan.py, `layers`), so
# that a data set without a search has sensible values.
DEFAULTS: dict[str, dict[str, bool | int | float | str | None]] = {
    "fediht": {"rate": 0.04, "local_steps": 1, "prune_from": 0.0, "sparse_upload": False},
    "fediterht": {"rate": 0.04, "local_steps": 1, "prune_from": 0.0},
    "fedavg": {"rate": 0.002, "local_steps": 5},
}


def settings_class(method: str) -> type[TrainingSettings]:
    """The settings class of a method; a custom method has the shared settings and free `options`."""
    return SETTINGS.get(method, FeedbackSettings)
