"""The paper's numbers and claims, read from resources/paper/targets.yaml."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from eflops.errors import UserError

# The paper's method, the baseline that it is tested against, and dense averaging; a line about the first two.
METHOD, BASELINE, DENSE = "eflops", "fediht", "fedavg"
# Two algorithms that the paper's names of one curve, Fed-IHT and FedIter-HT, may mean.
HARD_THRESHOLDING = (BASELINE, "fediterht")
PAIR = f"{METHOD} - {BASELINE}"
# The paper lists probes under the names of their genes: interleukin 8 stands twice in one of its columns.
PROBES = ("", " (second probe)", " (third probe)")
# Test samples / training samples of the leukaemia data: what the corrected test over its splits needs.
OVERLAP = 15 / 57


@dataclass(frozen=True)
class Printed:
    """A number as the paper prints it; `sd` is None if the paper prints none."""

    value: float
    sd: float | None = None


@dataclass(frozen=True)
class Size:
    """The size of an experiment in the paper: |theta|, the weights kept, and the number of run seeds if stated."""

    parameters: int
    kept: int
    runs: int | None = None


@dataclass(frozen=True)
class Paper:
    """Everything that the scorecard judges.

    recovery: Table 1, N/d -> method -> share of the true support; best: N/d -> the federated method in bold.
    genes: Table 2, method -> gene -> share of runs, in the paper's order.
    """

    recovery: dict[float, dict[str, Printed]]
    best: dict[float, str]
    genes: dict[str, dict[str, Printed]]
    gene_aliases: dict[str, str]
    t: Printed
    p: Printed
    sizes: dict[str, Size]
    claims: dict[str, str]
    own_claims: dict[str, str]

    @property
    def recovery_methods(self) -> list[str]:
        """The columns of Table 1."""
        return list(dict.fromkeys(method for row in self.recovery.values() for method in row))


def read_paper(path: Path) -> Paper:
    """The targets file."""
    targets = read_targets(path)
    try:
        table, test = targets["support_recovery"], targets["golub_paired_t"]
        sizes = {name: Size(**size) for name, size in targets["sizes"].items()}
        runs = sizes["golub"].runs
        return Paper(
            recovery={
                float(ratio): {method: Printed(*row[method]) for method in table["columns"]}
                for ratio, row in table["rows"].items()
            },
            best={float(ratio): row["best"] for ratio, row in table["rows"].items()},
            genes={
                method: {gene: Printed(share, share_sd(share, runs)) for gene, share in column.items()}
                for method, column in targets["gene_frequency"].items()
            },
            gene_aliases=dict(targets["gene_aliases"]),
            t=Printed(test["t"], t_sd(test["t"], runs)),
            p=Printed(test["p"]),
            sizes=sizes,
            claims={claim["id"]: claim["text"] for claim in targets["claims"]},
            own_claims={claim["id"]: claim["text"] for claim in targets.get("own_claims", ())},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path}: this is not a file of the paper's numbers ({error!r}).") from None


def read_targets(path: Path) -> dict[str, Any]:
    """The targets file as plain values."""
    try:
        targets = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(
            f"{path}: there is no such targets file; the project's is resources/paper/targets.yaml."
        ) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{path}: this is not a text file of the paper's numbers ({reason}).") from None
    if not isinstance(targets, dict):
        raise UserError(f"{path}: this is not a file of the paper's numbers (it has no keys).")
    return targets


def our_probe(printed: str, aliases: dict[str, str]) -> tuple[str, int]:
    """Our name for a gene that the paper prints, and the rank of the probe it means, 0 for the most selected."""
    number = next((index for index, suffix in enumerate(PROBES) if index and printed.endswith(suffix)), 0)
    gene = printed.removesuffix(PROBES[number])
    return aliases.get(gene, gene), number


def share_sd(share: float, runs: int | None) -> float | None:
    """The standard deviation of a share over sets of `runs` independent runs: sqrt(p (1 - p) / n)."""
    return (share * (1 - share) / runs) ** 0.5 if runs else None


def t_sd(t: float, runs: int | None) -> float | None:
    """The approximate standard deviation of a paired t statistic of `runs` pairs: sqrt(1 + t^2 / (2 df))."""
    return (1 + t**2 / (2 * (runs - 1))) ** 0.5 if runs and runs > 1 else None
