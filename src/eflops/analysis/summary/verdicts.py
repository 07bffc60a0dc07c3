"""What the summary says of the scorecard's verdicts: what holds, what does not, what cannot be told, the constraint."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from eflops.analysis.scorecard import words
from eflops.analysis.scorecard.claims.target_density import MOST, MOST_SHARE
from eflops.analysis.scorecard.sections import CLAIMS, SECTIONS, Section
from eflops.analysis.scorecard.verdict import Cause, Verdict
from eflops.analysis.source import Source
from eflops.analysis.text import judged

# A scorecard as its file has it, and one of its lines.
Card = Mapping[str, Any]
Line = Mapping[str, Any]
# A sentence, and where its runs are on the explorer's page.
Point = tuple[str, str]

ALL_LINES = "scorecard"
DENSITY = "claim/target-density"
# Its values are named such as "synthetic, N/d 0.64 (times the target)".
NAMED = re.compile(r"([^,(]+?)(?:, ([^(]+?))? \((.+)\)")
NAMES = "names"
# Why a claim cannot be told, in the summary's words.
UNDECIDED = {
    Cause.WIDE: "the interval holds both answers",
    NAMES: "it depends on which of two algorithms the paper means by Fed-IHT",
    Cause.TURNS: "one draw or split decides",
    Cause.DIVERGED: "runs of E-FLoPS diverged",
}
ANSWERS = {Verdict.AGREES: "yes", Verdict.DIFFERS: "no", Verdict.CANNOT: "open"}
LIMITS = f"up to {MOST:g} times the target counts as reached, on leukaemia data up to {MOST_SHARE:.0%} of all gates"
REACHED = {
    Verdict.AGREES: "The target density is reached",
    Verdict.DIFFERS: "The target density is not reached everywhere",
    Verdict.CANNOT: "Whether the target density is reached everywhere cannot be told",
}


def counts(card: Card, _: Source) -> Iterator[Point]:
    """How many of the paper's numbers and claims agree."""
    parts: dict[str, list[str]] = {}
    for section in SECTIONS:
        own = card["sections"][section.name]
        total, told = sum(own.values()), words.counted(own)
        # A section of one line, such as the paired t-test, counts nothing.
        sentence = (
            f"The{section.what.format('')} {told[2:]}." if total == 1 else f"Of {section.what.format(total)} {told}."
        )
        parts.setdefault(section.name.partition(",")[0], []).append(sentence)
    for sentences in (*parts.values(), [card["chance"]]):
        yield " ".join(sentences), ALL_LINES


def holds(card: Card, _: Source) -> Iterator[Point]:
    """The claims that agree, each with its least clear figure."""
    for line in _claims(card, Verdict.AGREES):
        yield f"{line['short']}. {_decided(line, 'Least clear of {of} comparisons: ')}", _place(line)


def does_not_hold(card: Card, _: Source) -> Iterator[Point]:
    """The claims that differ with our reason; of each kind of number, those that differ and the furthest."""
    for line in _claims(card, Verdict.DIFFERS):
        yield f"{line['short']}? {_decided(line, 'No: ', always=True)}", _place(line)
    for section in SECTIONS:
        own = [line for line in card["lines"] if line["section"] == section.name != CLAIMS]
        differing = [line for line in own if line["verdict"] == Verdict.DIFFERS]
        if differing:
            verb = "differs" if len(differing) == 1 else "differ"
            furthest = max(differing, key=lambda line: abs(line["difference"] or 0.0))
            first = "" if len(differing) == 1 else "Furthest from the paper: "
            told = f"{section.name}: {len(differing)} of {len(own)} {verb}. {first}{_beside(furthest, section, card)}."
            yield told, _place(furthest)


