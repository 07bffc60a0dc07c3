"""The findings beyond the verdicts: entropy, the paper's settings, sparse messages, held-out data."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import stats

from eflops.analysis import needs
from eflops.analysis.paper import HARD_THRESHOLDING, METHOD
from eflops.analysis.scorecard.card import Card
from eflops.analysis.scorecard.claims.synthetic import MARGIN, TABLE
from eflops.analysis.scorecard.verdict import ALPHA, Verdict
from eflops.analysis.search import WORST
from eflops.analysis.source import Source
from eflops.analysis.stats.paired import holm
from eflops.analysis.stats.temperature import LIMITED
from eflops.analysis.summary.point import COMMUNICATION, ENTROPY, HELD_OUT, Point
from eflops.analysis.summary.verdicts import ALL_LINES, PRIOR
from eflops.analysis.text import MINUS, listed, signed

# A nearest setting this many times the searched one, or such a fraction of it, is reported.
FAR = 10
# A mean of Kendall's tau from which the order of methods holds.
HOLDS = 0.5
LEADING = 5
INTENSITY, SPLITS = "golub_runs", "golub_splits"
PRIORS = {"Table 1": "figures/fig_prior", "Table 2": PRIOR}
OTHER_DATA = {"leukaemia data": needs.TEMPERATURE_GOLUB, "MNIST": needs.TEMPERATURE_MNIST}
SPARSE = {"sparse_server": "messages sparse from the server only, from the first round"}
FEEDBACK = {
    "sparse_both": "sparse messages throughout, as the paper describes",
    "feedback14": "error feedback (ours)",
    "feedback27": "error feedback and at most 27 % of dense bytes",
}
# What the comparisons of table feedback_tests show that separate the feedback's part of a gain from the gates'.
PARTS = ("feedback and gates", "feedback, without gates", "gates, with feedback")
# The N/d whose numbers the summary states.
SHOWN = (0.64, 1.36)


def entropy(card: Card, source: Source) -> Iterator[Point]:
    """The effect of T, a sentence each: at its best, by N/d, on what the paper says of it, and with equal tuning."""
    cells, answers, link = source.table(needs.TEMPERATURE), [], needs.TEMPERATURE
    if cells is not None and len(cells):
        yield _over_settings(cells)
        if (cells["by"] == "N/d").any():
            yield _by_ratio(cells)
            answers.append(_advice(cells))
    others = {name: _metric(source.table(path), "accuracy") for name, path in OTHER_DATA.items()}
    if known := {name: each for name, each in others.items() if each is not None and len(each)}:
        answers.append(_overparameterised(known))
        link = needs.TEMPERATURE_GOLUB
    if answers:
        text = "; ".join(answers)
        yield Point(f"{text[0].upper()}{text[1:]}.", _link(link), ENTROPY)
    yield from _tuned_alike(card)


def _over_settings(cells: pd.DataFrame) -> Point:
    """The effect of the best T above 0, over all settings and N/d."""
    over_all = cells[cells["by"] == "all"].set_index(["metric", "temperature"])
    best = over_all.loc["r2", "mean"].idxmax()
    r2, recovery = (over_all.loc[(metric, best)] for metric in ("r2", "support_recovery"))
    return Point(
        f"The best T above 0 is {best:g}: compared with T = 0, it changes test R2 by {_change(r2)} and support "
        f"recovery by {_change(recovery)}, averaged over {int(r2['settings'])} settings and all N/d.",
        _link(needs.TEMPERATURE),
        ENTROPY,
    )


def _by_ratio(cells: pd.DataFrame) -> Point:
    """The N/d at which T clearly raises or lowers test R2 (Holm over all N/d and T), and its largest effects."""
    r2 = _r2(cells)
    by_ratio = r2[r2["by"] == "N/d"]
    clear = by_ratio[_clear(by_ratio)]
    raised, lowered = (clear[sign * clear["mean"] > 0] for sign in (1, -1))
    least = f"{WORST['r2']:g}".replace("-", MINUS)
    words = f"; an R2 below {least} counts as {least}" if (r2["metric"] == LIMITED).all() else ""
    # Of losses the smallest T is stated: at some N/d a small T helps and a large one hurts.
    large = f", with T of at least {lowered['temperature'].min():g}" if len(lowered) else ""
    return Point(
        f"T clearly raises test R2 at {_where(raised)}; it clearly lowers it at {_where(lowered, large)}{words}.",
        _link(needs.TEMPERATURE),
        ENTROPY,
    )


def _where(clear: pd.DataFrame, words: str = "") -> str:
    """The N/d of clear effects, and the largest effect."""
    if clear.empty:
        return "no N/d"
    most = clear.loc[clear["mean"].abs().idxmax()]
    ratios = listed([f"{ratio:g}" for ratio in sorted(clear["ratio"].unique())])
    at = f"most at N/d {most['ratio']:g}, " if clear["ratio"].nunique() > 1 else ""
    return f"N/d {ratios}{words}, {at}by {_change(most)} with T = {most['temperature']:g}"


def _r2(cells: pd.DataFrame) -> pd.DataFrame:
    """The effects of T on test R2, limited below if the table has that."""
    limited = _metric(cells, LIMITED)
    return cells[cells["metric"] == "r2"] if limited is None or limited.empty else limited


def _advice(cells: pd.DataFrame) -> str:
    """Whether T should rise as N decreases, as the paper says, by each metric."""
    effects_by_metric = {"test R2": _r2(cells), "support recovery": cells[cells["metric"] == "support_recovery"]}
    verdicts = {name: _best_falls(rows) for name, rows in effects_by_metric.items() if (rows["by"] == "N/d").any()}
    same = len(set(verdicts.values())) == 1
    words = verdicts["test R2"] if same else listed([f"{verdict} for {name}" for name, verdict in verdicts.items()])
    return f"the paper's advice to raise T as N decreases {words}"


def _best_falls(cells: pd.DataFrame) -> str:
    """Whether the best T, which may be 0, falls with N/d.

    The best T at the smallest N/d must also clearly gain more there than at the largest.
    """
    by_ratio, contrasts = (cells[cells["by"] == by] for by in ("N/d", "contrast"))
    means = by_ratio.pivot(index="ratio", columns="temperature", values="mean").assign(**{"0": 0.0})
    best = means.idxmax(axis=1).astype(float)
    if best.iloc[0] <= best.iloc[-1]:
        return "does not hold"
    larger = contrasts[_clear(contrasts) & (contrasts["mean"] > 0)]
    return "holds" if best.iloc[0] in set(larger["temperature"]) else "is undecided"


def _overparameterised(by_data: dict[str, pd.DataFrame]) -> str:
    """On the data whose models are overparameterised: whether some T clearly changes accuracy, and its clearest change.

    by_data: the effects of T on accuracy, by the label of the data.
    """
    over_all = {name: cells[cells["by"] == "all"] for name, cells in by_data.items()}
    changed = [name for name, cells in over_all.items() if _clear(cells).any()]
    where = f" on {listed(changed)}{' alone' * (len(changed) < len(over_all))}" if changed else ""
    sizes = [f"{_change(cells.loc[cells['p'].idxmin()])} on {name}" for name, cells in over_all.items()]
    clearest = "changes are" if len(sizes) > 1 else "change is"
    return (
        "in overparameterised models, which the paper leaves for future work, "
        f"{'some' if changed else 'no'} T clearly changes accuracy{where}: the clearest {clearest} {listed(sizes)}"
    )


def _tuned_alike(card: Card) -> Iterator[Point]:
    """E-FLoPS minus FLoPS, each the best of equally many trials."""
    rows = card["facts"]["entropy"]
    if not rows:
        return
    better = {
        "E-FLoPS is clearly better": [each["metric"] for each in rows if each["low"] > 0],
        "T = 0 is clearly better": [each["metric"] for each in rows if each["high"] < 0],
    }
    verdict = " and ".join(f"{words} in {listed(metrics)}" for words, metrics in better.items() if metrics)
    if all(each["low"] > -MARGIN and each["high"] < MARGIN for each in rows):
        verdict = f"T = 0 is as good within {MARGIN:g}"
    sizes = listed([f"{_interval(each['mean'], each['low'], each['high'])} in {each['metric']}" for each in rows])
    alone = rows[0].get("alone")
    differ = f"; the search chose T = {alone:g} for E-FLoPS, and for both the same other settings" if alone else ""
    yield Point(
        f"With equal tuning, {verdict or 'it is inconclusive whether T = 0 is as good'}: E-FLoPS minus FLoPS (T = 0) "
        f"is {sizes}, over {rows[0]['draws']} draws{differ}.",
        "tables/support_recovery_tests",
        ENTROPY,
    )


def settings(card: Card, source: Source) -> Iterator[Point]:
    """What the paper's numbers reveal about its settings, and the effect of settings that it leaves open."""
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
        rates = f"a weight learning rate of {each['nearest']:.2g}; the search chose {each['searched']:.2g}"
        yield Point(f"The settings nearest to {column} have {rates}.", PRIORS[each["table"]])
    if not far:
        yield Point(f"No column needs a weight learning rate more than {FAR} times off the searched one.", ALL_LINES)


