"""Rank the trials of one search and choose the best settings."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import run_job

with run_job(snakemake) as spec:
    from eflops.analysis.search import write

    inputs = snakemake.input
    write(
        *map(Path, (inputs.runs, inputs.supports, inputs.targets)), spec["search"], Path(snakemake.output.chosen).parent
    )
