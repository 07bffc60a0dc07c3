"""The inputs of the scorecard and of the closing summary, known to the workflow without importing pandas."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from eflops.analysis.paper import read_paper
from eflops.analysis.scorecard.claims import experiments_of, module_of
from eflops.analysis.scorecard.sections import SECTIONS
from eflops.files import PROJECT
from eflops.results.paths import SCORECARD, SEARCHES

if TYPE_CHECKING:
    from eflops.config.models import Config
    from eflops.config.products import Product

# The paper's numbers and claims, below the project; published results bring those they were judged by.
TARGETS = "resources/paper/targets.yaml"

# The targets of a whole run: the paper, and the data beyond it. An experiment with another target is trained by that
# target alone.
WHOLE = ("all", "beyond")

# What the summary reads where it was made, below a results folder.
TEMPERATURE = "tables/temperature.csv"
TEMPERATURE_GOLUB, TEMPERATURE_MNIST = "tables/temperature_golub.csv", "tables/temperature_mnist.csv"
REGIMES, COMMUNICATION = "tables/sparse_regime.csv", "tables/communication.csv"
FEEDBACK = "tables/feedback_tests.csv"
RECOVERY = "tables/ablation_recovery.csv"
BYTES = "tables/mnist.csv"
SCALING = "figures/golub_scaling.csv"
BEYOND, SEARCHED = "tables/beyond.csv", "tables/golub_accuracy.csv"
GENE_GATES, UNIT_GATES = "tables/golub_groups.csv", "tables/mnist_groups.csv"
# The search whose trials the summary describes, by the name of its file.
GENE_TRIALS = "golub"
_TEMPERATURES = (TEMPERATURE, TEMPERATURE_GOLUB, TEMPERATURE_MNIST)
_OURS = COMMUNICATION, FEEDBACK, GENE_GATES, UNIT_GATES
_SUMMARISED = (*_TEMPERATURES, *_OURS, REGIMES, RECOVERY, BYTES, SCALING, BEYOND, SEARCHED)


def targets_of(folder: Path) -> Path:
    """The paper's numbers: those published with the results, or the project's."""
    published = folder / Path(TARGETS).name
    return published if published.exists() else PROJECT / TARGETS


def summary_sources(products: "Iterable[Product]") -> list[str]:
    """The sources of the summary; only the scorecard is required."""
    files = {product.csv for product in products}
    return [SCORECARD, *(path for path in _SUMMARISED if path in files)]


def summary_trials(products: "Iterable[Product]") -> list[str]:
    """The trials of the search that the summary describes, if a product reads them too."""
    path = f"{SEARCHES}/{GENE_TRIALS}.csv"
    return [path] if any(path in product.resources for product in products) else []


def judges(targets: Path) -> list[str]:
    """The modules that compare the paper's numbers and claims with the runs."""
    numbers = [section.lines.partition(":")[0] for section in SECTIONS]
    paper = read_paper(targets)
    return sorted({*numbers, *map(module_of, [*paper.claims, *paper.own_claims])})


def needs(targets: Path) -> list[str]:
    """The names of all experiments that the judges read; each claim's entry lists its own."""
    numbers = {name for section in SECTIONS for name in section.experiments}
    paper = read_paper(targets)
    return sorted(numbers.union(*map(experiments_of, [*paper.claims, *paper.own_claims])))


def compared_experiments(targets: Path, config: "Config") -> list[str]:
    """The experiments that the scorecard reads: those that it needs and the config's full run trains."""
    there = {name for name, entry in config.experiments.items() if entry.target in WHOLE}
    return [name for name in needs(targets) if name in there]
