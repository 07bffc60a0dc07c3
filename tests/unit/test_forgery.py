"""A forger who writes every hash again is found out all the same, as far as records and data can contradict him."""

import base64
import csv
import io
import json
import math
import re
import shutil
import subprocess
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

import small_results as study_of_its_own
from eflops.cli import main
from eflops.config import study
from eflops.config.jobs import training_jobs
from eflops.config.load import check
from eflops.data.federation import Federation, load, read_manifest, save
from eflops.errors import UserError
from eflops.explorer.make import make, page_of
from eflops.files import sha256_bytes
from eflops.provenance.audit.audit import Options, audit
from eflops.provenance.audit.records import examine
from eflops.provenance.audit.results import contradictions
from eflops.provenance.audit.sample import sample
from eflops.provenance.audit.study import check_study
from eflops.provenance.publish import publish
from eflops.results import checksums, record
from eflops.results.findings import Finding
from eflops.results.paths import SPEC
from eflops.results.store import RECORDS, opened, pack

CELL = "runs/support_recovery/nd0.64/eflops/base"
RECORD = f"{CELL}/draw0-seed1.json"
ALL = Options(every=True, cores=1, pictures=False)


def forge(results: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a record's result and write its hashes again."""
    entry = record.read(results / RECORD)
    values = entry.result.model_dump(mode="json")
    change(values)
    result = record.Result.model_validate(values)
    record.write(
        results / RECORD, entry.model_copy(update={"result": result, "result_sha256": record.result_hash(result)})
    )


def findings_of(results: Path, options: Options = ALL) -> list[Finding]:
    return audit(results, options).findings


def raise_r2(result: dict[str, Any]) -> None:
    result["metrics"]["r2"] = 0.98


def raise_r2_and_curve(result: dict[str, Any]) -> None:
    raise_r2(result)
    result["curve"]["metrics"]["r2"][-1] = 0.98


def test_a_metric_that_the_runs_own_curve_contradicts(results: Path) -> None:
    forge(results, raise_r2)
    assert any("r2 is 0.98, but its curve ends with" in finding.what for finding in findings_of(results))


def test_a_metric_that_the_runs_own_weights_contradict(results: Path) -> None:
    forge(results, raise_r2_and_curve)
    (finding,) = [finding for finding in findings_of(results) if "its weights give" in finding.what]
    assert finding.path == RECORD
    assert finding.what.startswith("r2 is 0.98, and its weights give ")


def test_weights_are_computed_again_where_the_arrays_are_not_published(small_results: Path, tmp_path: Path) -> None:
    results = Path(shutil.copytree(small_results, tmp_path / "results"))
    forge(results, raise_r2_and_curve)
    publish(results, tmp_path / "published")
    assert any("its weights give" in finding.what for finding in findings_of(tmp_path / "published"))


def test_every_sound_record_agrees_with_its_weights(small_results: Path) -> None:
    report = audit(small_results, ALL)
    assert report.findings == []
    assert "metrics of 24 of 24 records re-evaluated from their weights" in str(report)


def test_a_sample_is_computed_again_by_default_and_its_seed_is_told(small_results: Path) -> None:
    report = audit(small_results, Options(cores=1, pictures=False, seed=3, seconds=0))
    assert "metrics of 1 of 24 records re-evaluated from their weights (repeat with --weights 1 --seed 3)" in str(
        report
    )
    assert sample(range(100), 5, 3) == sample(range(100), 5, 3) != sample(range(100), 5, 4)
    assert set(sample(range(100), 5, 3)) < set(sample(range(100), 9, 3))


def test_a_record_copied_from_another_seed(results: Path) -> None:
    other = record.read(results / f"{CELL}/draw0-seed2.json").result.model_dump(mode="json")
    forge(results, lambda result: result.update(other))
    assert any("it has the same weights as support_recovery/nd0.64" in finding.what for finding in findings_of(results))


def test_jobs_files_that_records_or_config_contradict(results: Path) -> None:
    config = check(study_of_its_own.CONFIG)
    (job, spec) = next((job, spec) for job, spec in training_jobs(config) if job.job.endswith("nd0.64/eflops"))
    (results / job.cell).parent.mkdir(parents=True)
    hashes = {run.path: record.read(results / job.runs / run.path).record_sha256 for run in spec.runs}
    (results / job.cell).write_text(json.dumps({"records": hashes}))
    path = results / SPEC.format(job=job.job)
    path.parent.mkdir(parents=True)
    path.write_text(job.text)
    assert findings_of(results) == []
    (results / job.cell).write_text(json.dumps({"records": {**hashes, "base/draw0-seed1.json": "0" * 64}}))
    path.write_text(json.dumps({**json.loads(job.text), "density": 0.7}))
    (results / "specs/train/other.json").write_text("{}")
    whats = {finding.path: finding.what for finding in findings_of(results)}
    assert "base/draw0-seed1.json has the hash " in whats[job.cell]
    assert whats[path.relative_to(results).as_posix()] == "density is 0.7, and the config says 0.1"
    assert whats["specs/train/other.json"] == "the config does not ask for it"


def test_a_file_that_nothing_accounts_for(results: Path) -> None:
    (results / "evil.sh").write_text("")
    (results / "logs").mkdir()
    (results / "logs/anything.log").write_text("")
    assert [finding.path for finding in findings_of(results)] == ["evil.sh"]


def test_a_page_that_shows_other_numbers(results: Path) -> None:
    make([str(results)])
    page = results / "explorer.html"
    options = replace(ALL, weights=0, every=False, page=lambda folder, _: page_of(folder, str(results)))
    assert findings_of(results, options) == []
    (part,) = re.findall(r'id="part-index">([^<]+)<', page.read_text())
    text = zlib.decompress(base64.b64decode(part)).decode()
    forged = base64.b64encode(zlib.compress(text.replace("E-FLoPS", "Magic", 1).encode(), 9)).decode()
    page.write_text(page.read_text().replace(part, forged))
    (finding,) = findings_of(results, options)
    assert finding.path == "explorer.html"
    assert "Magic" in finding.what


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda result: result["curve"]["round"].pop(), "not equally long"),
        (lambda result: result.update(status="diverged", diverged_round=3), "but has final metrics"),
        (lambda result: result["support"].reverse(), "not a sorted list of distinct weights"),
        (lambda result: result["weights"].pop(), "weights for a support of"),
        (lambda result: result["weights"].__setitem__(0, 1.5), "do not match the hash that it states"),
        (lambda result: result["metrics"].update(luck=7.0), "luck is 7.0, but its curve ends with None"),
        (
            lambda result: result["curve"]["round"].__setitem__(1, 3),
            "that its settings require (('training', 3)",
        ),
        (lambda result: result.update(diverged_round=3), "it finished, and its round of divergence is 3"),
        (lambda result: result["macs"].update(weights=5), "it states 5 operations, but keeps 6 weights"),
        (lambda result: result["dense_macs"].update(weights=5), "it states 5 dense operations for 64 weights"),
        (lambda result: result["traffic"]["training"].update(messages=2), "it states 2 messages of training; 6 rounds"),
        (
            lambda result: result["traffic"]["finetuning"].update(up=2),
            "messages of its support have",
        ),
        (lambda result: result["traffic"]["training"].update(up=10**6), "its messages have at most"),
    ],
)
def test_a_result_that_contradicts_itself(small_results: Path, change: Callable[[Any], Any], words: str) -> None:
    entry = record.read(small_results / RECORD)
    values = entry.result.model_dump(mode="json")
    change(values)
    changed = entry.model_copy(update={"result": record.Result.model_validate(values)})
    assert any(words in what for what in contradictions(changed, clients=3))
    assert not list(contradictions(entry, clients=3))


