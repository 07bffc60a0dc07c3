"""A federation survives the disk unchanged, and anything else on the disk is refused."""

import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eflops import trust
from eflops.data.build import build
from eflops.data.federation import Block, Federation, load, read_manifest, save
from eflops.errors import UserError
from eflops.files import canonical_json, sha256_bytes, write_npz

SETTINGS = {"kind": "made-up", "clients": 3}


def block(rows: int, seed: int) -> Block:
    generator = np.random.default_rng(seed)
    return Block(generator.normal(size=(rows, 4)).astype(np.float32), generator.integers(0, 2, size=rows))


@pytest.fixture
def federation() -> Federation:
    return Federation(
        clients=(block(3, 0), block(1, 1), block(5, 2)),
        test=block(4, 3),
        truth={"support": np.array([1, 3])},
        meta={"task": "classification", "classes": 2},
    )


def assert_same(left: Federation, right: Federation) -> None:
    pairs = list(zip((*left.clients, left.test), (*right.clients, right.test), strict=True))
    for a, b in pairs:
        np.testing.assert_array_equal(a.x, b.x, strict=True)
        np.testing.assert_array_equal(a.y, b.y, strict=True)
    assert left.truth.keys() == right.truth.keys()
    for name in left.truth:
        np.testing.assert_array_equal(left.truth[name], right.truth[name], strict=True)
    assert left.meta == right.meta


def test_what_is_saved_is_loaded(federation: Federation, tmp_path: Path) -> None:
    save(federation, tmp_path / "f", SETTINGS)
    assert_same(load(tmp_path / "f"), federation)


def test_shared_arrays_are_stored_once_and_do_not_change_what_the_data_are(
    federation: Federation, tmp_path: Path
) -> None:
    shared = tmp_path / "test-draw0.npz"
    write_npz(shared, {"test_x": federation.test.x, "more": np.zeros(3)})
    save(federation, tmp_path / "alone", SETTINGS)
    save(federation, tmp_path / "sharing", SETTINGS, shared)
    with np.load(tmp_path / "sharing/federation.npz") as stored:
        assert "test_x" not in stored.files
        assert "test_y" in stored.files
    assert_same(load(tmp_path / "sharing"), federation)
    alone, sharing = (read_manifest(tmp_path / name) for name in ("alone", "sharing"))
    assert sharing["sha256"] == alone["sha256"]
    write_npz(shared, {"test_x": federation.test.x + 1})
    with pytest.raises(UserError, match="is not the file that its manifest describes"):
        load(tmp_path / "sharing")
    shared.unlink()
    with pytest.raises(UserError, match=r"test-draw0\.npz cannot be read"):
        load(tmp_path / "sharing")


