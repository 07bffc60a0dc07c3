"""The documentation site is searched when it is opened from disk, without a network."""

import subprocess
import sys
from pathlib import Path

from explorer.browser import Browser

ROOT = Path(__file__).parents[2]


def test_the_site_is_searched_offline(chromium: Browser, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path], cwd=ROOT, check=True
    )
    chromium.requests.clear()
    chromium.open(tmp_path / "limits.html")
    chromium.evaluate(
        "document.querySelector('#__search').click(), document.querySelector('.md-search__input').value = 'multiplier',"
        " document.querySelector('.md-search__input').dispatchEvent(new Event('input', {bubbles: true}))"
    )
    chromium.wait("document.querySelector('.md-search-result__item a[href*=tutorial]') !== null")
    assert [each for each in chromium.requests if not each.startswith(("file:", "data:", "about:"))] == []
