"""What a method can be set to: the settings every method shares, and those of gated methods."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]


class Strict(BaseModel):
    """A part of the config: unknown keys and wrong types are mistakes, and nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class TrainingSettings(Strict):
    """The settings that every method has."""

    rounds: Count = Field(200, description="communication rounds of the training phase")
    local_steps: Count | Literal["epoch"] = Field(
        3, description="gradient steps a client takes a round, or 'epoch' for one pass over its rows"
    )
    batch_size: Count | None = Field(None, description="rows a step; null takes all rows of the client")
    rate: Positive = Field(0.05, description="eta_theta, the learning rate of the weights")
    clip: Positive | None = Field(None, description="largest Euclidean norm of a step's gradient; null: no limit")
    weighting: Literal["samples", "uniform"] = Field(
        "samples", description="aggregation weights w_k; the paper allows both"
    )
    prune_from: Share = Field(
        0.5, description="prune start as a share of the training rounds: 0 cuts from the first, 1 only at the end"
    )
    keep_schedule: Literal["constant", "shrinking"] = Field(
        "constant", description="how many weights a cut keeps: always m, or shrinking from all to m until prune_from"
    )
    sparse_upload: bool = Field(
        True, description="after the prune start a client sends its own top m; false: all its weights"
    )
    layer_floor: Share = Field(0.0, description="share of every layer's weights that a cut always keeps")
    tune_rounds: Annotated[int, Field(ge=0)] = Field(20, description="rounds of the tuning phase on the fixed support")
    tune_rate: Positive = Field(0.002, description="learning rate of the tuning phase")
    tune_steps: Count | Literal["epoch"] = Field(5, description="local steps a round of the tuning phase")


class GatedSettings(TrainingSettings):
    """The settings of methods with hard concrete gates."""

    gate_rate: Positive = Field(0.5, description="eta_phi, the learning rate of the gate parameters")
    temperature: NonNegative = Field(0.1, description="T, the weight of the KL term; 0 switches the entropy off")
    temperature_decay: Share = Field(1.0, description="factor on T after each round; 1 keeps it constant")
    multiplier_rate: NonNegative = Field(0.01, description="eta_lambda in units of 1/|theta|")
    rho_init: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.5, description="initial density: gate parameters start around logit(rho_init)"
    )
    samples: Count = Field(1, description="R, Monte Carlo samples of the gates a step")
    gate_recovery: Literal["exact", "paper"] = Field(
        "exact", description="phi from mean gates: the exact inverse, or beta * logit(z) as printed"
    )
    gate: Literal["median", "louizos"] = Field(
        "median", description="noise-free gate at test time: with the temperature beta, or without"
    )
    prior: Literal["mean", "init"] = Field(
        "mean", description="phi_init of the KL prior: logit(rho_init), or each gate's own first value"
    )
    phi_limit: Positive = Field(8.0, description="gate parameters stay within plus or minus this")
    rescale_start: bool = Field(
        False, description="divide the first weights by the mean gate, so that the first network is not shrunk by it"
    )


# Settings in which runs of one batch may differ; the others decide what is computed when, so a batch must share them.
PER_RUN = (
    "rate",
    "clip",
    "tune_rate",
    "gate_rate",
    "temperature",
    "temperature_decay",
    "multiplier_rate",
    "rho_init",
)

SETTINGS: dict[str, type[TrainingSettings]] = {"eflops": GatedSettings}


def settings_class(method: str) -> type[TrainingSettings]:
    """The settings model of a method; a method of one's own has the shared settings and its free `options`."""
    return SETTINGS.get(method, TrainingSettings)


def as_typed(settings: TrainingSettings) -> dict[str, Any]:
    """The settings as plain JSON values, each of its declared type."""
    return settings.model_dump(mode="json")
