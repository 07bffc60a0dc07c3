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
            raise PydanticCustomError("twice", "it should name {value} once", {"value": repr(value)})
    return values


Once = AfterValidator(_distinct)
NotEmpty = Field(min_length=1)
# By data set (or another entry that a search writes) and method: the settings that searches chose.
Chosen = dict[Name, dict[Name, Settings]]
Names = Annotated[list[Name], NotEmpty, Once]
ImportPath = Annotated[str, Field(pattern=r"^[\w.]+:\w+$")]
# Modules of a torch module, such as features.0.
Modules = Annotated[list[Annotated[str, Field(pattern=r"^\w+(\.\w+)*$")]], NotEmpty, Once]
OWN_MODEL = "the model fitted to it, or module:function for a torch module of your own (docs/adding-a-model.md)"
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
    if parts in ((), ("/",)) or parts[0].startswith("~") or ".." in parts or set("{}*?\n\t") & set(text):
        right = "it should name a folder below this one or a full path, without braces, such as results"
        raise PydanticCustomError("folder", right)
    for name in PROJECT_FOLDERS:
        if parts[: name.count("/") + 1] == PurePath(name).parts:
            raise PydanticCustomError(
                "folder", "{name} holds files of the project; name another folder", {"name": name}
            )
    return text


class Dataset(Strict):
    """What every data set states: how it is split over clients, the model fitted to it and how sparse that is to be."""

    label: str = Field("", description="name in tables and figures")
    settings_like: Name | None = Field(None, description="another data set whose method settings hold here too")
    clients: Count = Field(10, description="K, the number of clients")
    client_fraction: Part = Field(1.0, description="share of the clients that take part in a round")
    count_concentration: Annotated[Positive | None, FromText] = Field(
        None, description="Dirichlet concentration of the clients' sample counts; null: equal counts"
    )
    min_rows: Count = Field(1, description="rows that every client has at least")
    density: Part = Field(description="rho, the share of weights a sparse model keeps")
    gated: Modules | None = Field(
        None, description="modules of a model of your own that are gated, counted in the density and cut; null: all"
    )


class Synthetic(Dataset):
    """Sparse linear regression with a Toeplitz design."""

    kind: Literal["synthetic"] = Field(description="the word synthetic")
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

    kind: Literal["expression"] = Field(description="the word expression")
    model: Literal["softmax"] | ImportPath = Field("softmax", description=OWN_MODEL)
    density: Part = Field(0.001, description="rho, the share of weights a sparse model keeps")
    genes_per_class: Annotated[Count | None, FromText] = Field(
        None, description="weights that a sparse model keeps, instead of density"
    )
    matrix: str = Field(description="CSV, TSV or npz file; seen from the working folder, or else beside the Snakefile")
    rows: Literal["samples", "genes"] = Field("samples", description="what a row of the matrix is")
    samples: str | None = Field(None, description="a second file, one row per sample, with the columns named below")
    labels: str = Field("class", description="the column that holds each sample's class")
    classes: list[Label] = Field([], description="the classes in order; samples of others are left out; empty: all")
    clients_by: str | None = Field(None, description="the column that names each sample's site; a site is a client")
    gene_names: list[str] = Field([], description="files with gene, symbol, name or description, a row per gene")
    floor: Annotated[float | None, FromText] = Field(None, description="values below it are set to it")
    ceiling: Annotated[float | None, FromText] = Field(None, description="values above it are set to it")
    min_fold: Annotated[Positive | None, FromText] = Field(
        None, description="keep genes whose largest value exceeds so many times the least"
    )
    min_range: Annotated[Positive | None, FromText] = Field(
        None, description="keep genes whose largest value exceeds the least by so much"
    )
    intercept: Flag = Field(False, description="give each class an intercept, which is never gated or cut")
    log: Flag = Field(False, description="take logarithms before scaling")
    scaling: Literal["whole", "per_array", "per_gene"] = Field("per_array", description="what is standardised alone")
    test_share: Annotated[float, FromText, Field(gt=0, lt=1)] = Field(
        0.25, description="of every class, at least two samples"
    )
    test_rows: Annotated[Count | None, FromText] = Field(
        None, description="test samples whatever their class, instead of test_share"
    )

    @property
    def files(self) -> list[str]:
        """The files that a data draw is made from."""
        return [path for path in (self.matrix, self.samples) if path]


