"""The closing summary: what a run found, every number and every word of judgement from its own scorecard and tables.

The text is Markdown and reStructuredText at once, so that the terminal, the README and the report show the same file.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from eflops.analysis.needs import (
    BEYOND,
    BYTES,
    ENTROPY_GRID,
    ENTROPY_TRIALS,
    RECOVERY,
    REGIMES,
    SCALING,
    SCORECARD,
    SEARCHED,
    SUMMARY,
)
from eflops.analysis.paper import METHOD
from eflops.analysis.scorecard.build import told
from eflops.analysis.scorecard.sections import CLAIMS, SECTIONS
from eflops.analysis.scorecard.verdict import Verdict
from eflops.analysis.source import Source
from eflops.analysis.stats.order import order_sentence
from eflops.analysis.text import signed
from eflops.errors import UserError
from eflops.files import read_json, write_text

TITLE = "**What this run found**"
LEADING = 5
INTENSITY = "golub_runs"
SPLITS = "golub_splits"
DENSITY = "target-density"
# A nearest setting this many times the searched one, or a fraction of it, is one that no search would choose.
FAR = 10
ALL_SETTINGS = "all"
SPARSE = {"sparse_both": "both ways", "sparse_server": "from the server only"}

PLACES = {
    "explorer.html": "every number with its runs, in a browser, without a network",
    "scorecard.md": "each number and claim of the paper beside ours",
    "tables": "as CSV, Markdown, LaTeX and HTML",
    "figures": "as SVG, PDF, PNG, and their numbers as CSV",
    "runs": "one record per run; `eflops explain` leads from a number to them",
}


def write(results: Path, sources: frozenset[str], path: Path) -> None:
    """Write the summary of a results folder."""
    write_text(path, text(Source(results, files=sources)))


def text(source: Source) -> str:
    """The title and one line per subject; a subject that the study does not have is left out."""
    told = {name: line(source) for name, line in LINES.items()}
    return "\n".join([TITLE, "", *(f"- **{name}.** {line}" for name, line in told.items() if line), ""])


def the_paper(source: Source) -> str:
    """How many of the paper's numbers and claims agree."""
    card = _card(source)
    return f"{told([(section, card['sections'][section.name]) for section in SECTIONS])} {card['chance']}"


def what_holds(source: Source) -> str:
    """The claims that agree."""
    return _claims(source, Verdict.AGREES) or "No claim is shown to hold."


def what_does_not(source: Source) -> str:
    """The claims that differ, with the figures that speak against them, and the numbers that do."""
    lines = [line for line in _card(source)["lines"] if line["verdict"] == Verdict.DIFFERS]
    claims = " ".join(f"{_upper(line['text'])}: {line['reason']}" for line in lines if line["section"] == CLAIMS)
    numbers = [f"{line['row']} {_label(source, line)}" for line in lines if line["id"].startswith("table1/")]
    listed = f"Numbers of Table 1 that differ: {', '.join(numbers)}." if numbers else ""
    return " ".join(part for part in (claims, listed) if part) or "No claim or number of Table 1 is contradicted."


def what_cannot_be_told(source: Source) -> str:
    """The claims that the runs cannot decide."""
    return _claims(source, Verdict.CANNOT)


def entropy(source: Source) -> str:
    """What T changes: at searched settings over draws, over all settings of the search, and alone."""
    parts = [*_over_draws(source), *_over_trials(source), *_alone(source)]
    return " ".join(parts) or _not_run("support_recovery with T = 0")


def constraint(source: Source) -> str:
    """Whether the target density is reached."""
    lines = [line for line in _card(source)["lines"] if line["id"] == f"claim/{DENSITY}"]
    if not lines or lines[0]["verdict"] == Verdict.UNJUDGED:
        return _not_run("open gates on all three data sets")
    said = {
        Verdict.AGREES: "The target density is reached.",
        Verdict.DIFFERS: "The target density is not reached everywhere.",
    }.get(Verdict(lines[0]["verdict"]), "Whether the target density is reached cannot be told everywhere.")
    values = [f"{each['name']} {_interval(each, '{:.2g}')}" for each in lines[0]["ours"]]
    return f"{said} Open gates at the end of training: {'; '.join(values)}."