def cannot_be_told(cause: str, card: Card, _: Source) -> Iterator[Point]:
    """The claims that the runs cannot decide, for one cause."""
    for line in _claims(card, Verdict.CANNOT):
        if _cause(line) != cause:
            continue
        if cause != NAMES:
            yield f"{line['short']}? {_decided(line, 'Not shown in {failing} of {of} comparisons: ')}", _place(line)
            continue
        told = [f"Against {each['against']} {ANSWERS[each['verdict']]}: {each['figure']}." for each in line["grounds"]]
        yield f"{line['short']}? {' '.join(told)}", _place(line)


def not_judged(card: Card, _: Source) -> Iterator[Point]:
    """How many numbers and claims are not judged, and the reason of most."""
    reasons = Counter(line["reason"] for line in card["lines"] if line["verdict"] == Verdict.UNJUDGED)
    if reasons:
        reason = reasons.most_common(1)[0][0]
        yield f"{reasons.total()} of {len(card['lines'])} numbers and claims; the reason of most: {reason}", ALL_LINES


def constraint(card: Card, _: Source) -> Iterator[Point]:
    """Whether the target density is reached, and the highest and lowest value on each kind of data."""
    for line in card["lines"]:
        if line["id"] == DENSITY and line["verdict"] in REACHED:
            for told in (f"{REACHED[Verdict(line['verdict'])]}; {LIMITS}.{_likely(line)}", *_open_gates(line["ours"])):
                yield told, _place(line)


def _open_gates(values: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    kinds: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for value in values:
        kind, place, unit = NAMED.fullmatch(value["name"]).groups("")  # type: ignore[union-attr]
        kinds.setdefault((kind, unit), {})[place] = value
    for (kind, unit), places in kinds.items():
        ends = dict.fromkeys(found(places, key=lambda place: places[place]["mean"]) for found in (max, min))
        told = [f"{_interval(places[place], '{:.3g}'.format)}{f' at {place}' if place else ''}" for place in ends]
        yield f"Open gates after training on {kind} data, {unit}: {' and '.join(told)}."


def _claims(card: Card, verdict: Verdict) -> list[Line]:
    """The claims with a verdict; the constraint has a subject of its own."""
    return [
        line
        for line in card["lines"]
        if line["section"] == CLAIMS and line["verdict"] == verdict and line["id"] != DENSITY
    ]


def _decided(line: Line, among: str, always: bool = False) -> str:
    """What decides a claim, and our reason where it fails; of two algorithms with one verdict, the first's.

    among: what is said in front where there are several comparisons, or always.
    """
    if not line["grounds"]:
        return str(line["reason"])
    ground = line["grounds"][0]
    first = among.format(**ground) if ground["of"] > 1 or always else ""
    told = f"{first}{ground['figure']}"
    return f"{told[:1].upper()}{told[1:]}.{_likely(line)}"


def _likely(line: Line) -> str:
    because = line["grounds"][0]["because"] if line["grounds"] else ""
    return f" We think this is because {because}." if because else ""


def _cause(line: Line) -> str:
    """Why a claim cannot be told."""
    verdicts = {ground["verdict"] for ground in line["grounds"]}
    if len(verdicts) > 1:
        return NAMES
    return str(line["grounds"][0]["cause"]) if line["grounds"] else Cause.WIDE


def _beside(line: Line, section: Section, card: Card) -> str:
    """A number of ours with its interval, and the paper's."""
    place = line["text"] or (f"{section.corner} {line['row']}" if section.corner else "")
    name = ", ".join(part for part in (card["labels"].get(line["column"], line["column"]), place) if part)
    (value, *_) = line["ours"] or [{"name": line["column"], "mean": None}]
    what = "" if value["name"] in (*line["column"].split(" - "), line["text"]) else f"{value['name']} "
    return f"{name}: {what}{_interval(value)} here, {judged(line['paper']['value'])} in the paper"


def _place(line: Line) -> str:
    return f"scorecard?line={quote(line['id'])}"


def _interval(value: Mapping[str, Any], form: Callable[[float], str] = judged) -> str:
    if value["mean"] is None or value["low"] is None:
        return judged(value["mean"])
    mean, low, high = (form(value[name]) for name in ("mean", "low", "high"))
    return mean if low == high else f"{mean} ({low} to {high})"
