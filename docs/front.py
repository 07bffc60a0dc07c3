"""The generated parts of the README, each printed by: python docs/front.py PART [RESULTS]

Everything is read from a published results folder; `docs/refresh.py` puts it into the page. Results that were published
by an older version may lack a file: then the part says that the next `make publish` writes it.
"""

import json
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from eflops.analysis.cells import rows_by, spread
from eflops.analysis.scorecard.line import MARKS, count_verdicts
from eflops.analysis.scorecard.sections import section_of
from eflops.analysis.scorecard.verdict import Verdict
from eflops.analysis.summary.point import COMMUNICATION, ENTROPY, GENES, HELD_OUT, Claim, Summary
from eflops.analysis.summary.verdicts import claims as claims_of
from eflops.analysis.text import exact, markdown_table, markdown_text
from eflops.config.study import read_study
from eflops.errors import UserError
from eflops.files import read_json
from eflops.provenance.times import whole_run
from eflops.results import paths
from eflops.results.store import opened

PENDING = "*The published results are those of an older version; the next `make publish` writes this part.*"
RECORD = "support_recovery/nd0.64/eflops/base/draw0-seed0.json"
# What the verdicts were called in earlier versions.
FORMER = {"cannot tell": Verdict.INCONCLUSIVE}
RECOVERY, BESIDE = "tables/support_recovery.csv", "tables/support_recovery_paper.csv"


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
    """What was found, in a sentence about the verdicts and one about entropy."""
    path = next((results / name for name in (paths.SUMMARY, paths.SCORECARD) if (results / name).exists()), None)
    if path is None:
        return PENDING
    stored = read_json(path)
    sections = stored["verdicts"] if path.name == paths.SUMMARY else stored["sections"]
    named = {
        section: {FORMER.get(verdict, verdict): number for verdict, number in counts.items()}
        for section, counts in sections.items()
    }
    shown = map(section_of, ("claim", "table1", "table2"))
    lines = [f"- **What we found:** {count_verdicts(shown, named)}"]
    if path.name == paths.SUMMARY:
        page = results / paths.EXPLORER
        # The first point is the answer over all settings; those by N/d are in the summary.
        for subject in Summary.of(stored).subjects:
            for point in subject.points[:1] if subject.name == ENTROPY else ():
                lines.append(f"- **Does entropy help?** {point.text} [Runs]({page}#{point.link})")
    return "\n".join(lines)


def claims(results: Path) -> str:
    """The paper's claims, one row each."""
    page = results / paths.EXPLORER
    rows = []
    for claim in _claims(results):
        reached = Verdict(FORMER.get(claim.verdict, claim.verdict))
        effect = f"[{claim.effect or 'runs'}]({page}#{claim.link})"
        rows.append([markdown_text(claim.short), f"{MARKS[reached]}&nbsp;{reached}", effect])
    return markdown_table(["the paper's claim", "verdict", "effect (95 % interval)"], rows) if rows else PENDING


def _claims(results: Path) -> tuple[Claim, ...]:
    if (results / paths.SUMMARY).exists():
        return Summary.of(read_json(results / paths.SUMMARY)).claims
    return claims_of(read_json(results / paths.SCORECARD)) if (results / paths.SCORECARD).exists() else ()


def findings(results: Path) -> str:
    """What was found, a sentence under each heading; on communication two, as written and with error feedback."""
    path = results / paths.SUMMARY
    if not path.exists():
        return PENDING
    summary, page = Summary.of(read_json(path)), results / paths.EXPLORER
    # Reproduction and entropy stand above the picture (`verdict`).
    lines = []
    for headline in (COMMUNICATION, GENES, HELD_OUT):
        points = summary.under(headline)[: 2 if headline == COMMUNICATION else 1]
        text = " ".join(point.text for point in points)
        lines += [f"- **{headline}.** {text} [Runs]({page}#{points[0].link})"] if points else []
    return "\n".join(lines)


def table1(results: Path) -> str:
    """Table 1 of the paper beside ours, with T = 0, which the paper does not show."""
    if not (results / BESIDE).exists():
        return PENDING
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
        if RECORD not in store.record_paths():
            return PENDING
        return f"`eflops show results/runs/{RECORD}` must show the result hash `{store.record(RECORD).result_sha256}`."


def times(results: Path) -> str:
    """How long a full run takes."""
    # Its first sentence; the others are about the time inside training.
    return re.split(r"(?<=\.) ", whole_run(results))[0] or PENDING


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
    except UserError:
        print(PENDING)
    except (OSError, KeyError, ValueError, json.JSONDecodeError) as error:
        sys.exit(f"docs/front.py {name} {folder}: {error!r}")
