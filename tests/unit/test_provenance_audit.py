"""Whatever is changed after a run, the audit finds it and names it."""

import gzip
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from eflops.cli import main
from eflops.errors import UserError
from eflops.provenance.audit import records
from eflops.provenance.audit.audit import Options, audit
from eflops.results import record
from eflops.results.findings import Finding

CELL = "runs/support_recovery/nd0.64/eflops/base"
RECORD = f"{CELL}/draw0-seed1.json"

GATES = "eflops.training.numerics.gates"


def findings_at(folder: Path, kind: str, path: str) -> list[Finding]:
    """The findings of a kind at a path."""
    report = audit(folder, Options(pictures=False, cores=1))
    return [finding for finding in report.findings if finding.kind == kind and finding.path == path]


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def edit_json(path: Path, change: Callable[[dict], None]) -> None:
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def change_digit(path: Path, line: int) -> None:
    """Change the last digit of a line of a file."""
    lines = path.read_text().splitlines(keepends=True)
    index = max(index for index, letter in enumerate(lines[line]) if letter.isdigit())
    digit = str((int(lines[line][index]) + 1) % 10)
    lines[line] = lines[line][:index] + digit + lines[line][index + 1 :]
    path.write_text("".join(lines))


def test_untouched_results_have_no_findings(small_results: Path, small_published: Path) -> None:
    for folder in (small_results, small_published):
        report = audit(folder)
        assert report.findings == []
        assert report.records == 24
        assert report.rebuilt >= 2


def test_a_digit_changed_in_a_record(results: Path) -> None:
    def worse(entry: dict) -> None:
        entry["result"]["metrics"]["r2"] += 0.001

    edit_json(results / RECORD, worse)
    assert "its own hash" in findings_at(results, "damaged", RECORD)[0].what


def test_a_run_made_with_another_setting_than_the_config_says(results: Path) -> None:
    entry = record.read(results / RECORD)
    settings = {**entry.origin.settings, "rho_init": 0.6}
    other = entry.model_copy(update={"origin": entry.origin.model_copy(update={"settings": settings})})
    record.write(results / RECORD, other)
    (finding,) = findings_at(results, "different", RECORD)
    assert finding.what == "settings.rho_init is 0.6, and the config of support_recovery says 0.5"


def test_a_digit_changed_outside_the_result(results: Path) -> None:
    edit_json(results / RECORD, lambda entry: entry["circumstances"].update(wall_seconds=0.001))
    assert findings_at(results, "damaged", RECORD)


def test_a_record_cut_short(results: Path) -> None:
    path = results / RECORD
    path.write_bytes(path.read_bytes()[:500])
    assert findings_at(results, "damaged", RECORD)


def test_a_record_with_an_unknown_key(results: Path) -> None:
    edit_json(results / RECORD, lambda entry: entry.update(comment="nice run"))
    assert findings_at(results, "damaged", RECORD)


def test_a_record_swapped_for_another_seeds(results: Path) -> None:
    shutil.copyfile(results / CELL / "draw0-seed2.json", results / RECORD)
    (finding,) = findings_at(results, "damaged", RECORD)
    assert finding.what == "it holds the record of support_recovery/nd0.64/eflops/base/draw0-seed2.json"


def test_a_record_removed_and_what_cannot_be_made_without_it(results: Path) -> None:
    (results / RECORD).unlink()
    assert findings_at(results, "missing", RECORD)
    assert "records of support_recovery" in findings_at(results, "different", "tables/support_recovery")[0].what


def test_a_record_that_nothing_accounts_for(results: Path) -> None:
    shutil.copyfile(results / RECORD, results / CELL / "draw0-seed9.json")
    assert findings_at(results, "unexpected", f"{CELL}/draw0-seed9.json")


def test_a_digit_changed_in_a_table(results: Path) -> None:
    path = "tables/support_recovery.csv"
    edit(results / path, "0.64,eflops,0.", "0.64,eflops,1.")
    (finding,) = findings_at(results, "different", path)
    assert finding.what.startswith("row 1 (0.64, eflops, 0.")
    assert "mean: the file has 1." in finding.what


@pytest.mark.parametrize("suffix", ["md", "tex", "html"])
def test_a_digit_changed_in_a_tables_other_forms(results: Path, suffix: str) -> None:
    path = f"tables/support_recovery.{suffix}"
    edit(results / path, "0.64", "0.65")
    assert findings_at(results, "different", path)


def test_the_last_digit_changed_in_a_figures_numbers(results: Path) -> None:
    path = "figures/fig1b.csv"
    change_digit(results / path, line=1)
    assert ", the records give" in findings_at(results, "different", path)[0].what


def test_a_figure_drawn_from_other_numbers(results: Path) -> None:
    edit(results / "figures/fig1b.svg", "data sha256 ", "data sha256 0")
    assert findings_at(results, "different", "figures/fig1b.svg")


