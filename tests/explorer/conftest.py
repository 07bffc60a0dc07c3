"""A small study with thirty runs and a search, made for real, its page, and a browser that shows it."""

import copy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import small_results
from eflops.analysis import search
from eflops.analysis.needs import targets_of
from eflops.config.load import check
from eflops.config.searches import ranking
from eflops.explorer.make import make
from explorer.browser import NAMES, Browser

CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
# What a careless page would run.
MARKUP = "FedAvg <img src=x onerror='window.ran = 1'><script>window.ran = 1</script>"
TABLE = "tables/support_recovery.csv"
DRAWS, SEEDS = [0, 1, 2], 10


def config() -> dict[str, Any]:
    """The small study with thirty runs at the paper's size, so that they are judged, and a search of four trials.

    A label has markup in it.
    """
    raw = copy.deepcopy(small_results.CONFIG)
    raw["datasets"]["synthetic"] |= {"features": 1000, "density": 0.05}
    raw["experiments"]["support_recovery"] |= {"draws": DRAWS, "seeds": SEEDS, "ratios": [0.64]}
    raw["methods"]["fedavg"]["label"] = MARKUP
    raw["searches"] = {
        "rates": {
            "dataset": "synthetic",
            "methods": ["eflops", "flops"],
            "ratios": [0.64],
            "draws": [101],
            "seeds": 1,
            "first_seed": 1000,
            "trials": 4,
            "metric": "r2",
            "ranges": {"rate": {"low": 0.01, "high": 0.1, "log": True}},
        }
    }
    return raw


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results folder: not to be changed."""
    folder = tmp_path_factory.mktemp("explorer") / "results"
    small_results.make(folder, config())
    gathered = [folder / f"gathered/rates.{form}" for form in ("csv", "supports.csv")]
    checked = check(config())
    search_entry = checked.searches["rates"]
    rules = ranking(search_entry, checked.datasets[search_entry.dataset])
    search.write(*gathered, targets_of(folder), rules, folder / "search")
    return folder


@pytest.fixture(scope="session")
def page(study: Path) -> Path:
    """Its page, beside the same study with one number moved."""
    before = Path(shutil.copytree(study, study.parent / "before"))
    numbers = (before / TABLE).read_text().splitlines()
    row = next(index for index, line in enumerate(numbers) if line.startswith("0.64,eflops,"))
    cells = numbers[row].split(",")
    numbers[row] = ",".join([*cells[:2], str(float(cells[2]) + 0.2), *cells[3:]])
    (before / TABLE).write_text("\n".join(numbers) + "\n")
    out = study.parent / "explorer.html"
    make([str(before), str(study)], out)
    return out


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A headless browser."""
    if CHROMIUM is None:
        pytest.skip(f"no browser is installed here (none of {', '.join(NAMES)}); on Debian: apt-get install chromium")
    with Browser(CHROMIUM, tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def browser(chromium: Browser, page: Path) -> Iterator[Browser]:
    """The page freshly opened; no test may leave a mistake in it, ask the net, or run what data hold."""
    chromium.command("Page.navigate", url="about:blank")
    chromium.requests.clear()
    chromium.mistakes.clear()
    chromium.open(page)
    chromium.wait("document.documentElement.dataset.ready === 'yes'")
    yield chromium
    assert chromium.mistakes == []
    assert [each for each in chromium.requests if not each.startswith(("file:", "data:", "blob:", "about:"))] == []
    assert chromium.evaluate("window.ran === undefined")
