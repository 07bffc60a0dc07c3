"""Sparse linear regression with a known support.

    x ~ N(0, S) with S_ij = correlation^|i-j|;  w is m-sparse with entries +-1;
    y = x w + e with e ~ N(0, sigma^2) and sigma = ||X w|| / (sqrt(SNR) sqrt(N))

The support, the signs and the test features depend on the seed alone. The training rows of a small N/d are the first
rows of a larger one, so a curve over N/d adds rows to the same problem.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from eflops.config.data import DataSettings
from eflops.data.federation import Block, Federation
from eflops.data.heterogeneity import affine_shift, dirichlet_counts, shortage
from eflops.errors import UserError
from eflops.files import machine_bytes, write_npz
from eflops.rng import numpy_generator


def build(
    settings: DataSettings,
    ratio: float | None,
    seed: int,
    raw: Path | None = None,
    test_features: Mapping[str, np.ndarray] | None = None,
) -> Federation:
    """A federation of ratio * features rows; clients are shifted after y is computed, test rows are not shifted.

    test_features: from `make_test_features` for these settings and this seed; computed here if None.
    """
    if ratio is None:
        raise UserError("synthetic data needs a ratio N/d: give the experiment ratios, such as [0.24, 1.0]")
    features = settings["features"]
    if fault := too_large(ratio, settings):
        raise UserError(fault)
    rows = round(ratio * features)
    w = coefficients(features, settings["density"], seed)
    x = correlated_rows(rows, features, settings["correlation"], numpy_generator(seed, "train-features"))
    tested = make_test_features(settings, seed) if test_features is None else test_features
    signal = noise_free(x, w)
    # From the training rows. Test rows get the same sigma, so between N/d they differ by their noise alone.
    sigma = noise_level(signal, settings["snr"])
    train = _observe(x, signal, sigma, numpy_generator(seed, "train-noise"))
    test = _observe(tested["test_x"], tested["test_signal"], sigma, numpy_generator(seed, "test-noise"))
    counts = dirichlet_counts(rows, settings["clients"], settings["count_concentration"], settings["min_rows"], seed)
    # Rows are independent and alike, so consecutive stretches are as random a partition as any.
    ends = np.cumsum(counts)
    blocks = [train.take(slice(end - count, end)) for end, count in zip(ends, counts, strict=True)]
    return Federation(
        clients=affine_shift(blocks, settings["shift_scale"], settings["shift_offset"], seed),
        test=test,
        truth={"support": np.flatnonzero(w), "coefficients": w.astype(np.float32)},
        meta={"task": "regression", "classes": None, "rows": rows, "sigma": sigma},
    )


def make_test_features(settings: DataSettings, seed: int) -> dict[str, np.ndarray]:
    """The arrays that all N/d of a draw share: test_x [test rows, features] and its responses X w, test_signal [test
    rows]."""
    rows, features = settings["test_rows"], settings["features"]
    if fault := too_large(0, settings):
        raise UserError(fault)
    x = correlated_rows(rows, features, settings["correlation"], numpy_generator(seed, "test-features"))
    signal = noise_free(x, coefficients(features, settings["density"], seed))
    return {"test_x": x.astype(np.float32), "test_signal": signal}


def write_test_features(settings: DataSettings, file: Path) -> None:
    """Write the test features of the draw that the file's name states, such as test-draw3.npz."""
    write_npz(file, make_test_features(settings, int(file.stem.partition("-draw")[2])))


def needed_bytes(rows: float, features: int) -> float:
    """The peak memory of building these rows: the values in float64, a copy, and the float32 result."""
    return 20.0 * rows * features


def too_large(ratio: float, settings: DataSettings) -> str:
    """Why a draw of this N/d, or its test rows, would not fit into memory, as a sentence; empty if it fits."""
    features, available = settings["features"], machine_bytes()
    rows = max(ratio * features, settings["test_rows"])
    needed = needed_bytes(rows, features)
    if needed <= available:
        return ""
    return (
        f"{rows:.10g} rows of {features} features take {needed / 1e9:.3g} GB of memory, and this machine has"
        f" {available / 1e9:.3g} GB; lower ratios, features or test_rows."
    )


def faults(ratios: Sequence[float], settings: DataSettings) -> list[str]:
    """Why draws of these N/d are impossible: the largest for its memory, the smallest for its rows."""
    fewest = round(min(ratios) * settings["features"])
    lacking = shortage(fewest, settings["clients"], settings["min_rows"])
    return [*filter(None, [too_large(max(ratios), settings), lacking and f"{lacking}."])]


def coefficients(features: int, density: float, seed: int) -> np.ndarray:
    """The true w [features]: floor(density * features) entries of +-1 at indices chosen uniformly."""
    # The small term keeps 0.29 * 100 = 28.999999999999996 from losing an entry.
    m = int(density * features + 1e-9)
    generator = numpy_generator(seed, "coefficients")
    w = np.zeros(features)
    w[generator.choice(features, size=m, replace=False)] = generator.choice([-1.0, 1.0], size=m)
    return w


def correlated_rows(rows: int, features: int, correlation: float, generator: np.random.Generator) -> np.ndarray:
    """Rows [rows, features] of N(0, S), S_ij = correlation^|i-j|, by the AR(1) recursion along each row.

    x_j = r x_(j-1) + sqrt(1 - r^2) e_j has exactly this covariance, without factorising a matrix.
    """
    innovation = np.sqrt(1.0 - correlation**2)
    x = generator.standard_normal((rows, features))
    # The first feature has no predecessor: it must start with the full variance 1.
    x[:, 0] /= innovation
    # Some rows at a time, feature by feature: what the recursion reads again is still in the processor's cache.
    for start in range(0, rows, 128):
        columns = innovation * x[start : start + 128].T
        for before, after in pairwise(columns):
            after += correlation * before
        x[start : start + 128] = columns.T
    return x


def noise_free(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """X w: [rows], summed over the support only.

    Not a matrix product, because its last bits depend on the number of cores.
    """
    support = np.flatnonzero(w)
    return np.asarray((x[:, support] * w[support]).sum(axis=1))


def noise_level(signal: np.ndarray, snr: float) -> float:
    """sigma = ||X w|| / (sqrt(SNR) sqrt(N)) for the noise-free responses X w: [N]."""
    return float(np.sqrt(np.mean(signal**2) / snr))


def _observe(x: np.ndarray, signal: np.ndarray, sigma: float, generator: np.random.Generator) -> Block:
    y = signal + sigma * generator.standard_normal(len(signal))
    return Block(x.astype(np.float32, copy=False), y.astype(np.float32))