def test_saving_again_gives_the_same_bytes(federation: Federation, tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(federation, tmp_path / name, SETTINGS)
    for file in ("federation.npz", "manifest.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_images_are_compressed_and_come_back_as_they_were(tmp_path: Path) -> None:
    block = Block(np.zeros((50, 1, 28, 28), np.float32), np.arange(50) % 10)
    save(Federation((block,), block, meta={"task": "classification", "classes": 10}), tmp_path, {})
    assert (tmp_path / "federation.npz").stat().st_size < 10_000
    assert np.array_equal(load(tmp_path).test.x, block.x)


def test_manifest_names_settings_shapes_and_hash(federation: Federation, tmp_path: Path) -> None:
    save(federation, tmp_path, SETTINGS)
    manifest = read_manifest(tmp_path)
    assert manifest["settings"] == SETTINGS
    sha256 = hashlib.sha256(federation.clients[2].x.tobytes()).hexdigest()
    assert manifest["arrays"]["client002_x"] == {"shape": [5, 4], "dtype": "float32", "sha256": sha256}
    assert len(manifest["sha256"]) == 64


def test_pooled_is_one_client_with_every_row_in_order(federation: Federation) -> None:
    pooled = federation.pooled()
    assert pooled.counts.tolist() == [9]
    np.testing.assert_array_equal(pooled.clients[0].x[3:4], federation.clients[1].x)
    np.testing.assert_array_equal(pooled.clients[0].y[4:], federation.clients[2].y)
    assert pooled.test is federation.test


def test_a_node_can_be_given_its_own_rows_alone(federation: Federation, tmp_path: Path) -> None:
    save(federation.subset([2], with_test=False), tmp_path, SETTINGS)
    node_data = load(tmp_path)
    assert node_data.client_ids == (2,)
    assert node_data.counts.tolist() == [5]
    assert len(node_data.test) == 0
    np.testing.assert_array_equal(node_data.clients[0].x, federation.clients[2].x)
    assert list(read_manifest(tmp_path)["arrays"])[:2] == ["client002_x", "client002_y"]


def test_a_subset_of_a_subset_keeps_the_numbers(federation: Federation) -> None:
    assert federation.subset([0, 2]).subset([2]).clients[0] is federation.clients[2]


def test_a_client_that_is_not_there_is_named(federation: Federation) -> None:
    with pytest.raises(UserError, match=r"client 7 is not in this federation: it has \[0, 1, 2\]"):
        federation.subset([1, 7])


def test_x_and_y_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="2 rows of x and 3 of y"):
        Block(np.zeros((2, 1), np.float32), np.zeros(3, np.float32))


def flip_a_byte(folder: Path) -> None:
    data = bytearray((folder / "federation.npz").read_bytes())
    data[len(data) // 2] ^= 1
    (folder / "federation.npz").write_bytes(data)


def truncate(folder: Path) -> None:
    (folder / "federation.npz").write_bytes((folder / "federation.npz").read_bytes()[:-100])


def swap(folder: Path) -> None:
    other = Federation(clients=(block(2, 8),), test=block(2, 9))
    save(other, folder / "other", SETTINGS)
    (folder / "other" / "federation.npz").replace(folder / "federation.npz")


def remove(folder: Path) -> None:
    (folder / "federation.npz").unlink()


def edit_a_setting(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["settings"]["clients"] = 4
    (folder / "manifest.json").write_text(json.dumps(manifest))


def cut_the_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text((folder / "manifest.json").read_text()[:-20])


def remove_the_manifest(folder: Path) -> None:
    (folder / "manifest.json").unlink()


@pytest.mark.parametrize(
    "damage", [flip_a_byte, truncate, swap, remove, edit_a_setting, cut_the_manifest, remove_the_manifest]
)
def test_damage_is_refused_with_the_remedy(damage, federation: Federation, tmp_path: Path) -> None:
    save(federation, tmp_path, SETTINGS)
    damage(tmp_path)
    with pytest.raises(UserError) as refusal:
        load(tmp_path)
    message = str(refusal.value)
    assert message.endswith(f"rebuild it with: snakemake --cores 1 --force {tmp_path}/manifest.json")
    assert "\n" not in message


def test_pickled_arrays_are_neither_written_nor_read(federation: Federation, tmp_path: Path) -> None:
    objects = np.array([{"any": "object"}], dtype=object)
    with pytest.raises(ValueError, match=r"[Oo]bject arrays"):
        save(Federation(federation.clients, federation.test, {"bad": objects}), tmp_path, SETTINGS)
    assert list(tmp_path.iterdir()) == []
    buffer = io.BytesIO()
    np.savez(buffer, bad=objects)
    save(federation, tmp_path, SETTINGS)
    (tmp_path / "federation.npz").write_bytes(buffer.getvalue())
    with pytest.raises(UserError, match="is not the file that its manifest describes"):
        load(tmp_path)


def build_my_own(settings, ratio, seed, raw) -> Federation:
    return Federation(clients=(block(settings["rows"], seed),), test=block(1, seed), meta={"ratio": ratio})


def test_a_data_set_of_ones_own_is_found_by_module_and_function() -> None:
    trust.allow("data set", f"{__name__}:build_my_own")
    made = build({"kind": f"{__name__}:build_my_own", "rows": 6}, 0.5, seed=3)
    assert made.counts.tolist() == [6]
    assert made.meta == {"ratio": 0.5}


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("syntetic", "syntetic: there is no module eflops.data.syntetic"),
        ("nowhere:build", "nowhere:build: this data set is not part of eflops"),
        ("json:build", "json:build: this data set is not part of eflops"),
    ],
)
def test_a_data_set_that_is_not_there_is_named(kind: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        build({"kind": kind}, None, seed=0)


@pytest.mark.parametrize("key", ["settings", "meta", "clients", "arrays", "sha256"])
def test_a_forged_manifest_that_lacks_a_part_is_named(tmp_path: Path, key: str) -> None:
    save(Federation(clients=(block(4, 0),), test=block(2, 1), meta={}), tmp_path, {})
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    for value in (None, 3):
        forged = {name: part for name, part in {**manifest, key: value}.items() if name != "manifest_sha256"}
        forged["manifest_sha256"] = sha256_bytes(canonical_json(forged).encode())
        (tmp_path / "manifest.json").write_text(json.dumps(forged))
        with pytest.raises(UserError, match=f"manifest.json has no .* {key}"):
            load(tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: Block(rows.x[:, :2], rows.y), "x of client 0 is float32 of shape"),
        (lambda rows: Block(rows.x.astype(np.float64), rows.y), "x of client 0 is float64 of shape"),
        (lambda rows: Block(rows.x, np.stack([rows.y, rows.y], 1)), "y of client 0 is int64 of shape"),
        (lambda rows: Block(rows.x, rows.y.astype(np.float16)), "y of client 0 is float16 of shape"),
    ],
)
def test_arrays_that_compiled_code_would_read_beyond_their_ends_are_refused(
    change: Callable[[Block], Block], words: str, federation: Federation, tmp_path: Path
) -> None:
    """Whoever forged them wrote their hashes too."""
    first, *others = federation.clients
    save(replace(federation, clients=(change(first), *others)), tmp_path, SETTINGS)
    with pytest.raises(UserError, match=f"is no federation: {words}"):
        load(tmp_path)
