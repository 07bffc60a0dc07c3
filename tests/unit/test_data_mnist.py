"""Image files are fetched from the first source that has them, checked, thinned out and dealt to clients."""

import gzip
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eflops.data import idx
from eflops.data.idx import FILES, IMAGE_SETS, ImageSet, PackageError, fetch, parse
from eflops.data.mnist import build, downsample
from eflops.errors import UserError

SETTINGS: dict[str, Any] = {
    "kind": "mnist",
    "source": "tiny",
    "ratio_per_class": 0.5,
    "test_rows": None,
    "standardise": False,
    "clients": 3,
    "label_concentration": 1.0,
    "min_rows": 2,
}
MNIST_CLASS_SIZES = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]


def to_idx(array: np.ndarray) -> bytes:
    lengths = b"".join(length.to_bytes(4, "big") for length in array.shape)
    return bytes([0, 0, 8, array.ndim]) + lengths + array.astype(np.uint8).tobytes()


@pytest.fixture
def tiny() -> dict[str, bytes]:
    """The four files of an image set: 100 training and 20 test images of 4 x 4, ten classes."""
    generator = np.random.default_rng(0)
    arrays = [
        generator.integers(0, 256, (100, 4, 4)),
        np.repeat(np.arange(10), 10),
        generator.integers(0, 256, (20, 4, 4)),
        np.repeat(np.arange(10), 2),
    ]
    return {file: to_idx(array) for file, array in zip(FILES, arrays, strict=True)}


