"""The explorer as a person uses it: open, click a number, read its runs, open one, copy a command, follow a link."""

import json
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
import yaml

from eflops.analysis.table import MINUS
from eflops.cli import main
from eflops.results.record import read
from explorer.browser import Browser
from explorer.conftest import DRAWS, MARKUP, SEEDS, TABLE

CELL = "#tables/support_recovery?ratio=0.64&method=eflops&cell=mean"
RUN = "support_recovery/nd0.64/eflops/base/draw0-seed3"
SEEDS_OF_DRAWS = [str(seed) for _ in DRAWS for seed in range(SEEDS)]


def click(browser: Browser, selector: str, text: str = "") -> None:
    """Click what a person would see, and wait for the view that it leads to."""
    browser.evaluate("document.documentElement.dataset.shown = 'nothing yet'")
    clicked = browser.evaluate(
        f"""(() => {{
            const all = [...document.querySelectorAll({json.dumps(selector)})];
            const one = all.find((each) => !{json.dumps(text)} || each.textContent.trim() === {json.dumps(text)});
            one?.dispatchEvent(new MouseEvent("click", {{bubbles: true, cancelable: true}}));
            return one !== undefined;
        }})()"""
    )
    assert clicked, f"nothing to click at {selector} {text}"
    browser.wait("document.documentElement.dataset.shown !== 'nothing yet'")


def go(browser: Browser, fragment: str) -> None:
    """Follow a link to a view."""
    browser.evaluate("document.documentElement.dataset.shown = 'nothing yet'")
    browser.evaluate(f"location.hash = {json.dumps(fragment)}")
    browser.wait("document.documentElement.dataset.shown !== 'nothing yet'")


def text(browser: Browser, selector: str = "#view") -> str:
    return str(browser.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))


def column(browser: Browser, caption: str, index: int) -> list[str]:
    """A column of the table whose caption holds some words."""
    named = f"(each) => each.caption?.innerText.includes({json.dumps(caption)})"
    table = f"[...document.querySelectorAll('#view table')].find({named})"
    return list(browser.evaluate(f"[...{table}.tBodies[0].rows].map((row) => row.cells[{index}].innerText.trim())"))


def test_the_home_page_has_verdicts_claims_findings_and_all_tables_and_figures(browser: Browser, study: Path) -> None:
    made = {path.stem for kind in ("tables", "figures") for path in (study / kind).glob("*.csv")}
    linked = browser.evaluate("[...document.querySelectorAll('.gallery a')].map((a) => a.hash.split('/')[1])")
    assert set(linked) == made
    summary = json.loads((study / "summary.json").read_text())
    headlines = [point["headline"] for point in summary["headlines"]]
    headlines.remove("Reproduction")
    shown = browser.evaluate("[...document.querySelectorAll('.headlines dt')].map((term) => term.innerText)")
    assert shown == headlines
    claims = browser.evaluate("[...document.querySelectorAll('#home .claims tbody th')].map((head) => head.innerText)")
    assert claims == [claim["short"] for claim in summary["claims"]]
    browser.wait("[...document.querySelectorAll('img.thumb')].every((image) => image.naturalWidth > 0)")


def test_a_number_of_a_table_opens_to_its_thirty_runs(browser: Browser, study: Path) -> None:
    click(browser, ".gallery a[href='#tables/support_recovery']")
    numbers = pd.read_csv(study / TABLE).set_index(["ratio", "method"])
    mean = numbers.loc[(0.64, "eflops"), "mean"]
    click(browser, "#view td a", f"{mean:.3f}")
    assert browser.evaluate("location.hash") == CELL
    assert float(text(browser, ".value")) == pytest.approx(mean, rel=1e-3)
    assert column(browser, "30 runs", 0) == SEEDS_OF_DRAWS
    values = [float(value) for value in column(browser, "30 runs", 3)]
    assert sum(values) / 30 == pytest.approx(mean, rel=1e-3)
    assert browser.evaluate("document.querySelectorAll('#view .chart a[*|href]').length") == 30
    paper = re.search(r"the paper's\s+([\d.]+)", text(browser))
    assert paper
    assert paper[1] == "0.626"


