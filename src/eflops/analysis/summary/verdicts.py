"""The findings on the scorecard: claims that hold, do not hold or are inconclusive, genes, the constraint."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import cast
from urllib.parse import quote

import pandas as pd

from eflops.analysis.needs import GENE_TRIALS
from eflops.analysis.paper import METHOD
from eflops.analysis.scorecard.card import Card, GeneList, GroundJson, LineJson, ValueJson
from eflops.analysis.scorecard.claims.constraint import MOST, MOST_SHARE
from eflops.analysis.scorecard.line import count_verdicts
from eflops.analysis.scorecard.sections import CLAIMS, SECTIONS, Section, section_of
from eflops.analysis.scorecard.verdict import Rationale, Verdict
from eflops.analysis.search import LISTED, SHARE
from eflops.analysis.source import Source
from eflops.analysis.stats.trials import drawn
from eflops.analysis.summary.point import GENES, REPRODUCTION, Claim, Point
from eflops.analysis.text import MINUS, formatted, pluralise

ALL_LINES, PRIOR = "scorecard", "figures/fig_prior_golub"
COLUMNS = "table1-column"
DENSITY, LISTS = "claim/target-density", "table2-list"
ANSWERS: dict[str, str] = {
    Verdict.AGREES: "it holds",
    Verdict.DIFFERS: "it does not hold",
    Verdict.INCONCLUSIVE: "it is inconclusive",
}
REACHED: dict[str, str] = {
    Verdict.AGREES: "Open gates end within our limits",
    Verdict.DIFFERS: "Open gates exceed our limits",
    Verdict.INCONCLUSIVE: "It is inconclusive whether open gates end within our limits",
}


def counts(card: Card, _: Source) -> Iterator[Point]:
    """How many of the paper's numbers and claims agree."""
    for names, headline in ((("table1", COLUMNS, "table2"), REPRODUCTION), (("claim",), "")):
        yield Point(count_verdicts(map(section_of, names), card["sections"]), ALL_LINES, headline)


def claims(card: Card) -> tuple[Claim, ...]:
    """Every claim with its verdict and the effect that decides it."""
    return tuple(
        Claim(
            line["row"],
            line["short"],
            line["text"],
            line["verdict"],
            "; ".join(dict.fromkeys(ground["effect"] for ground in line["grounds"])) or line["reason"],
            _link(line),
        )
        for line in card["lines"]
        if line["section"] == CLAIMS
    )


def holds(card: Card, _: Source) -> Iterator[Point]:
    """The claims that agree, each with its weakest comparison."""
    for line in _claims(card, Verdict.AGREES):
        ground = _ground(line)
        among = f". In the weakest of {ground['of']} comparisons, " if ground["of"] > 1 else ": "
        yield Point(f"{line['short']}{among}{ground['figure']}.", _link(line))


def does_not_hold(card: Card, _: Source) -> Iterator[Point]:
    """The claims that differ, with the likely reason; for each kind of number, how many differ and the largest
    difference."""
    for line in _claims(card, Verdict.DIFFERS):
        ground = _ground(line)
        reason = f" The likely reason: {ground['because']}." if ground["because"] else ""
        yield Point(f"Claim: {line['short']}. Our runs: {ground['figure']}.{reason}", _link(line))
    for section in SECTIONS:
        lines = [line for line in card["lines"] if line["section"] == section.name]
        differing = [line for line in lines if line["verdict"] == Verdict.DIFFERS]
        if differing and section.prefix == COLUMNS:
            named = [
                f"{card['labels'].get(line['column'], line['column'])} (p {line['ours'][0]['mean']:.2g})"
                for line in differing
            ]
            verb = "differs" if len(differing) == 1 else "differ"
            text = f"Table 1, columns tested jointly: {len(differing)} of {len(lines)} {verb}: {', '.join(named)}."
            yield Point(text, _link(differing[0]), REPRODUCTION)
        elif differing and section.prefix not in (LISTS, section_of("claim").prefix):
            verb = "differs" if len(differing) == 1 else "differ. The furthest is"
            furthest = max(differing, key=lambda line: abs(line["difference"] or 0.0))
            count = f"{section.name}: {len(differing)} of {len(lines)} {verb}"
            colon = ":" * (len(differing) == 1)
            yield Point(f"{count}{colon} {_beside(furthest, section, card)}.", _link(furthest))


def inconclusive(card: Card, _: Source) -> Iterator[Point]:
    """The claims that the runs cannot decide."""
    for line in _claims(card, Verdict.INCONCLUSIVE):
        grounds, ground = line["grounds"], _ground(line)
        if len({each["verdict"] for each in grounds}) > 1:
            answers = [f"Against {each['against']} {ANSWERS[each['verdict']]}: {each['figure']}." for each in grounds]
            texts = [*answers, "The paper uses both names for one method."]
        elif ground["failing"] and ground["of"] > 1:
            count = f"{ground['failing']} of {ground['of']} comparisons do not show it."
            texts = [count, f"In the weakest, {ground['figure']}."]
        else:
            texts = [f"Our runs: {ground['figure']}."]
        yield Point(" ".join([f"Claim: {line['short']}.", *texts]), _link(line))


def not_judged(card: Card, _: Source) -> Iterator[Point]:
    """How many numbers and claims are not judged, and the most frequent reason."""
    reasons = Counter(line["reason"] for line in card["lines"] if line["verdict"] == Verdict.UNJUDGED)
    if reasons:
        reason = reasons.most_common(1)[0][0]
        share = f"{reasons.total()} of {len(card['lines'])} numbers and claims"
        yield Point(f"{share}; most frequent reason: {reason}", ALL_LINES)


