"""What the paper's numbers say about its settings: those of all trials, and of the trials nearest its column."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Patch

from eflops.analysis.figure import Figure, canvas, say, style
from eflops.analysis.source import Source, no_runs
from eflops.analysis.stats.trials import SETTING, binned, nearest, settings_of

# In the order of the paper's own parameters, then those that it leaves open.
FIRST = (
    "rate",
    "gate_rate",
    "multiplier_rate",
    "temperature",
    "rho_init",
    "prune_from",
    "sparse_upload",
    "local_steps",
)
COLUMNS = ["method", "setting", "place", "value", "prior", "posterior", "trials", "near"]


def make(source: Source, search: str, how_many: float) -> Figure:
    """One row of panels per method that the paper has numbers of, one panel per searched setting.

    search: whose trials are shown; how_many: the trials that count as near, a share of all where it is below 1.
    """
    trials = source.trials(search)
    known = trials.dropna(subset="distance")["method"] if "distance" in trials else trials["method"].iloc[:0]
    methods = source.named(known)
    parts = [_bins(trials[trials["method"] == method], how_many) for method in methods]
    data = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)
    settings = sorted(data["setting"].unique(), key=_rank)

    def paint() -> Drawing:
        if data.empty:
            drawing, axes = canvas()
            say(axes, "no trial has a distance from the paper's numbers")
            return drawing
        size = (0.7 + 0.72 * len(settings), 0.75 + 0.85 * len(methods))
        drawing, axes = canvas(len(methods), len(settings), size=size, squeeze=False)
        for line, method in zip(axes, methods, strict=True):
            for axis, setting in zip(line, settings, strict=True):
                own = data[(data["method"] == method) & (data["setting"] == setting)]
                _draw(axis, own, style(method)[0])
            line[0].set_ylabel(source.called(method).replace(" ", "\n", 1), fontsize=6.5)
            line[0].get_yaxis().set_visible(True)
        for axis, setting in zip(axes[0], settings, strict=True):
            axis.set_title(setting.replace("_", "\n", 1), fontsize=6.5)
        words = f"nearest {data['near'].max()} of {data['trials'].max()} trials"
        keys = [Patch(color="0.8", label="all trials"), Patch(facecolor="none", edgecolor="0.2", label=words)]
        drawing.legend(handles=keys, loc="outside lower center", ncols=2)
        return drawing

    return Figure(data, no_runs(), paint)


def _bins(trials: pd.DataFrame, how_many: float) -> pd.DataFrame:
    """The share of all and of the near trials of a method in each bin of each setting."""
    near = nearest(trials, how_many)
    parts = []
    for column in settings_of(trials):
        places, names, _ = binned(trials[column])
        counts = {
            "prior": places.value_counts(normalize=True),
            "posterior": places.loc[near.index].value_counts(normalize=True),
        }
        shares = pd.DataFrame({"place": range(len(names)), "value": names})
        shares = shares.assign(**{name: shares["place"].map(found).fillna(0.0) for name, found in counts.items()})
        parts.append(shares.assign(setting=column.removeprefix(SETTING)))
    found = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)
    return found.assign(method=trials["method"].iloc[0], trials=len(trials), near=len(near))[COLUMNS]


def _draw(axes: Axes, bins: pd.DataFrame, colour: str) -> None:
    if bins.empty:
        axes.set_axis_off()
        return
    axes.bar(bins["place"], bins["prior"], 0.95, color="0.8")
    axes.bar(bins["place"], bins["posterior"], 0.95, facecolor="none", edgecolor=colour, linewidth=1.1)
    few = len(bins) <= 5
    shown = bins if few and bins["value"].str.len().sum() <= 10 else bins.iloc[[0, -1]]
    axes.set_xticks(shown["place"], shown["value"], fontsize=5)
    axes.set_yticks([])
    axes.tick_params(axis="x", length=1.5, pad=1)
    axes.spines["left"].set_visible(False)


def _rank(setting: str) -> tuple[int, str]:
    return (FIRST.index(setting) if setting in FIRST else len(FIRST), setting)