def _printed_rule(rules: pd.DataFrame) -> Iterator[Point]:
    """The cost of the paper's rule for recovering gate parameters from mean gates."""
    link = _link(needs.RECOVERY)
    if pd.isna(rules.loc["paper", "mean"]):
        yield Point("With gate parameters recovered from mean gates by the printed rule, every run diverges.", link)
    elif "gain" in rules and pd.notna(rules.loc["exact", "gain"]):
        change = _interval(*rules.loc["exact", ["gain", "gain_low", "gain_high"]])
        text = (
            "Recovering gate parameters from mean gates exactly, not by the printed rule, changes support recovery by"
        )
        yield Point(f"{text} {change}.", link)


def _scalings(shares: pd.DataFrame) -> Iterator[Point]:
    """How many of the leading genes remain under the other scalings of the leukaemia data."""
    first = _leading(shares, INTENSITY)
    others = shares[shares["experiment"] != INTENSITY].drop_duplicates("experiment")
    stay = [
        f"{len(first & _leading(shares, row.experiment))} remain under {row.scaling}" for row in others.itertuples()
    ]
    if stay:
        yield Point(
            f"The paper does not state how the leukaemia data are scaled. Of the {len(first)} genes most selected when "
            f"intensities are scaled as a whole, {'; '.join(stay)}.",
            _link(needs.SCALING),
        )


