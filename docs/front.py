"""The generated parts of the README, each printed by: python docs/front.py PART [RESULTS]

Everything is read from a published results folder; `docs/refresh.py` puts it into the page.
"""

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from eflops.analysis import needs
from eflops.analysis.cells import rows_by, spread
from eflops.analysis.scorecard.claims.synthetic import MARGIN
from eflops.analysis.scorecard.line import MARKS, VERBS
from eflops.analysis.scorecard.verdict import Verdict
from eflops.analysis.stats.temperature import LIMITED
from eflops.analysis.summary.point import Summary
from eflops.analysis.text import MINUS, exact, listed, markdown_table, markdown_text, signed
from eflops.config.study import read_study
from eflops.errors import UserError
from eflops.files import read_json
from eflops.provenance.times import whole_run
from eflops.results import paths
from eflops.results.store import opened

RECORD = "support_recovery/nd0.64/eflops/base/draw0-seed0.json"
RECOVERY, BESIDE = "tables/support_recovery.csv", "tables/support_recovery_paper.csv"
# The claim that answers whether the method works, and the answer that each verdict on it gives.
MAIN = "syn-support"
WORKS = {
    Verdict.AGREES: "Yes",
    Verdict.DIFFERS: "Our runs contradict its main claim",
    Verdict.INCONCLUSIVE: "Our runs leave its main claim open",
    Verdict.UNJUDGED: "Its main claim is not judged",
}
# An interval, which stays on one line.
INTERVAL = re.compile(r"\((\S+) to (\S+)\)")
METRICS = {"r2": "test R2", "support_recovery": "support recovery"}


def badges(project: Path) -> str:
    """What pyproject.toml and the licence state, as badges."""
    stated = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    paper = (
        "[![arXiv 2607.00275](https://img.shields.io/badge/arXiv-2607.00275-b31b1b)](https://arxiv.org/abs/2607.00275)"
    )
    texts = {
        "python": stated["requires-python"].removeprefix(">=") + "+",
        "version": stated["version"],
        "licence": stated["license"],
        "workflow": "Snakemake",
    }
    address = "https://img.shields.io/badge/{}-{}-blue"
    return "\n".join(
        [paper, *(f"![{name} {text}]({address.format(name, quote(text))})" for name, text in texts.items())]
    )


def answers(results: Path) -> str:
    """The questions of a first look, each with its answer."""
    questions = {
        "Does the method work?": f"{_method(results)} {_counts(results)}",
        "Does entropy help?": _entropy(results),
        "Can I run it?": f"Yes: [two commands](#run-it){_cost(results)}, no GPU.",
        "Can I use it?": "Yes: every method trains [your model on your data](#use-it).",
    }
    return "\n".join(f"- **{question}** {answer}" for question, answer in questions.items())


def _method(results: Path) -> str:
    """Whether the method does what it is for, by the verdict on the claim on support recovery."""
    claim = next(each for each in _summary(results).claims if each.id == MAIN)
    return f"{WORKS[Verdict(claim.verdict)]}: {markdown_text(claim.short)}."


def _counts(results: Path) -> str:
    """How many of the paper's claims got each verdict."""
    verdicts = Counter(Verdict(claim.verdict) for claim in _summary(results).claims)
    counts = [f"{number} {VERBS[each][number > 1]}" for each in Verdict if (number := verdicts[each])]
    return f"Of the paper's {verdicts.total()} claims, {listed(counts)}."


def _entropy(results: Path) -> str:
    """Whether some T above 0 raises test R2 or support recovery by more than the margin of the claims: averaged over
    N/d, and for R2 at the N/d where it does so most clearly."""
    cells = pd.read_csv(results / needs.TEMPERATURE)
    over_all = cells[(cells["by"] == "all") & cells["metric"].isin(METRICS)]
    best = over_all.loc[over_all["low"].idxmax()]
    if over_all["high"].max() < MARGIN:
        answer = f"Hardly: averaged over N/d, no temperature T raises {' or '.join(METRICS.values())} by {MARGIN:g}"
    elif best["low"] > 0:
        answer = f"Yes: averaged over N/d, T = {best['temperature']:g} raises {METRICS[best['metric']]}"
        answer += f" by {signed(best['mean'])}"
    else:
        answer = "That is inconclusive: averaged over N/d, no temperature T has a clear gain"
    by_ratio = cells[(cells["by"] == "N/d") & (cells["metric"] == LIMITED) & (cells["low"] > MARGIN)]
    if len(by_ratio):
        most = by_ratio.loc[by_ratio["low"].idxmax()]
        answer += f"; at N/d {most['ratio']:g}, T = {most['temperature']:g} raises test R2 by {signed(most['mean'])}"
        answer += f" if R2 below {MINUS}1 counts as {MINUS}1"
    return f"{answer} ({_runs(results, needs.TEMPERATURE.removesuffix('.csv'))})."


