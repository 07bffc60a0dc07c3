"""config.yaml as typed objects: data sets, methods, experiments, searches. Only this module knows its keys."""

from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from eflops.config.data import DataSettings
from eflops.config.settings import Count, Flag, FromText, Positive, Share, Strict

# A name is a part of file names, which have at most 255 letters.
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=80)]
Value = bool | int | float | str | None
Setting = Annotated[Value, FromText]
Settings = dict[str, Setting]
# A class as the file has it; YAML reads 0 as a number.
Label = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, int) else value)]
Part = Annotated[float, FromText, Field(gt=0, le=1)]
# Seeds are 32-bit numbers, so that every generator takes them.
Seed = Annotated[int, FromText, Field(ge=0, lt=2**31)]
Runs = Annotated[int, FromText, Field(ge=1, le=10_000)]
# Larger deviations overflow float32 together with the features that they scale.
Scale = Annotated[float, FromText, Field(ge=0, le=1e6)]
Item = TypeVar("Item")


def _distinct(values: list[Item]) -> list[Item]:
    for index, value in enumerate(values):
        if value in values[:index]:
            raise PydanticCustomError("twice", "it should name {value} only once", {"value": repr(value)})
    return values


Once = AfterValidator(_distinct)
NotEmpty = Field(min_length=1)
# By data set (or another entry that a search writes) and method: the settings that searches chose.
Chosen = dict[Name, dict[Name, Settings]]
Names = Annotated[list[Name], NotEmpty, Once]
ImportPath = Annotated[str, Field(pattern=r"^[\w.]+:\w+$")]
# Modules of a torch module, such as features.0.
Modules = Annotated[list[Annotated[str, Field(pattern=r"^\w+(\.\w+)*$")]], NotEmpty, Once]
OWN_MODEL = "the model fitted to it, or module:function for your own torch module (docs/adding-a-model.md)"
Ratios = Annotated[list[Positive], Once]
Draws = Annotated[list[Seed], NotEmpty, Once]

# Folders of the project, where generated files would be mixed with tracked ones.
PROJECT_FOLDERS = (
    *("src", "config", "docs", "workflow", "resources", "tests", "envs", "profiles", "benchmarks"),
    *(".git", ".snakemake", ".venv", "results/published"),
)


def _results_folder(text: str) -> str:
    folder = PurePath(text)
    parts = folder.relative_to(Path.cwd()).parts if folder.is_relative_to(Path.cwd()) else folder.parts
    # The root of the disk and ~, which nobody would replace by the home folder, are no folders for results.
    # One that begins with a dash would be an option in the commands that explain prints.
    odd = parts in ((), ("/",)) or parts[0].startswith(("~", "-"))
    if odd or ".." in parts or set("{}*?\n\t") & set(text):
        right = "it should name a folder below this one or a full path, without braces, such as results"
        raise PydanticCustomError("folder", right)
    for name in PROJECT_FOLDERS:
        if parts[: name.count("/") + 1] == PurePath(name).parts:
            raise PydanticCustomError(
                "folder", "{name} contains files of the project; choose another folder", {"name": name}
            )
    return text


class Dataset(Strict):
    """Keys of every data set: its clients, its model, and the model's sparsity."""

    label: str = Field("", description="name in tables and figures")
    settings_like: Name | None = Field(None, description="another data set whose chosen settings are used here too")
    clients: Count = Field(10, description="K, the number of clients")
    client_fraction: Part = Field(1.0, description="share of the clients that are selected per round")
    count_concentration: Annotated[Positive | None, FromText] = Field(
        None, description="Dirichlet concentration of the clients' sample counts; null: equal counts"
    )
    min_rows: Count = Field(1, description="smallest number of rows of a client")
    density: Part = Field(description="rho, the share of weights that a sparse model keeps")
    gated: Modules | None = Field(
        None, description="modules of a custom model that are gated, cut, and counted in the density; null: all"
    )


