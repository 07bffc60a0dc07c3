"""Gather the records of one experiment or search."""

import sys

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import run_job

with run_job(snakemake):
    from eflops.analysis.gather import gather_cells

    out = snakemake.output
    inputs = snakemake.input
    gather_cells(inputs.specs, inputs.cells, snakemake.params.results, out.runs, out.curves, out.supports)
