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

import config_page  # noqa: E402
import front  # noqa: E402
from refresh import PART, refreshed  # noqa: E402

from eflops.analysis.summary.point import Claim, Point, Subject, Summary  # noqa: E402
from eflops.analysis.summary.write import form  # noqa: E402
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
    listed = set(re.findall(r"^ +- [^:\n]+: ([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    assert listed == {"index.md", "findings.md", "scorecard.md", *(page.name for page in PAGES[1:])}


def test_the_picture_of_the_workflow_has_every_rule() -> None:
    flow = (ROOT / "docs/architecture.md").read_text().split("```mermaid\nflowchart LR\n")[1].split("```")[0]
    assert set(re.findall(r"\w+", flow)) == {script.stem for script in (ROOT / "workflow/scripts").glob("*.py")}


def words(page: str) -> list[str]:
    """The words of a page that are read: without code, tables, comments, pictures and addresses."""
    read = re.sub(
        r"```.*?```|<!--.*?-->|^\|.*?$|!\[[^\]]*\]\([^)]*\)|(?<=\])\([^)]*\)", "", page, flags=re.DOTALL | re.MULTILINE
    )
    return re.findall(r"[^\W_][\w'./-]*", read)


def test_words_are_counted_without_code_tables_and_addresses() -> None:
    page = (
        "Two words.\n\n```sh\nnot these\n```\n| nor | these |\n<!-- $ nor this -->\n![nor](this.png) [one](that.md)\n"
    )
    assert words(page) == ["Two", "words.", "one"]


def test_the_readme_is_read_in_a_minute_or_two() -> None:
    assert len(words(PAGES[0].read_text())) <= 700


def test_the_page_on_the_config_is_written_from_the_models() -> None:
    page = config_page.page()
    assert (ROOT / "docs/config.md").read_text() == page, "run: python docs/config_page.py > docs/config.md"
    assert "|  |" not in page, "every key has a meaning"


def test_the_front_page_names_the_paper() -> None:
    for name in ("README.md", "CITATION.cff"):
        assert "2607.00275" in (ROOT / name).read_text()


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A folder with a summary of one claim and one finding."""
    claim = Claim(
        "syn-support", "It wins | always", "It wins", "agrees", "lead: 0.2; lead: 0.3", "scorecard?line=claim/x"
    )
    points = (
        Point("Entropy does nothing.", "tables/x", "Entropy"),
        Point("Nor at any N/d.", "tables/z", "Entropy"),
        Point("Four are among ours.", "tables/g", "Genes"),
        Point("Not on the front page.", "tables/y"),
    )
    table1 = {"agrees": 1, "agrees at nearest settings": 1, "differs": 1}
    summary = Summary({"Table 1": table1}, (claim,), (Subject("Entropy", points),))
    (tmp_path / "summary.json").write_text(form(summary, ".json"))
    (tmp_path / "tables").mkdir()
    write_effects(tmp_path, "0.004,0.001,0.006", "-0.1,-0.2,-0.05")
    return tmp_path


def write_effects(folder: Path, *effects: str) -> None:
    """A table of the effects of two temperatures on test R2, each with its interval."""
    rows = [f"all,,r2,{value},{effect}" for value, effect in zip((0.1, 0.3), effects, strict=True)]
    rows += ["N/d,0.24,r2_limited,0.3,0.04,0.03,0.05", "N/d,0.44,r2_limited,0.3,0.01,-0.01,0.02"]
    header = "by,ratio,metric,temperature,mean,low,high"
    (folder / "tables" / "temperature.csv").write_text("\n".join([header, *rows, ""]))


def test_the_front_page_shows_claims_and_findings_of_the_summary(published: Path) -> None:
    page = f"{published}/explorer.html"
    row = f"| It wins \\| always | [✓&nbsp;agrees]({page}#scorecard?line=claim/x) | lead: 0.2<br>lead: 0.3 |"
    assert front.claims(published).splitlines()[2] == row
    assert front.findings(published).splitlines() == [
        f"- **Entropy.** Entropy does nothing. ([runs]({page}#tables/x))",
        f"- **Genes.** Four are among ours. ([runs]({page}#tables/g))",
    ]


def test_the_front_page_answers_the_first_questions_by_the_results(published: Path) -> None:
    works, helps, runs, uses = front.answers(published).splitlines()
    assert works == "- **Does the method work?** Yes: It wins | always. Of the paper's 1 claims, 1 agrees."
    assert helps.startswith("- **Does entropy help?** Hardly: averaged over N/d, no temperature T raises test R2 or")
    assert "; at N/d 0.24, T = 0.3 raises test R2 by +0.040 if R2 below" in helps
    assert "[two commands](#run-it), no GPU" in runs
    assert "(#use-it)" in uses
    summary = (published / "summary.json").read_text()
    (published / "summary.json").write_text(summary.replace('"verdict": "agrees"', '"verdict": "differs"'))
    write_effects(published, "0.03,0.01,0.05", "0.01,-0.2,0.3")
    works, helps, *_ = front.answers(published).splitlines()
    assert works.startswith("- **Does the method work?** Our runs contradict its main claim: It wins")
    assert helps.startswith("- **Does entropy help?** Yes: averaged over N/d, T = 0.1 raises test R2 by +0.030; ")
    write_effects(published, "0.03,-0.01,0.05", "0.01,-0.2,0.3")
    assert "inconclusive" in front.answers(published).splitlines()[1]


def test_who_reproduced_it_is_a_table() -> None:
    first = front.reproductions(ROOT / "reproductions.csv").splitlines()[2]
    assert first == "| 0.2.0 | 2026-11-18 | AMD EPYC (AVX-512) | Linux | 2 | 18 | 30,913 | 0 |"


@released
def test_the_readme_shows_the_published_results(at_root: None) -> None:
    page = PAGES[0].read_text()
    assert len(PART.findall(page)) == 8
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
    assert report.failures(allow_stale=False) == []


def test_the_tutorial_finds_the_true_features_and_draws_its_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs/tutorial.md").read_text()
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path)
    exec("\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)), {})
    assert "8 of 8 true features found" in capsys.readouterr().out
    assert {path.name for path in (tmp_path / "docs").iterdir()} == set(re.findall(r"\]\((tutorial-\w+\.svg)\)", page))


def test_a_part_of_a_page_is_replaced_by_what_its_command_prints(at_root: None) -> None:
    page = "before\n<!-- $ echo 1; echo 2 -->\nold\n<!-- end -->\nafter\n"
    assert refreshed(page) == "before\n<!-- $ echo 1; echo 2 -->\n1\n2\n<!-- end -->\nafter\n"


def test_a_command_that_fails_is_not_shown_as_a_result(at_root: None) -> None:
    with pytest.raises(SystemExit, match="No such file"):
        refreshed("<!-- $ cat nowhere.md -->\n<!-- end -->\n")