def test_a_run_is_found_by_its_path_with_and_without_its_ending(browser: Browser) -> None:
    for ending in ("", ".json"):
        go(browser, f"#run/{RUN}{ending}")
        assert "draw 0, seed 3" in text(browser, "#view h1")


def test_a_seed_opens_its_run_with_its_curve_and_record(browser: Browser, study: Path) -> None:
    go(browser, CELL)
    click(browser, "#view tbody th a", "3")
    record = read(study / f"runs/{RUN}.json")
    lines = "[...document.querySelectorAll('#view .chart [aria-label=line] path')]"
    assert browser.evaluate(f"{lines}.length") == 30
    assert "In grey: 29 other runs" in text(browser)
    assert f"{len(record.result.support)} of {record.result.parameters:,}" in text(browser)
    browser.evaluate("document.querySelector('#view details').open = true")
    browser.wait("document.querySelector('#view pre').textContent.length > 100")
    shown = json.loads(browser.evaluate("document.querySelector('#view pre').textContent"))
    stored = json.loads(record.model_dump_json())
    assert shown["result"].pop("curve")["round"] == stored["result"].pop("curve")["round"]
    weights = [float(f"{weight:.4g}") for weight in stored["result"].pop("weights")]
    assert shown["result"].pop("weights") == pytest.approx(weights)
    assert shown == stored


def test_true_and_false_positives_add_up_to_the_recovery(browser: Browser, study: Path) -> None:
    go(browser, f"#run/{RUN}")
    record = read(study / f"runs/{RUN}.json")
    counts = re.search(r"Of (\d+) true features (\d+) were found", text(browser))
    assert counts
    assert int(counts[2]) / int(counts[1]) == pytest.approx(record.result.metrics["support_recovery"])


