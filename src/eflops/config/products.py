"""The tables and figures, with their inputs.

config/products.yaml holds those that come with the project. `products` in a config adds products, changes keys of one,
or removes one (null). An experiment that no project entry shows gets a general table, paired tests and a figure.
"""

from collections.abc import Container, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypedDict, cast

import yaml
from pydantic import AfterValidator, Field

from eflops.config.models import Config, Expression, Name, Table
from eflops.config.settings import Strict
from eflops.files import PROJECT, below, locate
from eflops.results import paths
from eflops.results.labels import WHOLE
from eflops.results.paths import CURVES, DATA_MANIFEST, GATHERED, GENES, REFERENCES, SEARCHES, SUPPORTS

FILE = PROJECT / "config" / "products.yaml"

Entry = dict[str, Any]


class Product(Strict):
    """A table or figure."""

    name: Name
    kind: paths.Kind
    make: Annotated[str, Field(pattern=r"^[\w.]+:\w+$")] = Field(description="module:function that makes it")
    title: str = Field(description="what it shows")
    paper: str = Field("", description="the paper's name for it, such as Table 1")
    category: str = Field("Own", description="its section of the report")
    note: str = Field("", description="a further sentence of the caption, such as how its methods differ")
    experiments: list[Name] = Field([], description="experiments whose gathered runs and curves it reads")
    inputs: list[Annotated[str, AfterValidator(below)]] = Field(
        [], description="further files that it reads, below the results folder"
    )
    resources: list[str] = Field([], description="files of the project that it reads")
    parameters: dict[str, Any] = Field({}, description="keyword arguments of the function")

    @property
    def files(self) -> tuple[str, ...]:
        """Its output files, below the results folder."""
        return paths.product_files(self.kind, self.name)

    @property
    def csv(self) -> str:
        """The file of its plain numbers."""
        return paths.product(self.kind, self.name)

    @property
    def sources(self) -> tuple[str, ...]:
        """Its input files, below the results folder."""
        gathered = [each.format(experiment=name) for name in self.experiments for each in (GATHERED, CURVES)]
        return (*gathered, *self.inputs)

    @property
    def module(self) -> str:
        """The module that makes it."""
        return self.make.partition(":")[0]

    @property
    def caption(self) -> str:
        """Its title, with the paper's name for it in front."""
        return f"{self.paper}: {self.title}" if self.paper else self.title


class ShownMethods(TypedDict):
    """Methods in the config's order: their labels, and which train on pooled data."""

    labels: dict[str, str]
    pooled: list[str]


class ProductJob(ShownMethods):
    """Everything that a product depends on besides files and code: its entry, and the methods that it shows."""

    name: str
    kind: paths.Kind
    make: str
    title: str
    experiments: list[str]
    inputs: list[str]
    resources: list[str]
    parameters: dict[str, Any]


def products(config: Config) -> list[Product]:
    """The products whose experiments the config defines; products of missing searches are left out."""
    there = set(config.experiments)
    entries = [entry for entry in _entries(config).values() if there.issuperset(entry.get("experiments", ()))]
    searched = {*config.datasets, *(search.entry for search in config.searches.values())}
    return [Product.model_validate(kept) for entry in entries if (kept := _of_made_searches(entry, searched))]


def target_of(config: Config, product: Product) -> str:
    """The target that makes a product: that of its experiments; one that is not `all` takes precedence."""
    apart = [config.experiments[name].target for name in product.experiments]
    return next((target for target in apart if target != "all"), "all")


def product_job(config: Config, product: Product) -> ProductJob:
    """The spec of the job that makes a product, as JSON values."""
    entry = product.model_dump(mode="json", exclude={"paper", "category", "note"})
    read = {path.rpartition("/")[2].partition(".")[0] for path in product.resources if path.startswith(f"{SEARCHES}/")}
    searches = [name for name, search in config.searches.items() if search.entry in read]
    return cast(ProductJob, {**entry, **shown_methods(config, product.experiments, searches)})