def genes(card: Card, source: Source) -> Iterator[Point]:
    """Whether the lists of Table 2 are outliers, and which genes of the paper's E-FLoPS neither we nor any trial
    select."""
    facts = {(each["method"], each["settings"]): each for each in card["facts"]["lists"]}
    for line in card["lines"]:
        if line["section"] != section_of(LISTS).name or (line["column"], "searched") not in facts:
            continue
        fact = facts[line["column"], "searched"]
        label = card["labels"].get(line["column"], line["column"])
        if line["verdict"] == Verdict.DIFFERS:
            yield Point(
                f"The paper's list of {label} is an outlier. The lists of two of our splits share "
                f"{fact['among_ours']:.1f} of {fact['genes']} genes on average; the paper's list and one of ours share "
                f"{fact['with_paper']:.1f}.",
                _link(line),
            )
        if line["column"] == METHOD:
            yield from _missing(fact, facts.get((METHOD, "nearest")), label, _link(line))
    if source.was_searched(GENE_TRIALS) and (METHOD, "searched") in facts:
        yield from _gene_trials(drawn(source.trials(GENE_TRIALS)), facts[METHOD, "searched"])


def _missing(searched: GeneList, nearest: GeneList | None, label: str, link: str) -> Iterator[Point]:
    yield Point(
        f"Of the paper's {searched['genes']} genes of {label}, {searched['shared']} are among our {searched['genes']}.",
        link,
        GENES,
    )
    lacking = [f"{each['gene']} ({each['ours']:.2f} and {each['paper']:.2f})" for each in searched["missing"]]
    if lacking:
        yield Point(f"Missing, with the share of our runs and of the paper's: {'; '.join(lacking)}.", link)
    if nearest is not None:
        names, same = ([each["gene"] for each in fact["missing"]] for fact in (nearest, searched))
        which = "The same are missing" if names == same else f"Missing: {'; '.join(names) or 'none'}"
        yield Point(f"At nearest settings, {nearest['shared']} of the {nearest['genes']} are. {which}.", link)


def _gene_trials(trials: pd.DataFrame, fact: GeneList) -> Iterator[Point]:
    """The best result of any setting of the search."""
    settings = trials[trials["method"] == METHOD]
    if LISTED not in settings or settings[LISTED].isna().all():
        return
    tops = {each["gene"]: (settings[f"{SHARE}{each['gene']}"].max(), each["paper"]) for each in fact["missing"]}
    for gene, (top, paper) in tops.items():
        if top < paper:
            text = f"None of the search's {len(settings)} settings selects {gene} in more than {top:.2f} of its runs."
            yield Point(text, PRIOR)
    most = int(settings[LISTED].max())
    count = pluralise(int((settings[LISTED] == most).sum()), "setting")
    yield Point(
        f"Of the search's {len(settings)} settings, none has more than {most} of the {fact['genes']} genes; {count} "
        f"ha{'s' if count.startswith('1 ') else 've'} {most}.",
        PRIOR,
    )


def constraint(card: Card, _: Source) -> Iterator[Point]:
    """Whether open gates end within the limits, and the highest and lowest value on each kind of data."""
    for line in card["lines"]:
        if line["id"] != DENSITY or line["verdict"] not in REACHED:
            continue
        limits = f"at most {MOST:g} times the target; on leukaemia data, {MOST_SHARE:.0%} of all gates"
        yield Point(f"{REACHED[line['verdict']]}: {limits}.", _link(line))
        kinds: dict[str, dict[str, ValueJson]] = {}
        for value in line["ours"]:
            kinds.setdefault(value["data"], {})[value["at"]] = value
        texts = [f"{kind} {_ends(values)}" for kind, values in kinds.items()]
        yield Point(f"Open gates after training, in times of the target: {'; '.join(texts)}.", _link(line))


def _ends(values: Mapping[str, ValueJson]) -> str:
    """The lowest and the highest of several values, with their location."""
    ends = dict.fromkeys(extreme(values, key=lambda at: values[at]["mean"] or 0.0) for extreme in (min, max))
    return " to ".join(f"{_interval(values[at], '{:.3g}'.format)}{f' at {at}' if at else ''}" for at in ends)


def _claims(card: Card, verdict: Verdict) -> list[LineJson]:
    """The claims with a verdict, without the constraint, which is a separate subject."""
    return [
        line
        for line in card["lines"]
        if line["section"] == CLAIMS and line["verdict"] == verdict and line["id"] != DENSITY
    ]


def _ground(line: LineJson) -> GroundJson:
    """The reason of a claim's verdict; if two algorithms share it, the reason for the first."""
    reason = Rationale(Verdict(line["verdict"]), line["reason"].removesuffix("."), "", 0, 1)
    return line["grounds"][0] if line["grounds"] else cast(GroundJson, asdict(reason))


def _beside(line: LineJson, section: Section, card: Card) -> str:
    """Our number with its interval, and the paper's."""
    where = line["text"] or (f"{section.corner} {line['row']}" if section.corner else "")
    name = ", ".join(part for part in (card["labels"].get(line["column"], line["column"]), where) if part)
    ours = _interval(line["ours"][0]) if line["ours"] else formatted(None)
    paper = formatted(line["paper"]["value"] if line["paper"] else None)
    return f"{name}, with " + f"{ours} here and {paper} in the paper".replace("-", MINUS)


def _link(line: LineJson) -> str:
    return f"scorecard?line={quote(line['id'])}"


def _interval(value: ValueJson, form: Callable[[float], str] = formatted) -> str:
    mean, low, high = value["mean"], value["low"], value["high"]
    if mean is None or low is None or high is None:
        return formatted(mean)
    return form(mean) if form(low) == form(high) else f"{form(mean)} ({form(low)} to {form(high)})"
