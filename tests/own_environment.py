"""Environments for tools that cannot be installed beside the project's own packages, kept from test to test."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def python_with(name: str, *packages: str) -> Path:
    """The Python of the environment `.venv-NAME`, which has exactly these packages and what they need."""
    folder, wanted = ROOT / f".venv-{name}", " ".join(packages)
    python, stamp = folder / "bin" / "python", folder / ".installed"
    if not stamp.exists() or stamp.read_text() != wanted:
        # Isolated (-I): what PYTHONPATH leads to would count as installed, and Flower sets it for its workers.
        subprocess.run([sys.executable, "-I", "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-I", "-m", "pip", "install", "--quiet", *packages], check=True)
        (folder / ".gitignore").write_text("*\n")
        stamp.write_text(wanted)
    return python
