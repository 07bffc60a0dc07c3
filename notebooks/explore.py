# %% [markdown]
# # Explore results
#
# Load a results folder, compare support recovery with bytes, test one pair of methods, and draw one run's curve.
# This notebook and `explore.py` are a pair: edit the script, then run `python notebooks/pair.py`.
# Set the environment variable `EFLOPS_RESULTS` to open another folder than the published one.

# %%
import os

import eflops
from eflops.analysis.stats.paired import paired_tests
from eflops.analysis.stats.summary import unit_means

study = eflops.load(os.environ.get("EFLOPS_RESULTS", "results/published"))
study.experiments

# %% [markdown]
# ## Runs
#
# One row per run: metrics, settings and the bytes of all messages are plain columns.

# %%
runs = study.runs("support_recovery")
runs.groupby(["ratio", "label"])[["support_recovery", "r2", "bytes"]].mean()

# %% [markdown]
# ## Support recovery against bytes

# %%
ratio = sorted(runs["ratio"].unique())[len(runs["ratio"].unique()) // 2]
figure, axes = study.axes()
for method, rows in runs[runs["ratio"] == ratio].groupby("method", sort=False):
    axes.plot(rows["bytes"] / 1e6, rows["support_recovery"], linestyle="none", alpha=0.6, **study.style(method))
axes.set(xlabel="bytes of a run [MB]", ylabel="support recovery", title=f"N/d {ratio:g}")
axes.legend(fontsize=6)
figure

# %% [markdown]
# ## One paired comparison
#
# The unit is the data draw: seeds of a draw are averaged first, and methods are compared on the same draws.

# %%
methods = ["eflops", next(name for name in runs["method"].unique() if name != "eflops")]
means = unit_means(runs[runs["method"].isin(methods)], "support_recovery", ["ratio", "method"])
unit = "draw" if runs["draw"].nunique() > 1 else "seed"
tests = paired_tests(means, "support_recovery", methods[0], methods[1:], [unit], "this notebook", ("ratio",))
tests[["ratio", "reference", "other", "n", "difference", "low", "high", "p_holm"]]

# %% [markdown]
# ## One run's curve

# %%
curves = study.curves("support_recovery")
record = runs.loc[(runs["method"] == "eflops") & (runs["ratio"] == ratio), "record"].iloc[0]
curve = curves[curves["record"] == record]
figure, axes = study.axes()
axes.plot(curve["round"], curve["r2"], **study.style("eflops"))
axes.set(xlabel="round", ylabel="test $R^2$")
figure

# %% [markdown]
# ## Where a number comes from

# %%
print(study.explain("tables/support_recovery.csv", row=[str(ratio), "eflops"], column="mean"))
