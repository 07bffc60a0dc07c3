"""No single byte of tracked results can change unnoticed."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eflops.results import checksums

TRACKED = Path(__file__).parents[2] / "results" / "published"
CHANGES = 100


def noticed(folder: Path, path: Path, offset: int, change: int) -> bool:
    """Change one byte of a file, see whether the audit's check of files names the file, and change it back."""
    data = path.read_bytes()
    tampered = bytearray(data)
    tampered[offset] ^= change
    path.write_bytes(tampered)
    try:
        name = path.relative_to(folder).as_posix()
        paths = {finding.path for finding in checksums.check(folder)}
        # A changed list of hashes accuses the files whose lines were changed.
        return name in paths or (name == checksums.NAME and bool(paths))
    finally:
        path.write_bytes(data)


@pytest.fixture
def folders(published: Path, tmp_path: Path) -> list[Path]:
    """Published results that may be changed: a small study's, and a copy of the project's own."""
    import shutil

    copies = [Path(shutil.copytree(TRACKED, tmp_path / "tracked"))] if TRACKED.exists() else []
    return [published, *copies]


@settings(max_examples=CHANGES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_changed_byte_is_found_and_its_file_named(folders: list[Path], data: st.DataObject) -> None:
    folder = data.draw(st.sampled_from(folders))
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size]
    path = data.draw(st.sampled_from(paths))
    offset = data.draw(st.integers(0, path.stat().st_size - 1))
    assert noticed(folder, path, offset, data.draw(st.integers(1, 255)))


def test_every_byte_of_the_list_of_hashes_counts(published: Path) -> None:
    path = published / checksums.NAME
    for offset in range(0, path.stat().st_size, 7):
        assert noticed(published, path, offset, 1), f"byte {offset}"


def test_a_file_added_or_removed_is_found(published: Path) -> None:
    assert list(checksums.check(published)) == []
    (published / "tables" / ".hidden").write_text("x")
    (published / "study.json").unlink()
    findings = {(finding.kind, finding.path) for finding in checksums.check(published)}
    assert findings == {("unexpected", "tables/.hidden"), ("missing", "study.json")}
