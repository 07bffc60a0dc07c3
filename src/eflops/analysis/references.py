"""References without a federation: best subset and lasso on the pooled training rows, including the clients' shifts.

Both keep as many features as a sparse model has weights and are refitted on them: they differ only in the selection.

    best_subset   the m features of the smallest loss, by the splicing algorithm of abess
    lasso         the m largest coefficients of an L1-penalised fit
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from abess.linear import LinearRegression as SubsetRegression
from abess.linear import LogisticRegression as SubsetLogistic
from abess.linear import MultinomialRegression as SubsetMultinomial
from sklearn.linear_model import Lasso, LogisticRegression, lasso_path
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import KFold
from sklearn.svm import l1_min_c

from eflops.data.federation import Block, Federation, load, read_manifest
from eflops.errors import UserError
from eflops.files import write_text
from eflops.results.labels import ratio_value
from eflops.results.record import kept_weights

Choice = Callable[[np.ndarray, np.ndarray, int], np.ndarray]
NAMES = ("best_subset", "lasso")
PACKAGES = ("abess", "scikit-learn", "numpy")


def make(folders: Iterable[Path], out: Path) -> None:
    """Write one row per reference and data draw of these folders; its features as a list separated by spaces."""
    made_with = " ".join(f"{name}=={version(name)}" for name in PACKAGES)
    rows = [{**row, "made_with": made_with} for folder in folders for row in fits(load(folder), read_manifest(folder))]
    write_text(out, pd.DataFrame(rows).to_csv(index=False))


def fits(federation: Federation, manifest: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One row per reference on one data draw."""
    settings = manifest["settings"]
    for name in NAMES:
        fitted = fit(name, federation, settings)
        yield {
            "ratio": ratio_value(settings["ratio"]),
            "draw": settings["draw"],
            "reference": name,
            "label": fitted["label"],
            **fitted["metrics"],
            "kept": len(fitted["features"]),
            "features": " ".join(map(str, fitted["features"])),
            "data_sha256": manifest["sha256"],
        }


def fit(name: str, federation: Federation, settings: Mapping[str, Any]) -> dict[str, Any]:
    """A reference on the pooled rows: its label, the features it keeps (sorted) and its metrics on the test rows."""
    numbers = federation.test.y.dtype == np.float32
    task = federation.meta.get("task", "regression" if numbers else "classification")
    if (task, name) not in CHOICES:
        raise UserError(f"there is no reference {name} for {task}; there are best_subset and lasso.")
    label, choose, measure = CHOICES[task, name]
    rows = federation.pooled().clients[0]
    classes = federation.meta.get("classes")  # a regression need not say that it has none
    per_class = settings.get("genes_per_class") or settings.get("keep")
    m = kept_weights(settings.get("density", 0.0), per_class, rows.x.shape[1] * (classes or 1), classes)
    features = np.sort(choose(rows.x.astype(float), rows.y, m))
    metrics = measure(features, rows, federation.test)
    if "support" in federation.truth:
        metrics["support_recovery"] = float(np.isin(federation.truth["support"], features).mean())
    return {"label": label, "features": features.tolist(), "metrics": metrics}


def subset_regression(x: np.ndarray, y: np.ndarray, m: int) -> np.ndarray:
    """The best m features of least squares without intercept."""
    return np.flatnonzero(SubsetRegression(support_size=m, fit_intercept=False).fit(x, y.astype(float)).coef_)


def subset_logistic(x: np.ndarray, y: np.ndarray, m: int) -> np.ndarray:
    """The best m features of logistic regression without intercept, multinomial for more than two classes."""
    if len(np.unique(y)) > 2:
        fitted = SubsetMultinomial(support_size=m, fit_intercept=False).fit(x, y)
        return np.flatnonzero(np.abs(fitted.coef_).sum(axis=1))
    return np.flatnonzero(SubsetLogistic(support_size=m, fit_intercept=False).fit(x, y).coef_)


def lasso(x: np.ndarray, y: np.ndarray, m: int) -> np.ndarray:
    """The m largest coefficients at the penalty that five-fold cross-validation chooses, features scaled to unit size.

    If that penalty keeps fewer than m features, the next smaller one that keeps at least m is used.
    """
    size = np.sqrt((x**2).mean(axis=0))
    scaled = x / np.where(size > 0, size, 1.0)
    for alpha in validated_penalty(scaled, y.astype(float)) * np.array([1.0, *np.geomspace(0.9, 1e-3, 60)]):
        coefficients = Lasso(alpha, fit_intercept=False).fit(scaled, y).coef_
        if np.count_nonzero(coefficients) >= m:
            break
    return largest(coefficients, m)


