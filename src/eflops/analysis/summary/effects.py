"""The points beyond the verdicts: entropy, the paper's settings, sparse messages, held-out data."""

from collections.abc import Iterator

import pandas as pd
from scipy import stats

from eflops.analysis import needs
from eflops.analysis.paper import METHOD
from eflops.analysis.scorecard.card import Card
from eflops.analysis.scorecard.verdict import ALPHA, Verdict
from eflops.analysis.source import Source
from eflops.analysis.stats.paired import holm
from eflops.analysis.summary.point import COMMUNICATION, ENTROPY, HELD_OUT, Point
from eflops.analysis.summary.verdicts import ALL_LINES
from eflops.analysis.text import MINUS, signed

# A nearest setting this many times the searched one, or such a fraction of it, is reported.
FAR = 10
# A mean of Kendall's tau from which the order of methods holds.
HOLDS = 0.5
LEADING = 5
INTENSITY, SPLITS = "golub_runs", "golub_splits"
PRIORS = {"Table 1": "figures/fig_prior", "Table 2": "figures/fig_prior_golub"}
OTHER_DATA = {"leukaemia data": needs.TEMPERATURE_GOLUB, "MNIST": needs.TEMPERATURE_MNIST}
SPARSE = {"sparse_server": "Messages sparse from the server only, from the first round"}
FEEDBACK = {
    "sparse_both": "As the paper describes it, messages sparse both ways from the first round",
    "feedback14": "Ours, beyond the paper: with error feedback",
    "feedback27": "Ours, with error feedback and at most 27 % of dense bytes",
}
# The N/d whose numbers the summary states.
SHOWN = (0.64, 1.36)


def entropy(card: Card, source: Source) -> Iterator[Point]:
    """What T changes in four sentences: at its best, by N/d, on the other data sets, and when both are tuned alike."""
    cells = source.table(needs.TEMPERATURE)
    if cells is not None and len(cells):
        yield _over_settings(cells)
        if (cells["by"] == "N/d").any():
            yield _by_ratio(cells)
    others = [
        _clearest(name, cells_of_data)
        for name, path in OTHER_DATA.items()
        if (cells_of_data := _metric(source.table(path), "accuracy")) is not None and len(cells_of_data)
    ]
    if others:
        text = f"The paper leaves open how this differs in overparameterised models: {'; '.join(others)}."
        yield Point(text, _link(needs.TEMPERATURE_GOLUB))
    yield from _tuned_alike(card, source)


def _over_settings(cells: pd.DataFrame) -> Point:
    """How much T changes at its best, over all settings and N/d."""
    over_all = cells[cells["by"] == "all"].set_index(["metric", "temperature"])
    best = over_all.loc["r2", "mean"].idxmax()
    recovery, r2 = (over_all.loc[(metric, best)] for metric in ("support_recovery", "r2"))
    return Point(
        f"With T alone changed, over {int(r2['settings'])} settings of the search and all its N/d, the best T above 0, "
        f"{best:g}, changes test R2 by {_interval(r2['mean'], r2['low'], r2['high'])} and support recovery by "
        f"{_interval(recovery['mean'], recovery['low'], recovery['high'])}.",
        _link(needs.TEMPERATURE),
        ENTROPY,
    )


def _by_ratio(cells: pd.DataFrame) -> Point:
    """At which N/d T helps and hurts, by Holm over all N/d and T; and whether its best value falls as N grows."""
    r2, recovery = (
        cells[(cells["by"] == "N/d") & (cells["metric"] == metric)] for metric in ("r2", "support_recovery")
    )
    raises, lowers = _where(r2)
    text = f"Some T raises test R2 clearly {raises}, some lowers it clearly {lowers}"
    if len(recovery):
        raises, lowers = _where(recovery, sizes=False)
        text += f"; support recovery rises clearly {raises} and falls {lowers}"
    contrasts = cells[(cells["by"] == "contrast") & (cells["metric"] == "r2")].set_index("temperature")
    return Point(f"{text}; {_advice(r2, contrasts)}.", _link(needs.TEMPERATURE), ENTROPY)


