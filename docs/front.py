"""The generated parts of the README, each printed by: python docs/front.py PART [RESULTS]

Everything is read from a published results folder; `docs/refresh.py` puts it into the page.
"""

import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from eflops.analysis import needs
from eflops.analysis.cells import rows_by, spread
from eflops.analysis.paper import METHOD
from eflops.analysis.scorecard.claims.synthetic import MARGIN
from eflops.analysis.scorecard.line import MARKS
from eflops.analysis.scorecard.verdict import Verdict
from eflops.analysis.summary.effects import SHOWN
from eflops.analysis.summary.point import ENTROPY, GENES, HELD_OUT, Summary
from eflops.analysis.text import exact, markdown_table, markdown_text, signed
from eflops.config.study import read_study
from eflops.errors import UserError
from eflops.files import read_json
from eflops.provenance.times import whole_run
from eflops.results import paths
from eflops.results.store import opened

RECORD = "support_recovery/nd0.64/eflops/base/draw0-seed0.json"
RECOVERY, BESIDE = "tables/support_recovery.csv", "tables/support_recovery_paper.csv"
REGIMES = {"sparse_both": "As the paper describes it", "feedback14": "with error feedback (ours)"}


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


def verdict(results: Path) -> str:
    """What was found, in words: on the claims, on entropy and on communication."""
    summary = _summary(results)
    counts = summary.verdicts["Table 1"]
    agree, nearest = counts[Verdict.AGREES], counts[Verdict.NEAREST]
    numbers = f"{agree} of Table 1's {sum(counts.values())} numbers (support recovery) agree"
    lines = [f"- **Does the method work?** {numbers}, {nearest} more at nearest settings."]
    lines += [f"- **{answer}:** {topics}." for answer, topics in summary.answers.items()]
    lines += [
        f"- **Does entropy help?** {_entropy(results)} {point.text} {_runs(results, point.link)}"
        for point in summary.headlines
        if point.headline == ENTROPY
    ]
    return "\n".join([*lines, f"- **Does sparse communication cost support recovery?** {_communication(results)}"])


def _entropy(results: Path) -> str:
    """Whether the best T above 0 changes test R2 by more than the margin of the claims, over all settings."""
    cells = pd.read_csv(results / needs.TEMPERATURE)
    best = cells[(cells["by"] == "all") & (cells["metric"] == "r2")].nlargest(1, "mean").iloc[0]
    if max(abs(best["low"]), abs(best["high"])) < MARGIN:
        return "Hardly."
    return "Yes." if best["low"] > 0 else "No." if best["high"] < 0 else "This is inconclusive."


def _communication(results: Path) -> str:
    """What sparse messages cost E-FLoPS, as the paper describes them and with error feedback."""
    cells = pd.read_csv(results / needs.COMMUNICATION)
    cells = cells[(cells["method"] == METHOD) & (cells["metric"] == "support_recovery") & cells["ratio"].isin(SHOWN)]
    answers = []
    for regime, words in REGIMES.items():
        changes = cells.loc[cells["experiment"] == regime, "difference"]
        answer = "yes" if changes.min() < -MARGIN else "hardly"
        answers.append(f"{words}, {answer} ({' and '.join(map(signed, changes))})")
    ratios = " and ".join(f"{ratio:g}" for ratio in cells["ratio"].unique())
    return f"{'; '.join(answers)}, at N/d {ratios}. {_runs(results, needs.COMMUNICATION.removesuffix('.csv'))}"


def _runs(results: Path, link: str) -> str:
    return f"[Runs]({results / paths.EXPLORER}#{link})"


def findings(results: Path) -> str:
    """What was found on genes and on held-out data."""
    return "\n".join(
        f"- **{point.headline}.** {point.text} {_runs(results, point.link)}"
        for point in _summary(results).headlines
        if point.headline in (GENES, HELD_OUT)
    )


def claims(results: Path) -> str:
    """The paper's claims, one row each."""
    page = results / paths.EXPLORER
    rows = [
        [
            markdown_text(claim.short),
            f"{MARKS[Verdict(claim.verdict)]}&nbsp;{claim.verdict}",
            f"[{markdown_text(claim.effect)}]({page}#{claim.link})",
        ]
        for claim in _summary(results).claims
    ]
    return markdown_table(["the paper's claim", "verdict", "effect (95 % interval)"], rows)


def _summary(results: Path) -> Summary:
    return Summary.of(read_json(results / paths.SUMMARY))


def table1(results: Path) -> str:
    """Table 1 of the paper beside ours, with T = 0, which the paper does not show."""
    config = read_study(results).config
    ours, paper = pd.read_csv(results / RECOVERY), pd.read_csv(results / BESIDE)
    of, printed = rows_by(ours, "ratio", "method"), rows_by(paper, "ratio", "method")
    methods = [name for name in config.methods if (ours["method"] == name).any()]
    rows = []
    for ratio in paper["ratio"].unique():
        row = {"N/d": exact(ratio)}
        for name in methods:
            label = config.methods[name].label
            if (ratio, name) in printed:
                row[f"{label}, paper"] = spread(printed[ratio, name], "paper_mean", "paper_sd", counts=False).text
            row[f"{label}, ours"] = spread(of[ratio, name]).text
        rows.append(row)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return markdown_table(columns, [[row.get(name, "") for name in columns] for row in rows])


def record(results: Path) -> str:
    """A record and the hash that its result has on every machine."""
    with opened(results) as store:
        return f"`eflops show results/runs/{RECORD}` must show the result hash `{store.record(RECORD).result_sha256}`."


def times(results: Path) -> str:
    """How long a full run takes."""
    # Its first sentence; the others are about the time inside training.
    return re.split(r"(?<=\.) ", whole_run(results))[0]


def reproductions(results: Path) -> str:
    """Who ran the whole study, and how many cells moved; results: the table of them."""
    table = pd.read_csv(results, dtype=str)
    names = ["version", "date", "processor", "system", "cores", "minutes", "cells compared", "cells that moved"]
    numbers = table.assign(compared=[f"{int(count):,}" for count in table["compared"]])
    return markdown_table(names, [[markdown_text(cell) for cell in row] for row in numbers.fillna("").to_numpy()])


PARTS: dict[str, Callable[[Path], str]] = {
    part.__name__: part for part in (badges, verdict, claims, findings, table1, record, times, reproductions)
}

if __name__ == "__main__":
    name, folder = [*sys.argv[1:], "results/published"][:2]
    try:
        print(PARTS[name](Path(folder)))
    except (UserError, OSError, KeyError, ValueError) as error:
        sys.exit(f"docs/front.py {name} {folder}: {error!r}")
