"""What the summary is made of: points by subject, and claims with their verdicts; JSON and Markdown are its forms."""

from dataclasses import asdict, dataclass

from pydantic import TypeAdapter

from eflops.results.paths import EXPLORER

# What the front page says in a sentence or two each, in this order.
REPRODUCTION, ENTROPY, COMMUNICATION = "Reproduction", "Entropy", "Communication"
GENES, HELD_OUT = "Genes", "Held-out data"
HEADLINES = (REPRODUCTION, ENTROPY, COMMUNICATION, GENES, HELD_OUT)
TITLE = "**What this run found**"


@dataclass(frozen=True)
class Point:
    """One finding.

    Args:
        text: a sentence, its numbers from this run.
        link: its runs on the explorer's page, such as `tables/sparse_regime` or `scorecard?line=claim/syn-r2`.
        headline: which of `HEADLINES` the sentence stands under on the front page; empty for none. Points of one
            headline are joined in the order of the subjects; the front page has room for the first two.

    Example:
        Point("Error feedback restores support recovery: +0.180 (+0.120 to +0.240).", "tables/feedback", COMMUNICATION)
    """

    text: str
    link: str
    headline: str = ""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper.

    short: the claim in plain words; text: in the paper's; verdict: of the scorecard; effect: the number that decides
    it, with its interval; detail: what that number is; link: its line on the explorer's page.
    """

    id: str
    short: str
    text: str
    verdict: str
    effect: str
    detail: str
    link: str


@dataclass(frozen=True)
class Subject:
    """A subject with its points."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Summary:
    """What a run found; verdicts: how many lines of each section of the scorecard got each verdict."""

    verdicts: dict[str, dict[str, int]]
    claims: tuple[Claim, ...]
    subjects: tuple[Subject, ...]

    @property
    def headlines(self) -> list[Point]:
        """One point per headline that anything was found for: its first two sentences, with the link of the first."""
        points = [point for subject in self.subjects for point in subject.points]
        by_headline = {name: [point for point in points if point.headline == name] for name in HEADLINES}
        return [
            Point(" ".join(point.text for point in points[:2]), points[0].link, name)
            for name, points in by_headline.items()
            if points
        ]

    def as_json(self) -> dict[str, object]:
        """The summary as JSON values: `verdicts`, `claims`, `headlines` and `subjects` with their points."""
        return {**asdict(self), "headlines": list(map(asdict, self.headlines))}

    @classmethod
    def of(cls, values: object) -> "Summary":
        """The summary whose JSON values these are; a ValueError where they are none."""
        return TypeAdapter(cls).validate_python(values)

    def markdown(self, links: bool = True) -> str:
        """The title, and below each subject its points, each with a link to its runs.

        The blank lines around nested lists are what reStructuredText needs, which the report shows without the links.
        """
        lines = [TITLE, ""]
        for subject in self.subjects:
            texts = [f"  - {point.text}" + f" [runs]({EXPLORER}#{point.link})" * links for point in subject.points]
            lines += [f"- **{subject.name}**", "", *texts, ""]
        return "\n".join(lines)
