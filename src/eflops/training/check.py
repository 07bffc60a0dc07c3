"""The checks of custom data sets, models and methods in `eflops check`: build and run each of them once."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from eflops.config.cell import CellSpec
from eflops.config.models import Config, Dataset, Mnist, data_settings
from eflops.config.plan import cell_specs
from eflops.data.build import build
from eflops.data.federation import Block, Federation
from eflops.errors import UserError, explained
from eflops.results.labels import ratio_value
from eflops.training.modules import ModuleModel
from eflops.training.train import make_method, make_task


def problems(config: Config) -> Iterator[str]:
    """A sentence for each experiment or search whose custom code cannot be built, trained for a step or measured."""
    federations: dict[tuple[str, str, int], Federation | None] = {}
    said: set[str] = set()
    for name in (*config.experiments, *config.searches):
        for spec in cell_specs(config, name):
            entry = config.datasets[spec.dataset]
            if ":" not in entry.kind + spec.model + spec.method:
                continue
            draw = spec.dataset, spec.ratio, spec.draws[0]
            try:
                if draw not in federations:
                    federations[draw] = None  # a draw that cannot be made is reported once
                    federations[draw] = _federation(entry, spec)
                federation = federations[draw]
                if federation is not None:
                    _try(spec, federation)
            except UserError as error:
                if str(error) not in said:
                    said.add(str(error))
                    yield f"{name}: {error}"


def _federation(entry: Dataset, spec: CellSpec) -> Federation:
    """The first draw; for images, which may not be downloaded yet, random rows of their shape."""
    if isinstance(entry, Mnist):
        block = Block(np.zeros((20, 1, 28, 28), np.float32), np.arange(20) % 10)
        return Federation((block,), block, {}, {"task": "classification", "classes": 10})
    return build(data_settings(entry), ratio_value(spec.ratio), spec.draws[0], Path())


def _try(spec: CellSpec, federation: Federation) -> None:
    """Build the model and the method, and let a custom model take a step and be measured."""
    task, evaluation = make_task(spec, [next(iter(spec.variants.values()))], federation)
    with explained(f"method {spec.method}"):
        make_method(spec, task)
    if isinstance(task.model, ModuleModel):
        task.model.attempt(federation.clients[0])
        with explained(f"model {spec.model}: the evaluation of the test rows"):
            task.model.measure(task.model.module_initial(0)[None], evaluation.test)
