"""Rank the trials of one search and choose."""

import json
import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import logged

with logged(snakemake.log[0]):
    from eflops.analysis.search import write

    write(
        *map(Path, (snakemake.input.runs, snakemake.input.supports, snakemake.input.targets)),
        json.loads(snakemake.params.search),
        Path(snakemake.output.chosen).parent,
    )
