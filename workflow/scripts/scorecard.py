"""Compare the paper's numbers and claims with the runs."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import run_job

with run_job(snakemake) as spec:
    from eflops.analysis.scorecard.make import make

    make(
        Path(snakemake.params.results),
        Path(snakemake.input.targets),
        spec["labels"],
        spec["experiments"],
        [Path(snakemake.output.markdown), Path(snakemake.output.json)],
    )
