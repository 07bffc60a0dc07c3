"""Tables and figures as the page shows them: plain numbers with their runs, the table in words, the picture."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from eflops.analysis.source import Source
from eflops.config.models import Config
from eflops.config.products import Product
from eflops.explain.address import key_columns
from eflops.explain.recompute import remake
from eflops.explain.text import plain
from eflops.explorer.behind import product_cells
from eflops.explorer.references import References
from eflops.explorer.shown import Written, read_markdown, tied, unbold


def product_json(
    product: Product, path: Path, source: Source, config: Config, references: References
) -> dict[str, Any]:
    """A table or figure whose plain numbers lie at `path`."""
    frame = pd.read_csv(path)
    keys = key_columns(frame)
    values = [column for column in frame.columns if column not in keys]
    words = path.with_suffix(".md")
    return {
        "kind": product.kind,
        "name": product.name,
        "title": product.caption,
        "category": product.category,
        "file": product.csv,
        "keys": keys,
        "columns": values,
        "rows": [[plain(value) for value in row] for row in frame[[*keys, *values]].itertuples(index=False)],
        "behind": product_cells(product, remake(product, source, config), frame, references),
        "shown": shown_json(read_markdown(words.read_text(encoding="utf-8")), frame, source.labels)
        if words.exists()
        else None,
    }


def shown_json(written: Written, frame: pd.DataFrame, labels: Mapping[str, str]) -> dict[str, Any]:
    """A table in words: cells as pieces, and which cells are bold."""
    bare = [[unbold(cell) for cell in row] for row in written.rows]
    texts = Written(written.title, written.columns, [[text for text, _ in row] for row in bare], written.note)
    return {
        "title": written.title,
        "columns": written.columns,
        "rows": tied(texts, frame, labels),
        "bold": [[place for place, (_, bold) in enumerate(row) if bold] for row in bare],
        "note": written.note,
    }


def pictures(folder: Path) -> dict[str, str]:
    """The figures of a results folder as SVG, by name."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted((folder / "figures").glob("*.svg"))}
