"""The closing summary: five lines on what a run found, every number and every word of judgement from its own tables.

The text is Markdown and reStructuredText at once, so that the terminal, the README and the report show the same file.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from eflops.analysis.catalogue.whole import BYTES, PRUNE, RATES, RECOVERY, SCALING, SCORECARD, T0_TESTS
from eflops.analysis.scorecard.build import CLAIMS
from eflops.analysis.scorecard.verdict import ALPHA, Verdict
from eflops.files import read_json, write_text

TITLE = "**What this run found**"
METHOD, WITHOUT_ENTROPY = "eflops", "flops"
LEADING = 5
INTENSITY, LOG_GENE = "golub_runs", "golub_scaling_log_gene"


@dataclass(frozen=True)
class Made:
    """The files of a results folder that count; what else lies there may be left over from another config."""

    results: Path
    sources: frozenset[str]

    def table(self, path: str) -> pd.DataFrame | None:
        """The plain numbers of a table or figure; None where it was not made."""
        return pd.read_csv(self.results / path) if path in self.sources else None


def write(results: Path, sources: frozenset[str], path: Path) -> None:
    """Write the summary of a results folder."""
    write_text(path, text(Made(results, sources)))


def text(made: Made) -> str:
    """The title and the five lines."""
    return "\n".join([TITLE, "", *(f"- **{name}.** {line(made)}" for name, line in LINES.items()), ""])


def the_paper(made: Made) -> str:
    """How many of the paper's numbers and claims came out, and which claims did not."""
    lines = read_json(made.results / SCORECARD)["lines"]
    numbers = [line for line in lines if line["section"] != CLAIMS]
    claims = [line for line in lines if line["section"] == CLAIMS]
    failed = [line["row"] for line in claims if line["verdict"] == Verdict.FAILED]
    named = f" The claims that failed: {', '.join(failed)}." if failed else ""
    return f"Of its {len(numbers)} numbers {_counts(numbers)}; of its {len(claims)} claims {_counts(claims)}.{named}"


def without_entropy(made: Made) -> str:
    """E-FLoPS against the same method at T = 0, in support recovery."""
    tests = made.table(T0_TESTS)
    if tests is not None:
        tests = tests[(tests["reference"] == METHOD) & (tests["other"] == WITHOUT_ENTROPY)]
    if tests is None or tests.empty:
        return _not_run("support_recovery with T = 0")
    clear = tests[tests["p_holm"] < ALPHA]
    more, less = int((clear["difference"] > 0).sum()), int((clear["difference"] < 0).sum())
    mean = float(tests["difference"].mean())
    if more > less and mean > 0:
        verdict = "The entropy term helps"
    elif less > more and mean < 0:
        verdict = "The paper never shows T = 0, and at searched settings it is the better choice"
    else:
        verdict = "The paper never shows T = 0, and at searched settings it does about as well"
    return (
        f"{verdict}: with entropy {abs(mean):.3f} {'more' if mean > 0 else 'less'} of the true support is found on "
        f"average over {len(tests)} N/d, clearly more at {more} and clearly less at {less} of them (Holm p < {ALPHA}). "
        f"Both were searched apart, so they differ in more than T.{_over_rates(made)}"
    )


def wire_format(made: Made) -> str:
    """What messages cost as sent, and what the printed way back from mean gates to their parameters costs."""
    return " ".join([*_bytes(made), *_recovery(made)]) or _not_run("mnist and ablation_recovery")


def prune_start(made: Made) -> str:
    """Cutting to m weights from the first round, as the paper describes it, against later starts."""
    cells = _metric(made.table(PRUNE), "support_recovery")
    if cells is None:
        return _not_run("ablation_prune")
    means = cells.set_index("set_prune_from")["mean"]
    first, later = means.get(0.0, float("nan")), means.drop(0.0, errors="ignore").dropna()
    place = f"of the true support at N/d {cells['ratio'].iloc[0]:g}"
    if later.empty:
        return f"Only a cut from the first round was run: {_share(first)} {place}."
    best = f"from {later.idxmax():.0%} of the rounds on finds {_share(later.max())}"
    told = f"A cut to m weights from the first round, which the paper describes, finds {_share(first)} {place}"
    return f"{told}, and no later one more ({best})." if first >= later.max() else f"{told}, one {best}."


def golub_scaling(made: Made) -> str:
    """How many of the leading genes stay when the leukaemia data are scaled otherwise."""
    shares = made.table(SCALING)
    if shares is None:
        return _not_run("golub_scaling")
    shares = shares[shares["method"] == METHOD]
    before, after = _leading(shares, INTENSITY), _leading(shares, LOG_GENE)
    stay = len(set(before["gene"]) & set(after["gene"]))
    share = stay / max(len(before), 1)
    verdict = "hardly changes" if share >= 0.8 else "changes" if share > 0.4 else "decides"
    return (
        f"The scaling of the leukaemia data, which the paper does not state, {verdict} the genes: of the {len(before)} "
        f"that E-FLoPS selects most on intensities {stay} stay among the {len(after)} on log10 values scaled gene by "
        f"gene (accuracy {before['accuracy'].mean():.3f} and {after['accuracy'].mean():.3f})."
    )


LINES: dict[str, Callable[[Made], str]] = {
    "The paper": the_paper,
    "T = 0": without_entropy,
    "Wire format": wire_format,
    "Prune start": prune_start,
    "Golub": golub_scaling,
}


def _counts(lines: list[dict[str, str]]) -> str:
    """How many lines got each verdict, the empty ones left out."""
    counts = {verdict: sum(line["verdict"] == verdict for line in lines) for verdict in Verdict}
    return ", ".join(f"{number} {verdict}" for verdict, number in counts.items() if number) or "none"


def _over_rates(made: Made) -> str:
    """E-FLoPS and T = 0 over the learning rates of Figure 1, where neither has rates of its own choice."""
    panels = [panel for path in RATES if (panel := made.table(path)) is not None]
    if not panels:
        return ""
    means = pd.concat(panels).groupby("method")["mean"].mean()
    with_entropy, without = (means.get(method, float("nan")) for method in (METHOD, WITHOUT_ENTROPY))
    verdict = "it holds up better" if with_entropy > without else "it does not hold up better"
    return (
        f" Over the learning rates of Figures 1c and 1d {verdict} with entropy: mean test R2 {with_entropy:.3f}, "
        f"at T = 0 {without:.3f}."
    )


def _bytes(made: Made) -> Iterator[str]:
    cells = made.table(BYTES)
    if cells is None:
        return
    shares = cells[cells["method"] == METHOD].set_index("metric")["mean"]
    sent, formula = float(shares["share_training"]), float(shares["share_formula"])
    yield (
        f"Messages as sent, indices included, take {sent:.1%} of dense training's bytes on MNIST where the paper's "
        f"formula counts {formula:.1%}."
    )


def _recovery(made: Made) -> Iterator[str]:
    cells = _metric(made.table(RECOVERY), "support_recovery")
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
