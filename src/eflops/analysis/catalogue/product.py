"""What a table or figure is to the workflow: its name, what it is made from and where it is written."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["table", "figure"]
FORMATS: dict[Kind, tuple[str, ...]] = {"table": ("csv", "md", "tex", "html"), "figure": ("svg", "pdf", "png", "csv")}


@dataclass(frozen=True)
class Product:
    """A table or figure: its name is also its module below analysis/tables or analysis/figures.

    `experiments` are read from their gathered files; `inputs` are further files below the results folder, `resources`
    files that come with the project.
    """

    kind: Kind
    name: str
    title: str
    category: str
    experiments: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """The files it is written to, below the results folder."""
        return tuple(f"{self.kind}s/{self.name}.{suffix}" for suffix in FORMATS[self.kind])

    @property
    def sources(self) -> tuple[str, ...]:
        """The files it is read from, below the results folder."""
        gathered = [f"gathered/{name}.{suffix}" for name in self.experiments for suffix in ("csv", "curves.csv")]
        return (*gathered, *self.inputs)

    @property
    def module(self) -> str:
        """The module that makes it."""
        return f"eflops.analysis.{self.kind}s.{self.name}"
