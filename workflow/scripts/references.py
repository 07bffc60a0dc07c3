"""Fit best subset and lasso to the pooled rows of an experiment's data draws."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import run_job

with run_job(snakemake):
    from eflops.analysis.references import make

    make((Path(manifest).parent for manifest in snakemake.input.manifests), Path(snakemake.output.fits))
