"""The outcome of a random search: trials ranked by what a user can observe, their distance from the paper, and the
choices.

The trial nearest the paper's numbers is kept too: does any setting reproduce them?
"""

import gzip
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from eflops.analysis.gather import runs_table, supports_table
from eflops.analysis.paper import METHOD, Paper, read_paper
from eflops.analysis.stats.costs import with_costs
from eflops.analysis.stats.genes import gene_shares, selected_of, share_of
from eflops.analysis.stats.temperature import best_at_each
from eflops.analysis.stats.trials import SETTING, TEMPERATURE, WITHOUT_ENTROPY
from eflops.config.data import DataSettings
from eflops.config.models import Config, Settings, Value
from eflops.config.plan import plan_of
from eflops.config.searches import Admit, Ranking, ranking
from eflops.data.build import named_features
from eflops.errors import UserError
from eflops.files import read_json, write_bytes, write_json, write_text
from eflops.results import record
from eflops.results.paths import CELL_RUNS

# What a diverged run counts for: as bad as a model that has learned nothing, or worse.
WORST = {"r2": -1.0, "accuracy": 0.0, "cross_entropy": 10.0}
LOWER_IS_BETTER = {"cross_entropy"}
KEYS = ["method", "variant"]
IDENTITY = [*KEYS, "ratio", "draw", "seed", "status"]
DECIMALS = 6
# The files of an outcome, by their endings: what was chosen, all trials, all runs.
OUTCOME = (".json", ".csv", ".runs.csv.gz")
# Of the paper's genes: how many are among as many that a trial selects most, and the share of runs that select each.
GENES, LISTED, SHARE = "gene_frequency", "listed", "share@"
MEASURED = ("r2", "support_recovery", "accuracy", "auc", "cross_entropy")
HEADER = (
    "# Written by `make search`: the settings that the search on each data set chose for each method (docs/choices.md)."
)


def run_rows(runs: pd.DataFrame, supports: pd.DataFrame, search: Ranking) -> pd.DataFrame:
    """The runs of a search as git tracks them: one row per run, with everything that rankings and statistics need.

    Args:
        runs: gathered runs, one row per run (`analysis.gather.runs_table`).
        supports: the same runs' kept weights, by `record` (`analysis.gather.supports_table`).
        search: the rules of the ranking.

    Returns: method, variant, ratio, draw, seed and status; each metric; `sent`, the share of dense training's bytes;
        `open_gates`, as a multiple of the kept weights; `support`, if the paper's genes are compared; the
        searched settings. Numbers have six decimals, so every machine ranks the same numbers.
    """
    rows = with_costs(runs)
    kept = [*IDENTITY, *(name for name in MEASURED if name in rows)]
    tracked = rows[kept].assign(sent=rows["share_training"])
    if "open_gates" in rows:
        tracked["open_gates"] = rows["open_gates"] / rows["kept"]
    tracked = tracked.round(DECIMALS)
    if search["nearest"] == GENES:
        tracked["support"] = rows["record"].map(supports.set_index("record")["support"])
    settings = dict.fromkeys(SETTING + key for keys in search["searched"].values() for key in keys)
    return tracked.join(rows[[name for name in settings if name in rows]])


def read_run_rows(path: Path) -> pd.DataFrame:
    """The tracked runs of a search."""
    runs = pd.read_csv(path, dtype={"support": str})
    return runs.assign(support=runs["support"].fillna("")) if "support" in runs else runs


