"""Train the runs of one cell."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import progress, run_job

with run_job(snakemake):
    from eflops.training.train import train_cell

    train_cell(
        plan=Path(snakemake.input.spec),
        results=Path(snakemake.params.results),
        block_size=snakemake.params.block,
        manifest=Path(snakemake.output.cell),
        report=progress,
    )
