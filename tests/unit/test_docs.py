"""The pages are complete, their links lead somewhere, and what they show of the results is what was published."""

import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|#)(?P<path>[^)#]+)")
PUBLISHED = ROOT / "results" / "published"
sys.path.insert(0, str(ROOT / "docs"))

from refresh import PART, refreshed  # noqa: E402

from eflops.provenance.audit.audit import audit  # noqa: E402

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
released = pytest.mark.skipif(
    VERSION.endswith(".dev0"), reason=f"{VERSION} is not released: results/published are those of the last release"
)


@pytest.fixture
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the repository, with this environment's commands."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    targets = [(page.parent / match["path"]).resolve() for match in LINK.finditer(page.read_text())]
    results = [target for target in targets if target.is_relative_to(PUBLISHED)]
    assert [str(target) for target in targets if target not in results and not target.exists()] == []
    assert not PUBLISHED.exists() or all(target.exists() for target in results)


def test_the_site_leads_to_every_page() -> None:
    listed = set(re.findall(r"^ +- ([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    assert listed == {"index.md", *(page.name for page in PAGES[1:])}


def test_the_picture_of_the_workflow_has_every_rule() -> None:
    flow = (ROOT / "docs/architecture.md").read_text().split("```mermaid\nflowchart LR\n")[1].split("```")[0]
    assert set(re.findall(r"\w+", flow)) == {script.stem for script in (ROOT / "workflow/scripts").glob("*.py")}


def test_the_readme_is_three_screens_at_most() -> None:
    # Every point of the summary is a line of its own.
    assert len(PAGES[0].read_text().splitlines()) <= 155


@released
def test_the_readme_shows_the_published_results(at_root: None) -> None:
    page = PAGES[0].read_text()
    assert len(PART.findall(page)) == 3
    if not PUBLISHED.exists():
        pytest.skip("results/published does not exist yet: `make publish` makes it after a full run")
    assert refreshed(page) == page, "run: python docs/refresh.py README.md"


@released
def test_the_published_results_bear_an_audit() -> None:
    """Records that the present code or config would not make are stale: then `make reproduce` and `make publish`."""
    if not PUBLISHED.exists():
        pytest.skip("results/published does not exist yet: `make publish` makes it after a full run")
    report = audit(PUBLISHED)
    assert report.records > 0
    assert report.counted(allow_stale=False) == []


def test_a_part_of_a_page_is_replaced_by_what_its_command_prints(at_root: None) -> None:
    page = "before\n<!-- $ echo 1; echo 2 -->\nold\n<!-- end -->\nafter\n"
    assert refreshed(page) == "before\n<!-- $ echo 1; echo 2 -->\n1\n2\n<!-- end -->\nafter\n"


def test_a_command_that_fails_is_not_shown_as_a_result(at_root: None) -> None:
    with pytest.raises(SystemExit, match="No such file"):
        refreshed("<!-- $ cat nowhere.md -->\n<!-- end -->\n")
