"""Where a number comes from, for people and as JSON."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from eflops.files import canonical_json
from eflops.provenance.again import data_command, train_commands
from eflops.provenance.evidence import BehindRun, Evidence
from eflops.provenance.show import INDENT, aligned, number

WIDTH = 116


def as_text(evidence: Evidence, results: str) -> str:
    """The number, its formula, its runs, and what the runs were made from."""
    parts = [
        [headline(evidence)],
        ["How it comes about", *_paragraphs(_making(evidence))],
        [f"Runs ({len(evidence.runs)})", *_run_table(evidence)],
        *_facts(evidence.runs),
        ["Files", *aligned(evidence.files)],
        ["Make it again", *(INDENT + command for command in commands(evidence, results))],
    ]
    return "\n\n".join("\n".join(part) for part in parts)


def as_json(evidence: Evidence, results: str) -> dict[str, Any]:
    """The same as JSON values, with every record's facts in full."""
    return {
        "place": evidence.place,
        "address": evidence.words,
        "value": plain(evidence.value),
        "formula": evidence.formula,
        "metric": evidence.metric,
        "n": len(evidence.runs),
        "made_again": {"value": plain(evidence.remade), "agrees": evidence.agrees},
        "runs": [
            {
                "record": run.path,
                "run": run.record.run.model_dump(mode="json"),
                "status": run.record.result.status,
                "value": run.value,
                "result_sha256": run.record.result_sha256,
                **facts(run),
            }
            for run in evidence.runs
        ],
        "files": evidence.files,
        "commands": commands(evidence, results),
    }


def headline(evidence: Evidence) -> str:
    """The number and where it stands."""
    return f"{evidence.place}: {evidence.words} = {number(plain(evidence.value))}"


def remade(evidence: Evidence) -> str:
    """The number made again from the records, and whether it is the same."""
    return f"{number(plain(evidence.remade))}, {'the same' if evidence.agrees else 'NOT THE SAME'}"


def facts(run: BehindRun) -> dict[str, Any]:
    """What a run was made from and on."""
    origin, spent = run.record.origin, run.record.circumstances
    return {
        "data": f"data/{origin.data}/federation.npz",
        "data_sha256": origin.data_sha256,
        "code_hash": origin.code_hash,
        "commit": spent.commit,
        "versions": spent.versions,
        "machine": spent.machine,
        "settings": origin.settings,
        "job": origin.job,
    }


def commands(evidence: Evidence, results: str) -> list[str]:
    """The commands that make the data and train the runs again, in a folder of their own, and that make the file."""
    data = [data_command(settings, f"again/data/{name}") for name, settings in evidence.data.items()]
    runs = train_commands((run.record for run in evidence.runs), "again/data", "again/runs")
    return [*data, *runs, f"snakemake --cores 1 {results}/{evidence.place}"]


def plain(value: Any) -> Any:
    """A cell as a JSON value."""
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return None
    return value.item() if hasattr(value, "item") else value


def _making(evidence: Evidence) -> dict[str, str]:
    diverged = sum(run.record.result.status == "diverged" for run in evidence.runs)
    return {
        "formula": evidence.formula,
        "n": f"{len(evidence.runs)} runs, of which {diverged} diverged",
        "from the records": remade(evidence),
    }


def _run_table(evidence: Evidence) -> list[str]:
    """One line a run."""
    many = len({run.record.run.method for run in evidence.runs}) > 1
    columns = [*(["method"] if many else []), "draw", "seed", "status", evidence.metric or "value", "result", "record"]
    rows = [columns]
    for run in evidence.runs:
        who, value = run.record.run, "-" if run.value is None else number(run.value)
        told = [who.draw, who.seed, run.record.result.status, value, run.record.result_sha256[:12], run.path]
        rows.append([str(cell) for cell in [*([who.method] if many else []), *told]])
    widths = [max(len(row[place]) for row in rows) for place in range(len(columns))]
    return [
        INDENT + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _facts(runs: Iterable[BehindRun]) -> list[list[str]]:
    """What all runs share, and what differs between them with the number of runs that have it."""
    told: dict[str, Counter[str]] = {}
    for run in runs:
        for name, value in facts(run).items():
            told.setdefault(name.replace("_", " "), Counter())[_words(value)] += 1
    shared = {name: next(iter(values)) for name, values in told.items() if len(values) == 1}
    apart = {
        name: " | ".join(f"{count} runs: {value}" for value, count in values.items())
        for name, values in told.items()
        if len(values) > 1
    }
    parts = [["Shared by all runs", *_paragraphs(shared)]] if shared else []
    return [*parts, *([["Different between runs", *_paragraphs(apart)]] if apart else [])]


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = (
            f"{key} {canonical_json(each) if isinstance(each, Mapping) else number(each)}"
            for key, each in value.items()
        )
        return ", ".join(pairs)
    return str(value)


def _paragraphs(pairs: Mapping[str, str]) -> list[str]:
    """Names and texts in two columns, long texts folded."""
    width = max(map(len, pairs))
    lines = []
    for name, text in pairs.items():
        head = f"{INDENT}{name:<{width}}  "
        lines += textwrap.wrap(text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head)) or [head.rstrip()]
    return lines
