"""Names that the config had before: a config with one is told the present name, and older results stay readable."""

from typing import Any

FORMER = {"tune_rounds": "finetune_rounds", "tune_rate": "finetune_rate", "tune_steps": "finetune_steps"}

# The leukaemia data were a kind of their own; what that kind fixed stands in the config now.
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


def with_present_names(stored: Any) -> Any:
    """JSON values of an older study or record with the present names, at any depth."""
    if isinstance(stored, list):
        return [with_present_names(value) for value in stored]
    if not isinstance(stored, dict):
        return stored
    if stored.get("kind") == "golub":
        return {**stored, **GOLUB, **SCALINGS[stored["scaling"]]}
    return {FORMER.get(key, key): with_present_names(value) for key, value in stored.items()}
