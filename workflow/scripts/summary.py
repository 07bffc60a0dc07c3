"""Summarise the results."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import run_job

with run_job(snakemake) as spec:
    from eflops.analysis.summary.write import write

    *files, _ = snakemake.output
    write(Path(snakemake.params.results), frozenset(spec["sources"]), spec["trials"], map(Path, files))
