"""The keys of `flwr run --run-config`, and the run that they describe.

Their defaults are in pyproject.toml, under [tool.flwr.app.config], where Flower reads them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from eflops.config import load
from eflops.config.cell import CellSpec
from eflops.config.data import DataSettings
from eflops.config.messages import ConfigError, sentences, unknown
from eflops.config.models import Config, data_settings
from eflops.config.plan import cell_spec, plan_of
from eflops.config.settings import Count, NonNegative, Positive, Strict, TrainingSettings
from eflops.data.build import build
from eflops.data.federation import Federation
from eflops.errors import UserError
from eflops.results import labels
from eflops.results.labels import Run

OPTION = "--run-config"


class RunConfig(Strict):
    """What `flwr run` accepts; a key that is empty, 0 or -1 leaves the choice to the experiment."""

    config: str = Field("config.yaml", description="the config files in the bundle; later files override earlier ones")
    experiment: str = Field("golub_runs", description="name of the run's experiment in the config")
    method: str = Field("eflops", description="name of the method in the config")
    ratio: NonNegative = Field(0.0, description="N/d of synthetic data; 0: the experiment's first")
    variant: str = Field("", description="variant of the settings; empty: the experiment's first")
    draw: int = Field(-1, ge=-1, description="data draw or split; -1: the experiment's first")
    seed: int = Field(0, ge=0, description="seed of the run")
    clients: int = Field(0, ge=0, description="number of clients; 0: the data set's")
    fraction: float = Field(0.0, ge=0, le=1, description="share of the clients selected per round; 0: the data set's")
    settings: str = Field(
        "", description='settings that replace those of the method, such as "rounds=4 finetune_rounds=2"'
    )
    data: str = Field(
        "",
        description="the server's test rows: a folder that `eflops deploy` wrote, or a file; empty: a draw made by the"
        " server",
    )
    label: str = Field("", description="the column of that file that holds the classes")
    results: str = Field("results-flower", description="folder on the server for record, state and draws")
    faults: Literal["stop", "continue", "repeat"] = Field("stop", description="what happens if a client fails")
    timeout: Positive = Field(600.0, description="seconds to wait for a client's answer")
    repeats: Count = Field(2, description="how often faults=repeat repeats a request")
    wait: Positive = Field(600.0, description="seconds to wait until all clients are connected")


@dataclass(frozen=True)
class FlowerRun:
    """One run of a cell: its spec, the run, the settings of its data, and the run config."""

    spec: CellSpec
    run: Run
    data: DataSettings
    run_config: RunConfig

    @property
    def made_by(self) -> DataSettings:
        """Everything that determines the draw."""
        return {**self.data, "ratio": self.spec.ratio, "draw": self.run.draw}

    @property
    def draw_name(self) -> Path:
        """The draw's folder below the folder of all data."""
        return Path(self.spec.dataset) / labels.data_label(self.spec.ratio, self.run.draw)

    @property
    def draw_folder(self) -> Path:
        """The folder of a draw that the server builds itself."""
        return Path(self.run_config.results, "data", self.draw_name).resolve()

    @property
    def runs_folder(self) -> Path:
        """The folder of the cell's records."""
        return Path(self.run_config.results, "runs", self.spec.folder).resolve()


def check(values: Mapping[str, object]) -> RunConfig:
    """The checked run config from plain values."""
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        raise ConfigError(sentences(error, values, RunConfig, OPTION)) from None


def plan(values: Mapping[str, object], bundle: Path, files: Sequence[Path] = ()) -> FlowerRun:
    """The run that a run config describes, using the config files that it names in the app's bundle, or else these."""
    run_config = check(values)
    config = _read(run_config, bundle, files or [bundle / name for name in run_config.config.split()])
    whole = plan_of(config, run_config.experiment)
    ratio = labels.ratio_label(run_config.ratio) if run_config.ratio else whole.ratios[0]
    cell = cell_spec(config, run_config.experiment, ratio, run_config.method)
    first = cell.runs[0]
    run = Run(
        run_config.variant or first.variant, first.draw if run_config.draw < 0 else run_config.draw, run_config.seed
    )
    if run.variant not in cell.variants:
        raise UserError(unknown(f"{OPTION}: variant", run.variant, cell.variants))
    changes = {
        "engine": "flower",
        "variants": {run.variant: _changed(cell.variants[run.variant], run_config.settings)},
        "client_fraction": run_config.fraction or cell.client_fraction,
        "draws": (run.draw,),
        "seeds": (run.seed,),
    }
    data = data_settings(config.datasets[cell.dataset])
    return FlowerRun(
        cell.model_copy(update=changes), run, {**data, "clients": run_config.clients or data["clients"]}, run_config
    )


def make_draw(flower_run: FlowerRun) -> Federation:
    """Build the data draw of a run."""
    source = flower_run.data.get("source")
    raw = Path("resources") / source if source else None
    return build(flower_run.data, labels.ratio_value(flower_run.spec.ratio), flower_run.run.draw, raw)


def _read(run_config: RunConfig, bundle: Path, files: Sequence[Path]) -> Config:
    """The config, after checking that it has everything that the run config names."""
    for path in files:
        if not path.is_file():
            raise UserError(f"{OPTION}: config names {path.name!r}, which the app's bundle does not contain.")
    raw = reduce(load.merge, map(load.read_yaml, files))
    # What a search chose lies in the bundle too, where nobody else would look for it.
    chosen = bundle / str(raw.get("chosen"))
    config = load.check({**raw, "chosen": str(chosen)} if chosen.is_file() else raw)
    for kind, name, known in (
        ("experiment", run_config.experiment, config.experiments),
        ("method", run_config.method, config.methods),
    ):
        if name not in known:
            raise UserError(unknown(f"{OPTION}: {kind}", name, known))
    if config.methods[run_config.method].pooled:
        raise UserError(
            f"{OPTION}: method {run_config.method} trains on pooled rows, which a federation does not have; name "
            "another."
        )
    if run_config.ratio and not config.experiments[run_config.experiment].ratios:
        raise UserError(
            f"{OPTION}: ratio={run_config.ratio:g} is wrong; the data of {run_config.experiment} have a fixed size."
        )
    return config


def _changed(settings: TrainingSettings, changes: str) -> TrainingSettings:
    """The settings of a variant, updated with those of the run config."""
    model, values = type(settings), {**settings.model_dump(mode="json"), **dict(map(_setting, changes.split()))}
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ConfigError(sentences(error, values, model, f"{OPTION}: settings")) from None


def _setting(text: str) -> tuple[str, Any]:
    """A setting; its value is JSON, or else a word."""
    key, separator, value = text.partition("=")
    if not separator:
        raise UserError(f"{OPTION}: settings has {text!r}, which is not a setting; write key=value, such as rounds=20.")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value
