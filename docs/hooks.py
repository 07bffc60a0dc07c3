"""What MkDocs does besides: the README becomes the first page, and links to files of the repository stay links.

MkDocs knows the pages below docs/ alone. A link that leaves the folder, such as ../config.yaml, works in the built site
too, because site/ lies beside docs/; here it is checked, so that `mkdocs build --strict` fails where it leads nowhere.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
OUTWARD = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<path>\.\./[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
RELATIVE = re.compile(r"(\]\()(?!https?:|#|\.\./)([^)]+\))")


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Add README.md as the first page, its links as seen from docs/."""
    page = RELATIVE.sub(r"\1../\2", (ROOT / "README.md").read_text(encoding="utf-8")).replace("](../docs/", "](")
    files.append(File.generated(config, "index.md", content=page))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Write links that leave docs/ as HTML, which MkDocs passes on unchanged."""
    return OUTWARD.sub(lambda link: _as_html(link, page.file.src_uri), markdown)


def _as_html(link: re.Match[str], page: str) -> str:
    if not (ROOT / "docs" / link["path"]).exists():
        raise PluginError(f"{page}: the link {link['path']} leads nowhere.")
    target = link["path"] + (link["anchor"] or "")
    return f'<img src="{target}" alt="{link["text"]}">' if link["image"] else f'<a href="{target}">{link["text"]}</a>'