@pytest.fixture(autouse=True)
def known_by_checksum(tiny: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    md5 = {file: hashlib.md5(data).hexdigest() for file, data in tiny.items()}
    monkeypatch.setitem(IMAGE_SETS, "tiny", ImageSet(md5))
    monkeypatch.delenv("EFLOPS_TINY", raising=False)


def put(files: dict[str, bytes], folder: Path, packed: bool = False) -> Path:
    folder.mkdir(parents=True)
    for file, data in files.items():
        (folder / (f"{file}.gz" if packed else file)).write_bytes(gzip.compress(data) if packed else data)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("packed", [False, True])
def test_files_come_from_the_folder_the_user_names(tiny: dict[str, bytes], tmp_path: Path, packed: bool) -> None:
    fetch(tmp_path / "raw", "tiny", put(tiny, tmp_path / "mine", packed))
    assert contents(tmp_path / "raw") == tiny


def test_the_folder_can_be_named_in_the_environment(
    tiny: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EFLOPS_TINY", str(put(tiny, tmp_path / "mine")))
    fetch(tmp_path / "raw", "tiny")
    assert contents(tmp_path / "raw") == tiny


def test_a_mirror_or_else_the_package_is_used_when_the_folder_fails(
    tiny: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = put(tiny, tmp_path / "package")
    mirror = put({**tiny, FILES[3]: b"an error page"}, tmp_path / "mirror", packed=True)
    md5 = IMAGE_SETS["tiny"].md5
    with_both = ImageSet(md5, (mirror.as_uri(),), "package p", lambda scratch: package)
    monkeypatch.setitem(IMAGE_SETS, "tiny", with_both)
    fetch(tmp_path / "raw", "tiny", tmp_path / "nothing here")
    assert contents(tmp_path / "raw") == tiny


def test_intact_files_are_not_fetched_again(tiny: dict[str, bytes], tmp_path: Path) -> None:
    raw = put(tiny, tmp_path / "raw")
    fetch(raw, "tiny")
    assert contents(raw) == tiny


def test_damaged_files_are_replaced(tiny: dict[str, bytes], tmp_path: Path) -> None:
    raw = put({**tiny, FILES[0]: tiny[FILES[0]][:-1]}, tmp_path / "raw")
    fetch(raw, "tiny", put(tiny, tmp_path / "mine"))
    assert contents(raw) == tiny


def no_package(scratch: Path) -> Path:
    raise PackageError("npm is not installed")


def test_when_all_sources_fail_each_is_named_with_its_reason(
    tiny: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = put({**tiny, FILES[1]: b"not labels"}, tmp_path / "mine")
    mirror = (tmp_path / "no-mirror").as_uri()
    images = ImageSet(IMAGE_SETS["tiny"].md5, (mirror,), "package p", no_package)
    monkeypatch.setitem(IMAGE_SETS, "tiny", images)
    with pytest.raises(UserError) as refusal:
        fetch(tmp_path / "raw", "tiny", mine)
    message = str(refusal.value)
    assert f"folder {mine}: {FILES[1]} has md5" in message
    assert f"{mirror}: " in message
    assert "package p: npm is not installed" in message
    assert "EFLOPS_TINY" in message
    assert "\n" not in message
    assert not (tmp_path / "raw").exists()


@pytest.mark.parametrize("cut", [-1, -10, 20])
def test_a_damaged_gzip_file_is_refused(tiny: dict[str, bytes], tmp_path: Path, cut: int) -> None:
    mine = put(tiny, tmp_path / "mine", packed=True)
    packed = mine / f"{FILES[0]}.gz"
    packed.write_bytes(packed.read_bytes()[:cut])
    with pytest.raises(UserError, match=f"{FILES[0]}.gz is damaged"):
        fetch(tmp_path / "raw", "tiny", mine)


def test_idx_bytes_become_an_array() -> None:
    array = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(parse(to_idx(array)), array)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", to_idx(np.arange(9))[:-1], to_idx(np.arange(9)) + b"x"])
def test_bytes_that_are_not_idx_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"it is not an idx file|its header says"):
        parse(data)


def test_images_keep_their_labels_and_range(tiny: dict[str, bytes], tmp_path: Path) -> None:
    federation = build({**SETTINGS, "ratio_per_class": 1.0}, None, seed=1, raw=put(tiny, tmp_path / "raw"))
    assert federation.test.x.shape == (20, 1, 4, 4)
    assert federation.test.x.dtype == np.float32
    assert federation.test.y.dtype == np.int64
    images, labels = parse(tiny[FILES[0]]), parse(tiny[FILES[1]])
    label_of = {image.tobytes(): label for image, label in zip(images, labels, strict=True)}
    whole = federation.pooled().clients[0]
    for x, y in zip(whole.x, whole.y, strict=True):
        assert label_of[np.rint(x[0] * 255).astype(np.uint8).tobytes()] == y
    assert len(whole) == 100


def test_clients_have_the_label_counts_that_meta_tells(tiny: dict[str, bytes], tmp_path: Path) -> None:
    federation = build(SETTINGS, None, seed=1, raw=put(tiny, tmp_path / "raw"))
    counts = [np.bincount(block.y, minlength=10).tolist() for block in federation.clients]
    assert federation.meta["label_counts"] == counts
    assert np.sum(counts, axis=0).tolist() == [5] * 10
    assert federation.counts.min() >= 2


def test_standardising_uses_the_training_images(tiny: dict[str, bytes], tmp_path: Path) -> None:
    raw = put(tiny, tmp_path / "raw")
    plain, standard = (build({**SETTINGS, "standardise": s}, None, 1, raw) for s in (False, True))
    before, after = plain.pooled().clients[0].x, standard.pooled().clients[0].x
    assert abs(after.mean()) < 1e-6
    assert after.std() == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(standard.test.x, (plain.test.x - before.mean()) / before.std(), atol=1e-5)


def test_fewer_test_rows_can_be_asked_for(tiny: dict[str, bytes], tmp_path: Path) -> None:
    raw = put(tiny, tmp_path / "raw")
    assert len(build({**SETTINGS, "test_rows": 7}, None, 1, raw).test) == 7


@pytest.mark.parametrize(("ratio", "images"), [(0.0198, 1183), (0.01981, 1184), (0.01982, 1184), (0.02, 1195)])
def test_the_ratio_decides_how_many_of_mnists_images_are_kept(ratio: float, images: int) -> None:
    assert len(downsample(np.repeat(np.arange(10), MNIST_CLASS_SIZES), ratio, seed=0)) == images


def test_which_images_are_kept_is_random_by_seed() -> None:
    labels = np.zeros(1000, dtype=int)
    first, again, other = (downsample(labels, 0.5, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert len(np.unique(first)) == 500
    assert 150 < len(np.intersect1d(first, other)) < 350


def test_a_damaged_raw_file_is_refused_with_the_remedy(tiny: dict[str, bytes], tmp_path: Path) -> None:
    raw = put({**tiny, FILES[2]: tiny[FILES[2]][:-1] + b"?"}, tmp_path / "raw")
    with pytest.raises(UserError, match=f"fetch it again with: eflops fetch tiny --out {raw}$"):
        build(SETTINGS, None, 1, raw)


def test_a_missing_raw_file_is_refused_with_the_command_that_fetches_it(tmp_path: Path) -> None:
    right = f"is missing, but tiny data need it; fetch it with: eflops fetch tiny --out {tmp_path}$"
    with pytest.raises(UserError, match=right):
        build(SETTINGS, None, 1, tmp_path)


def test_a_missing_raw_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="need the folder"):
        build(SETTINGS, None, 1, None)
    with pytest.raises(UserError, match=r"nowhere/train-images-idx3-ubyte is missing"):
        build(SETTINGS, None, 1, tmp_path / "nowhere")


def test_both_known_sets_have_a_checksum_for_every_file() -> None:
    for name in ("mnist", "fashion_mnist"):
        assert set(idx.IMAGE_SETS[name].md5) == set(FILES)


def test_a_damaged_file_in_the_named_folder_is_said_before_others_are_asked(
    tiny: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = put(tiny, tmp_path / "package")
    mine = put({**tiny, FILES[1]: tiny[FILES[1]][:5]}, tmp_path / "mine")
    both = ImageSet(IMAGE_SETS["tiny"].md5, (), "package p", lambda scratch: package)
    monkeypatch.setitem(IMAGE_SETS, "tiny", both)
    fetch(tmp_path / "raw", "tiny", mine)
    assert contents(tmp_path / "raw") == tiny
    assert f"warning: the folder {mine} failed: {FILES[1]} has md5" in capsys.readouterr().err
