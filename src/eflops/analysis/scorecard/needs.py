"""What the scorecard is made from: known to the workflow without loading pandas, so read from the sources as text."""

import ast
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import yaml

from eflops.analysis.claims import module_of

NUMBERS = tuple(f"eflops.analysis.scorecard.{name}" for name in ("table1", "table2", "ttest"))


def judges(targets: Path) -> list[str]:
    """The modules that judge the paper's numbers and claims."""
    claims = yaml.safe_load(targets.read_text(encoding="utf-8"))["claims"]
    return [*NUMBERS, *(module_of(claim["id"]) for claim in claims)]


def needs(targets: Path, what: Literal["EXPERIMENTS", "TABLES"]) -> list[str]:
    """The names of all experiments or tables that the judges read."""
    return sorted({name for module in judges(targets) for name in _stated(module, what)})


def _stated(module: str, name: str) -> tuple[str, ...]:
    """The tuple that a module assigns to a name; empty where it does not."""
    spec = find_spec(module)
    source = Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [name]:
            return tuple(ast.literal_eval(node.value))
    return ()
