"""The spec of a training job: a cell's part of the config, its runs and the hash of its code.

The plan builds it, its JSON is the job's spec file, and the job reads that file. Training reaches this module, so it
knows nothing of the config's models.
"""

from itertools import product

from pydantic import SerializeAsAny, ValidationInfo, field_validator

from eflops.config.settings import TrainingSettings, settings_class
from eflops.results.labels import Run, ratio_value
from eflops.results.record import Cell, Identity


class CellSpec(Cell):
    """Everything that determines a cell's training, apart from its data.

    variants: the settings of each variant, by its label. draws, seeds: every variant is trained on each draw with
    each seed. code: the hash of the code that the job was planned for; empty if the job was not planned.
    """

    variants: dict[str, SerializeAsAny[TrainingSettings]]
    draws: tuple[int, ...] = ()
    seeds: tuple[int, ...] = ()
    code: str = ""

    @field_validator("variants", mode="before")
    @classmethod
    def _of_the_method(cls, variants: dict[str, object], info: ValidationInfo) -> dict[str, TrainingSettings]:
        """The settings as objects of the method's settings class."""
        model = settings_class(info.data.get("method", ""))
        return {
            label: settings if isinstance(settings, TrainingSettings) else model.model_validate(settings)
            for label, settings in variants.items()
        }

    @property
    def cell(self) -> Cell:
        """The part of the spec that a run's record keeps."""
        return Cell.model_construct(**{name: getattr(self, name) for name in Cell.model_fields})

    @property
    def runs(self) -> list[Run]:
        """Every run, by variant, draw and seed."""
        return [Run(*parts) for parts in product(self.variants, self.draws, self.seeds)]

    def identity(self, run: Run) -> Identity:
        """Which run this is."""
        return Identity(
            experiment=self.experiment,
            dataset=self.dataset,
            ratio=ratio_value(self.ratio),
            method=self.name,
            variant=run.variant,
            draw=run.draw,
            seed=run.seed,
        )

    def alone(self, variant: str) -> "CellSpec":
        """The cell with only one of its variants."""
        return self.model_copy(update={"variants": {variant: self.variants[variant]}})

    def text(self) -> str:
        """The content of the job's spec file."""
        return self.model_dump_json(indent=1) + "\n"
