"""Publish what others need to check the results, small enough for git.

Records of experiments are packed into one file; those of searches are omitted (the config has what a search chose). The
specs and manifests of jobs are packed into another file; of data only the manifests are kept. Gathered files are
omitted because they follow from the records. The report and the tables' HTML are omitted too: the explorer shows the
same tables and figures. Everything else is copied, and every byte is covered by a hash.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from eflops.analysis.needs import TARGETS
from eflops.config import study
from eflops.config.models import Config
from eflops.config.plan import plan_of
from eflops.config.products import PROJECT, products
from eflops.data.federation import MANIFEST
from eflops.errors import UserError
from eflops.files import write_text
from eflops.provenance import times
from eflops.provenance.explain.recompute import gathered_files
from eflops.results import checksums, labels
from eflops.results.paths import CELLS, GATHERED_FOLDER, SCORECARD, SPECS, STUDY, UNPUBLISHED_SUFFIX
from eflops.results.store import RECORDS, RUNS, SMALL, pack, pack_small
from eflops.script import FULL

LEFT_OUT = {"logs", GATHERED_FOLDER, "published", RUNS, SPECS, CELLS, "data", times.FOLDER, "report.html"}
# What a repository can track without becoming a burden to clone.
MOST_BYTES = 30_000_000
MOST_FILES = 300


def publish(results: Path, out: Path, most_bytes: int = MOST_BYTES, key: Path | None = None) -> int:
    """Copy the files of `results` that git should track to `out`, which is replaced; returns the number of records.

    If they exceed `most_bytes`, nothing is replaced. With an ssh key, the list of hashes is signed.
    """
    if not (results / STUDY).exists():
        raise UserError(f"{results}: there is no {STUDY}, so the run is not complete; run: snakemake all")
    if out.exists() and any(out.iterdir()) and not (out / checksums.NAME).exists():
        raise UserError(f"{out}: this folder is not empty and this command did not write it; name another one.")
    checksums.refuse_links_out(results)
    # Beside `out`, on the same file system, so that a rename puts it in place at once.
    unfinished = out.with_name(f".{out.name}.part")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        unfinished.mkdir(parents=True)
        count = _fill(results, unfinished, checksums.fingerprint(key) if key else "")
        if key:
            checksums.sign(unfinished, key)
        if obstacle := _too_large(unfinished, most_bytes):
            raise UserError(f"{out}: nothing was published, because {obstacle}")
    except BaseException as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        # copytree lists what it met as text.
        listed = str(error) if isinstance(error, shutil.Error) else ""
        full = isinstance(error, OSError) and error.errno in FULL
        if full or any(os.strerror(number) in listed for number in FULL):
            raise UserError(
                f"{out}: nothing was published, because the disk is full; free some space and publish again."
            ) from None
        raise
    shutil.rmtree(out, ignore_errors=True)
    unfinished.rename(out)
    return count


def _fill(results: Path, out: Path, signer: str) -> int:
    for entry in sorted(results.iterdir()):
        if entry.name in LEFT_OUT or entry.name.startswith("."):
            continue
        if entry.is_dir():
            shutil.copytree(entry, out / entry.name, ignore=shutil.ignore_patterns(".*", f"*{UNPUBLISHED_SUFFIX}"))
        else:
            shutil.copyfile(entry, out / entry.name)
    recorded = study.read_study(results)
    config = recorded.config
    further = set((results / GATHERED_FOLDER).glob("*")) - {results / path for path in gathered_files(config)}
    manifests, read = _manifests(config, results)
    for path in sorted({*further, *(results / path for path in read)}):
        target = out / path.relative_to(results)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    if (results / SCORECARD).exists():
        shutil.copyfile(PROJECT / TARGETS, out / Path(TARGETS).name)
    write_text(out / times.TABLE, times.job_times(results).to_csv(index=False))
    count = pack(results / RUNS, config.experiments, out / RECORDS)
    pack_small(results, [*manifests, *_job_files(config, results)], out / SMALL)
    # In this order: the study holds the hash of all other files, and SHA256SUMS lists the study too.
    further_keys = {study.SIGNER: signer} if signer else {}
    files_hash = checksums.list_hash(checksums.hashes(out), STUDY)
    study.seal({**recorded.stored, **further_keys, study.FILES_HASH: files_hash}, out / STUDY)
    checksums.write(out)
    return count


def _job_files(config: Config, results: Path) -> Iterator[str]:
    """The specs of jobs and the manifests of cells, except those of searches."""
    for folder in (SPECS, CELLS):
        for path in sorted((results / folder).rglob("*.json")):
            name = path.relative_to(results).as_posix()
            if not config.searches.keys() & set(name.split("/")):
                yield name


def _too_large(folder: Path, most_bytes: int) -> str:
    """Why a folder is too large to be tracked, in words; empty if it is not."""
    sizes = {path: (folder / path).stat().st_size for path in checksums.files(folder)}
    total = sum(sizes.values())
    if len(sizes) > MOST_FILES:
        return f"it would be {len(sizes)} files, more than {MOST_FILES}; remove tables or figures from the config."
    if total <= most_bytes:
        return ""
    largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:3]
    listed = ", ".join(f"{path} ({sizes[path] / 1e6:.1f} MB)" for path in largest)
    return f"it would be {total / 1e6:.1f} MB, more than {most_bytes / 1e6:g} MB; the largest files are {listed}."


def _manifests(config: Config, results: Path) -> tuple[set[str], set[str]]:
    """The manifests of the data of experiments, and the data files that products read, such as genes."""
    plans = [plan_of(config, name) for name in config.experiments]
    manifests = {f"{labels.DATA}/{name}/{MANIFEST}" for plan in plans for name, *_ in plan.data_draws}
    read = {path for product in products(config) for path in product.inputs if path.startswith(f"{labels.DATA}/")}
    there = {path for path in manifests | read if (results / path).exists()}
    return (manifests - read) & there, read & there
