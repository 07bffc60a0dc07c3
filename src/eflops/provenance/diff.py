"""Changes between two results: cells in units of their spread, paired runs, verdicts, conclusions of paired tests.

Results of older versions can be compared: renamed verdicts are mapped to the present ones.
"""

import io
import math
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from eflops.analysis.text import Scalar, readable
from eflops.errors import UserError
from eflops.files import write_bytes
from eflops.provenance.explain.address import key_columns, read_table, scorecard_lines
from eflops.provenance.explain.explanation import equal
from eflops.provenance.explain.text import INDENT, plain
from eflops.provenance.paired import ALPHA, Shift, shifts
from eflops.results.paths import SCORECARD, STUDY
from eflops.results.store import RUNS, is_results

PUBLISHED = "results/published"
# What 0.2.0 called a verdict, and what it is called now.
RENAMED_VERDICTS = {"cannot tell": "inconclusive"}


@dataclass(frozen=True)
class Move:
    """A cell that changed; `spreads` is the change in units of its spread, None if the file states no spread."""

    file: str
    row: str
    column: str
    before: Scalar
    after: Scalar
    spreads: float | None = None

    def __str__(self) -> str:
        size = "" if self.spreads is None else f" ({self.spreads:+.2f} spreads)"
        return f"{self.file}: {self.row}, {self.column}: {readable(self.before)} to {readable(self.after)}{size}"


@dataclass(frozen=True)
class Change:
    """A verdict or conclusion, a row or a file that changed, in words."""

    name: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.name}: {self.before} to {self.after}"


@dataclass(frozen=True)
class Difference:
    """All differences, the largest moves first."""

    moves: tuple[Move, ...]
    verdicts: tuple[Change, ...]
    conclusions: tuple[Change, ...]
    presence: tuple[Change, ...]
    compared: int
    shifts: tuple[Shift, ...] = ()
    paired: int = 0


@contextmanager
def side(name: str) -> Iterator[Path]:
    """The folder for a name: the folder itself, or a commit's published results, unpacked into a temporary folder."""
    if name and Path(name).is_dir():
        if not is_results(Path(name)):
            raise UserError(f"{name}: this folder has neither {STUDY} nor {RUNS}/; name a results folder.")
        yield Path(name)
        return
    archive = _archive(name)
    with tempfile.TemporaryDirectory(prefix="eflops-") as temporary:
        with tarfile.open(fileobj=io.BytesIO(archive)) as members:
            for member in members:
                content = members.extractfile(member)
                if content is not None:
                    write_bytes(Path(temporary) / member.name, content.read())
        yield Path(temporary) / PUBLISHED


def _archive(commit: str) -> bytes:
    """The published results of a commit as a tar file."""
    known = subprocess.run(["git", "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"], capture_output=True)
    if known.returncode:
        raise UserError(f"{commit}: there is no such folder and no such commit; name a results folder or a commit.")
    made = subprocess.run(["git", "archive", known.stdout.decode().strip(), PUBLISHED], capture_output=True)
    if made.returncode:
        raise UserError(f"{commit}: this commit has no {PUBLISHED}; name one that tracks published results.")
    return made.stdout


def diff(before: Path, after: Path) -> Difference:
    """Compare the tables, figures and scorecards of two results folders, published or not."""
    old_names, new_names = _csv_files(before), _csv_files(after)
    presence = [*_added_and_removed(old_names, new_names)]
    moves: list[Move] = []
    conclusions: list[Change] = []
    compared = 0
    for name in sorted(old_names & new_names):
        old, new = _aligned(read_table(before / name), read_table(after / name))
        presence += _added_and_removed(set(old.index), set(new.index), f"{name}: ")
        shared = old.index.intersection(new.index)
        old, new = old.loc[shared], new.loc[shared]
        compared += len(shared) * len(old.columns)
        moves += _moves(name, old, new)
        conclusions += _conclusions(name, old, new)
    moves.sort(key=lambda move: -abs(move.spreads or 0.0))
    shifted, paired = shifts(before, after)
    return Difference(
        tuple(moves), tuple(_verdicts(before, after)), tuple(conclusions), tuple(presence), compared, shifted, paired
    )


def as_text(difference: Difference, limit: int) -> str:
    """What changed, the largest moves first, at most `limit` of each kind."""
    parts: dict[str, Iterable[Move | Change | Shift]] = {
        "Verdicts that changed": difference.verdicts,
        "Conclusions that changed": difference.conclusions,
        "Runs that moved, paired by draw and seed": difference.shifts,
        "Cells that moved": difference.moves,
        "Added and removed": difference.presence,
    }
    lines = []
    for title, changes in parts.items():
        listed = [f"{INDENT}{change}" for change in changes]
        more = [f"{INDENT}and {len(listed) - limit} more"] if len(listed) > limit else []
        lines += [title, *listed[:limit], *more, ""] if listed else []
    return "\n".join([*lines, summary(difference)])


