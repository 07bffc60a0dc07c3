"""Make one figure."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import run_job

with run_job(snakemake) as spec:
    from eflops.analysis.products import make

    *files, _ = snakemake.output
    make(spec, Path(snakemake.params.results), map(Path, files))