@pytest.mark.parametrize(
    ("keys", "value", "words"),
    [
        (("result", "metrics", "r2"), math.nan, "this is not a valid run record"),
        (("origin", "settings", "rate"), math.inf, "this is not a valid run record"),
        (("result", "parameters"), 10**12, "this is not a valid run record"),
        (("origin", "settings", "rounds"), 10**12, "its curve does not have the points that its settings require"),
        (("origin", "job", "evaluate_every"), 0, "its result cannot be read"),
    ],
)
def test_no_number_in_a_record_stops_an_audit_or_fills_the_memory(
    results: Path, keys: tuple[str, ...], value: float, words: str
) -> None:
    values = json.loads((results / RECORD).read_text())
    *above, last = keys
    reduce(lambda part, key: part[key], above, values)[last] = value
    for name, part in (("result_sha256", values["result"]), ("record_sha256", values)):
        rest = {key: each for key, each in part.items() if key != "record_sha256"}
        values[name] = sha256_bytes(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode())
    (results / RECORD).write_text(json.dumps(values))
    with opened(results) as store:
        examined, _ = examine(store, check(study_of_its_own.CONFIG), "support_recovery", store.record_paths())
    assert any(finding.path == RECORD and words in finding.what for finding in examined.findings)
    assert examined.records >= 23