class Table(Dataset):
    """Rows with a target to predict, numbers or classes, from one file; docs/your-own-data.md shows how."""

    kind: Literal["table"] = Field(description="the word table")
    model: Literal["glm"] | ImportPath = Field(
        "glm",
        description="glm: linear regression for numbers, softmax regression for classes; or module:function for a torch"
        " module of your own (docs/adding-a-model.md)",
    )
    density: Part = Field(0.1, description="rho, the share of weights a sparse model keeps")
    keep: Annotated[Count | None, FromText] = Field(
        None, description="weights that a sparse model keeps, of classes so many each, instead of density"
    )
    file: str = Field(
        description="CSV, TSV, npz or parquet; seen from the working folder, or else beside the Snakefile"
    )
    target: str = Field(description="the column to predict")
    task: Literal["regression", "classification"] | None = Field(
        None, description="whether the target is a number or a class; null: numbers if the column holds numbers alone"
    )
    classes: list[Label] = Field([], description="the classes in order; rows of others are left out; empty: all")
    sites: str | None = Field(None, description="the column that names each row's site; a site is a client")
    id: str | None = Field(None, description="the column that names the rows; null: they are numbered")
    ignore: list[str] = Field([], description="columns that are left out")
    features: list[str] = Field([], description="the columns that predict, in order; empty: all others")
    one_hot: Annotated[int, FromText, Field(ge=0, le=10**4)] = Field(
        10, description="a text column with at most so many values becomes a column of 0 and 1 for each value"
    )
    intercept: Flag = Field(True, description="give the model an intercept, which is never gated or cut")
    log: Flag = Field(False, description="take logarithms of the features before scaling")
    scaling: Literal["per_feature", "per_row", "whole", "none"] = Field(
        "per_feature", description="what is standardised alone, by the training rows"
    )
    test_share: Annotated[float, FromText, Field(gt=0, lt=1)] = Field(
        0.25, description="share of the rows, and of every class, for testing; at least two"
    )
    test_rows: Annotated[Count | None, FromText] = Field(None, description="test rows, instead of test_share")

    @property
    def files(self) -> list[str]:
        """The files that a data draw is made from."""
        return [self.file]

    @property
    def gene_names(self) -> list[str]:
        """The files that name features: none, because the headings do."""
        return []


class Mnist(Dataset):
    """Handwritten digits, or another set of the same file format."""

    kind: Literal["mnist"] = Field(description="the word mnist")
    model: Literal["cnn"] | ImportPath = Field("cnn", description=OWN_MODEL)
    source: Literal["mnist", "fashion_mnist"] = Field("mnist", description="which images")
    ratio_per_class: Share = Field(0.01981, description="share of each class's training images that is used")
    label_concentration: Positive = Field(1.0, description="Dirichlet concentration of the clients' labels")
    test_rows: Annotated[Annotated[int, Field(ge=1, le=10_000)] | None, FromText] = Field(
        None, description="test images used; null: all 10,000"
    )
    standardise: Flag = Field(False, description="scale pixels to mean 0 and deviation 1")


class OwnData(Dataset):
    """A data set of the user's own: `kind` is the import path of its builder."""

    kind: Annotated[str, Field(pattern=r"^[\w.]+:\w+$")] = Field(description="its builder, as module:function")
    model: Literal["linear", "softmax", "cnn"] | ImportPath = Field(description=OWN_MODEL)
    intercept: Flag = Field(False, description="give a linear or softmax model an intercept, never gated or cut")
    options: dict[str, Value] = Field({}, description="whatever the builder reads from settings['options']")


KINDS: dict[str, type[Dataset]] = {
    "synthetic": Synthetic,
    "expression": Expression,
    "table": Table,
    "mnist": Mnist,
    "own": OwnData,
}


def _kind(entry: object) -> str:
    """Which model an entry is checked against: by its kind, or a data set of the user's own."""
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
    """A column of the tables: an algorithm, its settings, and whether the clients' data are pooled."""

    method: Annotated[str, Field(pattern=r"^(\w+|[\w.]+:\w+)$")] = Field(
        description="a module of eflops.training.methods, or module:Class for your own method"
    )
    label: str = Field(description="name in tables and figures")
    pooled: Flag = Field(False, description="train centrally: one client that holds everything")
    options: dict[str, Value] = Field({}, description="keyword arguments of your own method")
    settings_like: Name | None = Field(None, description="another method whose chosen settings hold here too")
    defaults: Settings = Field({}, description="settings on data sets for which no search chose any")
    settings: Settings = Field({}, description="settings on every data set, above chosen ones")
    per_dataset: dict[str, Settings] = Field(
        {}, description="settings on one data set, those like it, or experiments with this chosen_entry"
    )