def _where(cells: pd.DataFrame, sizes: bool = True) -> list[str]:
    """The N/d at which some T clearly raises a metric, and those at which one lowers it, with the largest change."""
    clear = cells[holm(cells["p"].to_numpy(float)) < ALPHA]
    texts = []
    for rows in (clear[clear["mean"] > 0], clear[clear["mean"] < 0]):
        text = f"at N/d {', '.join(f'{ratio:g}' for ratio in sorted(rows['ratio'].unique()))}"
        if sizes and len(rows):
            most = rows.loc[rows["mean"].abs().idxmax()]
            size = _interval(most["mean"], most["low"], most["high"])
            text += f" (most at {most['ratio']:g} with T = {most['temperature']:g}: {size})"
        texts.append(text if len(rows) else "at no N/d")
    return texts


def _advice(cells: pd.DataFrame, contrasts: pd.DataFrame) -> str:
    """Whether T should rise as N decreases, as the paper says: its best value, which may be 0, falls with N/d.

    contrasts: by T, its effect at the smallest N/d less that at the largest.
    """
    means = cells.pivot(index="ratio", columns="temperature", values="mean").assign(**{"0": 0.0})
    best = means.idxmax(axis=1).astype(float)
    scarce, ample = best.iloc[0], best.iloc[-1]
    contrasts = contrasts.assign(clear=holm(contrasts["p"].to_numpy(float)) < ALPHA)
    verdict, size = "does not hold", ""
    if scarce > ample:
        row = contrasts.loc[scarce]
        verdict = "holds" if row["clear"] and row["mean"] > 0 else "is not settled"
        size = f": T = {scarce:g} changes test R2 at the first by {_interval(row['mean'], row['low'], row['high'])}"
        size += " more than at the last"
    listed = ", ".join(f"{each:g}" for each in best)
    span = f"from N/d {best.index[0]:g} to {best.index[-1]:g} the best T is {listed}"
    return f"{span}, so the advice to raise T as N decreases {verdict}{size}"


def _clearest(name: str, cells: pd.DataFrame) -> str:
    """The T at which accuracy changes most surely over all settings, and whether that is clear."""
    over_all = cells[cells["by"] == "all"]
    row = over_all.loc[over_all["p"].idxmin()]
    word = "T clearly changes" if holm(over_all["p"].to_numpy(float)).min() < ALPHA else "no T clearly changes"
    size = f"{_interval(row['mean'], row['low'], row['high'])} at T = {row['temperature']:g}"
    return f"on {name} {word} accuracy over {int(row['settings'])} settings (the clearest change is {size})"


def _tuned_alike(card: Card, source: Source) -> Iterator[Point]:
    """E-FLoPS less FLoPS with equal budgets, and the best of all crossed trials at each T less the best at T = 0."""
    rows, profile = card["facts"]["entropy"], _metric(source.table(needs.PROFILE), "r2")
    texts, link = [], "tables/support_recovery_tests"
    if rows:
        clear = {
            "E-FLoPS": [each for each in rows if each["low"] > 0],
            "T = 0": [each for each in rows if each["high"] < 0],
        }
        words = [
            f"{name} is clearly better in {' and '.join(each['metric'] for each in metrics)}"
            for name, metrics in clear.items()
            if metrics
        ]
        changes = [f"{each['metric']} {_interval(each['mean'], each['low'], each['high'])}" for each in rows]
        texts.append(
            f"{' and '.join(words) or 'neither is clearly better'} (E-FLoPS minus FLoPS, each the best of as many "
            f"trials: {', '.join(changes)}, over {rows[0]['draws']} draws)"
        )
    if profile is not None:
        tuned = profile[profile["case"].str.fullmatch("t[0-9_]+") & (profile["temperature"] > 0)]
        moved = tuned["difference"][holm(tuned["p"].to_numpy(float)) < ALPHA]
        ends = " to ".join(signed(each) for each in (tuned["difference"].min(), tuned["difference"].max()))
        texts.append(
            f"of the best settings at {len(tuned)} T above 0, {(moved > 0).sum()} are clearly better in test R2 and "
            f"{(moved < 0).sum()} clearly worse than the best at T = 0 ({ends})"
        )
        link = link if rows else _link(needs.PROFILE)
    if texts:
        yield Point(f"Tuned alike: {'; '.join(texts)}.", link, ENTROPY)


