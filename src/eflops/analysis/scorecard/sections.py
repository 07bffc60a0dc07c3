"""The sections of the scorecard. A section is an entry here and a function that yields its lines.

The entries are plain data, so the workflow can read what the scorecard needs without importing pandas.
"""

from dataclasses import dataclass

HERE = "eflops.analysis.scorecard"
CLAIMS = "Claims"


@dataclass(frozen=True)
class Section:
    """A section of the scorecard: its heading, a phrase that counts its lines, and the prefix of their ids.

    lines: module:function that judges; caption: a sentence on the content; experiments: what the function reads,
    first those whose runs a line is about; metric: the compared metric of a run, if it is one number; corner: the
    heading of its row labels.
    """

    name: str
    what: str
    prefix: str
    lines: str
    caption: str
    experiments: tuple[str, ...] = ()
    metric: str = ""
    corner: str = ""


SECTIONS = (
    Section(
        "Table 1",
        "Table 1's {} numbers",
        "table1",
        f"{HERE}.table1:lines",
        "Share of the true support that is recovered, by N/d: mean over draws, and prediction interval for one more "
        "draw.",
        experiments=("support_recovery", "nearest"),
        metric="support_recovery",
        corner="N/d",
    ),
    Section(
        "Table 1, columns",
        "its {} columns, tested jointly",
        "table1-column",
        f"{HERE}.table1:columns",
        "All numbers of a column, tested jointly as one more draw; our value is the p value of Hotelling's test. "
        "Single intervals are wide, and the numbers of a draw are dependent, so a column may differ although each "
        "number agrees.",
        experiments=("support_recovery",),
        metric="support_recovery",
    ),
    Section(
        "Table 1, differences",
        "its {} differences between E-FLoPS and another method",
        "table1-difference",
        f"{HERE}.table1:differences",
        "E-FLoPS minus another method within a draw, by N/d: more precise than the numbers, and what the paper claims.",
        experiments=("support_recovery", "nearest"),
        metric="support_recovery",
        corner="N/d",
    ),
    Section(
        "Table 1, spreads",
        "its {} spreads over seeds",
        "table1-spread",
        f"{HERE}.table1:spreads",
        "The standard deviation over run seeds within a draw, pooled over N/d, with its 95 % interval.",
        experiments=("support_recovery",),
        metric="support_recovery",
    ),
    Section(
        "Table 2",
        "Table 2's {} shares",
        "table2",
        f"{HERE}.table2:lines",
        "Share of runs that select a gene, in the paper's order: mean over splits, and prediction interval for the "
        "paper's 30 runs at one more split; the paper's ± is the standard error of such a share.",
        experiments=("golub_splits", "golub_nearest"),
        corner="rank",
    ),
    Section(
        "Table 2, lists",
        "its {} lists of genes",
        "table2-list",
        f"{HERE}.table2:lists",
        "Is the paper's list an outlier among the lists of our splits? The mean Jaccard index of a list with the "
        "others: the paper's, and the range of ours.",
        experiments=("golub_splits", "golub_nearest"),
    ),
    Section(
        "Paired t-test",
        "{} paired t-test",
        "golub-test",
        f"{HERE}.ttest:lines",
        "E-FLoPS minus Fed-IHT, final test accuracy on the leukaemia data, paired over the run seeds of one split; the "
        "paper's ± is the standard error of t.",
        experiments=("golub_runs", "golub_splits", "golub_nearest"),
        metric="accuracy",
    ),
    Section(
        CLAIMS,
        "{} claims",
        "claim",
        f"{HERE}.claims:lines",
        "Statements in the paper's text; each has its own rule.",
    ),
)

# Claims of the user's own are listed apart, and no count of the paper's numbers and claims has them.
OWN = Section("Your claims", "{} claims", "own-claim", f"{HERE}.claims:own_lines", "Claims that are not the paper's.")
OF_CLAIMS = (CLAIMS, OWN.name)


def section_of(line: str) -> Section:
    """The section of a line, by the first part of its id."""
    return next(section for section in (*SECTIONS, OWN) if section.prefix == line.partition("/")[0])