class Experiment(Strict):
    """A full crossing of ratios, methods, settings, data draws and run seeds."""

    dataset: Name = Field(description="a data set of this file")
    model: ImportPath | None = Field(None, description="a model of your own, instead of the data set's")
    gated: Modules | None = Field(None, description="its modules that are gated, instead of the data set's; null: all")
    methods: Names = Field(description="methods of this file, in the order of the columns")
    ratios: Ratios = Field([], description="N/d of synthetic data; empty for data of a fixed size")
    draws: Draws = Field([0], description="data seeds: draws of synthetic data, train/test splits of real data")
    seeds: Runs = Field(30, description="number of run seeds")
    first_seed: Seed = Field(0, description="the first run seed; the others follow it")
    evaluate_every: Count = Field(5, description="rounds between evaluations; the last of a phase is always evaluated")
    target: Name = Field("all", description="the target of snakemake that trains and shows it")
    chosen_entry: Name | None = Field(
        None, description="an entry of the chosen settings, such as synthetic_nearest, above that of the data set"
    )
    settings: Settings = Field({}, description="settings changed for all methods of this experiment")
    vary: dict[str, Annotated[list[Setting], NotEmpty, Once]] = Field({}, description="settings crossed in a grid")
    cases: dict[Name, Settings] = Field({}, description="named sets of settings, instead of a grid")
    cases_of: Name | None = Field(
        None, description="an entry that a search chose and whose parts are the cases, such as synthetic_temperature"
    )


class Interval(Strict):
    """Values between two ends, drawn evenly or evenly in the logarithm."""

    low: Annotated[float, FromText] = Field(description="the lower end")
    high: Annotated[float, FromText] = Field(description="the upper end")
    log: Flag = Field(False, description="draw evenly in the logarithm; low must be above 0")


Range = Interval | Annotated[list[Setting], NotEmpty]


class Admission(Strict):
    """What a trial must keep to, so that its method is the one that is searched for."""

    open_gates: Annotated[Positive | None, FromText] = Field(
        None, description="gates open after training, at each N/d in the mean, at most so many times the kept weights"
    )
    sent: dict[Name, Positive] = Field({}, description="by method: bytes sent in training, as a share of dense ones")


class Search(Strict):
    """A random search: the same number of trials for every method, on draws and seeds that nothing else uses."""

    dataset: Name = Field(description="a data set of this file")
    chosen_entry: Name | None = Field(
        None, description="the entry of the chosen settings that it writes; null: its data set's"
    )
    model: ImportPath | None = Field(None, description="a model of your own, instead of the data set's")
    gated: Modules | None = Field(None, description="its modules that are gated, instead of the data set's; null: all")
    methods: Names = Field(description="methods of this file")
    ratios: Ratios = Field([], description="N/d of synthetic data; empty for data of a fixed size")
    draws: Draws = Field(description="data seeds that no experiment uses")
    seeds: Runs = Field(description="number of run seeds")
    first_seed: Seed = Field(description="the first run seed; the others follow it")
    trials: Runs = Field(description="settings drawn for each method")
    group: Count = Field(1, description="trials in a row that share what runs of one batch must agree on")
    metric: Literal["r2", "accuracy", "cross_entropy"] = Field(description="what trials are ranked by")
    score: Literal["mean", "mean_minus_sd"] = Field("mean", description="what a trial's runs are summed up to")
    admit: Admission = Field(Admission(), description="trials that may be chosen")
    by_bytes: dict[Name, Positive] = Field(
        {}, description="further entries that it writes from the same trials: those that send at most this share"
    )
    nearest: Literal["support_recovery", "gene_frequency"] | None = Field(
        None, description="the paper's table whose columns the entry <chosen_entry>_nearest comes nearest"
    )
    settings: Settings = Field({}, description="settings that every trial has")
    ranges: dict[str, Range] = Field({}, description="settings searched for every method")
    method_ranges: dict[Name, dict[str, Range]] = Field({}, description="further settings, by method")
    cross: dict[Name, dict[str, Annotated[list[Setting], NotEmpty, Once]]] = Field(
        {}, description="by method: settings whose values are all trained with each drawn setting, nothing else changed"
    )

    @property
    def entry(self) -> str:
        """The entry of the chosen settings that it writes."""
        return self.chosen_entry or self.dataset

    @property
    def entries(self) -> list[str]:
        """That, the entry of settings nearest to the paper, the one of the best at each T, and those by bytes."""
        crossed = any("temperature" in settings for settings in self.cross.values())
        more = {"nearest": self.nearest, "temperature": crossed}
        return [self.entry, *(f"{self.entry}_{name}" for name, made in more.items() if made), *self.by_bytes]