def papers_settings(source: Source) -> str:
    """What the nearest trials reveal: columns that come out only at settings which no search would choose."""
    card = _card(source)
    found = card["facts"]["nearest"]
    if not found:
        return _not_run("nearest settings")
    far = [each for each in found if not 1 / FAR < each["nearest"] / each["searched"] < FAR]
    agreed = sum(line["verdict"] == Verdict.NEAREST for line in card["lines"])
    first = f"{agreed} of the paper's numbers come out only at the nearest settings of the search."
    if not far:
        return f"{first} None of the columns needs a weights' rate more than {FAR} times off the searched one."
    columns = "; ".join(
        f"{card['labels'].get(each['method'], each['method'])} of {each['table']} at a weights' rate of "
        f"{each['nearest']:.2g} where the search chose {each['searched']:.2g}"
        for each in far
    )
    return f"{first} Columns nearest at a rate that a search would not choose: {columns}."


def sparse_messages(source: Source) -> str:
    """What sparse communication throughout costs E-FLoPS, searched for itself."""
    cells = _metric(source.table(REGIMES), "support_recovery")
    if cells is None:
        return _not_run("sparse_both and sparse_server")
    own = cells[(cells["method"] == METHOD) & cells["experiment"].isin(list(SPARSE))]
    if own.empty:
        return _not_run("sparse_both and sparse_server")
    parts = [
        f"{SPARSE[row.experiment]} at N/d {row.ratio:g} {signed(row.difference)} ({signed(row.low)} to "
        f"{signed(row.high)})"
        for row in own.itertuples()
    ]
    return (
        "Cut from the first round and searched for itself, E-FLoPS changes its support recovery, draw by draw, with "
        f"messages that are sparse {'; '.join(parts)}."
    )


def wire_format(source: Source) -> str:
    """What messages cost as sent, and what the printed way back from mean gates to their parameters costs."""
    return " ".join([*_bytes(source), *_recovery(source)]) or _not_run("mnist and ablation_recovery")


def golub_scaling(source: Source) -> str:
    """How many of the leading genes stay under each other scaling of the leukaemia data."""
    shares = source.table(SCALING)
    if shares is None:
        return _not_run("golub_scaling")
    shares = shares[shares["method"] == METHOD]
    before = _leading(shares, INTENSITY)
    others = shares[shares["experiment"] != INTENSITY].drop_duplicates("experiment")
    parts = []
    for other in others.itertuples():
        after = _leading(shares, other.experiment)
        stay = len(set(before["gene"]) & set(after["gene"]))
        parts.append(f"{stay} on {other.scaling} (accuracy {after['accuracy'].mean():.3f})")
    return (
        f"The paper does not state how the leukaemia data are scaled. Of the {len(before)} genes that E-FLoPS selects "
        f"most on intensities as a whole (accuracy {before['accuracy'].mean():.3f}) stay among its first {LEADING}: "
        f"{', '.join(parts)}."
    )


def beyond(source: Source) -> str:
    """Whether the order of the federated methods over splits of the leukaemia data holds on data that chose nothing."""
    cells, searched = source.table(BEYOND), _metric(source.table(SEARCHED), "accuracy")
    if cells is None or searched is None:
        return ""
    means = searched[searched["experiment"] == SPLITS].set_index("method")["mean"]
    federated = cells[cells["federated"]]
    elsewhere = {
        str(name): own.set_index("method")["accuracy_mean"] for name, own in federated.groupby("data", sort=False)
    }
    return order_sentence(means, elsewhere, METHOD)


LINES: dict[str, Callable[[Source], str]] = {
    "The paper": the_paper,
    "Holds": what_holds,
    "Does not hold": what_does_not,
    "Cannot be told": what_cannot_be_told,
    "Entropy": entropy,
    "The constraint": constraint,
    "The paper's settings": papers_settings,
    "Sparse messages": sparse_messages,
    "Wire format": wire_format,
    "Golub": golub_scaling,
    "Beyond": beyond,
}


def _card(source: Source) -> dict[str, Any]:
    return dict(read_json(source.path(SCORECARD)))


def _claims(source: Source, verdict: Verdict) -> str:
    lines = [line for line in _card(source)["lines"] if line["section"] == CLAIMS and line["verdict"] == verdict]
    return " ".join(f"{_upper(line['text'])}." for line in lines)


def _label(source: Source, line: dict[str, Any]) -> str:
    return str(_card(source)["labels"].get(line["column"], line["column"]))


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _interval(value: dict[str, Any], form: str = "{:+.3f}") -> str:
    return " ".join([form.format(value["mean"]), f"({form.format(value['low'])} to {form.format(value['high'])})"])


