"""Name the features of data that are read from a file."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import run_job

with run_job(snakemake) as spec:
    from eflops.data.build import write_features

    write_features(spec["settings"], Path(snakemake.output.genes))
