"""Snakemake's report as a job of the workflow that it reports on.

The job runs last. By then every other job's metadata stand in Snakemake's own folder, from which the report takes run
times and parameters. The workflow is read a second time, without the lock that the running one holds, with exactly its
config and no profile.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def make(target: str, config: Mapping[str, Any], out: Path) -> int:
    """Write the report on all that a target needs; Snakemake's exit code."""
    with tempfile.TemporaryDirectory(prefix="eflops-") as folder:
        file = Path(folder) / "config.json"
        file.write_text(json.dumps(config), encoding="utf-8")
        same_config = ["--configfile", str(file), "--replace-workflow-config"]
        alone = ["--nolock", "--cores", "1", "--profile", "none", "--workflow-profile", "none"]
        command = [sys.executable, "-m", "snakemake", target, "--report", str(out), *same_config, *alone]
        return subprocess.run(command, check=False).returncode