def test_a_paper_number_changed_in_the_published_targets(published: Path) -> None:
    targets = published / "targets.yaml"
    targets.write_text(targets.read_text().replace("[0.626, 0.060]", "[0.726, 0.060]", 1))
    checksums.write(published)
    words = "support_recovery.rows.0.64.eflops.1 is 0.726, and the project's resources/paper/targets.yaml says 0.626"
    assert Finding("different", "targets.yaml", words) in findings_of(published)


def test_a_module_hash_changed_in_the_study(results: Path) -> None:
    stored = json.loads((results / study.STUDY).read_text())
    stored["code"]["eflops.training.train"] = "0" * 16
    study.seal({key: value for key, value in stored.items() if key != study.OWN_HASH}, results / study.STUDY)
    assert any("eflops.training.train is 0000" in finding.what for finding in findings_of(results))


def test_data_settings_that_the_study_does_not_say(results: Path) -> None:
    stored = json.loads((results / study.STUDY).read_text())
    stored["config"]["datasets"]["synthetic"]["snr"] = 21.0
    study.seal({key: value for key, value in stored.items() if key != study.OWN_HASH}, results / study.STUDY)
    assert any("snr is 20.0, and the config says 21.0" in finding.what for finding in findings_of(results))


def test_a_training_time_of_a_cell_that_there_is_not(published: Path) -> None:
    with (published / "benchmarks.csv").open("a") as stream:
        stream.write("train/support_recovery/nd0.99/eflops,1,1,1\ntrain/support_recovery/nd0.64/flops,-1,1,1\n")
    whats = [finding.what for finding in findings_of(published) if finding.path == "benchmarks.csv"]
    assert any("nd0.99/eflops: the config has no such cell" in what for what in whats)
    assert any("its numbers are not valid times" in what for what in whats)


