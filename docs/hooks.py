"""MkDocs hooks: README.md becomes the first page, links to files of the repository work, and search works offline.

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


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Add README.md as the first page, its links as seen from docs/."""
    page = RELATIVE.sub(r"\1../\2", (ROOT / "README.md").read_text(encoding="utf-8")).replace("](../docs/", "](")
    files.append(File.generated(config, "index.md", content=page))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Write links that leave docs/ as HTML, which MkDocs passes on unchanged."""
    return OUTWARD.sub(lambda link: _as_html(link, page.file.src_uri), markdown)


def on_post_page(output: str, **_: Any) -> str:
    """Load the worker of the search from the site itself."""
    return SHIM.sub("worker.js", output)


def _as_html(link: re.Match[str], page: str) -> str:
    if not (ROOT / "docs" / link["path"]).exists():
        raise PluginError(f"{page}: the link {link['path']} does not exist.")
    target = link["path"] + (link["anchor"] or "")
    return f'<img src="{target}" alt="{link["text"]}">' if link["image"] else f'<a href="{target}">{link["text"]}</a>'