def rank(runs: pd.DataFrame, search: Ranking) -> pd.DataFrame:
    """Trials by method: admitted ones first, then by score; diverged runs count as the worst.

    Args:
        runs: as returned by `run_rows`.
        search: `metric`; `score`, the mean over ratios, draws and seeds, or that mean minus a standard deviation;
            `admit`; `budget`, the variants that a crossed method may choose from.

    Returns: one row per method and trial. `drawn`: whether the method may choose it. A gated trial is not admitted with
        more open gates than `admit` allows at any ratio: a mean over ratios would let in one whose constraint is off
        at one of them.
    """
    metric = search["metric"]
    # A diverged run counts, as the worst: leaving it out would favour settings that diverge often.
    scored = runs.assign(value=runs[metric].where(runs["status"] == "finished", WORST[metric]))
    settings = [column for column in runs if column.startswith(SETTING)]
    grouped = scored.groupby(KEYS, sort=False)
    trials = grouped.agg(
        score=("value", "mean"),
        runs=("value", "size"),
        diverged=("status", lambda status: int((status == "diverged").sum())),
        sent=("sent", "mean"),
    )
    worse = -1 if metric in LOWER_IS_BETTER else 1
    if search["score"] == "mean_minus_sd":
        # With one run a deviation is NaN and counts as 0, so that the trial keeps its rank by the mean.
        trials["score"] -= worse * grouped["value"].std(ddof=1).fillna(0)
    if "open_gates" in scored:
        # The largest of the means by ratio, because the constraint must hold at each of them.
        means = scored.groupby([*KEYS, "ratio"], sort=False, dropna=False)["open_gates"].mean()
        trials["open_gates"] = means.groupby(KEYS, sort=False).max()
    trials = trials.join(_by_ratio(scored)).join(grouped[settings].first())
    trials.insert(0, "drawn", _drawn(trials.index, search["budget"]))
    trials.insert(1, "excluded", _excluded(trials, search["admit"]))
    order = trials.assign(order=-worse * trials["score"], out=trials["excluded"] != "").reset_index()
    # Stable: of trials with equal scores the first wins, on every machine.
    return order.sort_values(["method", "out", "order"], kind="stable", ignore_index=True).drop(
        columns=["order", "out"]
    )


def _drawn(trials: Iterable[tuple[str, str]], budget: Mapping[str, Sequence[str]]) -> list[bool]:
    """Whether a method may choose a trial: any trial, or for a crossed method, those in its budget."""
    of = {method: set(variants) for method, variants in budget.items()}
    return [method not in of or variant in of[method] for method, variant in trials]


def _by_ratio(runs: pd.DataFrame) -> pd.DataFrame:
    """Each metric's mean by ratio, such as r2@0.64, or just the metric without ratios; diverged runs are left out."""
    measured = [name for name in MEASURED if name in runs]
    finished = runs[runs["status"] == "finished"]
    if runs["ratio"].isna().all():
        return finished.groupby(KEYS)[measured].mean()
    measured += ["open_gates"] if "open_gates" in runs else []
    wide = finished.pivot_table(index=KEYS, columns="ratio", values=measured, aggfunc="mean")
    return wide.set_axis([f"{name}@{ratio:g}" for name, ratio in wide.columns], axis=1)


def _excluded(trials: pd.DataFrame, admit: Admit) -> list[str]:
    """Why a trial is not admitted; empty if it is."""
    limits = trials.index.get_level_values("method").map(lambda method: admit["sent"].get(method, math.inf))
    many = trials.get("open_gates", pd.Series(0.0, trials.index)) > (admit["open_gates"] or math.inf)
    heavy = trials["sent"] > limits.to_numpy(float)
    return [
        " and ".join(name for name, out in (("open gates", gates), ("bytes", sent)) if out)
        for gates, sent in zip(many, heavy, strict=True)
    ]


def choose(trials: pd.DataFrame, searched: Mapping[str, list[str]], sent: float = math.inf) -> dict[str, Settings]:
    """The searched settings of each method's best drawn trial; a UserError if no trial of a method is admitted.

    sent: the largest share of dense bytes that a trial may send in training.
    """
    # Equal budgets: of crossed trials only the drawn ones compete, as many as every other method has.
    best = trials[trials["drawn"] & (trials["sent"] <= sent)].drop_duplicates("method").set_index("method")
    for method in searched:
        if method not in best.index or best.loc[method, "excluded"]:
            raise UserError(f"No trial of {method} is admitted; widen its ranges or what the search admits.")
    return {method: _settings(best.loc[method], keys) for method, keys in searched.items()}


def choose_nearest(trials: pd.DataFrame, searched: Mapping[str, list[str]]) -> dict[str, Settings]:
    """The settings of the trial nearest the paper, admitted or not, for each method in the paper's table."""
    known = trials[trials["drawn"]].dropna(subset="distance")
    nearest = known.sort_values("distance", kind="stable").drop_duplicates("method")
    return {row["method"]: _settings(row, searched[row["method"]]) for _, row in nearest.iterrows()}


def _settings(trial: pd.Series, keys: Iterable[str]) -> Settings:
    return {key: _plain(trial[SETTING + key]) for key in keys}


def write(gathered: Path, supports: Path, targets: Path, search: Ranking, out: Path) -> None:
    """Rank a search's gathered runs and write, below the folder `out`: `<entry>` with the suffixes of `OUTCOME`."""
    kept = pd.read_csv(supports, keep_default_na=False, dtype=str)
    rows = run_rows(pd.read_csv(gathered), kept, search)
    write_outcome(rows, read_paper(targets), search, out)


