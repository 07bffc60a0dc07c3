"""Judge the paper's numbers and claims."""

import json
import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import logged

with logged(snakemake.log[0]):
    from eflops.analysis.scorecard.make import make

    make(
        Path(snakemake.params.results),
        Path(snakemake.input.targets),
        json.loads(snakemake.params.labels),
        snakemake.params.experiments,
        list(map(Path, snakemake.output)),
    )