@pytest.mark.parametrize("verb", ["explain", "verify"])
def test_the_command_that_is_copied_says_what_the_page_says(
    browser: Browser, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    go(browser, CELL)
    command = browser.evaluate(
        f"[...document.querySelectorAll('.command code')].find((c) => c.innerText.includes('{verb}')).innerText"
    )
    browser.evaluate("Explorer.copy = async (text) => { window.copied = text; }")
    browser.evaluate(f"document.querySelector('.command button[aria-label*={verb}]').click()")
    browser.wait("window.copied !== undefined")
    assert browser.evaluate("window.copied") == command
    assert main([*shlex.split(command)[1:], *(["--json"] if verb == "explain" else [])]) == 0
    said = capsys.readouterr().out
    if verb == "explain":
        explanation = json.loads(said)
        assert [f"{run['value']:.4g}" for run in explanation["runs"]] == column(browser, "30 runs", 3)
        assert [run["result_sha256"][:12] for run in explanation["runs"]] == column(browser, "30 runs", 4)
        assert explanation["formula"] in text(browser)


def test_a_tile_opens_the_lines_behind_it(browser: Browser, study: Path) -> None:
    lines = json.loads((study / "scorecard.json").read_text())["lines"]
    missing = [line for line in lines if line["verdict"] == "not judged"]
    click(browser, ".tile.not-judged")
    assert browser.evaluate("document.querySelectorAll('#view tbody tr').length") == len(missing)
    click(browser, "#view tbody a")
    assert browser.evaluate("location.hash").startswith("#scorecard?line=")
    go(browser, "#")
    click(browser, "#home .counts a")
    assert "section=Table+1" in browser.evaluate("location.hash")


def test_a_number_shows_the_interval_that_decides_its_verdict(browser: Browser, study: Path) -> None:
    go(browser, CELL)
    lines = json.loads((study / "scorecard.json").read_text())["lines"]
    value = next(line for line in lines if line["id"] == "table1/0.64/eflops")["ours"][0]
    title = browser.evaluate("document.querySelector('#view .chart [aria-label=dot] title').textContent")
    low, high = (f"{value[end]:.4g}" for end in ("low", "high"))
    assert f"({low} to {high})".replace("-", MINUS) in title
    assert "over the runs" in text(browser)
    assert "of the means of 3 draws" in text(browser)


def test_the_config_is_shown_whole(browser: Browser) -> None:
    click(browser, ".top nav a", "Config")
    sections = browser.evaluate("[...document.querySelectorAll('#view pre')].map((pre) => pre.textContent).join('')")
    assert yaml.safe_load(sections)["engine"] == "batched"
    for name in ("support_recovery", "min_rows", "finetune_rounds", "rates"):
        assert name in sections


def test_commands_name_the_folder_that_the_page_lies_in(browser: Browser, page: Path) -> None:
    assert browser.evaluate("Explorer.folder({inside: true, results: 'x'})") == str(page.resolve().parent)
    assert browser.evaluate("Explorer.folder({inside: false, results: 'x'})") == "x"


def test_a_line_of_the_scorecard_opens_to_its_runs(browser: Browser) -> None:
    click(browser, "#home td[data-id='table1/0.64/eflops'] a")
    assert column(browser, "30 runs", 0) == SEEDS_OF_DRAWS
    assert "--line table1/0.64/eflops" in text(browser)


def test_a_point_of_a_figure_opens_to_its_runs(browser: Browser) -> None:
    go(browser, "#figures/fig1b")
    browser.wait("document.querySelector('.picture img').naturalWidth > 0")
    click(browser, "#view .chart a")
    assert "figures/fig1b" in browser.evaluate("location.hash")
    assert "30, of which 0 diverged" in text(browser)


def test_every_number_of_every_table_and_figure_leads_somewhere(browser: Browser) -> None:
    """What `explain` traces to runs is a link on the page, and every link finds its cell."""
    lost = browser.evaluate("""Promise.all([Explorer.part("index"), Explorer.part("runs")]).then(([index, runs]) =>
        index.products.flatMap((product) => product.rows.flatMap((_, row) => product.columns.flatMap((_, column) => {
            if (product.behind[row][column] === null) return [];
            const address = Explorer.cellAddress(product, row, column);
            const own = Explorer.behind(index, runs, product.behind[row][column]).members;
            return JSON.stringify(Explorer.membersOf(index, runs, address)) === JSON.stringify(own) ? [] : [address];
        }))))""")
    assert lost == []


def test_compare_draws_every_run_and_pairs_the_trials_of_a_search(browser: Browser, study: Path) -> None:
    go(browser, "#compare?experiment=support_recovery&y=support_recovery&x=seed")
    assert "120 points" in text(browser)
    assert browser.evaluate("document.querySelectorAll('#view .chart a').length") == 120
    go(browser, "#compare?of=synthetic&y=score&x=set_rate&one=eflops&other=flops")
    trials = pd.read_csv(study / "search/synthetic.csv").pivot(index="variant", columns="method", values="score")
    difference = (trials["eflops"] - trials["flops"]).mean()
    mean = re.search(r"4 pairs: mean (\S+),", text(browser))
    assert mean
    assert float(mean[1].replace(MINUS, "-")) == pytest.approx(difference, rel=1e-2)


def test_compare_starts_with_the_largest_experiment_and_leaves_no_method_out(browser: Browser) -> None:
    go(browser, "#compare")
    chosen = browser.evaluate("[...document.querySelectorAll('#view select')].map((each) => each.value)")
    assert "support_recovery" in chosen
    assert "have no value" not in text(browser)


def test_what_compare_shows_can_be_downloaded(browser: Browser) -> None:
    go(browser, "#compare?experiment=support_recovery&y=support_recovery&x=seed")
    browser.evaluate("Explorer.download = (name, type, text) => { (window.saved ??= {})[name] = text; }")
    browser.evaluate("document.querySelectorAll('.downloads button').forEach((button) => button.click())")
    saved = browser.evaluate("window.saved")
    head, *rows = saved["compare.csv"].splitlines()
    assert head == "method,ratio,seed,support recovery,run"
    assert len(rows) == 120
    assert saved["compare.svg"].count("<svg") == 1
    assert "xmlns=" in saved["compare.svg"]


def test_a_wide_table_says_that_it_scrolls(browser: Browser) -> None:
    browser.command("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
    try:
        go(browser, "#tables/support_recovery")
        assert browser.evaluate("document.querySelector('#view .grid').classList.contains('scrolls')")
    finally:
        browser.command("Emulation.clearDeviceMetricsOverride")


def test_what_moved_between_two_runs_leads_to_the_cell(browser: Browser) -> None:
    click(browser, ".top nav a", "Changes")
    assert "1 moved" in text(browser)
    click(browser, "#view td a", "mean")
    assert browser.evaluate("location.hash") == CELL


def test_markup_in_a_label_is_text(browser: Browser) -> None:
    go(browser, "#tables/support_recovery")
    assert MARKUP in text(browser)
    go(browser, "#compare?experiment=support_recovery&y=support_recovery&x=seed")
    assert MARKUP in text(browser)
    assert browser.evaluate("document.querySelectorAll('img[onerror]').length") == 0


@pytest.mark.parametrize(
    "address",
    [
        "#tables/nothing",
        "#run/nothing",
        "#scorecard?line=nothing",
        "#tables/support_recovery?cell=nothing",
        "#%E0%A4%A",
    ],
)
def test_an_address_of_nothing_says_so(browser: Browser, address: str) -> None:
    go(browser, address)
    assert text(browser, "#view h1") == "Not found"


def test_keys_alone_reach_a_run(browser: Browser) -> None:
    """Tables are tables with headings, and what opens is a link or a button, whose focus shows."""
    go(browser, CELL)
    assert browser.evaluate("document.activeElement.id") == "view"
    on_a_run = "(document.activeElement.getAttribute('href') ?? '').startsWith('#run/')"
    for _ in range(40):
        for kind in ("keyDown", "keyUp"):
            browser.command("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        if browser.evaluate(on_a_run):
            break
    assert browser.evaluate("document.activeElement.matches(':focus-visible')")
    enter = {"key": "Enter", "code": "Enter", "text": "\r", "windowsVirtualKeyCode": 13}
    for kind in ("keyDown", "char", "keyUp"):
        browser.command("Input.dispatchKeyEvent", type=kind, **enter)
    browser.wait("location.hash.startsWith('#run/') && document.querySelector('#view h2')?.innerText === 'Over rounds'")
    headed = "(table) => table.caption && table.querySelector('th[scope=col]') && table.querySelector('th[scope=row]')"
    assert browser.evaluate(f"[...document.querySelectorAll('#view table')].every({headed})")


def test_no_view_is_wider_than_a_phone(browser: Browser) -> None:
    browser.command("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
    try:
        for fragment in (
            "#products",
            "#tables/support_recovery",
            CELL,
            f"#run/{RUN}",
            "#figures/fig1b",
            "#compare",
            "#moved",
        ):
            go(browser, fragment)
            assert browser.evaluate("document.documentElement.scrollWidth") <= 390, fragment
    finally:
        browser.command("Emulation.clearDeviceMetricsOverride")


def test_how_long_views_take(browser: Browser, page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Measured and printed, not asserted: a machine may be busy."""
    first = browser.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN")
    timings = [f"explorer.html {page.stat().st_size / 1e6:.2f} MB; home {first:.0f} ms"]
    for fragment in ("#tables/support_recovery", CELL, f"#run/{RUN}", "#figures/fig1b", "#compare"):
        go(browser, fragment)
        timings.append(f"{fragment.partition('?')[0]} {browser.evaluate('Explorer.took'):.0f} ms")
    with capsys.disabled():
        print("\n" + "; ".join(timings))