def summary(difference: Difference) -> str:
    """The difference in a sentence."""
    far = sum(abs(move.spreads or 0.0) > 1 for move in difference.moves)
    return (
        f"{difference.compared} cells compared: {len(difference.moves)} moved, {far} by more than their spread; "
        f"{len(difference.verdicts)} verdicts and {len(difference.conclusions)} conclusions changed. "
        f"{difference.paired} runs paired by draw and seed: {_shifted(difference)}."
    )


def _shifted(difference: Difference) -> str:
    clear = sum(shift.clear for shift in difference.shifts)
    if not difference.paired:
        return "no run is in both"
    if not difference.shifts:
        return "all have the same metrics"
    return f"{len(difference.shifts)} metrics of cells moved, {clear} of them significantly (p below {ALPHA})"


def _csv_files(folder: Path) -> set[str]:
    files = (path for kind in ("tables", "figures") for path in (folder / kind).glob("*.csv"))
    return {path.relative_to(folder).as_posix() for path in files}


def _added_and_removed(before: set[str], after: set[str], prefix: str = "") -> Iterator[Change]:
    yield from (Change(f"{prefix}{name}", "present", "removed") for name in sorted(before - after))
    yield from (Change(f"{prefix}{name}", "absent", "added") for name in sorted(after - before))


def _aligned(old: pd.DataFrame, new: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both frames with their rows indexed by the common keys."""
    keys = [key for key in key_columns(new) if key in old]
    return _named(old, keys), _named(new, keys)


def _named(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    rows = frame[keys].to_numpy()
    names = [", ".join(f"{key} {value}" for key, value in zip(keys, row, strict=True)) for row in rows]
    named = frame.set_axis(names, axis=0).drop(columns=keys)
    # Rows with the same keys cannot be matched one by one; the first stands for all.
    return named[~named.index.duplicated()]


def _moves(file: str, old: pd.DataFrame, new: pd.DataFrame) -> Iterator[Move]:
    for column in [column for column in old if column in new]:
        for row, before, after in zip(old.index, old[column], new[column], strict=True):
            if not equal(before, after):
                yield Move(file, row, column, plain(before), plain(after), _spreads(old, new, row, column))


def _spreads(old: pd.DataFrame, new: pd.DataFrame, row: str, column: str) -> float | None:
    """A change in units of the two rows' common spread."""
    try:
        spread = math.sqrt((spread_of(old.loc[row], column) ** 2 + spread_of(new.loc[row], column) ** 2) / 2)
        change = float(new.loc[row, column] - old.loc[row, column])
    except (TypeError, ValueError):
        return None
    return change / spread if spread > 0 and math.isfinite(change) else None


def spread_of(row: pd.Series, column: str) -> float:
    """The spread of a cell as its row states it: the standard deviation, or a quarter of the 95 % interval."""
    if column == "difference" and {"low", "high"} <= set(row.index):
        return float(row["high"] - row["low"]) / 4
    deviation = "sd" if column == "mean" else f"{column.removesuffix('_mean')}_sd"
    return float(row[deviation]) if deviation in row.index else math.nan


def _conclusions(file: str, old: pd.DataFrame, new: pd.DataFrame) -> Iterator[Change]:
    if not {"p_holm", "difference"} <= set(old) & set(new):
        return
    for row in old.index:
        before, after = _conclusion(old.loc[row]), _conclusion(new.loc[row])
        if before != after:
            yield Change(f"{file}: {row}", before, after)


def _conclusion(row: pd.Series) -> str:
    if not row["p_holm"] < ALPHA:
        return "no difference shown"
    return "the reference is higher" if row["difference"] > 0 else "the other is higher"


def _verdicts(before: Path, after: Path) -> Iterator[Change]:
    """The scorecard lines whose verdict changed; none for a folder without a scorecard."""
    if not all((folder / SCORECARD).exists() for folder in (before, after)):
        return
    old, new = ({name: line["verdict"] for name, line in scorecard_lines(folder).items()} for folder in (before, after))
    old = {name: RENAMED_VERDICTS.get(verdict, verdict) for name, verdict in old.items()}
    for name in [*old, *(name for name in new if name not in old)]:
        if old.get(name) != new.get(name):
            yield Change(name, old.get(name, "absent"), new.get(name, "removed"))