def write_outcome(runs: pd.DataFrame, paper: Paper, search: Ranking, out: Path) -> None:
    """Write the runs, the ranked trials and the choices, entry by entry; everything is computed from the runs."""
    chosen, ranked, tracked = (out / f"{search['entry']}{ending}" for ending in OUTCOME)
    # Without a date in the gzip file, the same runs give the same bytes.
    write_bytes(tracked, gzip.compress(runs.to_csv(index=False).encode(), mtime=0))
    # From the file just written and not from memory, so that anybody who ranks it again gets the same choice.
    trials, choices = outcome(read_run_rows(tracked), paper, search)
    write_text(ranked, trials.to_csv(index=False))
    write_json(chosen, choices)


def outcome(runs: pd.DataFrame, paper: Paper, search: Ranking) -> tuple[pd.DataFrame, dict[str, dict[str, Settings]]]:
    """All trials, and the chosen settings by entry and method, from a search's tracked runs."""
    trials = rank(runs, search)
    choices = {search["entry"]: choose(trials, search["searched"])}
    for entry, sent in search.get("by_bytes", {}).items():
        choices[entry] = choose(trials, search["searched"], sent)
    if search["nearest"]:
        # Of a crossed method only the trials that it may choose: as many as every other method has.
        drawn = runs[_drawn(zip(runs["method"], runs["variant"], strict=True), search["budget"])]
        shares = gene_columns(drawn, paper, probes_of(search["data"])) if search["nearest"] == GENES else pd.DataFrame()
        distance = distances(search["nearest"], drawn, paper, shares)
        trials.insert(4, "distance", trials.set_index(KEYS).index.map(distance))
        choices[f"{search['entry']}_nearest"] = choose_nearest(trials, search["searched"])
        if search["nearest"] == GENES:
            trials = trials.join(shares, on=KEYS)
    if search["profile"]:
        choices[f"{search['entry']}_temperature"] = temperature_cases(trials, search["profile"])
    return trials, choices


def temperature_cases(trials: pd.DataFrame, keys: Sequence[str]) -> dict[str, Settings]:
    """The cases of an experiment on T: the best admitted settings at each T, and two choices with only T changed.

    Args:
        trials: all trials of a crossed search.
        keys: the settings that a case has.

    Returns: `t0`, `t0_01`, ...: the best of all crossed trials at each T; `eflops_at_t0`: the settings that E-FLoPS
        chose, with T = 0; `flops_with_t`: those that FLoPS chose, with the T of E-FLoPS.
    """
    cases = {_case(trial[TEMPERATURE]): _settings(trial, keys) for _, trial in best_at_each(trials).iterrows()}
    best = trials[trials["drawn"]].drop_duplicates("method").set_index("method")
    chosen = {name: _settings(best.loc[name], keys) for name in (METHOD, WITHOUT_ENTROPY)}
    cases["eflops_at_t0"] = {**chosen[METHOD], "temperature": 0.0}
    cases["flops_with_t"] = {**chosen[WITHOUT_ENTROPY], "temperature": chosen[METHOD]["temperature"]}
    return cases


def _case(temperature: float) -> str:
    """The name of a case, which also names a folder: t0_003."""
    return f"t{temperature:g}".replace(".", "_").replace("-", "m")


def rank_records(config: Config, name: str, results: Path, targets: Path, out: Path) -> None:
    """Rank a search from the records of a results folder, made by any version of the code.

    The rule `rank` reads gathered runs, each checked against the present code. A search that ran elsewhere, or
    before modules were renamed, has no gathered runs, but its records hold everything that a ranking needs.
    """
    search, plan = config.searches[name], plan_of(config, name)
    entries = [
        (f"{ratio}/{method}/{run.path}", record.read(results / CELL_RUNS.format(**cell) / run.path))
        for method in plan.methods
        for ratio in plan.ratios
        for cell in [{"experiment": name, "ratio": ratio, "method": method}]
        for run in plan.runs(method)
    ]
    rules = ranking(search, config.datasets[search.dataset])
    rows = run_rows(runs_table(entries), supports_table(entries), rules)
    write_outcome(rows, read_paper(targets), rules, out)


def adopt(into: Path, chosen: Path, keep: Path) -> None:
    """Copy a search's choice into the file of chosen settings, and keep the choice, its trials and its runs."""
    try:
        settings = {
            entry: {name: dict(values) for name, values in of.items()} for entry, of in read_json(chosen).items()
        }
        kept = {path.name: path.read_bytes() for path in (chosen.with_suffix(ending) for ending in OUTCOME)}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise UserError(
            f"{chosen}: this is not the result of a search ({error}); make it with: snakemake search"
        ) from None
    for entry, methods in settings.items():
        put(into, entry, methods)
    for name, content in kept.items():
        write_bytes(keep / name, content)


