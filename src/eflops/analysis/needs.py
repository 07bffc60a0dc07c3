"""What the scorecard and the closing summary are made from, known to the workflow without loading pandas."""

import ast
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from eflops.analysis.paper import read_paper
from eflops.analysis.scorecard.claims import module_of
from eflops.analysis.scorecard.sections import SECTIONS
from eflops.files import PROJECT

if TYPE_CHECKING:
    from eflops.config.products import Product

SCORECARD, SUMMARY = "scorecard.json", "summary.md"
# The paper's numbers and claims, below the project; published results bring those they were judged by.
TARGETS = "resources/paper/targets.yaml"

# What the summary reads where it was made, below a results folder.
ENTROPY_GRID, ENTROPY_TRIALS = "tables/ablation_entropy.csv", "tables/entropy_trials.csv"
REGIMES = "tables/sparse_regime.csv"
RECOVERY = "tables/ablation_recovery.csv"
BYTES = "tables/mnist.csv"
SCALING = "figures/golub_scaling.csv"
BEYOND, SEARCHED = "tables/beyond.csv", "tables/golub_accuracy.csv"
_SUMMARISED = (ENTROPY_GRID, ENTROPY_TRIALS, REGIMES, RECOVERY, BYTES, SCALING, BEYOND, SEARCHED)


def targets_of(folder: Path) -> Path:
    """The paper's numbers: those published with the results, or the project's."""
    published = folder / Path(TARGETS).name
    return published if published.exists() else PROJECT / TARGETS


def summary_sources(products: "Iterable[Product]") -> list[str]:
    """The sources of the summary, of which only the scorecard must be there."""
    files = {product.csv for product in products}
    return [SCORECARD, *(path for path in _SUMMARISED if path in files)]


def judges(targets: Path) -> list[str]:
    """The modules that judge the paper's numbers and claims."""
    return [*(section.lines.partition(":")[0] for section in SECTIONS), *_claims(targets)]


def needs(targets: Path) -> list[str]:
    """The names of all experiments that the judges read; claims state them in their sources."""
    numbers = [name for section in SECTIONS for name in section.experiments]
    return sorted({*numbers, *(name for module in _claims(targets) for name in _stated(module, "EXPERIMENTS"))})


def _claims(targets: Path) -> list[str]:
    return [module_of(name) for name in read_paper(targets).claims]


def _stated(module: str, name: str) -> tuple[str, ...]:
    """The tuple that a module assigns to a name; empty where it does not."""
    spec = find_spec(module)
    source = Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [name]:
            return tuple(ast.literal_eval(node.value))
    return ()
