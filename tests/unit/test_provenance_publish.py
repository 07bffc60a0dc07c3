"""Publishing keeps all that is needed, packs the records, and puts every byte under a hash."""

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pytest

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
    assert not any(name.endswith(".npz") for name in names)
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
    with pytest.raises(UserError, match="is not empty and was not published by this command"):
        publish(small_results, tmp_path)
    assert (tmp_path / "thesis.tex").exists()


def test_an_unfinished_run_is_not_published(results: Path, tmp_path: Path) -> None:
    (results / "study.json").unlink()
    with pytest.raises(UserError, match="the run is not complete"):
        publish(results, tmp_path / "out")


def test_records_cannot_be_unpacked_outside_their_folder(published: Path) -> None:
    (published / "records.jsonl.gz").write_bytes(gzip.compress(b'{"path":"../../escaped.json","record":{}}\n'))
    with pytest.raises(UserError, match="a record cannot lie at"), opened(published):
        pass


def test_too_much_to_track_is_refused_and_leaves_the_old(small_results: Path, published: Path) -> None:
    before = checksums.read(published)
    largest = max(checksums.files(published), key=lambda path: (published / path).stat().st_size)
    with pytest.raises(UserError, match=f"more than 0.05 MB; the largest files are {re.escape(largest)}"):
        publish(small_results, published, most_bytes=50_000)
    assert checksums.read(published) == before
    assert not list(published.parent.glob(".*.part"))