def put(into: Path, dataset: str, settings: Mapping[str, Settings]) -> None:
    """Write the settings of all methods on a data set into the file of chosen settings, which is rewritten as a
    whole."""
    try:
        present = yaml.safe_load(into.read_text(encoding="utf-8")) if into.exists() else None
        entries = [*(present or {}).values(), settings]
        plain = [value for methods in entries for values in methods.values() for value in values.values()]
        chosen = {**(present or {}), dataset: settings}
    except (yaml.YAMLError, ValueError, TypeError, AttributeError):
        raise UserError(f"{into}: this is not a file of chosen settings; name another one with --into.") from None
    if strange := [value for value in plain if not isinstance(value, bool | int | float | str | None)]:
        raise UserError(f"{dataset}: {strange[0]!r} is not a setting; rank the search again with: snakemake search")
    names = [dataset, *settings, *(key for values in settings.values() for key in values)]
    if strange := [name for name in names if not re.fullmatch(r"\w+", name)]:  # it could be more YAML than a name
        raise UserError(f"{dataset}: {strange[0]!r} is not a name; rank the search again with: snakemake search")
    content = yaml.safe_dump(chosen, default_flow_style=None, sort_keys=False, width=math.inf)
    write_text(into, f"{HEADER}\n{content}")


def _plain(value: Value | np.generic) -> Value:
    """A setting as a YAML value: whole numbers without a decimal point, an empty cell as null."""
    if pd.isna(value):
        return None
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str) and value.isdigit():
        return int(value)
    # pandas reads whole numbers as floats if any cell of their column is empty.
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) >= 1 else value


def distances(table: str, runs: pd.DataFrame, paper: Paper, shares: pd.DataFrame) -> dict[tuple[str, str], float]:
    """The root mean square distance of each trial from its method's column in a table of the paper.

    shares: the result of `gene_columns` for these runs; only read for the table of genes.
    """
    if table == GENES:
        differences = {
            key: [row[f"{SHARE}{gene}"] - share.value for gene, share in paper.genes[key[0]].items()]
            for key, row in shares.iterrows()
        }
    else:
        known = {method for row in paper.recovery.values() for method in row}
        trials = runs[runs["method"].isin(known)].groupby(KEYS, sort=False)
        differences = {key: _from_recovery(key[0], trial, paper) for key, trial in trials}
    return {key: float(np.sqrt(np.mean(np.square(each)))) for key, each in differences.items() if each}


def _from_recovery(method: str, trial: pd.DataFrame, paper: Paper) -> list[float]:
    """At each ratio of the paper, the mean over draws and seeds minus its number; a diverged run counts as 0."""
    # 0 for a diverged run: it recovers nothing, and without it a trial would be judged by its luckier runs.
    means = trial["support_recovery"].where(trial["status"] == "finished", 0.0).groupby(trial["ratio"]).mean()
    rows = [(float(value), paper.recovery.get(float(ratio))) for ratio, value in means.items()]
    return [value - row[method].value for value, row in rows if row]


def probes_of(data: DataSettings) -> pd.DataFrame:
    """The probes of the data that a search trains on, with their genes, as returned by `Source.probes`."""
    return named_features(data).rename(columns={"gene": "probe"})


def gene_columns(runs: pd.DataFrame, paper: Paper, names: pd.DataFrame) -> pd.DataFrame:
    """By trial, the share of runs that select each gene of the paper's column, and how many are among its first."""
    trials = runs[runs["method"].isin(paper.genes)].groupby(KEYS, sort=False)
    shares = {key: _gene_shares(key[0], trial, paper, names) for key, trial in trials}
    return pd.DataFrame.from_dict(shares, orient="index")


def _gene_shares(method: str, trial: pd.DataFrame, paper: Paper, names: pd.DataFrame) -> dict[str, float]:
    column = paper.genes[method]
    shares = gene_shares(selected_of(trial, len(names)), names)
    probes, first = (
        {str(gene): list(group) for gene, group in part.groupby("gene", sort=False)["frequency"]}
        for part in (shares, shares.head(len(column)))
    )
    listed = sum(share_of(gene, first, paper.gene_aliases) > 0 for gene in column)
    return {LISTED: listed, **{f"{SHARE}{gene}": share_of(gene, probes, paper.gene_aliases) for gene in column}}
