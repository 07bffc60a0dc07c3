"""The paper's claims: each claim of the targets file has an entry in `CHECKS` and a function that checks it.

The function of the claim syn-r2 is syn_r2 in the module that the entry names. It takes the evidence, returns a
judgement, and raises `Missing`, with the reason, if data are missing. The entries are plain data, so the workflow can
read which experiments a claim needs without importing pandas.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eflops import trust
from eflops.errors import UserError

if TYPE_CHECKING:
    from eflops.analysis.scorecard.evidence import Evidence
    from eflops.analysis.scorecard.line import Line
    from eflops.analysis.scorecard.verdict import Judgement


@dataclass(frozen=True)
class Check:
    """How a claim is checked: a function with the claim's name takes the evidence and returns a judgement.

    Args:
        module: the module of the function, in this package.
        experiments: the experiments that it reads; the workflow runs them before it makes the scorecard.
        short: the claim in a few words, for the summary and the README.

    Example, with the entry `"mine-acc": Check("mine", ("mine",), "On my data, E-FLoPS is more accurate than FedAvg")`:
        def mine_acc(evidence: Evidence) -> Judgement:
            runs = evidence.runs("mine", [METHOD, DENSE], "accuracy")  # one row per run
            lead = claimed.better(runs, "accuracy", DENSE, margin=0.01, name="accuracy")  # paired by draw
            return claimed.judge([lead], "accuracy", "draws", runs)
    """

    module: str
    experiments: tuple[str, ...]
    short: str


CHECKS = {
    "syn-r2": Check(
        "synthetic",
        ("support_recovery",),
        "E-FLoPS has a higher test R2 than Fed-IHT at every N/d",
    ),
    "syn-r2-fedavg": Check(
        "synthetic",
        ("support_recovery",),
        "E-FLoPS has a higher test R2 than FedAvg cut to the same size, in training and at the end",
    ),
    "syn-support": Check(
        "synthetic",
        ("support_recovery",),
        "E-FLoPS finds more of the true support than Fed-IHT and FedAvg, except at the two smallest N/d",
    ),
    "syn-lr": Check(
        "synthetic",
        ("rates_theta", "rates_phi"),
        "Test R2 hardly depends on the learning rates",
    ),
    "sparse-performance": Check(
        "communication",
        ("support_recovery", "sparse_both"),
        "Sparse messages throughout training do not lower E-FLoPS's support recovery or test R2",
    ),
    "sparse-fediht": Check(
        "communication",
        ("sparse_both",),
        "With sparse messages throughout, E-FLoPS has a higher support recovery and test R2 than Fed-IHT",
    ),
    "syn-comm": Check(
        "communication",
        ("support_recovery",),
        "In Table 1's runs, E-FLoPS's bytes are comparable to Fed-IHT's",
    ),
    "mnist-acc": Check(
        "mnist",
        ("mnist",),
        "E-FLoPS and Fed-IHT are equally accurate on MNIST",
    ),
    "mnist-comm": Check(
        "mnist",
        ("mnist",),
        "On MNIST, E-FLoPS's bytes are comparable to Fed-IHT's and far fewer than FedAvg's",
    ),
    "mnist-macs": Check(
        "mnist",
        ("mnist",),
        "On MNIST, E-FLoPS removes more operations than Fed-IHT",
    ),
    "golub-run": Check(
        "golub",
        ("golub_runs",),
        "On leukaemia data, E-FLoPS is more accurate than Fed-IHT and FedAvg over seeds of one split",
    ),
    "golub-split": Check(
        "golub",
        ("golub_splits",),
        "On leukaemia data, E-FLoPS is more accurate than Fed-IHT and FedAvg over splits",
    ),
    "golub-genes": Check(
        "golub",
        ("golub_splits",),
        "E-FLoPS selects cystatin C and myeloperoxidase most often",
    ),
    "target-density": Check(
        "constraint",
        ("support_recovery", "golub_splits", "mnist"),
        "E-FLoPS ends training near the target density, within our limits",
    ),
}


def lines(evidence: "Evidence") -> "Iterator[Line]":
    """One line per claim of the paper."""
    return _lines("claim", evidence.paper.claims, evidence)


def own_lines(evidence: "Evidence") -> "Iterator[Line]":
    """One line per custom claim."""
    return _lines("own-claim", evidence.paper.own_claims, evidence)


def _lines(prefix: str, claims: Mapping[str, str], evidence: "Evidence") -> "Iterator[Line]":
    from eflops.analysis.scorecard.line import Line

    for name, text in claims.items():
        short = CHECKS[name].short if name in CHECKS else text
        yield Line(f"{prefix}/{name}", name, "", text, judge_claim(name, evidence), short=short)


def judge_claim(name: str, evidence: "Evidence") -> "Judgement":
    """The judgement of a claim; "not judged" if something that it needs is missing."""
    from eflops.analysis.scorecard.verdict import unjudged

    try:
        check = trust.load("claim", f"{module_of(name)}:{name.replace('-', '_')}")
        judgement: Judgement = check(evidence)
    except UserError as missing:
        return unjudged(str(missing))
    return judgement


def module_of(name: str) -> str:
    """The module that checks a claim."""
    return f"{__name__}.{_check(name).module}"


def experiments_of(name: str) -> tuple[str, ...]:
    """The experiments that a claim reads."""
    return _check(name).experiments


def _check(name: str) -> Check:
    if name not in CHECKS:
        raise UserError(f"The claim {name} has no check; add an entry to CHECKS in {__name__} and its function.")
    return CHECKS[name]