def validated_penalty(x: np.ndarray, y: np.ndarray) -> float:
    """The penalty with the smallest error in five-fold cross-validation, of twenty; the last is a twentieth of the
    first.

    They are tried four at a time until four in a row bring no smaller error, because weak penalties take most of
    the time. A fold's Gram matrix is that of all rows minus that of the rows it leaves out. LassoCV takes twice as
    long.
    """
    gram, with_y = x.T @ x, x.T @ y
    folds = []
    for kept, out in KFold(min(5, len(y)), shuffle=True, random_state=0).split(x):
        left_out, expected = x[out], y[out]
        fold_gram = left_out.T @ left_out
        products = {"precompute": np.subtract(gram, fold_gram, out=fold_gram), "Xy": with_y - left_out.T @ expected}
        # With the products given, nothing but the number of rows is asked of the first argument.
        folds.append((x[: len(kept)], y[kept], left_out, expected[:, None], products))
    smallest, chosen = np.inf, 0.0
    for penalties in (np.abs(with_y).max() / len(y) * np.geomspace(1, 0.05, 20)).reshape(-1, 4):
        errors = np.zeros(len(penalties))
        for rows, answers, left_out, expected, products in folds:
            _, path, _ = lasso_path(rows, answers, alphas=penalties, check_input=False, **products)
            products["coef_init"] = path[:, -1]
            errors += ((left_out @ path - expected) ** 2).mean(axis=0)
        if errors.min() >= smallest:
            break
        smallest, chosen = errors.min(), penalties[errors.argmin()]
    return float(chosen)


def l1_logistic(x: np.ndarray, y: np.ndarray, m: int) -> np.ndarray:
    """The m largest coefficients at the strongest penalty that keeps at least m, with the data set's feature scaling.

    No cross-validation here: few patients with thousands of genes are separable, so cross-validation would choose
    no penalty. With more than two classes, each is fitted against the rest and selects its share of m.
    """
    classes = np.unique(y)
    if len(classes) > 2:
        return np.unique(np.concatenate([l1_logistic(x, y == label, m // len(classes)) for label in classes]))
    coefficients = np.zeros(x.shape[1])
    for c in l1_min_c(x, y, loss="log", fit_intercept=False) * np.geomspace(1.02, 1000, 60):
        # liblinear visits the coordinates in random order, which the seed fixes.
        model = LogisticRegression(
            C=c, l1_ratio=1, solver="liblinear", fit_intercept=False, tol=1e-6, max_iter=10_000, random_state=0
        )
        coefficients = model.fit(x, y).coef_[0]
        if np.count_nonzero(coefficients) >= m:
            break
    return largest(coefficients, m)


def largest(coefficients: np.ndarray, m: int) -> np.ndarray:
    """The features of the m largest non-zero coefficients."""
    ranked = np.argsort(-np.abs(coefficients), kind="stable")[:m]
    return ranked[coefficients[ranked] != 0]


def measure_regression(features: np.ndarray, train: Block, test: Block) -> dict[str, float]:
    """Mean squared error and R2 on the test rows after least squares on the training rows."""
    weights, *_ = np.linalg.lstsq(train.x[:, features].astype(float), train.y.astype(float), rcond=None)
    error = float(np.mean((test.x[:, features] @ weights - test.y) ** 2))
    return {"mse": error, "r2": 1 - error / float(test.y.astype(float).var())}


def measure_classes(features: np.ndarray, train: Block, test: Block) -> dict[str, float]:
    """Accuracy, cross-entropy and AUC after a logistic fit with a unit ridge (else separable rows have none)."""
    model = LogisticRegression(fit_intercept=False).fit(train.x[:, features].astype(float), train.y)
    probability = model.predict_proba(test.x[:, features].astype(float))
    return {
        "accuracy": float((probability.argmax(axis=1) == test.y).mean()),
        "cross_entropy": float(log_loss(test.y, probability, labels=model.classes_)),
        "auc": pairs_auc(np.log(probability), test.y),
    }


def pairs_auc(scores: np.ndarray, labels: np.ndarray) -> float:
    """The mean over pairs of classes of the AUC between the two, by the difference of their scores [rows, classes]."""
    areas = []
    for low, high in combinations(np.unique(labels), 2):
        rows = np.isin(labels, (low, high))
        areas.append(roc_auc_score(labels[rows] == high, scores[rows, high] - scores[rows, low]))
    return float(np.mean(areas))


CHOICES: dict[tuple[str, str], tuple[str, Choice, Callable[[np.ndarray, Block, Block], dict[str, float]]]] = {
    ("regression", "best_subset"): ("Best subset", subset_regression, measure_regression),
    ("regression", "lasso"): ("Lasso cut to m", lasso, measure_regression),
    ("classification", "best_subset"): ("Best subset, logistic", subset_logistic, measure_classes),
    ("classification", "lasso"): ("L1 logistic cut to m", l1_logistic, measure_classes),
}
