"""Train the runs of one cell."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import logged, progress

with logged(snakemake.log[0]):
    from eflops.training.train import train_cell

    train_cell(
        plan=Path(snakemake.input.plan),
        results=Path(snakemake.params.results),
        block_size=snakemake.params.block,
        manifest=Path(snakemake.output[0]),
        report=progress,
    )