class Config(Strict):
    """The whole file."""

    results: Annotated[str, AfterValidator(_results_folder)] = Field(
        "results", description="folder that everything generated goes to"
    )
    engine: Literal["batched", "reference", "flower"] = Field(
        "batched", description="what trains; the numbers are the same"
    )
    chosen: str | Chosen | None = Field(
        None, description="file of the settings that searches chose, or these settings by data set and method"
    )
    block_size: Count = Field(32, description="runs trained side by side in one batch; smaller needs less memory")
    seeds_per_job: Annotated[Count | None, FromText] = Field(
        None, description="seeds of a cell that one job trains; fewer spread a cell over nodes; null: all"
    )
    mnist_folder: Annotated[str, NotEmpty] | None = Field(
        None, description="folder with the MNIST files; without it they are downloaded"
    )
    datasets: dict[Name, AnyDataset] = Field(description="data sets by name")
    methods: dict[Name, Method] = Field(description="methods by name, in the order of tables and legends")
    experiments: dict[Name, Experiment] = Field(description="experiments by name")
    searches: dict[Name, Search] = Field({}, description="searches by name")
    products: dict[Name, dict[str, Any] | None] = Field(
        {}, description="your own tables and figures, and changes of those in config/products.yaml; null: leave out"
    )

    @property
    def choices(self) -> Chosen:
        """The settings that searches chose; loading replaces the name of their file by what it holds."""
        return self.chosen if isinstance(self.chosen, dict) else {}


def model_of(config: Config, name: str) -> tuple[str, list[str] | None]:
    """The model of an experiment or search, and which of its modules are gated: its own, or its data set's."""
    entry = entry_of(config, name)
    dataset: Any = config.datasets[entry.dataset]
    if entry.model is None:
        return dataset.model, entry.gated or dataset.gated
    return entry.model, entry.gated


def entry_of(config: Config, name: str) -> Experiment | Search:
    """The experiment or search of this name."""
    return config.experiments[name] if name in config.experiments else config.searches[name]


def names_custom_code(config: Config) -> bool:
    """Whether a data set, a model or a method is the user's, written as "module:name"."""
    entries = [*config.datasets.values(), *config.experiments.values(), *config.searches.values()]
    kinds = [entry.kind for entry in config.datasets.values()] + [entry.method for entry in config.methods.values()]
    return any(":" in name for name in [*kinds, *(entry.model or "" for entry in entries)])


def data_settings(entry: Dataset) -> DataSettings:
    """What a data draw depends on, as JSON values; the rest of an entry says what is done with the data."""
    unused = {"label", "model", "gated", "intercept", "client_fraction", "settings_like"}
    return cast(DataSettings, entry.model_dump(mode="json", exclude=unused))


# Former names: the error for one gives the present name, and older results stay readable.
FORMER = {
    "tune_rounds": "finetune_rounds",
    "tune_rate": "finetune_rate",
    "tune_steps": "finetune_steps",
    "settings_of": "chosen_entry",
    "chooses": "chosen_entry",
}

# The leukaemia data used to be a separate kind; what that kind fixed is in the config now.
GOLUB: dict[str, Any] = {
    "kind": "expression",
    "matrix": "resources/golub/expression.csv.gz",
    "rows": "genes",
    "samples": "resources/golub/samples.csv",
    "classes": ["ALL", "AML"],
    "gene_names": ["resources/golub/probes.csv.gz", "resources/golub/gene_names.csv"],
    "floor": 100,
    "ceiling": 16000,
    "min_fold": 5,
    "min_range": 500,
}
SCALINGS: dict[str, dict[str, Any]] = {
    "intensity": {"scaling": "whole"},
    "intensity_per_array": {"scaling": "per_array"},
    "log10_per_array": {"scaling": "per_array", "log": True},
    "log10_per_gene": {"scaling": "per_gene", "log": True},
}


def with_present_names(stored: object) -> Any:
    """JSON values of an older study or record with the present names, at any depth."""
    if isinstance(stored, list):
        return [with_present_names(value) for value in stored]
    if not isinstance(stored, dict):
        return stored
    if stored.get("kind") == "golub":
        return {**stored, **GOLUB, **SCALINGS[stored["scaling"]]}
    return {FORMER.get(key, key): with_present_names(value) for key, value in stored.items()}
