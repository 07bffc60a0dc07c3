"""The report is a part of `all`: every table and figure with its caption, in one file that a browser shows offline."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from workflow.browser import NAMES, Browser
from workflow.conftest import Study

pytestmark = pytest.mark.workflow
FOREIGN = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)\s*=\s*["']?(?:https?:)?//""", re.IGNORECASE)
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)


def shown(study: Study) -> set[str]:
    """The names of all tables and figures of a finished study."""
    results = study.folder / "results"
    return {path.stem for path in [*results.glob("tables/*.csv"), *results.glob("figures/*.csv")]}


def test_the_report_is_made_with_everything_else_and_holds_it(finished: Study) -> None:
    page = (finished.folder / "results/report.html").read_text()
    assert len(shown(finished)) >= 6
    for name in shown(finished):
        assert f"{name}.svg" in page or f"{name}.html" in page
    for part in ("scorecard.html", "Synthetic regression", "What this run found", "Table 1: support recovery over N/d"):
        assert part in page
    assert not FOREIGN.search(page)


def test_the_report_is_of_the_run_that_made_it(finished: Study) -> None:
    """A config that differs in anything, be it the order of keys, would name files that no job has made."""
    log = (finished.folder / "results/logs/report.log").read_text()
    assert "Report created" in log
    assert "Missing metadata" not in log


def test_overrides_of_the_call_reach_the_report(study: Study) -> None:
    (study.folder / "less.yaml").write_text("experiments: {support_recovery: {seeds: 1}}\n")
    study.snakemake("all", "--configfile", "less.yaml", "--config", "results=elsewhere")
    assert "Missing metadata" not in (study.folder / "elsewhere/logs/report.log").read_text()
    assert "elsewhere/figures/fig1a.svg" in (study.folder / "elsewhere/report.html").read_text()


def test_one_figure_alone_makes_no_report(study: Study) -> None:
    (study.folder / "results/report.html").unlink()
    (study.folder / "results/figures/fig1a.svg").unlink()
    study.snakemake("results/figures/fig1a.svg")
    assert (study.folder / "results/figures/fig1a.svg").exists()
    assert not (study.folder / "results/report.html").exists()


def test_a_bad_config_stops_the_workflow_with_a_sentence_and_no_traceback(study: Study) -> None:
    study.edit("config.yaml", "seeds: 2", "sedes: 2")
    before = sorted(path for path in study.folder.rglob("*") if ".snakemake" not in path.parts)
    output = study.snakemake("all", check=False)
    assert study.code == 1
    assert "experiments.support_recovery.sedes: 'sedes' is not known; did you mean 'seeds'?" in output
    assert "Traceback" not in output
    assert sorted(path for path in study.folder.rglob("*") if ".snakemake" not in path.parts) == before


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    """A headless browser with an empty page."""
    if CHROMIUM is None:
        pytest.skip(f"no browser is installed here (none of {', '.join(NAMES)}); on Debian: apt-get install chromium")
    with Browser(CHROMIUM, tmp_path / "profile") as browser:
        yield browser


MENU = "[...document.querySelectorAll('#app ul li a')]"
ROWS = "[...document.querySelectorAll('#app table tbody tr')]"
IMAGE = "document.querySelector('#app .grow.overflow-auto img')"


def click(browser: Browser, words: str) -> None:
    """Click an entry of the menu once it is there."""
    entry = f"{MENU}.find(a => a.innerText.trim() === '{words}')"
    browser.wait(f"!!{entry}")
    browser.evaluate(f"{entry}.click()")


def see(browser: Browser, kind: str) -> None:
    """What was just chosen is really to be seen: a picture with a size, or a table with rows."""
    if kind == "Figures":
        browser.wait(f"{IMAGE} && {IMAGE}.complete && {IMAGE}.naturalWidth > 0")
        box = browser.evaluate(f"{IMAGE}.getBoundingClientRect().toJSON()")
        assert box["width"] > 100
        assert box["height"] > 100
    else:
        frame = browser.frame()
        browser.wait("document.querySelectorAll('tbody tr').length > 0", frame)
        assert browser.evaluate("document.querySelector('tbody tr').getBoundingClientRect().height", frame) > 5
        assert browser.evaluate("document.querySelector('tbody').innerText.trim().length", frame) > 0


def test_a_browser_shows_every_table_and_figure_without_a_network(finished: Study, browser: Browser) -> None:
    browser.open(finished.folder / "results/report.html")
    browser.wait(f"{MENU}.length > 3")
    assert "What this run found" in browser.evaluate("document.querySelector('#app').innerText")
    seen = set()
    for category in browser.evaluate("Object.keys(categories)"):
        for kind in ("Figures", "Tables"):
            browser.evaluate("app.setView({navbarMode: 'menu', content: 'text', contentText: ' '})")
            click(browser, category)
            click(browser, kind)
            browser.wait(f"{ROWS}.length > 0 && {ROWS}[0].cells.length === 2")
            for row in range(browser.evaluate(f"{ROWS}.length")):
                browser.evaluate("app.setView({content: 'text', contentText: ' '})")
                browser.evaluate(f"{ROWS}[{row}].querySelector('a').click()")
                see(browser, kind)
                seen.add(Path(browser.evaluate("app.state.resultPath")).stem)
    assert seen == {*shown(finished), "scorecard"}
    assert [address for address in browser.requests if not address.startswith(("file:", "data:", "blob:"))] == []
    assert browser.mistakes == []
