"""The content of the summary: points by subject, and claims with their verdicts; written as JSON and Markdown."""

from dataclasses import asdict, dataclass

from pydantic import TypeAdapter

from eflops.results.paths import EXPLORER

REPRODUCTION, ENTROPY, COMMUNICATION = "Reproduction", "Entropy", "Communication"
GENES, HELD_OUT = "Genes", "Held-out data"
# What the front page states, in this order, and in how many sentences each.
HEADLINES = {REPRODUCTION: 1, ENTROPY: 1, COMMUNICATION: 2, GENES: 1, HELD_OUT: 1}
TITLE = "**What this run found**"


@dataclass(frozen=True)
class Point:
    """One finding.

    Args:
        text: a sentence, its numbers from this run.
        link: its runs on the explorer's page, such as `tables/sparse_regime` or `scorecard?line=claim/syn-r2`.
        headline: the entry of `HEADLINES` under which the front page shows the sentence; empty for none.

    Example:
        Point("Error feedback restores support recovery: +0.180 (+0.120 to +0.240).", "tables/feedback", COMMUNICATION)
    """

    text: str
    link: str
    headline: str = ""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper.

    short: the claim in plain words; text: in the paper's words; verdict: the scorecard's; effect: what the weakest
    comparison measures and its interval, or why there is none; link: its line in the explorer.
    """

    id: str
    short: str
    text: str
    verdict: str
    effect: str
    link: str


@dataclass(frozen=True)
class Subject:
    """A subject with its points."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Summary:
    """The findings of a run; verdicts: how many lines of each scorecard section got each verdict."""

    verdicts: dict[str, dict[str, int]]
    claims: tuple[Claim, ...]
    subjects: tuple[Subject, ...]

    @property
    def headlines(self) -> list[Point]:
        """One point per headline with findings: its first sentences, with the link of the first."""
        points = [point for subject in self.subjects for point in subject.points]
        by_headline = {
            name: [each for each in points if each.headline == name][:most] for name, most in HEADLINES.items()
        }
        return [
            Point(" ".join(each.text for each in points), points[0].link, name)
            for name, points in by_headline.items()
            if points
        ]

    def as_json(self) -> dict[str, object]:
        """The summary as JSON values: its fields, and what the front page states."""
        return {**asdict(self), "headlines": list(map(asdict, self.headlines))}

    @classmethod
    def of(cls, values: object) -> "Summary":
        """The summary with these JSON values; a ValueError if they are invalid."""
        return TypeAdapter(cls).validate_python(values)

    def markdown(self, links: bool = True) -> str:
        """The title, the subjects and their points, each with a link to its runs.

        reStructuredText, which the report shows without the links, needs the blank lines around nested lists.
        """
        lines = [TITLE, ""]
        for subject in self.subjects:
            texts = [f"  - {point.text}" + f" [runs]({EXPLORER}#{point.link})" * links for point in subject.points]
            lines += [f"- **{subject.name}**", "", *texts, ""]
        return "\n".join(lines)
