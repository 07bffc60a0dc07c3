"""Publishing: what others need to check the results, small enough to be tracked.

Records of experiments are packed into one file, those of searches are left out (what a search chose stands in the
config), data keep only their manifests, and what is gathered from records is left out because it follows from them.
The report is left out too: it is mostly scripts, and shows the same tables and figures. Everything else is copied, and
every byte stands under a hash.
"""

import shutil
from pathlib import Path

from eflops.analysis.needs import SCORECARD, TARGETS
from eflops.config import study
from eflops.config.models import Config
from eflops.config.plan import plan_of
from eflops.config.products import PROJECT, products
from eflops.data.federation import MANIFEST
from eflops.errors import UserError
from eflops.provenance import times
from eflops.provenance.explain.recompute import GATHERED, gathered_files
from eflops.results import checksums, labels
from eflops.results.store import RECORDS, RUNS, pack

LEFT_OUT = {"logs", GATHERED, "published", RUNS, "data", times.FOLDER, "report.html"}
# What a repository can track without becoming a burden to clone.
MOST_BYTES = 30_000_000


def publish(results: Path, out: Path, most_bytes: int = MOST_BYTES, key: Path | None = None) -> int:
    """Copy what is to be tracked of `results` to `out`, replacing what was there; how many records it holds.

    Where that would be more than `most_bytes`, nothing is replaced. With an ssh key the list of hashes is signed.
    """
    if not (results / study.NAME).exists():
        raise UserError(f"{results}: there is no {study.NAME}, so the run is not complete; run: snakemake all")
    if out.exists() and any(out.iterdir()) and not (out / checksums.NAME).exists():
        raise UserError(f"{out}: this folder is not empty and was not published by this command; name another one.")
    unfinished = out.with_name(f".{out.name}.part")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    count = _fill(results, unfinished)
    if key:
        checksums.sign(unfinished, key)
    if obstacle := _too_large(unfinished, most_bytes):
        shutil.rmtree(unfinished)
        raise UserError(f"{out}: nothing was published, because {obstacle}")
    shutil.rmtree(out, ignore_errors=True)
    unfinished.rename(out)
    return count


def _fill(results: Path, out: Path) -> int:
    for entry in sorted(results.iterdir()):
        if entry.name in LEFT_OUT or entry.name.startswith("."):
            continue
        if entry.is_dir():
            shutil.copytree(entry, out / entry.name, ignore=shutil.ignore_patterns(".*"))
        else:
            shutil.copyfile(entry, out / entry.name)
    found = study.read_study(results)
    config = found.config
    further = set((results / GATHERED).glob("*")) - {results / path for path in gathered_files(config)}
    for path in sorted({*further, *_manifests(config, results)}):
        target = out / path.relative_to(results)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    if (results / SCORECARD).exists():
        shutil.copyfile(PROJECT / TARGETS, out / Path(TARGETS).name)
    times.write_job_times(results, out)
    count = pack(results / RUNS, config.experiments, out / RECORDS)
    files_hash = checksums.list_hash(checksums.hashes(out), study.NAME)
    study.seal({**found.stored, study.FILES_HASH: files_hash}, out / study.NAME)
    checksums.write(out)
    return count


def _too_large(folder: Path, most_bytes: int) -> str:
    """Why a folder is too large to be tracked, in words; nothing where it is not."""
    sizes = {path: (folder / path).stat().st_size for path in checksums.files(folder)}
    total = sum(sizes.values())
    if total <= most_bytes:
        return ""
    largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:3]
    told = ", ".join(f"{path} ({sizes[path] / 1e6:.1f} MB)" for path in largest)
    return f"it would be {total / 1e6:.1f} MB, more than {most_bytes / 1e6:g} MB; the largest files are {told}."


def _manifests(config: Config, results: Path) -> set[Path]:
    """The manifests of the data that experiments train on, and what else of the data products read, such as genes."""
    plans = [plan_of(config, name) for name in config.experiments]
    names = {
        f"{plan.dataset}/{labels.data_label(ratio, draw)}"
        for plan in plans
        for ratio in plan.ratios
        for draw in plan.draws
    }
    files = {f"data/{name}/{MANIFEST}" for name in names}
    files |= {path for product in products(config) for path in product.inputs if path.startswith("data/")}
    return {results / path for path in files if (results / path).exists()}
