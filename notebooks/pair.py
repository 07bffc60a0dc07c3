"""Write notebooks/explore.ipynb from notebooks/explore.py, whose cells begin with # %%. Run it after an edit."""

import json
import re
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("explore.py")
NOTEBOOK = SCRIPT.with_suffix(".ipynb")


def cells(script: str) -> list[dict[str, Any]]:
    """The cells of a script, without outputs."""
    parts = re.split(r"^# %%( \[markdown\])?\n", script, flags=re.MULTILINE)[1:]
    made = []
    for number, (marked, text) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
        text = text.strip("\n")
        cell: dict[str, Any] = {"id": f"cell{number}", "metadata": {}}
        if marked:
            cell |= {"cell_type": "markdown", "source": re.sub(r"^# ?", "", text, flags=re.MULTILINE)}
        else:
            cell |= {"cell_type": "code", "source": text, "execution_count": None, "outputs": []}
        made.append({**cell, "source": cell["source"].splitlines(keepends=True)})
    return made


def notebook(script: str) -> str:
    """The notebook of a script, as JSON."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": cells(script), "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    NOTEBOOK.write_text(notebook(SCRIPT.read_text(encoding="utf-8")), encoding="utf-8")
