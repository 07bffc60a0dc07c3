"""MkDocs hooks: README.md becomes the first page, the published findings and scorecard become pages, links to files of
the repository work, and search works offline.

MkDocs knows only the pages in docs/. A link that leaves the folder, such as ../config.yaml, also works in the built
site, because site/ is next to docs/. It is checked here, so `mkdocs build --strict` fails if the file does not exist.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
OUTWARD = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<path>\.\./[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
# The theme loads this script from the network if a page is opened from disk.
SHIM = re.compile(r'https://[^"]+/iframe-worker/shim')
RELATIVE = re.compile(r"(\]\()(?!https?:|#|\.\./)([^)]+\))")
# Badges are pictures from the network; a page opened from disk would show them broken.
BADGES = re.compile(r"<!-- \$ python docs/front.py badges .*?<!-- end -->\n+", re.DOTALL)
PUBLISHED = "results/published"
# Pages made from published files: the file, the heading that replaces its first line, and the text without the file.
RESULTS = {
    "findings.md": ("summary.md", "# Findings"),
    "scorecard.md": ("scorecard.md", "# Scorecard"),
}
# The summary's subjects are list items, each with a list of points; on a page they are sections.
SUBJECT = re.compile(r"^- \*\*(.+)\*\*$", re.MULTILINE)
ABSENT = "This checkout has no published results. `make reproduce` makes them."


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Add README.md as the first page, and the published findings and scorecard."""
    page = BADGES.sub("", (ROOT / "README.md").read_text(encoding="utf-8"))
    files.append(File.generated(config, "index.md", content=_moved(page, "").replace("](../docs/", "](")))
    for name, (source, heading) in RESULTS.items():
        path = ROOT / PUBLISHED / source
        body = path.read_text(encoding="utf-8").partition("\n")[2] if path.exists() else ABSENT
        body = SUBJECT.sub(r"## \1", body).replace("\n  - ", "\n- ")
        files.append(File.generated(config, name, content=f"{heading}\n\n{_moved(body, f'{PUBLISHED}/')}"))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Write links that leave docs/ as HTML, which MkDocs passes on unchanged."""
    return OUTWARD.sub(lambda link: _as_html(link, page.file.src_uri), markdown)


def on_post_page(output: str, **_: Any) -> str:
    """Load the worker of the search from the site itself."""
    return SHIM.sub("worker.js", output)


def _moved(page: str, folder: str) -> str:
    """A page of another folder with its links as seen from docs/."""
    return RELATIVE.sub(rf"\1../{folder}\2", page)


def _as_html(link: re.Match[str], page: str) -> str:
    if not (ROOT / "docs" / link["path"]).exists():
        raise PluginError(f"{page}: the link {link['path']} does not exist.")
    target = link["path"] + (link["anchor"] or "")
    return f'<img src="{target}" alt="{link["text"]}">' if link["image"] else f'<a href="{target}">{link["text"]}</a>'
