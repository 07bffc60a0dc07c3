"""Name the genes of expression data."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import run_job

with run_job(snakemake) as spec:
    from eflops.data.expression import write_genes

    write_genes(spec["settings"], Path(snakemake.output.genes))
