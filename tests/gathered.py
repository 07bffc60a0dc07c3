"""Gathered files of any config without training: made-up numbers in the shape that the workflow gathers."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from eflops.config.models import Config
from eflops.config.plan import plan_of, variants_of
from eflops.data.build import write_features
from eflops.results.labels import ratio_value
from golub_genes import golub_probes

METRICS = {"linear": ["mse", "r2", "support_recovery"], "softmax": ["accuracy", "auc", "cross_entropy"]}
METRICS["cnn"] = ["accuracy", "cross_entropy"]
TRAFFIC = [
    f"{name}_{phase}" for phase in ("training", "finetuning") for name in ("down", "last_round", "messages", "up")
]
GATES = ("gate_entropy", "multiplier", "open_gates", "support_changed")
ROUNDS = {"training": (5, 10), "finetuning": (12,)}


def write(config: Config, results: Path, experiments: Iterable[str], diverged: bool = False) -> None:
    """Write runs, curves, supports and references of these experiments; all runs diverged where it is asked."""
    for name in experiments:
        _write(config, name, results / "gathered", diverged)
        dataset = config.experiments[name].dataset
        genes = results / "data" / dataset / "genes.csv"
        if config.datasets[dataset].kind == "expression" and not genes.exists():
            write_features(config.datasets[dataset].model_dump(mode="json"), genes)


def _write(config: Config, name: str, folder: Path, diverged: bool) -> None:
    plan = plan_of(config, name)
    dataset = config.datasets[plan.dataset]
    metrics = METRICS[dataset.model]
    size = {"linear": 1000, "softmax": 2 * len(golub_probes()), "cnn": 44_426}[dataset.model]
    draw, rows, curves = np.random.default_rng(0), [], []
    for ratio in plan.ratios:
        for method in plan.methods:
            for variant, of_variant in variants_of(config, name, method).items():
                settings = dict(of_variant)
                for run in [run for run in plan.runs(method) if run.variant == variant]:
                    who = [name, plan.dataset, ratio_value(ratio), method, variant, run.draw, run.seed]
                    path = f"{ratio}/{method}/{run.path}"
                    rows.append(
                        dict(
                            zip(
                                ["experiment", "dataset", "ratio", "method", "variant", "draw", "seed"],
                                who,
                                strict=True,
                            )
                        )
                        | {"status": "diverged" if diverged else "finished"}
                        | ({} if diverged else dict(zip(metrics, draw.random(len(metrics)), strict=True)))
                        | {"parameters": size, "kept": 7, "paper_training": 900, "macs": 10, "dense_macs": 50}
                        | {key: int(draw.integers(1, 1000)) for key in TRAFFIC}
                        | {f"set_{key}": value for key, value in settings.items()}
                        | {"result_sha256": f"{name}/{path}"}
                        | {"record": path, "support": " ".join(map(str, sorted(draw.choice(300, 7, replace=False))))}
                    )
                    curves += [
                        {"record": path, "phase": phase, "round": number}
                        | {metric: np.nan if diverged else draw.random() for metric in metrics}
                        | (
                            {key: 1 + draw.random() for key in GATES}
                            if "gate_rate" in settings and not diverged
                            else {}
                        )
                        for phase, rounds in ROUNDS.items()
                        for number in rounds
                    ]
    frame = pd.DataFrame(rows)
    folder.mkdir(parents=True, exist_ok=True)
    frame.drop(columns="support").to_csv(folder / f"{name}.csv", index=False)
    frame[["record", "support"]].to_csv(folder / f"{name}.supports.csv", index=False)
    pd.DataFrame(curves).to_csv(folder / f"{name}.curves.csv", index=False)
    fits = frame.drop_duplicates(["ratio", "draw"])[["ratio", "draw"]].assign(label="Lasso", features="1 2 3", kept=3)
    fits = fits.assign(reference="lasso", **dict.fromkeys(metrics, 0.5))
    fits.to_csv(folder / f"{name}.references.csv", index=False)