def sparse_messages(card: Card, source: Source) -> Iterator[Point]:
    """The cost of sparse communication throughout for E-FLoPS, as the paper describes it and with error feedback."""
    communication = _metric(source.table(needs.COMMUNICATION), "share_training")
    if communication is not None:
        yield from _table1_bytes(card, communication[communication["experiment"] == TABLE])
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
                    yield Point(f"With {words}, the search chooses the same settings for E-FLoPS.", _link(path))
                    continue
                rows = recovery.itertuples()
                changes = [f"{_interval(row.difference, row.low, row.high)} at N/d {row.ratio:g}" for row in rows]
                yield Point(
                    f"With {words}, at {sent:.0%} of dense bytes, E-FLoPS's support recovery changes from Table "
                    f"1's by {listed(changes)}.",
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


def _table1_bytes(card: Card, shares: pd.DataFrame) -> Iterator[Point]:
    """What the runs of Table 1 send in training, as a share of dense messages, which FedAvg sends."""
    means = shares.groupby("method")["mean"].mean()
    if METHOD in means:
        more = "more" if means[METHOD] > 1 else "no more"
        others = [
            f"{card['labels'].get(name, name)} sends {means[name]:.0%}" for name in HARD_THRESHOLDING if name in means
        ]
        yield Point(
            f"In the runs of Table 1, E-FLoPS sends {more} than dense FedAvg: {means[METHOD]:.0%} of dense training's "
            f"bytes{'; '.join(['', *others])}.",
            _link(needs.COMMUNICATION),
        )


def _aims(tests: pd.DataFrame) -> Iterator[Point]:
    """How many aims of error feedback are met, over all draws and over unseen ones alone, and which are not."""
    for draws, rows in tests.groupby("draws", sort=False):
        missed = [
            f"“{row.reference}” minus “{row.other}”{'' if row.ratio == 0 else f' at N/d {row.ratio:g}'} is "
            f"{_interval(row.difference, row.low, row.high)}; the aim was: {row.aim}"
            for row in rows[rows["met"].astype(str) != "True"].itertuples()
        ]
        over = "over all draws" if draws == "all" else f"on draws {draws} alone, which its prototype never saw"
        count = (
            f"Of {len(rows)} aims of error feedback, fixed before its runs, {len(rows) - len(missed)} are met {over}."
        )
        yield Point(" ".join([count, *(f"Not met: {each}." for each in missed)]), _link(needs.FEEDBACK))


def _parts(tests: pd.DataFrame) -> Iterator[Point]:
    """How much of the gain on MNIST comes from the feedback, and how much from the gates."""
    of = tests[tests["draws"] == "all"].set_index("shows")
    if set(PARTS) <= set(of.index):
        both, feedback, gates = (_interval(*of.loc[part, ["difference", "low", "high"]]) for part in PARTS)
        means = of.loc[PARTS[0], ["mean_reference", "mean_other"]]
        yield Point(
            f"On MNIST, E-FLoPS with error feedback has an accuracy of {means.iloc[0]:.3f} and dense FedAvg one of "
            f"{means.iloc[1]:.3f}, a difference of {both}. The feedback's part of it is {feedback}: FedAvg with error "
            f"feedback minus dense FedAvg. The gates' part is {gates}: E-FLoPS minus FedAvg, both with error feedback.",
            _link(needs.FEEDBACK),
        )


def shared_gates(_: Card, source: Source) -> Iterator[Point]:
    """The effect of a gate per gene on the leukaemia data, and of a gate per unit on MNIST, compared with a gate per
    weight."""
    genes, units = source.table(needs.GENE_GATES), source.table(needs.UNIT_GATES)
    if genes is not None:
        rows = [
            f"{row.accuracy_mean:.3f} ({row.genes:.1f} genes per run, Nogueira's index {row.nogueira:.2f}) with a "
            f"gate per {'gene' if row.method != METHOD else f'weight and {row.kept:.0f} weights'}"
            for row in genes.itertuples()
        ]
        what = f"Accuracy on leukaemia data, {genes['n'].min():.0f} runs each"
        yield Point(f"{what}: {'; '.join(rows)}.", _link(needs.GENE_GATES))
    if units is not None:
        of = units.pivot(index="method", columns="metric", values="mean")
        rows = [
            f"{row['accuracy']:.3f} ({row['kept']:.0f} weights, {row['macs_removed']:.1%} of operations removed) with "
            f"a gate per {'unit' if method != METHOD else 'weight'}"
            for method, row in of.iterrows()
        ]
        what = "Accuracy on MNIST with a tenth of the weights, cut only at the end"
        yield Point(f"{what}: {'; '.join(rows)}.", _link(needs.UNIT_GATES))


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
    """Kendall's tau-b of two series over their common methods; 0 if either is constant."""
    both = one.index.intersection(other.index)
    value = float(stats.kendalltau(one.loc[both], other.loc[both]).statistic)
    return 0.0 if pd.isna(value) else value


def _link(path: str) -> str:
    """A table or figure on the explorer's page, named by its CSV file."""
    return path.removesuffix(".csv")


def _clear(cells: pd.DataFrame) -> np.ndarray:
    """Which effects of T are significant after Holm's adjustment over all cells."""
    return holm(cells["p"].to_numpy(float)) < ALPHA


def _change(row: pd.Series) -> str:
    return _interval(row["mean"], row["low"], row["high"])


def _interval(mean: float, low: float, high: float) -> str:
    """A difference with its interval, if it has one."""
    return signed(mean) if pd.isna(low) else f"{signed(mean)} ({signed(low)} to {signed(high)})"


def _metric(cells: pd.DataFrame | None, metric: str) -> pd.DataFrame | None:
    return None if cells is None else cells[cells["metric"] == metric]


def _leading(shares: pd.DataFrame, experiment: str) -> set[str]:
    """The genes that are selected most in an experiment."""
    selected = shares[(shares["experiment"] == experiment) & (shares["frequency"] > 0)]
    return set(selected.sort_values(["frequency", "gene"], ascending=[False, True])["gene"].head(LEADING))