def settings(card: Card, source: Source) -> Iterator[Point]:
    """What the paper's numbers reveal about its settings, and what those that it leaves open decide."""
    yield from _nearest(card)
    rules = _metric(source.table(needs.RECOVERY), "support_recovery")
    if rules is not None:
        yield from _printed_rule(rules.set_index("set_gate_recovery"))
    shares = source.table(needs.SCALING)
    if shares is not None:
        yield from _scalings(shares[shares["method"] == METHOD])


def _nearest(card: Card) -> Iterator[Point]:
    """Columns that are reproduced only at settings far from the searched ones."""
    columns = card["facts"]["nearest"]
    if not columns:
        return
    agreed = sum(line["verdict"] == Verdict.NEAREST for line in card["lines"])
    are = "is" if agreed == 1 else "are"
    count = f"{agreed} of the paper's numbers {are} reproduced only at the tried settings nearest to its column"
    yield Point(f"{count}, not at those that the search chose.", ALL_LINES)
    far = [each for each in columns if not 1 / FAR < each["nearest"] / each["searched"] < FAR]
    for each in far:
        column = f"{each['table']}'s column of {card['labels'].get(each['method'], each['method'])}"
        rates = f"a weight learning rate of {each['nearest']:.2g}, where the search chose {each['searched']:.2g}"
        yield Point(f"{column} is nearest at {rates}.", PRIORS[each["table"]])
    if not far:
        yield Point(f"No column needs a weight learning rate more than {FAR} times off the searched one.", ALL_LINES)


def _printed_rule(rules: pd.DataFrame) -> Iterator[Point]:
    """What the paper's way back from mean gates to their parameters costs."""
    link = _link(needs.RECOVERY)
    if pd.isna(rules.loc["paper", "mean"]):
        yield Point("With the gate parameters recovered from mean gates as printed, every run diverges.", link)
    elif "gain" in rules and pd.notna(rules.loc["exact", "gain"]):
        change = _interval(*rules.loc["exact", ["gain", "gain_low", "gain_high"]])
        text = "Gate parameters recovered from mean gates exactly, not as printed: support recovery"
        yield Point(f"{text} {change}.", link)


def _scalings(shares: pd.DataFrame) -> Iterator[Point]:
    """How many of the leading genes stay under each other scaling of the leukaemia data."""
    first = _leading(shares, INTENSITY)
    others = shares[shares["experiment"] != INTENSITY].drop_duplicates("experiment")
    stay = [f"{len(first & _leading(shares, row.experiment))} on {row.scaling}" for row in others.itertuples()]
    if stay:
        yield Point(
            f"The paper does not state how the leukaemia data are scaled; of the {len(first)} genes most selected on "
            f"intensities as a whole these stay: {'; '.join(stay)}.",
            _link(needs.SCALING),
        )


def sparse_messages(_: Card, source: Source) -> Iterator[Point]:
    """What sparse communication throughout costs E-FLoPS as the paper describes it, and with error feedback."""
    for path, regimes in ((needs.COMMUNICATION, FEEDBACK), (needs.REGIMES, SPARSE)):
        cells = source.table(path)
        if cells is None:
            continue
        of = cells[(cells["method"] == METHOD) & cells["ratio"].isin(SHOWN)].set_index(["experiment", "metric"])
        for experiment, words in regimes.items():
            if (experiment, "support_recovery") in of.index:
                sent = of.loc[[(experiment, "share_training")], "mean"].mean()
                recovery = of.loc[[(experiment, "support_recovery")]]
                if recovery["same_as"].notna().all():
                    yield Point(f"{words}: the search chooses the same settings for E-FLoPS.", _link(path))
                    continue
                rows = recovery.itertuples()
                changes = [f"{_interval(row.difference, row.low, row.high)} at N/d {row.ratio:g}" for row in rows]
                yield Point(
                    f"{words} ({sent:.0%} of dense bytes): support recovery of E-FLoPS changes by "
                    f"{' and '.join(changes)}, against Table 1's runs.",
                    _link(path),
                    COMMUNICATION if path == needs.COMMUNICATION else "",
                )
    tests = source.table(needs.FEEDBACK)
    if tests is not None:
        yield from _aims(tests[tests["met"].notna()])
        yield from _parts(tests[(tests["metric"] == "accuracy") & tests["low"].notna()])
    sent = source.table(needs.BYTES)
    if sent is not None:
        means = sent[sent["method"] == METHOD].set_index("metric")["mean"]
        yield Point(
            f"On MNIST, messages of E-FLoPS as sent, indices included, take {means['share_training']:.1%} of dense "
            f"training's bytes; the paper's formula counts {means['share_formula']:.1%}.",
            _link(needs.BYTES),
        )