def _over_draws(source: Source) -> Iterator[str]:
    """At searched settings, where both were searched apart."""
    found = _card(source)["facts"]["entropy"]
    if not found:
        return
    clear = [each for each in found if each["low"] > 0 or each["high"] < 0]
    verdict = "changes nothing that is clear" if not clear else "makes a difference"
    parts = " and ".join(f"{each['metric']} {_interval(each)}" for each in found)
    yield (
        f"At searched settings, which differ in more than T, entropy {verdict}: E-FLoPS minus T = 0 is {parts} over "
        f"{found[0]['draws']} draws."
    )


def _over_trials(source: Source) -> Iterator[str]:
    """Over all settings of the search, paired by setting."""
    cells = source.table(ENTROPY_TRIALS)
    if cells is None:
        return
    own = cells[cells["by"] == ALL_SETTINGS]
    for row in own[own["metric"] == "r2"].itertuples():
        yield (
            f"Over all {row.settings} settings of the search, paired by setting, it changes test R2 by "
            f"{row.mean:+.3f} ({row.mean_low:+.3f} to {row.mean_high:+.3f}; median {row.median:+.3f}) and helps in "
            f"{row.helps} of {row.helps + row.hurts} that it changes."
        )
    by_t = cells[(cells["by"] == "T") & (cells["metric"] == "r2")].itertuples()
    parts = [f"{row.group} {row.mean:+.3f} ({row.mean_low:+.3f} to {row.mean_high:+.3f})" for row in by_t]
    if parts:
        yield f"By T: {'; '.join(parts)}."


def _alone(source: Source) -> Iterator[str]:
    """Where T alone varies, at fast and slow gates."""
    cells = _metric(source.table(ENTROPY_GRID), "support_recovery")
    if cells is None or "gain" not in cells:
        return
    gains = cells.dropna(subset=["gain", "gain_low"])
    better, worse = gains[gains["gain_low"] > 0], gains[gains["gain_high"] < 0]
    if gains.empty:
        return
    best = gains.loc[gains["gain"].idxmax()]
    yield (
        f"Where T alone varies, recovery is clearly higher than at T = 0 in {len(better)} and clearly lower in "
        f"{len(worse)} of {len(gains)} cells; the most is {best['gain']:+.3f} ({best['gain_low']:+.3f} to "
        f"{best['gain_high']:+.3f}) at T = {best['set_temperature']:g}, gate rate {best['set_gate_rate']:g}, N/d "
        f"{best['ratio']:g}."
    )


def _bytes(source: Source) -> Iterator[str]:
    cells = source.table(BYTES)
    if cells is None:
        return
    shares = cells[cells["method"] == METHOD].set_index("metric")["mean"]
    sent, formula = float(shares["share_training"]), float(shares["share_formula"])
    yield (
        f"Messages as sent, indices included, take {sent:.1%} of dense training's bytes on MNIST where the paper's "
        f"formula counts {formula:.1%}."
    )


def _recovery(source: Source) -> Iterator[str]:
    cells = _metric(source.table(RECOVERY), "support_recovery")
    if cells is None:
        return
    means = cells.set_index("set_gate_recovery")["mean"]
    printed, exact = float(means["paper"]), float(means["exact"])
    yield (
        f"Gate parameters recovered from mean gates as printed find {_share(printed)} of the true support, recovered "
        f"exactly {_share(exact)}."
    )


def _metric(cells: pd.DataFrame | None, metric: str) -> pd.DataFrame | None:
    return None if cells is None else cells[cells["metric"] == metric]


def _leading(shares: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """The genes that are selected most in an experiment."""
    own = shares[(shares["experiment"] == experiment) & (shares["frequency"] > 0)]
    return own.sort_values(["frequency", "gene"], ascending=[False, True]).head(LEADING)


def _share(mean: float) -> str:
    """A mean; where there is none, every run diverged."""
    return "nothing (every run diverged)" if pd.isna(mean) else f"{mean:.3f}"


def _not_run(what: str) -> str:
    return f"Not run here: {what}."


def with_places(results: Path) -> str:
    """Where to look in a finished results folder, and its summary."""
    try:
        summary = (results / SUMMARY).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{results}: there is no {SUMMARY}, so the run is not complete; run: snakemake all") from None
    present = {results / name: words for name, words in PLACES.items() if (results / name).exists()}
    width = max((len(str(path)) for path in present), default=0)
    places = [f"  {path!s:{width}}  {words}" for path, words in present.items()]
    return "\n".join(["**Where to look**", "", *places, "", summary.rstrip()])
