"""The typed content of the scorecard's JSON file, for all code that reads it."""

from typing import NotRequired, TypedDict


class PrintedJson(TypedDict):
    """A number as the paper prints it."""

    value: float
    sd: float | None


class ValueJson(TypedDict):
    """One of our numbers (`verdict.Value`)."""

    name: str
    mean: float | None
    low: float | None
    high: float | None
    n: int
    unit: str
    diverged: int
    data: str
    at: str
    scale: str


class GroundJson(TypedDict):
    """Why a claim got its verdict (`verdict.Rationale`)."""

    verdict: str
    figure: str
    effect: str
    failing: int
    of: int
    because: str
    against: str


class LineJson(TypedDict):
    """A line (`line.Line`); only claims have `short` and `grounds`."""

    id: str
    section: str
    row: str
    column: str
    text: str
    paper: PrintedJson | None
    difference: float | None
    verdict: str
    reason: str
    ours: list[ValueJson]
    short: NotRequired[str]
    grounds: NotRequired[list[GroundJson]]


class EntropyEffect(TypedDict):
    """E-FLoPS minus T = 0 in one metric: the mean over draws with its interval.

    alone: the T of E-FLoPS where it is the only setting that differs from those of T = 0, else None.
    """

    metric: str
    mean: float
    low: float
    high: float
    draws: int
    alone: NotRequired[float | None]


class NearestRate(TypedDict):
    """The weight learning rate of a column of the paper: at the searched settings, and at those nearest the paper."""

    table: str
    method: str
    searched: float
    nearest: float


class MissingGene(TypedDict):
    """A gene of the paper's list that is not in ours, with both shares of runs."""

    gene: str
    ours: float
    paper: float


class GeneList(TypedDict):
    """A method's gene lists compared (`table2.facts`)."""

    method: str
    settings: str
    genes: int
    among_ours: float
    with_paper: float
    shared: int
    missing: list[MissingGene]


class ScorecardFacts(TypedDict):
    """Further numbers from the runs, which the summary states in addition to the verdicts."""

    entropy: list[EntropyEffect]
    nearest: list[NearestRate]
    lists: list[GeneList]


class Card(TypedDict):
    """The whole scorecard; `counts` and `sections`: the number of lines per verdict."""

    summary: str
    counts: dict[str, int]
    sections: dict[str, dict[str, int]]
    rule: dict[str, str]
    chance: str
    labels: dict[str, str]
    facts: ScorecardFacts
    lines: list[LineJson]