def _aims(tests: pd.DataFrame) -> Iterator[Point]:
    """How many aims of error feedback are met, over all draws and over unseen ones alone, and which are not."""
    for draws, rows in tests.groupby("draws", sort=False):
        missed = [
            f"{row.reference} minus {row.other}{'' if row.ratio == 0 else f' at N/d {row.ratio:g}'}, "
            f"{_interval(row.difference, row.low, row.high)}, aim: {row.aim}"
            for row in rows[rows["met"].astype(str) != "True"].itertuples()
        ]
        over = "over all draws" if draws == "all" else f"on draws {draws} alone, which its prototype never saw"
        count = (
            f"{len(rows) - len(missed)} of {len(rows)} aims of error feedback, fixed before its runs, are met {over}"
        )
        unmet = f" Not met: {'; '.join(missed)}." if missed else ""
        yield Point(f"{count}.{unmet}", _link(needs.FEEDBACK))


def _parts(tests: pd.DataFrame) -> Iterator[Point]:
    """Which part of what is gained on MNIST is the feedback's, and which the gates'."""
    changes = [
        f"{row.reference} minus {row.other}: {_interval(row.difference, row.low, row.high)}"
        for row in tests[tests["draws"] == "all"].itertuples()
    ]
    if changes:
        yield Point(f"On MNIST, in accuracy: {'; '.join(changes)}.", _link(needs.FEEDBACK))


def beyond(_: Card, source: Source) -> Iterator[Point]:
    """Whether the order of the federated methods over splits of the leukaemia data holds on held-out data sets."""
    cells, searched = source.table(needs.BEYOND), _metric(source.table(needs.SEARCHED), "accuracy")
    if cells is None or searched is None:
        return
    means = searched[searched["experiment"] == SPLITS].set_index("method")["mean"]
    by_data = cells[cells["federated"]].groupby("data", sort=False)
    elsewhere = {str(name): rows.set_index("method")["accuracy_mean"] for name, rows in by_data}
    taus = {name: tau(means, others) for name, others in elsewhere.items()}
    mean = sum(taus.values()) / len(taus)
    verdict = "holds" if mean >= HOLDS else "holds in part" if mean > 0 else "does not hold"
    each = "; ".join(f"{value:.2f} on {name}".replace("-", MINUS, 1) for name, value in taus.items())
    yield Point(
        f"The methods' order on the leukaemia data {verdict}: Kendall's tau (1: same order, 0: chance) is {each}.",
        _link(needs.BEYOND),
        HELD_OUT,
    )
    leads = sum(means.idxmax() == METHOD for means in elsewhere.values())
    yield Point(f"E-FLoPS is first on {leads} of {len(taus)} of these data sets.", _link(needs.BEYOND), HELD_OUT)


def tau(one: pd.Series, other: pd.Series) -> float:
    """Kendall's tau-b of two series of the methods that both have; 0 where either has no order."""
    both = one.index.intersection(other.index)
    value = float(stats.kendalltau(one.loc[both], other.loc[both]).statistic)
    return 0.0 if pd.isna(value) else value


def _link(path: str) -> str:
    """A table or figure on the explorer's page, named by its CSV file."""
    return path.removesuffix(".csv")


def _interval(mean: float, low: float, high: float) -> str:
    """A difference with its interval, where it has one."""
    return signed(mean) if pd.isna(low) else f"{signed(mean)} ({signed(low)} to {signed(high)})"


def _metric(cells: pd.DataFrame | None, metric: str) -> pd.DataFrame | None:
    return None if cells is None else cells[cells["metric"] == metric]


def _leading(shares: pd.DataFrame, experiment: str) -> set[str]:
    """The genes that are selected most in an experiment."""
    selected = shares[(shares["experiment"] == experiment) & (shares["frequency"] > 0)]
    return set(selected.sort_values(["frequency", "gene"], ascending=[False, True])["gene"].head(LEADING))
