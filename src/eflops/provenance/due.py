"""Why a job is due, in plain words.

For training the records say it: each names the settings, data and code it came from. For all else it is what Snakemake
says of params and files, with the modules that changed since the study was written down.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from eflops.code import code_hashes, data_module
from eflops.config.cells import Run, data_label
from eflops.errors import UserError
from eflops.files import read_json
from eflops.provenance import study
from eflops.provenance.checks.code import describe_change, present
from eflops.provenance.checks.records import differences

PARAMS = re.compile(r"before: (?P<before>.*?) now: (?P<now>.*)$")
CODE = re.compile(r"[0-9a-f]{16}")
LITERAL = re.compile(r"'((?:[^'\\]|\\.)*)'|([^\s,']+)")
ROOTS = {
    "scorecard": "eflops.analysis.scorecard.make",
    "conclude": "eflops.analysis.closing",
    "report": "eflops.report",
    "study": "eflops.provenance.study",
}
MISSING, INPUTS = "Missing output files: ", "Input files updated by another job: "


class Reasons:
    """Tells why the jobs of one results folder are due."""

    def __init__(self, results: Path) -> None:
        self.results = results
        try:
            self.before = read_json(results / study.NAME)["code"]
        except (FileNotFoundError, ValueError, KeyError):
            self.before = {}

    def of(self, command: str, words: Sequence[str], reason: str) -> tuple[tuple[str, ...], float]:
        """The reasons of a job, and the share of its work that is due."""
        if command == "train":
            return self._of_training(words, reason)
        changed = self._changed(command, words)
        return tuple(plain_reasons(reason, changed)), 1.0

    def _of_training(self, words: Sequence[str], reason: str) -> tuple[tuple[str, ...], float]:
        """What its records say: which runs are not there, and in what the others differ."""
        job, folder = json.loads(_option(words, "--job")), Path(_option(words, "--folder"))
        paths = [word for word in words if word.endswith(".json")]
        told: Counter[str] = Counter()
        due = 0
        for path in paths:
            run = Run.parse(path)
            why = list(self._why_trained(job, run, folder / run.path))
            due += bool(why)
            told.update(why)
        reasons = tuple(f"{what} ({count} of {len(paths)} runs)" for what, count in told.items())
        return (reasons, due / len(paths)) if due else (tuple(plain_reasons(reason, "")), 0.0)

    def _why_trained(self, job: dict[str, Any], run: Run, path: Path) -> Iterator[str]:
        try:
            origin = read_json(path)["origin"]
        except FileNotFoundError:
            yield "new: never trained"
            return
        except (ValueError, KeyError):
            yield "its record is damaged"
            return
        now = {"settings": job["variants"][run.variant], "job": {k: v for k, v in job.items() if k != "variants"}}
        yield from _told(differences({key: origin[key] for key in now}, now))
        changed = describe_change(origin["code"], present(job["method"], job["model"], job["engine"]))
        if changed:
            yield f"the code of training changed: {changed}"
        data = self.results / "data" / job["dataset"] / data_label(job["ratio"], run.draw) / "manifest.json"
        if not data.exists() or read_json(data)["sha256"] != origin["data_sha256"]:
            yield "its data are not those it was trained on"

    def _changed(self, command: str, words: Sequence[str]) -> str:
        """In words, which modules of a job changed since the study was written down."""
        if not self.before:
            return ""
        now = code_hashes(*_roots(command, words))
        return describe_change({name: self.before[name] for name in now if name in self.before}, now)


def plain_reasons(text: str, changed: str) -> Iterator[str]:
    """Each of Snakemake's reasons in plain words; `changed` names the modules."""
    for part in re.split(r"; (?=[A-Z])", text.strip()):
        if part.startswith(MISSING):
            yield f"not there yet: {_few(part.removeprefix(MISSING).split(', '))}"
        elif part.startswith(INPUTS):
            yield f"made from what is made anew: {_few(part.removeprefix(INPUTS).split(', '))}"
        elif found := PARAMS.search(part):
            yield from _param_changes(found["before"], found["now"], changed)
        elif part:
            yield part[0].lower() + part[1:]


def _param_changes(before: str, now: str, changed: str) -> Iterator[str]:
    """Which keys of the job's slice of the config changed, and whether its code did."""
    old, new = _sorted_params(before), _sorted_params(now)
    for was, is_ in zip(old["json"], new["json"], strict=False):
        yield from _told(differences(was, is_))
    if old["code"] or new["code"]:
        yield f"the code that makes it changed{f': {changed}' if changed else ''}"
    for was, is_ in zip(old["plain"], new["plain"], strict=False):
        yield f"{was} became {is_}"


def _sorted_params(text: str) -> dict[str, list[Any]]:
    """Params as Snakemake prints them: slices of the config, hashes of code, and others."""
    found: dict[str, list[Any]] = {"json": [], "code": [], "plain": []}
    for match in LITERAL.finditer(text):
        word = match[1] or match[2] or ""
        if CODE.fullmatch(word):
            found["code"].append(word)
            continue
        try:
            found["json"].append(json.loads(word))
        except ValueError:
            found["plain"].append(word)
    return found


def _roots(command: str, words: Sequence[str]) -> Iterator[str]:
    """The modules that a job starts from."""
    if command in ("table", "figure"):
        yield from ("eflops.analysis.products", f"eflops.analysis.{command}s.{words[words.index(command) + 1]}")
    elif command == "data":
        yield from ("eflops.data", data_module(json.loads(_option(words, "--settings"))["kind"]))
    elif command in ROOTS:
        yield ROOTS[command]
    else:
        yield f"eflops.analysis.{command.replace('gather-', '')}"


def _option(words: Sequence[str], name: str) -> str:
    if name not in words:
        raise UserError(f"snakemake plans a job without {name}, which this version cannot read: {' '.join(words[:6])}")
    return words[words.index(name) + 1]


def _told(changes: Iterable[tuple[str, Any, Any]]) -> Iterator[str]:
    for place, was, is_ in changes:
        yield f"{place} was {_short(was)} and is {_short(is_)}"


def _few(paths: Sequence[str]) -> str:
    names = sorted(path.strip() for path in paths)
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")


def _short(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
