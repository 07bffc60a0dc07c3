"""Explanations as text and as JSON."""

import shlex
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from eflops.analysis.text import Scalar, readable
from eflops.data.federation import ARRAYS
from eflops.files import canonical_json
from eflops.provenance.explain.explanation import BehindRun, Explanation
from eflops.provenance.explain.show import INDENT, aligned, verify_command
from eflops.results.labels import DATA

WIDTH = 116


def as_text(explained: Explanation, results: str) -> str:
    """The number, its formula, its runs, and the origin of the runs."""
    parts = [
        [headline(explained)],
        ["Derivation", *_paragraphs(_making(explained))],
        [f"Runs ({len(explained.runs)})", *_run_table(explained, results)],
        *_facts(explained.runs),
        ["Files", *aligned(explained.files)],
        ["Reproduce it", *(INDENT + command for command in commands(explained, results))],
    ]
    return "\n\n".join("\n".join(part) for part in parts)


def as_json(explained: Explanation, results: str) -> dict[str, object]:
    """The explanation as JSON values, with all facts of every record."""
    return {
        "file": explained.file,
        "address": explained.words,
        "value": plain(explained.value),
        "formula": explained.formula,
        "metric": explained.metric,
        "n": len(explained.runs),
        "rebuilt": {"value": plain(explained.rebuilt), "agrees": explained.agrees},
        "runs": [
            {
                "record": f"{results}/{run.path}",
                "run": run.record.run.model_dump(mode="json"),
                "status": run.record.result.status,
                "value": run.value,
                "result_sha256": run.record.result_sha256,
                **facts(run),
            }
            for run in explained.runs
        ],
        "files": explained.files,
        "commands": commands(explained, results),
    }


def headline(explained: Explanation) -> str:
    """The number and its position."""
    return f"{explained.file}: {explained.words} = {readable(plain(explained.value))}"


def rebuilt(explained: Explanation) -> str:
    """The number rebuilt from the records, and whether it is equal."""
    return f"{readable(plain(explained.rebuilt))}, {'the same' if explained.agrees else 'NOT THE SAME'}"


def facts(run: BehindRun) -> dict[str, object]:
    """The origin and the circumstances of a run."""
    origin, spent = run.record.origin, run.record.circumstances
    return {
        "data": f"{DATA}/{origin.data}/{ARRAYS}",
        "data_sha256": origin.data_sha256,
        "code_hash": origin.code_hash,
        "commit": spent.commit,
        "versions": spent.versions,
        "machine": spent.machine,
        "settings": origin.settings,
        "job": origin.job.model_dump(exclude_none=True),
    }


def commands(explained: Explanation, results: str) -> list[str]:
    """The commands that retrain all runs or one run, and that rebuild the file from scratch."""
    one = [verify_command(results, explained.runs[0].path)] if explained.runs else []
    configs = [word for path in explained.configs for word in ("--config", str(path))]
    everything = verify_command(results, explained.file, *explained.address, "--all", *configs)
    make = ["snakemake", "--cores", "2", f"{explained.made_in}/{explained.file}"]
    if explained.configs:
        make += ["--configfile", *map(str, explained.configs)]
    return [everything, *one, shlex.join(make)]


def plain(value: Scalar | np.generic) -> Scalar:
    """A cell as a JSON value."""
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def _making(explained: Explanation) -> dict[str, str]:
    diverged = sum(run.record.result.status == "diverged" for run in explained.runs)
    return {
        "formula": explained.formula,
        "n": f"{len(explained.runs)} runs, of which {diverged} diverged",
        "from the records": rebuilt(explained),
    }


def _run_table(explained: Explanation, results: str) -> list[str]:
    """One line per run, with a path that `show` and `verify` take."""
    many = len({run.record.run.method for run in explained.runs}) > 1
    columns = [*(["method"] if many else []), "draw", "seed", "status", explained.metric or "value", "result", "record"]
    rows = [columns]
    for run in explained.runs:
        who, value = run.record.run, "-" if run.value is None else readable(run.value)
        path = f"{results}/{run.path}"
        cells = [who.draw, who.seed, run.record.result.status, value, run.record.result_sha256[:12], path]
        rows.append([str(cell) for cell in [*([who.method] if many else []), *cells]])
    widths = [max(len(row[index]) for row in rows) for index in range(len(columns))]
    return [
        INDENT + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _facts(runs: Iterable[BehindRun]) -> list[list[str]]:
    """The facts that all runs share, and those that differ, with the number of runs for each value."""
    counts: dict[str, Counter[str]] = {}
    for run in runs:
        for name, value in facts(run).items():
            counts.setdefault(name.replace("_", " "), Counter())[_words(value)] += 1
    shared = {name: next(iter(values)) for name, values in counts.items() if len(values) == 1}
    apart = {
        name: " | ".join(f"{count} runs: {value}" for value, count in values.items())
        for name, values in counts.items()
        if len(values) > 1
    }
    parts = [["Shared by all runs", *_paragraphs(shared)]] if shared else []
    return [*parts, *([["Differs between runs", *_paragraphs(apart)]] if apart else [])]


def _words(value: object) -> str:
    if isinstance(value, Mapping):
        pairs = (
            f"{key} {canonical_json(each) if isinstance(each, Mapping) else readable(each)}"
            for key, each in value.items()
        )
        return ", ".join(pairs)
    return str(value)


def _paragraphs(pairs: Mapping[str, str]) -> list[str]:
    """Names and texts in two columns, long texts wrapped."""
    width = max(map(len, pairs))
    lines = []
    for name, text in pairs.items():
        head = f"{INDENT}{name:<{width}}  "
        lines += textwrap.wrap(text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head)) or [head.rstrip()]
    return lines