class Synthetic(Dataset):
    """Sparse linear regression with a Toeplitz design."""

    kind: Literal["synthetic"] = Field(description="the kind of data")
    model: Literal["linear"] | ImportPath = Field("linear", description=OWN_MODEL)
    features: Count = Field(1000, description="d, the number of features")
    correlation: Annotated[float, FromText, Field(gt=-1, lt=1)] = Field(
        0.2, description="correlation of neighbouring features"
    )
    snr: Positive = Field(20.0, description="signal-to-noise ratio of the target")
    test_rows: Count = Field(5000, description="rows of the common test set")
    shift_scale: Scale = Field(1.0, description="sd of the factor 1 + N(0, sd) on each client's features")
    shift_offset: Scale = Field(0.0, description="sd of the constant added to each client's features")


class Expression(Dataset):
    """Gene expression with classes, from a matrix file; docs/your-own-data.md shows how."""

    kind: Literal["expression"] = Field(description="the kind of data")
    model: Literal["softmax"] | ImportPath = Field("softmax", description=OWN_MODEL)
    density: Part = Field(0.001, description="rho, the share of weights that a sparse model keeps")
    genes_per_class: Annotated[Count | None, FromText] = Field(
        None, description="number of weights per class that a sparse model keeps, instead of density"
    )
    matrix: str = Field(description="CSV, TSV or npz file, in the working folder or next to the Snakefile")
    rows: Literal["samples", "genes"] = Field("samples", description="what a row of the matrix is")
    samples: str | None = Field(None, description="a second file, one row per sample, with the columns named below")
    labels: str = Field("class", description="the column that holds each sample's class")
    classes: list[Label] = Field([], description="the classes in order; other samples are excluded; empty: all classes")
    clients_by: str | None = Field(None, description="the column of sites; each site becomes a client")
    gene_names: list[str] = Field(
        [], description="files with a row per gene and the columns gene, symbol, name or description"
    )
    floor: Annotated[float | None, FromText] = Field(None, description="smaller values are set to this")
    ceiling: Annotated[float | None, FromText] = Field(None, description="larger values are set to this")
    min_fold: Annotated[Positive | None, FromText] = Field(
        None, description="keep genes whose largest value exceeds the smallest by this factor"
    )
    min_range: Annotated[Positive | None, FromText] = Field(
        None, description="keep genes whose largest value exceeds the smallest by this amount"
    )
    intercept: Flag = Field(False, description="add an intercept per class, which is never gated or cut")
    log: Flag = Field(False, description="take logarithms before scaling")
    scaling: Literal["whole", "per_array", "per_gene"] = Field(
        "per_array", description="what is standardised separately: everything as a whole, each array or each gene"
    )
    test_share: Annotated[float, FromText, Field(gt=0, lt=1)] = Field(
        0.25, description="share of each class's samples for testing, at least two"
    )
    test_rows: Annotated[Count | None, FromText] = Field(
        None, description="number of test samples regardless of class, instead of test_share"
    )

    @property
    def files(self) -> list[str]:
        """The files that a data draw is made from."""
        return [path for path in (self.matrix, self.samples) if path]