def _cost(results: Path) -> str:
    """The estimated time of a full run on the smallest number of cores."""
    found = re.search(r"about [^,:]+ on \d+ cores", times(results))
    return f", {found[0]}" if found else ""


def _runs(results: Path, link: str) -> str:
    return f"[runs]({results / paths.EXPLORER}#{link})"


def findings(results: Path) -> str:
    """What was found, a sentence or two on each subject."""
    return "\n".join(
        f"- **{point.headline}.** {point.text} ({_runs(results, point.link)})" for point in _summary(results).headlines
    )


def claims(results: Path) -> str:
    """The paper's claims, one row each."""
    page = results / paths.EXPLORER
    rows = [
        [
            markdown_text(claim.short),
            f"[{MARKS[Verdict(claim.verdict)]}&nbsp;{claim.verdict}]({page}#{claim.link})",
            INTERVAL.sub(r"(\1&nbsp;to&nbsp;\2)", markdown_text(claim.effect)).replace("; ", "<br>"),
        ]
        for claim in _summary(results).claims
    ]
    return markdown_table(["claim of the paper", "verdict", "what decides it, with its 95 % interval"], rows)


def _summary(results: Path) -> Summary:
    return Summary.of(read_json(results / paths.SUMMARY))


def table1(results: Path) -> str:
    """Table 1 of the paper beside ours, with T = 0, which the paper does not show."""
    config = read_study(results).config
    ours, paper = pd.read_csv(results / RECOVERY), pd.read_csv(results / BESIDE)
    of, printed = rows_by(ours, "ratio", "method"), rows_by(paper, "ratio", "method")
    ratios = list(paper["ratio"].unique())
    rows = []
    for name in (name for name in config.methods if (ours["method"] == name).any()):
        label = config.methods[name].label
        if (ratios[0], name) in printed:
            texts = [spread(printed[ratio, name], "paper_mean", "paper_sd", counts=False).text for ratio in ratios]
            rows.append([f"{label}, paper", *texts])
        rows.append([f"{label}, ours", *(spread(of[ratio, name]).text for ratio in ratios)])
    return markdown_table(["N/d", *map(exact, ratios)], rows)


def record(results: Path) -> str:
    """A record and the hash that its result has on every machine."""
    with opened(results) as store:
        return f"`eflops show results/runs/{RECORD}` must show the result hash `{store.record(RECORD).result_sha256}`."


def times(results: Path) -> str:
    """How long a full run takes, in minutes."""
    # Its first sentence; the others are about the time inside training.
    return re.sub(r"(?<=\d min) \d+ s", "", re.split(r"(?<=\.) ", whole_run(results))[0])


def reproductions(results: Path) -> str:
    """Who ran the whole study, and how many cells moved; results: the table of them."""
    table = pd.read_csv(results, dtype=str)
    names = ["version", "date", "processor", "system", "cores", "minutes", "cells compared", "cells that moved"]
    numbers = table.assign(compared=[f"{int(count):,}" for count in table["compared"]])
    return markdown_table(names, [[markdown_text(cell) for cell in row] for row in numbers.fillna("").to_numpy()])


PARTS: dict[str, Callable[[Path], str]] = {
    part.__name__: part for part in (badges, answers, claims, findings, table1, record, times, reproductions)
}

if __name__ == "__main__":
    name, folder = [*sys.argv[1:], "results/published"][:2]
    try:
        print(PARTS[name](Path(folder)))
    except (UserError, OSError, KeyError, ValueError) as error:
        sys.exit(f"docs/front.py {name} {folder}: {error!r}")