def shown_methods(config: Config, experiments: list[str], searches: Iterable[str] = ()) -> ShownMethods:
    """The methods of some experiments.

    searches: further searches whose methods are included.
    """
    shown = {method for name in experiments for method in config.experiments[name].methods}
    shown |= {method for name in searches for method in config.searches[name].methods}
    methods = {name: entry for name, entry in config.methods.items() if name in shown}
    return {
        "labels": {name: entry.label for name, entry in methods.items()},
        "pooled": [name for name, entry in methods.items() if entry.pooled],
    }


def _entries(config: Config) -> dict[str, Entry]:
    """All entries by name, the config's changes applied to the project's entries and the general ones."""
    entries = project_entries() | general_entries(config)
    for name, change in config.products.items():
        if change is None:
            del entries[name]
        else:
            entries[name] = entries.get(name, {}) | {"name": name} | change
    return entries


def _of_made_searches(entry: Entry, searched: Container[str]) -> Entry | None:
    """An entry with those of its trials that exist; None if it names trials and none exist.

    searched: the data sets of the config and its searches; the project's trials of other data sets do not belong to
    the study.
    """
    named = entry.get("resources", [])
    kept = [
        path
        for path in named
        if not path.startswith(SEARCHES) or (Path(path).name.partition(".")[0] in searched and locate(path))
    ]
    return {**entry, "resources": kept} if kept or not named else None


@cache
def project_entries() -> dict[str, Entry]:
    """The entries of config/products.yaml."""
    fast = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # commands that answer at once read this file too
    raw = yaml.load(FILE.read_text(encoding="utf-8"), fast)["products"]
    return {name: {"name": name} | entry for name, entry in raw.items()}


def general_entries(config: Config) -> dict[str, Entry]:
    """The entries of products that every experiment has, by name."""
    return {entry["name"]: entry for entry in general_products(config)}


def general_products(config: Config) -> Iterator[Entry]:
    """A table, paired tests and a figure for each experiment that no product of the project shows.

    If features have names (genes or columns), the selected ones and their stability are shown too.
    """
    shown_together = [entry["experiments"] for entry in project_entries().values() if "experiments" in entry]
    shown = {name for names in shown_together if set(names) <= set(config.experiments) for name in names}
    for name, experiment in config.experiments.items():
        if name in shown:
            continue
        parts: list[tuple[str, str, str, str, list[str]]] = [
            (name, "table", "eflops.analysis.products.general:summary", "metrics by method", []),
            (f"{name}_tests", "table", "eflops.analysis.products.general:tests", "paired tests", []),
            (f"fig_{name}", "figure", "eflops.analysis.products.general:figure", "metrics by method", []),
        ]
        dataset = config.datasets.get(experiment.dataset)
        word = "gene" if isinstance(dataset, Expression) else "feature"
        # The weights of a torch module are no features.
        if isinstance(dataset, Expression | Table) and ":" not in (experiment.model or dataset.model):
            chosen = [
                each.format(experiment=name, dataset=experiment.dataset) for each in (SUPPORTS, REFERENCES, GENES)
            ]
            classes = DATA_MANIFEST.format(dataset=experiment.dataset, ratio=WHOLE, draw=min(experiment.draws))
            genes = "eflops.analysis.products.genes"
            parts += [
                (f"{name}_{word}s", "table", f"{genes}:selected", f"selected {word}s", [*chosen, classes]),
                (f"{name}_stability", "table", f"{genes}:stability", f"stability of the {word}s", chosen),
            ]
        for product, kind, make, title, inputs in parts:
            yield {
                "name": product,
                "kind": kind,
                "make": make,
                "title": f"{name}: {title}",
                "category": "Own experiments",
                "experiments": [name],
                "inputs": inputs,
                "parameters": {"word": word} if "genes" in make and word != "gene" else {},
            }