class Table(Dataset):
    """Rows with a target to predict, numbers or classes, from one file; docs/your-own-data.md shows how."""

    kind: Literal["table"] = Field(description="the kind of data")
    model: Literal["glm"] | ImportPath = Field(
        "glm",
        description="glm: linear regression for numbers, softmax regression for classes; or module:function for your"
        " own torch module (docs/adding-a-model.md)",
    )
    density: Part = Field(0.1, description="rho, the share of weights that a sparse model keeps")
    keep: Annotated[Count | None, FromText] = Field(
        None,
        description="number of weights that a sparse model keeps (for classification: per class), instead of density",
    )
    file: str = Field(description="CSV, TSV, npz or parquet file, in the working folder or next to the Snakefile")
    target: str = Field(description="the column to predict")
    task: Literal["regression", "classification"] | None = Field(
        None, description="whether the target is a number or a class; null: regression if all values are numbers"
    )
    classes: list[Label] = Field([], description="the classes in order; other rows are excluded; empty: all classes")
    sites: str | None = Field(None, description="the column of sites; each site becomes a client")
    id: str | None = Field(None, description="the column of row names; null: rows are numbered")
    ignore: list[str] = Field([], description="columns to exclude")
    features: list[str] = Field([], description="the feature columns, in order; empty: all others")
    one_hot: Annotated[int, FromText, Field(ge=0, le=10**4)] = Field(
        10, description="text columns with at most this many different values are one-hot encoded"
    )
    intercept: Flag = Field(True, description="add an intercept, which is never gated or cut")
    log: Flag = Field(False, description="take logarithms of the features before scaling")
    scaling: Literal["per_feature", "per_row", "whole", "none"] = Field(
        "per_feature", description="what is standardised separately, with the mean and deviation of the training rows"
    )
    test_share: Annotated[float, FromText, Field(gt=0, lt=1)] = Field(
        0.25, description="share of the rows (of each class) for testing, at least two"
    )
    test_rows: Annotated[Count | None, FromText] = Field(None, description="number of test rows, instead of test_share")

    @property
    def files(self) -> list[str]:
        """The files that a data draw is made from."""
        return [self.file]

    @property
    def gene_names(self) -> list[str]:
        """The files that name features: none, because the headings name them."""
        return []


class Mnist(Dataset):
    """Handwritten digits, or another set of the same file format."""

    kind: Literal["mnist"] = Field(description="the kind of data")
    model: Literal["cnn"] | ImportPath = Field("cnn", description=OWN_MODEL)
    source: Literal["mnist", "fashion_mnist"] = Field("mnist", description="the image set")
    ratio_per_class: Share = Field(0.01981, description="share of each class's training images that is used")
    label_concentration: Positive = Field(1.0, description="Dirichlet concentration of the clients' labels")
    test_rows: Annotated[Annotated[int, Field(ge=1, le=10_000)] | None, FromText] = Field(
        None, description="number of test images; null: all 10,000"
    )
    standardise: Flag = Field(False, description="scale pixels to mean 0 and standard deviation 1")


class OwnData(Dataset):
    """A custom data set: `kind` is the import path of its builder."""

    kind: Annotated[str, Field(pattern=r"^[\w.]+:\w+$")] = Field(description="its builder, as module:function")
    model: Literal["linear", "softmax", "cnn"] | ImportPath = Field(description=OWN_MODEL)
    intercept: Flag = Field(
        False, description="add an intercept to a linear or softmax model; it is never gated or cut"
    )
    options: dict[str, Value] = Field({}, description="passed to the builder as settings['options']")


KINDS: dict[str, type[Dataset]] = {
    "synthetic": Synthetic,
    "expression": Expression,
    "table": Table,
    "mnist": Mnist,
    "own": OwnData,
}


def _kind(entry: object) -> str:
    """The model that validates an entry: by its kind, or the one of custom data sets."""
    kind = entry.get("kind") if isinstance(entry, dict) else getattr(entry, "kind", None)
    return "own" if isinstance(kind, str) and ":" in kind else str(kind)


AnyDataset = Annotated[
    Annotated[Synthetic, Tag("synthetic")]
    | Annotated[Expression, Tag("expression")]
    | Annotated[Table, Tag("table")]
    | Annotated[Mnist, Tag("mnist")]
    | Annotated[OwnData, Tag("own")],
    Discriminator(_kind),
]


class Method(Strict):
    """A column of the tables: an algorithm with its settings."""

    method: Annotated[str, Field(pattern=r"^(\w+|[\w.]+:\w+)$")] = Field(
        description="a module of eflops.training.methods, or module:Class for your own method"
    )
    label: str = Field(description="name in tables and figures")
    pooled: Flag = Field(False, description="centralized training: one client has all rows")
    options: dict[str, Value] = Field({}, description="keyword arguments of a custom method")
    settings_like: Name | None = Field(None, description="another method whose chosen settings are used here too")
    defaults: Settings = Field({}, description="settings on data sets without chosen settings")
    settings: Settings = Field({}, description="settings on every data set; they override chosen settings")
    per_dataset: dict[str, Settings] = Field(
        {}, description="settings on one data set (and those with its settings_like), or for one chosen_entry"
    )


