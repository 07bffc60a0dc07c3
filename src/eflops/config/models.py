"""config.yaml as typed objects: data sets, methods, experiments, searches. The one place that knows the file's keys."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from eflops.config.settings import Count, NonNegative, Positive, Share, Strict

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Value = bool | int | float | str | None


class Dataset(Strict):
    """What every data set states: how it is split over clients, the model fitted to it and how sparse that is to be."""

    label: str = ""
    settings_like: Name | None = Field(None, description="another data set whose method settings hold here too")
    clients: Count = 10
    client_fraction: Annotated[float, Field(gt=0, le=1)] = 1.0
    count_concentration: Positive | None = Field(None, description="Dirichlet of the sample counts; null: equal")
    min_rows: Count = Field(1, description="rows that every client has at least")
    density: Annotated[float, Field(gt=0, le=1)] = Field(description="rho, the share of weights a sparse model keeps")


class Synthetic(Dataset):
    """Sparse linear regression with a Toeplitz design."""

    kind: Literal["synthetic"]
    model: Literal["linear"] = "linear"
    features: Count = 1000
    correlation: Annotated[float, Field(gt=-1, lt=1)] = 0.2
    snr: Positive = 20.0
    test_rows: Count = 5000
    shift_scale: NonNegative = Field(1.0, description="sd of the factor 1 + N(0, sd) on each client's features")
    shift_offset: NonNegative = Field(0.0, description="sd of the constant added to each client's features")


class Golub(Dataset):
    """Leukaemia gene expression, two classes."""

    kind: Literal["golub"]
    model: Literal["softmax"] = "softmax"
    scaling: Literal["intensity", "intensity_per_array", "log10_per_array", "log10_per_gene"] = "intensity"
    test_rows: Count = 15


class Mnist(Dataset):
    """Handwritten digits, or another set of the same file format."""

    kind: Literal["mnist"]
    model: Literal["cnn"] = "cnn"
    source: Literal["mnist", "fashion_mnist"] = "mnist"
    ratio_per_class: Share = 0.01981
    label_concentration: Positive = 1.0
    test_rows: Count | None = Field(None, description="test images used; null: all 10,000")
    standardise: bool = False


class OwnData(Dataset):
    """A data set of the user's own: `kind` is the import path of its builder."""

    kind: Annotated[str, Field(pattern=r"^[\w.]+:\w+$")]
    model: Literal["linear", "softmax", "cnn"]
    options: dict[str, Value] = {}


def _kind(entry: Any) -> str:
    """Which model an entry is checked against: by its kind, or a data set of the user's own."""
    kind = entry.get("kind") if isinstance(entry, dict) else getattr(entry, "kind", None)
    return "own" if isinstance(kind, str) and ":" in kind else str(kind)


AnyDataset = Annotated[
    Annotated[Synthetic, Tag("synthetic")]
    | Annotated[Golub, Tag("golub")]
    | Annotated[Mnist, Tag("mnist")]
    | Annotated[OwnData, Tag("own")],
    Discriminator(_kind),
]


class Method(Strict):
    """A column of the tables: an algorithm, its settings, and whether the clients' data are pooled."""

    method: Annotated[str, Field(pattern=r"^(\w+|[\w.]+:\w+)$")]
    label: str
    pooled: bool = Field(False, description="train centrally: one client that holds everything")
    options: dict[str, Value] = Field({}, description="keyword arguments of a method of one's own")
    settings: dict[str, Value] = {}
    per_dataset: dict[str, dict[str, Value]] = Field({}, description="settings that differ on one data set")


class Experiment(Strict):
    """A full crossing of ratios, methods, settings, data draws and run seeds."""

    dataset: Name
    methods: Annotated[list[Name], Field(min_length=1)]
    ratios: list[Positive] = Field([], description="N/d of synthetic data; empty for data of a fixed size")
    draws: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)] = Field(
        [0], description="data seeds: draws of synthetic data, train/test splits of real data"
    )
    seeds: Count = Field(30, description="run seeds")
    first_seed: Annotated[int, Field(ge=0)] = 0
    evaluate_every: Count = Field(5, description="rounds between evaluations; the last of a phase is always evaluated")
    settings: dict[str, Value] = Field({}, description="settings changed for all methods of this experiment")
    vary: dict[str, Annotated[list[Value], Field(min_length=1)]] = Field({}, description="settings crossed in a grid")
    cases: dict[Name, dict[str, Value]] = Field({}, description="named sets of settings, instead of a grid")


class Interval(Strict):
    """Values between two ends, drawn evenly or evenly in the logarithm."""

    low: float
    high: float
    log: bool = False


Range = Interval | list[Value]


class Search(Strict):
    """A random search: the same number of trials for every method, on draws and seeds that nothing else uses."""

    dataset: Name
    methods: Annotated[list[Name], Field(min_length=1)]
    ratios: list[Positive] = []
    draws: list[int]
    seeds: Count
    first_seed: Annotated[int, Field(ge=0)]
    trials: Count
    group: Count = Field(1, description="trials in a row that share what runs of one batch must agree on")
    metric: Literal["r2", "accuracy", "cross_entropy"]
    settings: dict[str, Value] = {}
    ranges: dict[str, Range] = Field({}, description="settings searched for every method")
    method_ranges: dict[Name, dict[str, Range]] = Field({}, description="further settings, by method")


class Config(Strict):
    """The whole file."""

    results: str = Field("results", description="folder that everything generated goes to")
    engine: Literal["batched", "flower"] = "batched"
    block_size: Count = Field(32, description="runs trained side by side in one batch; smaller needs less memory")
    seeds_per_job: Count | None = Field(
        None, description="seeds of a cell that one job trains; fewer spread a cell over nodes; all by default"
    )
    mnist_folder: str | None = Field(None, description="folder with the MNIST files, asked before any download")
    datasets: dict[Name, AnyDataset]
    methods: dict[Name, Method]
    experiments: dict[Name, Experiment]
    searches: dict[Name, Search] = {}