def test_a_picture_painted_over_is_found_by_drawing_it_again(results: Path) -> None:
    edit(results / "figures/fig1b.svg", "stroke-width", "stroke-wedth")
    assert audit(results, Options(pictures=False)).findings == []
    (finding,) = audit(results).findings
    assert finding.path == "figures/fig1b.svg"


def test_a_digit_changed_in_gathered_runs(results: Path) -> None:
    path = "gathered/support_recovery.csv"
    edit(results / path, "finished,", "diverged,")
    assert "status: the file has diverged, the records give finished" in findings_at(results, "different", path)[0].what


def test_a_byte_changed_in_a_data_file(results: Path) -> None:
    path = "data/synthetic/nd0.64-draw0/federation.npz"
    data = bytearray((results / path).read_bytes())
    data[len(data) // 2] ^= 1
    (results / path).write_bytes(data)
    assert findings_at(results, "damaged", path)


def test_a_manifest_changed_and_its_records(results: Path) -> None:
    path = "data/synthetic/nd0.64-draw0/manifest.json"
    edit(results / path, '"snr": 20.0', '"snr": 21.0')
    assert findings_at(results, "damaged", path)


def test_data_made_again_with_other_settings(results: Path) -> None:
    other, here = results / "data/synthetic/nd1.00-draw0", results / "data/synthetic/nd0.64-draw0"
    for name in ("manifest.json", "federation.npz"):
        shutil.copyfile(other / name, here / name)
    assert (
        findings_at(results, "different", RECORD)[0].what
        == "it was trained on other data than data/synthetic/nd0.64-draw0 names"
    )


def test_a_reference_that_fits_other_data_or_is_not_what_fitting_gives(results: Path) -> None:
    path = "gathered/support_recovery.references.csv"
    table = pd.read_csv(results / path)
    table.assign(support_recovery=0.99).to_csv(results / path, index=False)
    assert "support_recovery of lasso on data/synthetic/nd0.64-draw0 is 0.99, and fitted again" in "\n".join(
        finding.what for finding in findings_at(results, "different", path)
    )
    table.assign(data_sha256="0" * 64).to_csv(results / path, index=False)
    assert (
        "a fit is to other data than data/synthetic/nd0.64-draw0 names"
        in findings_at(results, "different", path)[0].what
    )


def test_a_number_changed_in_the_closing_summary(results: Path) -> None:
    edit(results / "summary.md", "Table 1's 28 numbers", "Table 1's 27 numbers")
    (finding,) = findings_at(results, "different", "summary.md")
    assert "Table 1's 27 numbers" in finding.what


def test_a_verdict_changed_in_the_scorecard(results: Path) -> None:
    edit(results / "scorecard.json", '"verdict": "not judged"', '"verdict": "agrees"')
    assert "the file has 'agrees'" in findings_at(results, "different", "scorecard.json")[0].what


def test_a_module_edited_after_the_run_is_named(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    true = records.training_hashes
    monkeypatch.setattr(
        records,
        "training_hashes",
        lambda *names: {**true(*names), GATES: "edited", "eflops.mine": "new"},
    )
    findings = audit(results).findings
    assert {finding.kind for finding in findings} == {"stale"}
    assert any("12 records" in finding.what and f"{GATES} changed" in finding.what for finding in findings)
    assert all("eflops.mine" in finding.what for finding in findings)


def test_a_packed_record_changed_with_its_hash_list_left_alone(published: Path) -> None:
    packed = published / "records.jsonl.gz"
    text = gzip.decompress(packed.read_bytes()).decode().replace('"seed":0', '"seed":7', 1)
    packed.write_bytes(gzip.compress(text.encode(), mtime=0))
    places = {finding.path for finding in audit(published).findings if finding.kind == "damaged"}
    assert places >= {"records.jsonl.gz"}
    assert len(places - {"study.json"}) == 2


def test_a_packed_file_that_is_no_longer_one_is_named(published: Path) -> None:
    (published / "records.jsonl.gz").write_bytes(b"nothing of the kind")
    assert findings_at(published, "damaged", "records.jsonl.gz")


def test_the_command_tells_by_its_exit_code(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(results)]) == 0
    assert capsys.readouterr().out.endswith("no problems found.\n")
    (results / RECORD).unlink()
    assert main(["audit", str(results)]) == 1
    assert f"missing: {RECORD}: the config asks for it\n" in capsys.readouterr().out


def test_stale_records_alone_may_be_allowed(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    true = records.training_hashes
    monkeypatch.setattr(records, "training_hashes", lambda *names: {**true(*names), GATES: "edited"})
    codes = [main(["audit", str(results), *option]) for option in ([], ["--allow-stale"])]
    assert codes == [1, 0]


def test_a_folder_that_holds_no_results_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no study\.json"):
        audit(tmp_path)


def test_an_audit_does_not_load_torch(small_results: Path) -> None:
    program = "import sys; from eflops.cli import main; main(['audit', sys.argv[1]]); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program, str(small_results)], capture_output=True).returncode == 0