class Experiment(Strict):
    """All combinations of ratios, methods, settings, data draws and run seeds."""

    dataset: Name = Field(description="name of its data set")
    model: ImportPath | None = Field(None, description="a custom model instead of the data set's")
    gated: Modules | None = Field(None, description="the gated modules of that model; null: all")
    methods: Names = Field(description="names of its methods, in the order of table columns")
    ratios: Ratios = Field([], description="values of N/d for synthetic data; empty for data of a fixed size")
    draws: Draws = Field([0], description="data seeds: draws of synthetic data, train/test splits of real data")
    seeds: Runs = Field(30, description="number of run seeds")
    first_seed: Seed = Field(0, description="the first run seed; the others follow it")
    evaluate_every: Count = Field(
        5, description="rounds between evaluations; the last round of a phase is always evaluated"
    )
    target: Name = Field("all", description="the snakemake target that runs it and makes its tables and figures")
    chosen_entry: Name | None = Field(
        None, description="an entry of the chosen settings that overrides the data set's, such as synthetic_nearest"
    )
    settings: Settings = Field({}, description="settings of all methods in this experiment")
    vary: dict[str, Annotated[list[Setting], NotEmpty, Once]] = Field(
        {}, description="a grid: every combination of these values"
    )
    cases: dict[Name, Settings] = Field({}, description="named sets of settings instead of a grid")
    cases_of: Name | None = Field(
        None, description="an entry of the chosen settings whose parts are the cases, such as synthetic_temperature"
    )


class Interval(Strict):
    """An interval of values, drawn uniformly or uniformly on a log scale."""

    low: Annotated[float, FromText] = Field(description="the lower end")
    high: Annotated[float, FromText] = Field(description="the upper end")
    log: Flag = Field(False, description="draw uniformly on a log scale; low must be above 0")


Range = Interval | Annotated[list[Setting], NotEmpty]


class Admission(Strict):
    """Conditions that a trial must meet to be chosen."""

    open_gates: Annotated[Positive | None, FromText] = Field(
        None, description="largest mean number of open gates after training at each N/d, as a multiple of the target"
    )
    sent: dict[Name, Positive] = Field({}, description="by method: largest share of dense bytes sent in training")


class Search(Strict):
    """A random search with the same number of trials for every method, on draws and seeds that nothing else uses."""

    dataset: Name = Field(description="name of its data set")
    chosen_entry: Name | None = Field(
        None, description="the entry of the chosen settings that the search writes; null: the data set's"
    )
    model: ImportPath | None = Field(None, description="a custom model instead of the data set's")
    gated: Modules | None = Field(None, description="the gated modules of that model; null: all")
    methods: Names = Field(description="names of its methods")
    ratios: Ratios = Field([], description="values of N/d for synthetic data; empty for data of a fixed size")
    draws: Draws = Field(description="data seeds; no experiment may use them")
    seeds: Runs = Field(description="number of run seeds")
    first_seed: Seed = Field(description="the first run seed; the others follow it")
    trials: Runs = Field(description="number of random settings per method")
    group: Count = Field(1, description="successive trials that share the settings that must be equal within a batch")
    metric: Literal["r2", "accuracy", "cross_entropy"] = Field(description="metric that ranks the trials")
    score: Literal["mean", "mean_minus_sd"] = Field("mean", description="how the score of a trial combines its runs")
    admit: Admission = Field(Admission(), description="conditions on trials that can be chosen")
    by_bytes: dict[Name, Positive] = Field(
        {}, description="further entries, each with a share of dense bytes: the best trial that sends at most this much"
    )
    nearest: Literal["support_recovery", "gene_frequency"] | None = Field(
        None,
        description="the paper's table for the entry <chosen_entry>_nearest, the trial nearest to the paper's column",
    )
    settings: Settings = Field({}, description="settings of all trials")
    ranges: dict[str, Range] = Field({}, description="ranges for all methods")
    method_ranges: dict[Name, dict[str, Range]] = Field({}, description="further ranges, by method")
    cross: dict[Name, dict[str, Annotated[list[Setting], NotEmpty, Once]]] = Field(
        {}, description="by method: settings whose values are all combined with each drawn setting"
    )

    @property
    def entry(self) -> str:
        """The entry of the chosen settings that it writes."""
        return self.chosen_entry or self.dataset

    @property
    def entries(self) -> list[str]:
        """The entry, that of the settings nearest the paper, that of the best at each T, and those by bytes."""
        crossed = any("temperature" in settings for settings in self.cross.values())
        more = {"nearest": self.nearest, "temperature": crossed}
        return [self.entry, *(f"{self.entry}_{name}" for name, made in more.items() if made), *self.by_bytes]


