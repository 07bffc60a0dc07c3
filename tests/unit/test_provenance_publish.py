"""Publishing keeps all that is needed, packs the records, and puts every byte under a hash."""

import errno
import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from eflops import files
from eflops.data.federation import load
from eflops.errors import UserError
from eflops.provenance.publish import publish
from eflops.results import checksums
from eflops.results.store import opened


def test_packed_records_come_out_as_they_went_in(small_results: Path, small_published: Path) -> None:
    with opened(small_results) as loose, opened(small_published) as packed:
        assert loose.record_paths() == packed.record_paths()
        for path in loose.record_paths():
            assert loose.record(path) == packed.record(path)


def test_what_follows_from_records_or_is_large_is_left_out(small_published: Path) -> None:
    names = checksums.files(small_published)
    assert "gathered/support_recovery.csv" not in names
    assert not any(name.endswith((".npz", ".html")) for name in names if name != "explorer.html")
    for needed in ("study.json", "records.jsonl.gz", "benchmarks.csv", "targets.yaml", "tables/support_recovery.md"):
        assert needed in names


def test_records_of_searches_and_of_nothing_are_not_published(results: Path, tmp_path: Path) -> None:
    cell = results / "runs/support_recovery/nd0.64/eflops/base"
    (results / "runs/some_search").mkdir()
    shutil.copyfile(cell / "draw0-seed0.json", results / "runs/some_search/draw0-seed0.json")
    assert publish(results, tmp_path / "out") == 24


def test_publishing_twice_gives_the_same_bytes(small_results: Path, small_published: Path, tmp_path: Path) -> None:
    publish(small_results, tmp_path / "again")
    assert (tmp_path / "again" / checksums.NAME).read_bytes() == (small_published / checksums.NAME).read_bytes()


def test_the_hashes_are_those_that_sha256sum_checks(small_published: Path) -> None:
    done = subprocess.run(["sha256sum", "--check", "--strict", "--quiet", checksums.NAME], cwd=small_published)
    assert done.returncode == 0


def test_a_folder_of_something_else_is_not_overwritten(small_results: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("months of work")
    with pytest.raises(UserError, match="is not empty and this command did not write it"):
        publish(small_results, tmp_path)
    assert (tmp_path / "thesis.tex").exists()


def test_an_unfinished_run_is_not_published(results: Path, tmp_path: Path) -> None:
    (results / "study.json").unlink()
    with pytest.raises(UserError, match="the run is not complete"):
        publish(results, tmp_path / "out")


def test_records_cannot_be_unpacked_outside_their_folder(published: Path) -> None:
    (published / "records.jsonl.gz").write_bytes(gzip.compress(b'{"path":"../../escaped.json","record":{}}\n'))
    with pytest.raises(UserError, match="is not the path of a record"), opened(published):
        pass


@pytest.mark.parametrize("name", ["records.jsonl.gz", "jobs.jsonl.gz"])
def test_a_packed_file_that_would_fill_the_memory_is_refused(
    published: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "machine_bytes", lambda: 12_000_000)
    (published / name).write_bytes(gzip.compress(b"0" * 4_000_000))
    with pytest.raises(UserError, match="unpacks to more than 3,000,000 bytes"), opened(published):
        pass


def test_arrays_that_would_fill_the_memory_are_refused(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = results / "data/synthetic/nd0.64-draw0"
    assert load(folder)
    monkeypatch.setattr(files, "machine_bytes", lambda: 4_000)
    with pytest.raises(UserError, match="is not the file that its manifest describes"):
        load(folder)


def test_too_much_to_track_is_refused_and_leaves_the_old(small_results: Path, published: Path) -> None:
    before = checksums.read(published)
    largest = max(checksums.files(published), key=lambda path: (published / path).stat().st_size)
    with pytest.raises(UserError, match=f"more than 0.05 MB; the largest files are {re.escape(largest)}"):
        publish(small_results, published, most_bytes=50_000)
    assert checksums.read(published) == before
    assert not list(published.parent.glob(".*.part"))


def test_a_full_disk_is_named_and_nothing_is_left(
    small_results: Path, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = checksums.read(published)

    def full(source: Path, target: Path, **_: object) -> None:
        Path(target).write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device", str(source))

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(UserError, match="published: nothing was published, because the disk is full"):
        publish(small_results, published)
    assert checksums.read(published) == before
    assert not list(published.parent.glob(".*.part"))


def test_small_files_of_jobs_are_packed(results: Path, tmp_path: Path) -> None:
    for name in ("specs/train/support_recovery/nd0.64/eflops.json", "cells/support_recovery/nd0.64/eflops.json"):
        (results / name).parent.mkdir(parents=True)
        (results / name).write_text('{"records": {}}\n')
    publish(results, tmp_path / "out")
    packed = {path for path in checksums.files(tmp_path / "out") if path.startswith(("specs", "cells", "data/"))}
    with opened(tmp_path / "out") as store, opened(results) as loose:
        assert store.small.keys() - set(loose.files()) == set()
        assert {"specs", "cells", "data"} == {path.split("/")[0] for path in store.small}
        assert all(store.text(path) == loose.text(path) for path in store.small)
    assert not any(path.startswith(("specs", "cells")) for path in packed)