def flips(folder: Path) -> list[tuple[str, int]]:
    """One place in every kind of file: a digit in its middle, or a byte of a picture."""
    chosen = []
    for name in checksums.files(folder):
        data = (folder / name).read_bytes()
        digits = [offset for offset in range(len(data) // 2, len(data)) if chr(data[offset]).isdigit()]
        chosen.append((name, digits[0] if digits and not name.endswith((".png", ".pdf", ".gz")) else len(data) // 2))
    return chosen


def test_any_flip_is_found_although_the_list_of_hashes_was_written_again(published: Path) -> None:
    """A second witness: the study holds a hash of the list of all other files, and one of itself."""
    for name, offset in flips(published):
        path = published / name
        data = path.read_bytes()
        changed = bytearray(data)
        changed[offset] ^= 1
        path.write_bytes(changed)
        checksums.write(published)
        assert noticed(published), f"{name}, byte {offset}"
        path.write_bytes(data)


def noticed(folder: Path) -> bool:
    """Whether the study contradicts itself or the files beside it, or cannot be read any more."""
    try:
        with opened(folder) as store:
            return bool(list(check_study(store, study.read_study(folder))))
    except UserError:
        return True


@pytest.mark.parametrize(
    "name", ["study.json", "targets.yaml", "gathered/support_recovery.references.csv", "scorecard.json"]
)
def test_a_byte_that_is_no_text_stops_no_audit(published: Path, name: str) -> None:
    path = published / name
    path.write_bytes(b"\xff" + path.read_bytes())
    findings = findings_of(published)
    assert Finding("damaged", name, "its bytes do not match SHA256SUMS") in findings


def test_broken_yaml_stops_no_audit(published: Path) -> None:
    (published / "targets.yaml").write_text("claims: [1\n")
    findings = findings_of(published)
    assert Finding("damaged", "targets.yaml", "its bytes do not match SHA256SUMS") in findings
    assert any("not a text file of the paper's numbers" in finding.what for finding in findings)


def test_results_of_a_config_that_has_changed_since(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = json.loads(json.dumps(study_of_its_own.CONFIG))
    raw["methods"]["eflops"]["settings"]["rate"] = 0.01
    (results.parent / "config.yaml").write_text(json.dumps(raw))
    monkeypatch.chdir(results.parent)
    (finding,) = [finding for finding in findings_of(results) if finding.kind == "stale"]
    assert "variants.base.rate is 0.05 in these results and 0.01 in config.yaml" in finding.what


def test_a_config_of_another_folder_is_not_compared(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = {**json.loads(json.dumps(study_of_its_own.CONFIG)), "results": "elsewhere"}
    raw["methods"]["eflops"]["settings"]["rate"] = 0.01
    (results.parent / "config.yaml").write_text(json.dumps(raw))
    monkeypatch.chdir(results.parent)
    assert findings_of(results) == []


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """An ssh key without a passphrase."""
    path = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    return path


def test_a_signature_holds_until_the_list_is_written_again(results: Path, tmp_path: Path, key: Path) -> None:
    out = tmp_path / "signed"
    publish(results, out, key=key)
    assert findings_of(out) == []
    signer = checksums.signer(out)
    assert signer.startswith("SHA256:")
    assert findings_of(out, replace(ALL, signer=signer)) == []
    other = Finding("damaged", "SHA256SUMS.sig", f"the folder is signed by the key {signer}, not by SHA256:other")
    assert findings_of(out, replace(ALL, signer="SHA256:other")) == [other]
    with (out / "summary.md").open("a") as stream:
        stream.write("more\n")
    checksums.write(out)
    assert Finding("damaged", "SHA256SUMS.sig", "it is not a signature of SHA256SUMS") in findings_of(out)


def test_a_signature_that_disappeared(results: Path, tmp_path: Path, key: Path) -> None:
    publish(results, tmp_path / "signed", key=key)
    (tmp_path / "signed/SHA256SUMS.sig").unlink()
    (finding,) = findings_of(tmp_path / "signed", replace(ALL, every=False, weights=0))
    assert finding.what.endswith("but the signature is missing")


def test_two_records_of_one_run_are_refused(results: Path, tmp_path: Path) -> None:
    pack(results / "runs", ["support_recovery", "support_recovery"], results / RECORDS)
    with pytest.raises(Exception, match=r"contains .* twice"), opened(results):
        pass


def test_several_processes_find_the_same(results: Path) -> None:
    table = results / "tables/support_recovery.csv"
    rows = list(csv.reader(io.StringIO(table.read_text())))
    rows[1][-1] = "77"
    table.write_text("\n".join(",".join(row) for row in rows) + "\n")
    one, two = (findings_of(results, Options(cores=cores, pictures=False, seed=1)) for cores in (1, 2))
    assert one == two != []


def forge_data(results: Path, change: Callable[[Federation], Federation]) -> None:
    """Change the arrays or facts of a draw, and write the hashes of its manifest and of the records again."""
    folder = results / "data/synthetic/nd0.64-draw0"
    settings = read_manifest(folder)["settings"]
    save(change(load(folder)), folder, settings)
    digest = read_manifest(folder)["sha256"]
    for path in results.glob("runs/*/nd0.64/*/*/draw0-*.json"):
        entry = record.read(path)
        record.write(path, entry.model_copy(update={"origin": entry.origin.model_copy(update={"data_sha256": digest})}))


def without_noise(federation: Federation) -> Federation:
    """Easier data than the settings say."""
    truth = federation.truth["support"]
    blocks = [replace(block, y=block.x[:, truth].sum(axis=1)) for block in (*federation.clients, federation.test)]
    return replace(federation, clients=tuple(blocks[:-1]), test=blocks[-1])


def with_other_facts(federation: Federation) -> Federation:
    """Errors are printed in the unit of the target."""
    return replace(federation, meta={**federation.meta, "target": {"name": "y", "centre": 0.0, "spread": 0.1}})


@pytest.mark.parametrize("change", [without_noise, with_other_facts])
def test_data_that_their_settings_do_not_give(
    results: Path, change: Callable[[Federation], Federation], capsys: pytest.CaptureFixture[str]
) -> None:
    """Runs that were trained on forged data are reproduced on them."""
    forge_data(results, change)
    whats = [finding.what for finding in findings_of(results) if finding.path == "data/synthetic/nd0.64-draw0"]
    assert any("it cannot be rebuilt from its settings" in what for what in whats)
    for options in ([], ["--weights"]):
        assert main(["verify", str(results / RECORD), *options]) == 1
        assert "different: " in capsys.readouterr().out