class Config(Strict):
    """Keys at the top level of the config file."""

    results: Annotated[str, AfterValidator(_results_folder)] = Field(
        "results", description="folder for everything that the workflow generates"
    )
    engine: Literal["batched", "reference", "flower"] = Field(
        "batched", description="the training engine; all engines give the same numbers"
    )
    chosen: str | Chosen | None = Field(
        None, description="file of chosen settings, or the settings themselves by data set and method"
    )
    block_size: Count = Field(32, description="largest number of runs in a batch; a smaller number needs less memory")
    seeds_per_job: Annotated[Count | None, FromText] = Field(
        None, description="seeds of a cell per job; a smaller number spreads a cell over more nodes; null: all"
    )
    mnist_folder: Annotated[str, NotEmpty] | None = Field(
        None, description="folder of the MNIST files; null: download them"
    )
    datasets: dict[Name, AnyDataset] = Field(description="data sets by name")
    methods: dict[Name, Method] = Field(description="methods by name, in the order of tables and legends")
    experiments: dict[Name, Experiment] = Field(description="experiments by name")
    searches: dict[Name, Search] = Field({}, description="searches by name")
    products: dict[Name, dict[str, Any] | None] = Field(
        {}, description="your tables and figures, and changes to those in config/products.yaml; null removes one"
    )

    @property
    def choices(self) -> Chosen:
        """The settings that searches chose; loading replaces the name of their file with its content."""
        return self.chosen if isinstance(self.chosen, dict) else {}


def model_of(config: Config, name: str) -> tuple[str, list[str] | None]:
    """The model of an experiment or search, and its gated modules: its own, or its data set's."""
    entry = entry_of(config, name)
    dataset: Any = config.datasets[entry.dataset]
    if entry.model is None:
        return dataset.model, entry.gated or dataset.gated
    return entry.model, entry.gated


def entry_of(config: Config, name: str) -> Experiment | Search:
    """The experiment or search of this name."""
    return config.experiments[name] if name in config.experiments else config.searches[name]


def names_custom_code(config: Config) -> bool:
    """Whether a data set, a model or a method is custom, written as "module:name"."""
    entries = [*config.datasets.values(), *config.experiments.values(), *config.searches.values()]
    kinds = [entry.kind for entry in config.datasets.values()] + [entry.method for entry in config.methods.values()]
    return any(":" in name for name in [*kinds, *(entry.model or "" for entry in entries)])


def data_settings(entry: Dataset) -> DataSettings:
    """The settings that a data draw depends on, as JSON values; the rest of an entry is about the use of the data."""
    unused = {"label", "model", "gated", "intercept", "client_fraction", "settings_like"}
    return cast(DataSettings, entry.model_dump(mode="json", exclude=unused))


# Former names: the error for one gives the present name.
FORMER = {
    "tune_rounds": "finetune_rounds",
    "tune_rate": "finetune_rate",
    "tune_steps": "finetune_steps",
    "settings_of": "chosen_entry",
    "chooses": "chosen_entry",
}
